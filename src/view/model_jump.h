/* model_jump: jumps at events of a view whose system is not the model's own array. How a jump is distributed (core/jump.h)
 * follows from the equations as written, at every level. A system that leaves rows out, replaces rows or adds multipliers
 * would distribute the jump differently. So the columns of the view are copied to the model's array, the jump is computed
 * there, and is copied back to the columns. The drift of a constraint before the event is not part of a jump. */
#pragma once

#include "view/view.h"

/* For a view of `reduction`, whose members `original`, `source` and `mode` are set before it is used. NULL: there are no events. Lives
 * in the heap. */
ModelJump *model_jump_new(Heap *heap, View *view, const Reduction *reduction, const ArrayRun *original);

/* The guesses that the last event left for columns of the model's array that the view does not have: saved, and restored from a
 * view of the same reduction. Factors made since are discarded. */
double *model_jump_save(const ModelJump *model_jump, Heap *heap);
void model_jump_restore(ModelJump *model_jump, const double *guesses);

/* An event begins at (t, y); nothing has changed yet. Finds all columns of the model's array there. */
void model_jump_begin(ModelJump *model_jump, double t, const double *y);

/* All columns of the model's array that belong to y during an event. Valid until the next call. */
const double *model_jump_columns(ModelJump *model_jump, const double *y);

/* Distributes the jump that the current modes require of y. false: it is not determined; view->undetermined names the column. */
bool model_jump_apply(ModelJump *model_jump, double t, double *y);

/* Solves all rows of the model's array after the jump, and sets the columns of the view. false: they cannot be solved, and y stays
 * unchanged. A view with its own modes would then differ from the model: view->undetermined names a column. */
bool model_jump_solve(ModelJump *model_jump, double t, double *y);

/* Like model_jump_solve, but some columns of the view have been set and keep their values: `held` as in ViewMethods. */
bool model_jump_solve_holding(ModelJump *model_jump, double t, double *y, const uint8_t *held);
