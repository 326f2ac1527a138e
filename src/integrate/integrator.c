/* integrator: the lists that solvers.def makes, and what serves all of them. */
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

void integrator_suggest_nothing(void *self, double step) { (void)self, (void)step; }

bool integrator_repeat_nothing(void *self, double step) { return (void)self, (void)step, false; }

bool integrator_is_never_coarse(void *self) { return (void)self, false; }

bool integrator_has_no_stages(void *self, StepStages *out) { return (void)self, (void)out, false; }

void integrator_rates(const System *system, const double *y, double *rate) {
  for (int32_t c = 0; c < system->columns; c++) {
    int32_t successor = system->successor ? system->successor[c] : -1;
    rate[c] = successor >= 0 ? y[successor] : 0;
  }
  for (int32_t l = 0; l < system->links; l++) rate[system->link_from[l]] = y[system->link_to[l]];
}

void integrator_segment(const Integrator *integrator, void *self, double t0, const double *begin, Segment *segment) {
  segment_take(segment, &integrator->segment, self, t0, begin, integrator->time(self), integrator->values(self));
}

const Integrator *integrator_find(const char *name) {
  for (uint32_t i = 0; INTEGRATORS[i]; i++)
    if (strcmp(INTEGRATORS[i]->name, name) == 0) return INTEGRATORS[i];
  return NULL;
}
