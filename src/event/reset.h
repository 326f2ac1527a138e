/* reset: which columns a reinit leaves as they are. It sets states, and the other states stay; which columns are meant by that, where
 * more than states could stay, is said by stateSelect: first `always`, then `prefer`, then those that are states at the moment. */
#pragma once

#include "view/view.h"

/* y solves the rows at t, with the columns set that have a mark 2 in `held` and with the states of before; `before` are all columns
 * before. Moves the states so that preferred columns keep their values instead, as far as they can. Nothing is done where every preferred column is a
 * state, or there is no state-space form. Costs a solution of the rows for each state. */
void reset_keep_preferred(View *view, double t, const double *before, const uint8_t *held, double *y);

/* Finds the states at which the columns with a mark 2 in `held` have these values, next to y, which solves the rows: as many of the others as can,
 * in the same order, stay as they are. The way there is taken in parts where Newton's method does not take it at once; where it
 * ends, other states stay. false: there are none, or there is
 * no state-space form; y stays. */
bool reset_give(View *view, double t, const uint8_t *held, const double *values, double *y);
