/* freedom: keeps free unknowns as near as possible to given values.
 *
 * Let B be the derivatives of the equations with respect to some leaves z, with rank r on the solutions. No equation changes if
 * z moves in the null space of B. The solution z nearest to the values s is the one where z - s is normal to the set of
 * solutions: z - s = B^T B_p w. Here w has r unknowns, and B_p consists of the columns of r independent leaves, the pivots. For
 * s = 0 it has the least norm. All rows of B take part, so this is regular wherever the pivots are independent. */
#pragma once

#include "array/array.h"

typedef struct Freedom {
  uint32_t count, rank;
  Expr *leaf;   /* variables or derivatives, the pivots first */
  Expr *target; /* per leaf: the value that it should be near to */
} Freedom;

/* The problem with count - rank more equations that require the nearest solution, and with the additional unknowns in these
 * equations. The new equations replace the equations replaced[count - rank], which follow from the others; NULL: they are added.
 * Owned by the arena. */
Problem freedom_close(const Problem *problem, const Freedom *freedom, const uint32_t *replaced, Arena *arena);
