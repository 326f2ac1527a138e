/* freedom: what equations leave free is taken as near to given values as can be.
 *
 * Let B be the derivatives of the equations by some leaves z, of which B has the rank r on the solutions. The first r leaves are pivots: every
 * other column of B is B_p c with the pivots' columns B_p, so that z may move by (c, -1) and no equation sees it. The solution nearest to the values s has
 * (c, -1)^T (z - s) = 0 for each of them: the minimum-norm solution for s = 0. The numbers c are unknowns, from B_p^T (B_p c - B_k) = 0, which is regular wherever
 * the pivots are independent, whichever rows make them so. Where B has no more rows than its rank, z - s = B^T m says the same with unknowns m, and needs no pivots.
 */
#pragma once

#include "array/array.h"

typedef struct Freedom {
  uint32_t count, rank;
  Expr *leaf;   /* variables or derivatives, the pivots first */
  Expr *target; /* per leaf: the value that it is to be near to */
} Freedom;

/* The problem with count - rank equations more that say so, and the unknowns that these need. In the place of equations replaced[count - rank], which
 * follow from the others; NULL: they are added. Owned by the arena. */
Problem freedom_close(const Problem *problem, const Freedom *freedom, const uint32_t *replaced, Arena *arena);
