/* integrator: the lists that solvers.def makes. */
#include "integrate/integrator.h"

#include <string.h>

static const Integrator *const INTEGRATORS[] = {
#define SOLVER(id) &integrator_##id,
#include "integrate/solvers.def"
    NULL};

const char *const solver_names[] = {SOLVER_AUTO,
#define SOLVER(id) #id,
#include "integrate/solvers.def"
                                    NULL};

const Integrator *integrator_at(uint32_t index) {
  return index < sizeof INTEGRATORS / sizeof *INTEGRATORS ? INTEGRATORS[index] : NULL;
}

void integrator_segment(const Integrator *integrator, void *self, double t0, const double *begin, Segment *segment) {
  segment_take(segment, &integrator->segment, self, t0, begin, integrator->time(self), integrator->values(self));
}

const Integrator *integrator_find(const char *name) {
  for (uint32_t i = 0; INTEGRATORS[i]; i++)
    if (strcmp(INTEGRATORS[i]->name, name) == 0) return INTEGRATORS[i];
  return NULL;
}
