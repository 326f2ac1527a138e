/* initial: which columns (j, k) of the derivative array can be given as initial values.
 *
 * Invariant: a set of columns may be given if the rows of the array can still be matched into the other
 * columns. Such sets are the independent sets of a matroid, so taking columns greedily by preference gives
 * the best set, and all largest sets have the same size, the degrees of freedom.
 */
#pragma once

#include "structure/matching.h"

/* The columns (variable[n], order[n]) with order < d[variable], ascending: what may be initialized. */
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

/* Chooses by preference: a column with larger preference is rather given than one with smaller (say 0
 * highest derivatives, then by how good a start value is, at the top what the model fixes); equal ones are
 * equals. So if some set is fixed at the top preference: it is legal if all of it is given; those not given
 * are redundant; and what is given beyond it completes it. Owned by the arena. O(n log n) and a matching. */
InitialChoice initial_choose(Arena *arena, const Pattern *array, const int32_t *preference);

/* For a column not given: the rows that determine it and the given columns it clashes with, that is those of which any
 * one could be dropped to give `column` instead. Both ascend; owned by the arena. O(n + entries). */
typedef struct InitialConflict {
  int32_t n_rows, n_columns;
  int32_t *rows, *columns;
} InitialConflict;

InitialConflict initial_conflict(Arena *arena, const Pattern *array, const InitialChoice *choice, int32_t column);
