/* advance: moves a run to a time. The integrator chooses the ends of steps. If the last step ends later than this time, the
 * time reached lies within it; the step stays open, and the work at its end is still to be done. Exported solvers contain this
 * file unchanged. */
#pragma once

#include <stdbool.h>

/* The last step. */
typedef struct OpenStep {
  bool is_open;
  bool pauses; /* the caller wants to act before the next step */
  double end;
} OpenStep;

typedef struct AdvanceHost {
  bool (*has_ended)(void *host);

  /* These return false if the run fails. The first function takes a step, and opens it unless it must be taken again. The second
   * function sets the time reached to a time within the step, or drops the step. The third function does the work at the end of the
   * step, and closes it. */
  bool (*take_step)(void *host);
  bool (*stay_within)(void *host, double t);
  bool (*close_step)(void *host);
} AdvanceHost;

/* false: the run has failed. If the time is reached within a step, that step is open. */
bool advance(const AdvanceHost *methods, void *host, OpenStep *step, double until);
