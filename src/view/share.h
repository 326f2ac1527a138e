/* share: jumps at events of a view whose system is not the model's own array. How a jump is distributed (core/jump.h)
 * follows from the equations as written, at every level. A system that leaves rows out, replaces rows or adds multipliers
 * would distribute the jump differently. So the columns of the view are copied to the model's array, the jump is computed
 * there, and is copied back to the columns. The drift of a constraint before the event is not part of a jump. */
#pragma once

#include "view/view.h"

/* For a view of `reduction`, whose members `original`, `source` and `mode` are set before it is used. NULL: there are no events. Lives
 * in the heap. */
Share *share_new(Heap *heap, View *view, const Reduction *reduction, const ArrayRun *original);

/* The guesses that the last event left for columns of the model's array that the view does not have: saved, and restored from a
 * view of the same reduction. Factors made since are discarded. */
double *share_save(const Share *share, Heap *heap);
void share_restore(Share *share, const double *guesses);

/* An event begins at (t, y); nothing has changed yet. Finds all columns of the model's array there. */
void share_begin(Share *share, double t, const double *y);

/* All columns of the model's array that belong to y during an event. Valid until the next call. */
const double *share_columns(Share *share, const double *y);

/* Distributes the jump that the current modes require of y. false: it is not determined; view->undetermined names the column. */
bool share_jump(Share *share, double t, double *y);

/* Solves all rows of the model's array after the jump, and sets the columns of the view. false: they cannot be solved, and y stays
 * unchanged. A view with its own modes would then differ from the model: view->undetermined names a column. */
bool share_solve(Share *share, double t, double *y);

/* Like share_solve, but some columns of the view have been set and keep their values: `held` as in ViewMethods. */
bool share_solve_holding(Share *share, double t, double *y, const uint8_t *held);
