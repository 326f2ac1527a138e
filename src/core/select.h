/* select: choosing m well-conditioned columns of an m-row matrix, and judging a choice made. Small matrices by QR with
 * column pivoting, large sparse ones by row-wise elimination that pivots on the largest entry. Exported solvers carry this as it stands. */
#pragma once

#include "base/vec.h"

#include <stdbool.h>

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

/* A choice judged once, and how far its matrix may move before it must be judged again. Zeroed: none. */
typedef struct Judged {
  int32_t rows;        /* 0: none */
  VEC(double) values;  /* of the entries then */
  VEC(double) scale;   /* per entry: its row's and its column's, 0 outside the candidates */
  VEC(double) inverse; /* |M^-1| of the chosen columns, scaled, by columns */
  double room;         /* what the moves may add to an entry of M^-1 N */
} Judged;

/* Whether no exchange can gain more than `limit`. Like selector_gain, but a choice that was found good is kept in `judged` and
 * judged again only if its matrix has changed too much since then. The caller forgets what was judged
 * (rows = 0) when the choice or its weights change. */
bool selector_is_good(Selector *selector, const SelectProblem *problem, double limit, Judged *judged);

/* The condition number of the chosen (weighted) columns; NAN where the matrix is too large to be treated as dense. O(rows^3). */
double selector_condition(Selector *selector, const SelectProblem *problem);
