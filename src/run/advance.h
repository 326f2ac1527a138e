/* advance: moves a run to a time. Steps go where they like: if the last one ends later, the time reached lies within it, and the step
 * stays open, with the work at its end still to be done. Exported solvers contain this file unchanged. */
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

  /* These return false if the run fails. The first one takes a step, and opens it unless it must be taken again. The second one makes
   * a time within the step the time reached, or drops the step. The third one does the work at its end, and closes it. */
  bool (*take_step)(void *host);
  bool (*stay_within)(void *host, double t);
  bool (*close_step)(void *host);
} AdvanceHost;

/* false: the run has failed. If the time is reached within a step, that step is open. */
bool advance(const AdvanceHost *methods, void *host, OpenStep *step, double until);
