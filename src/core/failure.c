/* failure: see failure.h. */
#include "core/failure.h"

#include "core/constants.h"

static FailureState failure_note(Failure *failure, bool fails, bool in_when, double t, FailureTimes run) {
  if (!failure->is_open && !fails) return FAILURE_NONE;
  if (!failure->is_open) *failure = (Failure){true, t};
  bool is_short = t - failure->since <= VANISHED * (run.stop - run.start);
  bool may_wait = !in_when && failure->since > run.start && t < run.stop;
  if (!is_short || (fails && !may_wait)) return FAILURE_ENDS_RUN;
  failure->is_open = fails;
  return fails ? FAILURE_WAITS : FAILURE_OVER;
}

int failures_note(Failure *failure, bool *fails, int count, double t, FailureTimes run, const FailureHost *methods,
                  void *host) {
  int ends = -1;
  for (int k = 0; k < count && ends < 0; k++) {
    bool begins = fails[k] && !failure[k].is_open;
    FailureState state = failure_note(&failure[k], fails[k], methods->in_when(host, k), t, run);
    fails[k] = false;
    if (state != FAILURE_NONE) methods->note(host, k, state, begins);
    if (state == FAILURE_ENDS_RUN) ends = k;
  }
  return ends;
}
