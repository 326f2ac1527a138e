/* reset: which columns a reinit leaves as they are. It sets states, and the other states stay; which columns are meant by that, where
 * more than states could stay, is said by stateSelect: first `always`, then `prefer`, then those that are states at the moment. */
#pragma once

#include "solve/view.h"

/* y solves the rows at t, with the columns set that have a mark 2 in `held` and with the states of before; `before` are all columns
 * before. Moves the states so that preferred columns keep their values instead, as far as they can. Nothing is done where every preferred column is a
 * state, or there is no state-space form. Costs a solution of the rows for each state. */
void reset_keep_preferred(View *view, double t, const double *before, const uint8_t *held, double *y);
