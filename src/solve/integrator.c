/* integrator: the list of methods. */
#include "solve/integrator.h"

#include <string.h>

static const Integrator *const integrators[] = {
    &integrator_erk, &integrator_radau, &integrator_bdf,
#ifdef DAEDAL_WITH_SUNDIALS
    &integrator_ida, &integrator_cvode,
#endif
};

const Integrator *integrator_find(const char *name) {
  for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++)
    if (strcmp(integrators[i]->name, name) == 0) return integrators[i];
  return NULL;
}
