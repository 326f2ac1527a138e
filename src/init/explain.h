/* explain: the contents of a report about initial values besides the values: the equation that gave each value, how the system
 * was divided, which parts hide constraints, and how well conditioned the system was. Made on demand; a simulation does not
 * need it. */
#pragma once

#include "init/initial.h"
#include "init/parts.h"
#include "init/propagation.h"

typedef struct Explanation {
  HiddenParts parts;
  const char *ranks;                          /* characteristic values, if the method uses ranks; otherwise NULL */
  uint32_t assignments, linear, nonlinear;    /* explicit equations; systems of equations */
  uint32_t largest_linear, largest_nonlinear; /* rows */
  double residual;                            /* largest scaled residual of all rows */
  uint32_t residual_row;                      /* row of the system; MAP_NONE if there are no rows */
  double condition; /* estimate in the 1-norm, for the scaled Jacobian of the rows by the columns that they determine */
  const Propagation *propagation; /* NULL: not requested */
} Explanation;

/* Explains the values found, for the modes that the evaluator has now; fills the rows in initial->column, and
 * initial->system. Takes roughly linear time, apart from two factorizations. */
Explanation initial_explain(Initializer *initializer, Initial *initial, Arena *arena);

/* The effect of a wrong start. Owned by the arena. O(n^3). */
const Propagation *initial_propagation(const Initializer *initializer, const Initial *initial, Arena *arena);

/* For values that initial_explain has explained: do the rows determine the columns for which they were solved? The ranks of
 * systems that are solved together
 * decide, independently of units. An entry that round-off of the columns and the time changes by half counts as zero; `later` is
 * the time with round-off. O(n^3) in the size n of the largest system. */
bool initial_is_regular(Initializer *initializer, const Initial *initial, double later);
