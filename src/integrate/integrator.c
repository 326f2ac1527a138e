/* integrator: the lists that solvers.def makes, and what serves all of them. */
#include "integrate/integrator.h"

#include "base/copy.h"

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

void integrator_values_at(const Integrator *integrator, void *self, double t, int32_t columns, double *y) {
  if (t == integrator->time(self)) copy_numbers(y, integrator->values(self), (size_t)columns);
  else integrator->interpolate(self, t, y);
}

bool integrator_segment(const Integrator *integrator, void *self, double t0, Segment *segment) {
  double t1 = integrator->time(self);
  int degree = t1 > t0 ? integrator->segment_degree(self) : 0;
  if (degree) segment_begin(segment, t0, t1, degree, (SegmentSource){self, integrator->interpolate_some});
  return degree > 0;
}

const Integrator *integrator_find(const char *name) {
  for (uint32_t i = 0; INTEGRATORS[i]; i++)
    if (strcmp(INTEGRATORS[i]->name, name) == 0) return INTEGRATORS[i];
  return NULL;
}
