/* method: the table. */
#include "reduce/method.h"

#include <string.h>

static const Method *const METHODS[] = {&method_dummy,          &method_minimal,     &method_projection,
                                        &method_baumgarte,      &method_ggl,         &method_underlying,
                                        &method_overdetermined, &method_strangeness, &method_none};

const char *const method_names[] = {"dummy",      "minimal",        "projection",  "baumgarte", "ggl",
                                    "underlying", "overdetermined", "strangeness", "none",      NULL};

const Method *method_at(uint32_t index) { return index < sizeof METHODS / sizeof *METHODS ? METHODS[index] : NULL; }

const Method *method_find(const char *name) {
  for (uint32_t m = 0; method_at(m); m++)
    if (strcmp(METHODS[m]->name, name) == 0) return METHODS[m];
  return NULL;
}
