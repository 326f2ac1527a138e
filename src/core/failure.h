/* failure: an assertion that fails. The run then ends, unless the assertion fails only for a time that is zero up to errors:
 * between two events that happen at once, or at the edge of a condition. Exported solvers contain this file unchanged. */
#pragma once

#include <stdbool.h>

typedef struct Failure {
  bool is_open; /* the assertion fails */
  double since;
} Failure;

typedef enum FailureState {
  FAILURE_NONE,
  FAILURE_WAITS, /* a failure goes on, and is still too short to count */
  FAILURE_OVER,  /* a failure is over, and was too short to count */
  FAILURE_ENDS_RUN
} FailureState;

typedef struct FailureTimes {
  double start, stop; /* times of the run, at whose ends every failure counts */
} FailureTimes;

/* The functions of the host. in_when: is the assertion in a when? note: reports what was found; `begins`: the assertion has just
 * begun to fail. */
typedef struct FailureHost {
  bool (*in_when)(void *host, int assertion);
  void (*note)(void *host, int assertion, FailureState state, bool begins);
} FailureHost;

/* Notes all assertions that were checked at t, and clears `fails`. Returns the first one that ends the run; -1: none does. An
 * assertion in a when is checked only once, so its failure ends the run. */
int failures_note(Failure *failure, bool *fails, int count, double t, FailureTimes run, const FailureHost *methods,
                  void *host);
