/* explain: what a report says about initial values beyond the values: by which equation each was found, how
 * the system fell apart, which parts hide constraints, how well conditioned it was. Made on demand; a simulation
 * does without. */
#pragma once

#include "init/initial.h"
#include "init/parts.h"
#include "init/propagation.h"

typedef struct Explanation {
  HiddenParts parts;
  const char *ranks;                          /* characteristic values, if the method goes by ranks; NULL */
  uint32_t assignments, linear, nonlinear;    /* explicit ones; systems of equations */
  uint32_t largest_linear, largest_nonlinear; /* rows */
  double residual;                            /* largest scaled residual of all rows */
  uint32_t residual_row;                      /* of the system; MAP_NONE if there are no rows */
  double condition;                           /* estimate: scaled Jacobian of the rows by what they determine, 1-norm */
  const Propagation *propagation;             /* NULL: nobody asked */
} Explanation;

/* Explains the values found, for the modes that the evaluator has now; fills the rows in initial->column,
 * and initial->system. About linear except for two factorizations. */
Explanation initial_explain(Initializer *initializer, Initial *initial, Arena *arena);

/* What a wrong start does. Owned by the arena. O(n^3). */
const Propagation *initial_propagation(const Initializer *initializer, const Initial *initial, Arena *arena);

/* Do the rows determine the columns that they are solved for, of values that were explained? Told by the ranks of what
 * is solved at a time, whatever the units of equations and variables are. Entries are zero that round-off of columns and time changes
 * by half; `later` is the time with it. O(n^3) in the size n of the largest system. */
bool initial_is_regular(Initializer *initializer, const Initial *initial, double later);
