/* share: jumps at events of a view whose system is not the model's own array. How a jump is shared (jump.h) is read off the
 * equations as they are, at every level: systems that leave rows out, put others in their place or add multipliers would share it in
 * ways of their own. So the columns of the view are put into the model's array, the jump is found there, and the columns
 * take it over. What the method has let a constraint drift by before the event is no part of a jump. */
#pragma once

#include "view/view.h"

/* For a view of `reduction`, whose members `original`, `source` and `mode` are set before it is used. NULL: there are no events. Lives
 * in the heap. */
Share *share_new(Heap *heap, View *view, const Reduction *reduction, const ArrayRun *original);

/* The guesses of columns of the model's array that the view has not, left by the last event: kept, and taken over from a view of the
 * same reduction. What was factored since counts no more. */
double *share_save(const Share *share, Heap *heap);
void share_restore(Share *share, const double *guesses);

/* An event begins at (t, y); nothing has changed yet. Finds all columns of the model's array there. */
void share_begin(Share *share, double t, const double *y);

/* All columns of the model's array that belong to y in the midst of an event, until the next call. */
const double *share_columns(Share *share, const double *y);

/* Shares the jump that the current modes ask of y. false: it is not determined, which view->undetermined names. */
bool share_jump(Share *share, double t, double *y);

/* Solves all rows of the model's array after the jump, and sets the columns of the view. false: they cannot be solved, and y stays as
 * it is. A view with modes of its own would be another system than the model then: view->undetermined names a column. */
bool share_solve(Share *share, double t, double *y);

/* The same where columns of the view have got other values: `held` as in ViewMethods. */
bool share_solve_holding(Share *share, double t, double *y, const uint8_t *held);
