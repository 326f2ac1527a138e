/* inside: all columns at a time of the last step, where the rows cannot be solved from the interpolated columns alone.
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "segment/segment.h"
#include "segment/system.h"

typedef struct InsideHost {
  Heap *heap;
  const System *system;
  /* Solve the rows for all columns that are not states: on the branch of the guess, and from any guess. */
  EvalStatus (*solve)(void *host, double t, double *y);
  EvalStatus (*find)(void *host, double t, double *y);
  void *host;
} InsideHost;

/* Solves the rows at t, into y. Goes back from the end of the step to t. *is_between: that failed, and y is a mean of its
 * neighbours, because the choice of states is singular at t. */
EvalStatus inside_solve(const InsideHost *host, const Segment *segment, double t, double *y, bool *is_between);
