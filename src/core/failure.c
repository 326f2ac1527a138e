/* failure: see failure.h. */
#include "core/failure.h"

#include "core/constants.h"

FailureState failure_note(Failure *failure, bool fails, bool in_when, double t, FailureTimes run) {
  if (!failure->is_open && !fails) return FAILURE_NONE;
  if (!failure->is_open) *failure = (Failure){true, t};
  bool is_short = t - failure->since <= VANISHED * (run.stop - run.start);
  bool may_wait = !in_when && failure->since > run.start && t < run.stop;
  if (!is_short || (fails && !may_wait)) return FAILURE_ENDS_RUN;
  failure->is_open = fails;
  return fails ? FAILURE_WAITS : FAILURE_OVER;
}
