/* contract: see contract.h. */
#include "integrate/contract.h"

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
