/* integrator: the lists that solvers.def makes. */
#include "solve/integrator.h"

#include <string.h>

static const Integrator *const INTEGRATORS[] = {
#define SOLVER(id) &integrator_##id,
#include "solve/solvers.def"
    NULL};

const char *const solver_names[] = {SOLVER_AUTO,
#define SOLVER(id) #id,
#include "solve/solvers.def"
                                    NULL};

const Integrator *integrator_at(uint32_t index) {
  return index < sizeof INTEGRATORS / sizeof *INTEGRATORS ? INTEGRATORS[index] : NULL;
}

const Integrator *integrator_find(const char *name) {
  for (uint32_t i = 0; INTEGRATORS[i]; i++)
    if (strcmp(INTEGRATORS[i]->name, name) == 0) return INTEGRATORS[i];
  return NULL;
}
