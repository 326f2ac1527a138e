/* advance: see advance.h. */
#include "run/advance.h"

bool advance(const AdvanceHost *methods, void *host, OpenStep *step, double until) {
  bool is_there = false;
  step->pauses = false;
  while (!is_there && !step->pauses && !methods->has_ended(host) && (step->is_open || step->end < until)) {
    bool is_new = !step->is_open;
    if (is_new && !methods->take_step(host)) return false;
    if (!step->is_open || (is_new && step->end > until)) continue;
    if (!(step->end > until ? methods->stay_within(host, until) : methods->close_step(host))) return false;
    is_there = step->is_open;
  }
  return true;
}
