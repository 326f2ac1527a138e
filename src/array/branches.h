/* branches: if-expressions whose branches differ in the variables that they hold, and whose conditions change at events only. In
 * each mode of such a model the equations have a structure of their own: index, states, hidden constraints. A problem is
 * narrowed to a mode by taking the branches that hold there (Benveniste, Caillaud and others 2020, multimode DAEs). */
#pragma once

#include "array/modes.h"

typedef struct Branches {
  uint32_t count;
  Expr *node;      /* the if-expressions */
  Expr *condition; /* of each, over discrete leaves and parameters */
} Branches;

/* Those of a problem whose modes have been taken out. Owned by the arena. O(size of the equations). */
Branches branches_find(const Problem *problem, Arena *arena);

/* Those of a problem whose modes have not been taken out; their conditions may hold anything. */
Branches branches_find_written(const Problem *problem, Arena *arena);

/* Expressions in the mode where the conditions have these values, in place. An if-expression may stand in a branch of another: inner ones
 * come first in the list, and what is taken holds them taken. */
void branches_take(Dag *dag, const Branches *branches, const bool *holds, Expr *residual, uint32_t count);

/* The problem in the mode where the conditions have these values. Owned by the arena. */
Problem branches_narrow(const Problem *problem, const Branches *branches, const bool *holds, Arena *arena);
