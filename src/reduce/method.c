/* method: the lists that methods.def makes. */
#include "reduce/method.h"

#include <string.h>

static const Method *const METHODS[] = {
#define METHOD(id) &method_##id,
#include "reduce/methods.def"
    NULL};

const char *const method_names[] = {
#define METHOD(id) #id,
#include "reduce/methods.def"
    NULL};

const Method *method_at(uint32_t index) { return index < sizeof METHODS / sizeof *METHODS ? METHODS[index] : NULL; }

const Method *method_find(const char *name) {
  for (uint32_t m = 0; METHODS[m]; m++)
    if (strcmp(method_names[m], name) == 0) return METHODS[m];
  return NULL;
}
