/* branches: if-expressions whose branches contain different variables, and whose conditions change only at events. Other
 * if-expressions with the same conditions are included, so that a condition has the same value in all equations of a mode. In
 * each mode of such a model the equations have their own structure: index, states, hidden constraints. A problem is narrowed to
 * a mode by taking the branches that hold there (Benveniste, Caillaud and others 2020, multimode DAEs). */
#pragma once

#include "array/modes.h"

typedef struct Branches {
  uint32_t count;
  Expr *node;      /* the if-expressions */
  Expr *condition; /* condition of each if-expression, over discrete leaves and parameters */
} Branches;

/* The branches of a problem whose modes have been extracted. Owned by the arena. O(size of the equations). */
Branches branches_find(const Problem *problem, Arena *arena);

/* The branches of a problem whose modes have not been extracted; their conditions may contain any expressions. */
Branches branches_find_written(const Problem *problem, Arena *arena);

/* Replaces expressions by their values in the mode where the conditions have these values. An if-expression may be inside a branch
 * of another: inner ones come first in the list, so a branch that is taken contains them already replaced. */
void branches_take(Dag *dag, const Branches *branches, const bool *holds, Expr *residual, uint32_t count);

/* The problem in the mode where the conditions have these values. Owned by the arena. */
Problem branches_narrow(const Problem *problem, const Branches *branches, const bool *holds, Arena *arena);
