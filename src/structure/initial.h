/* initial: which columns (j, k) of the derivative array can be given as initial values.
 *
 * Invariant: a set of columns may be given if the rows of the array can still be matched into the other columns. Such sets are
 * the independent sets of a matroid, so a greedy choice of columns by preference gives the best set. All largest sets have the
 * same size, the number of degrees of freedom.
 */
#pragma once

#include "structure/matching.h"

/* The columns (variable[n], order[n]) with order < d[variable], ascending: the columns that may be initialized. */
typedef struct InitialCandidates {
  int32_t count;
  int32_t *variable, *order;
} InitialCandidates;

/* The sum of d must fit in int32_t. Owned by the arena. O(n + count). */
InitialCandidates initial_candidates(Arena *arena, int32_t n_variables, const int32_t *d);

/* A largest legal set of initial values. `given` marks the columns chosen; every other column is
 * determined by the row matched to it. n_given == n_columns - n_rows when the rows are independent. */
typedef struct InitialChoice {
  bool rows_matched; /* false: the rows themselves are structurally dependent */
  int32_t n_given;
  bool *given; /* per column */
  Matching matching;
} InitialChoice;

/* Chooses the columns to give, those with larger preference first; for example 0 for highest derivatives, larger for better start
 * values, largest for values that the model fixes. So the fixed columns are legal if all of them are chosen; fixed columns that are
 * not chosen are redundant. The other chosen columns complete the initial values. Owned by the arena. O(n log n) and a matching. */
InitialChoice initial_choose(Arena *arena, const Pattern *array, const int32_t *preference);

/* For a column that is not given: the rows that determine it, and the given columns that contradict it. If any one of these were
 * not given, `column` could be given instead. Both ascend; owned by the arena. O(n + entries). */
typedef struct InitialConflict {
  int32_t n_rows, n_columns;
  int32_t *rows, *columns;
} InitialConflict;

InitialConflict initial_conflict(Arena *arena, const Pattern *array, const InitialChoice *choice, int32_t column);
