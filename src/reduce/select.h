/* select: choosing m well-conditioned columns of an m-row matrix, and judging a choice made. Small matrices by QR with
 * column pivoting, large sparse ones by row-wise elimination that pivots on the largest entry. */
#pragma once

#include "base/vec.h"

/* Rows 0 .. rows-1 of a sparse matrix by rows; only candidate columns count. */
typedef struct SelectProblem {
  int32_t rows, columns;
  const int32_t *row_start, *column;
  const double *values;
  const double *weight; /* per column: scale; heavier columns are chosen first */
  const int32_t *candidates;
  int32_t candidate_count;
  double keep;  /* further weight of columns chosen before */
  bool *chosen; /* per column: in, the present choice; out, the new one */
} SelectProblem;

typedef struct Selector Selector;

Selector *selector_new(Heap *heap);

/* Chooses problem->rows columns. Depends on the order of rows and columns only where they tie. false: the rank is
 * smaller than the number of rows. Dense: O(rows^2 * candidates). */
bool selector_choose(Selector *selector, SelectProblem *problem);

/* The largest factor by which exchanging one chosen column for a candidate not chosen multiplies |det| of the chosen
 * (weighted) columns; HUGE_VAL if the present choice is singular. */
double selector_gain(Selector *selector, const SelectProblem *problem);

/* The condition number of the chosen (weighted) columns; NAN where the matrix is too large to be treated as dense. */
double selector_condition(Selector *selector, const SelectProblem *problem);
