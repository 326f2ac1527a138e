/* fold: leads over folds of the solution at corners of the equations.
 *
 * Positive feedback around a limit, as that of a trigger, makes a branch of the algebraic columns end where the limit begins to
 * hold: in time it turns back there. The curve of solutions goes on. It is followed past the fold, with the states and
 * what drives them frozen except for their present rate, until it comes forward to the fold's own drive again: there the columns
 * jump to. Only a fold at a corner, where noEvent or smooth join two expressions, is passed: at a smooth one the solution ends.
 */
#pragma once

#include "view/view.h"

typedef struct Fold {
  double time;
  double *before, *after; /* [columns] at both sides of the jump, of the caller */
  uint32_t column;        /* with the largest jump */
  double jump;            /* relative to the size of the column */
} Fold;

/* Is there a fold at a corner ahead of `at`, within `longest`, and a branch after it? `origin` is a regular point of the branch that
 * the solution is on, with the same states. About a hundred factorizations of the Jacobian. */
bool fold_pass(View *view, ConstMoment origin, ConstMoment at, double longest, Fold *fold);
