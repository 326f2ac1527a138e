/* reset: which columns a reinit leaves unchanged. A reinit sets some states, and the other states keep their values. If more
 * columns than states could keep theirs, stateSelect decides: first `always`, then `prefer`, then the present states.
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "base/heap.h"
#include "segment/system.h"

typedef struct ResetPlan {
  Heap *heap;
  const System *system;
  const uint32_t *preferred; /* the columns that stateSelect prefers, in order */
  uint32_t count;
} ResetPlan;

/* y solves the rows at t, with the columns marked 2 in `held` set and all states as before; `before` are all columns before the
 * event. Moves the states so that preferred columns keep their values instead, as far as possible. Does nothing if every
 * preferred column is a state, or there is no state-space form. Costs one solution of the rows for each state. */
void reset_keep_preferred(const ResetPlan *plan, double t, const double *before, const uint8_t *held, double *y);

/* Finds the states at which the columns marked 2 in `held` have these values. It starts from y, which solves the rows. As many
 * other columns as possible keep their values, in the same order of preference. If Newton's method does not converge at once, the
 * change is divided into parts. If a part has no solution, another choice of columns keeps its values. false: there are no such
 * states, or no state-space form, and y is unchanged. */
bool reset_give(const ResetPlan *plan, double t, const uint8_t *held, const double *values, double *y);
