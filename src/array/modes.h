/* modes: relations that make state events. Each relation a < b outside of noEvent and smooth is taken out of the equations
 * and replaced by a discrete leaf, its mode, so that between events the equations are smooth; a - b is its event function.
 * Derivatives of an equation hold the same relations, hence the same modes. */
#ifndef DAEDAL_ARRAY_MODES_H
#define DAEDAL_ARRAY_MODES_H

#include "array/array.h"

typedef struct Modes {
  uint32_t count;
  uint32_t first;   /* discrete leaf index of mode 0: behind the model's own discrete variables */
  Expr *relation;   /* the relation itself, for messages */
  Expr *difference; /* left - right, inner relations replaced too */
} Modes;

/* Takes the relations out of the residuals of the problem, in place. Owned by the arena. O(size of the equations). */
Modes modes_extract(Problem *problem, Arena *arena);

/* An expression with the relations put back in for their modes, as people know them. */
Expr modes_restore(const Modes *modes, Dag *dag, Expr e);

#endif
