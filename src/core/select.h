/* select: chooses m well-conditioned columns of a matrix with m rows, and assesses an existing choice. Small matrices use QR with
 * column pivoting. Large sparse ones use row-wise elimination that pivots on the largest entry. Exported solvers contain this
 * file unchanged. */
#pragma once

#include "base/vec.h"

#include <stdbool.h>

/* Rows 0 .. rows-1 of a sparse matrix by rows; only candidate columns count. */
typedef struct SelectProblem {
  int32_t rows, columns;
  const int32_t *row_start, *column;
  const double *values;
  const double *weight; /* per column: scale; columns with a larger weight are chosen first */
  const int32_t *candidates;
  int32_t candidate_count;
  double keep;  /* factor on the weight of columns chosen before */
  bool *chosen; /* per column: on input the present choice, on output the new one */
} SelectProblem;

typedef struct Selector Selector;

Selector *selector_new(Heap *heap);

/* Chooses problem->rows columns. Depends on the order of rows and columns only if some of them are equally good. false: the rank is
 * smaller than the number of rows. Dense: O(rows^2 * candidates). */
bool selector_choose(Selector *selector, SelectProblem *problem);

/* The largest factor by which exchanging one chosen column for another candidate multiplies |det| of the chosen (weighted) columns;
 * HUGE_VAL if the present choice is singular. */
double selector_gain(Selector *selector, const SelectProblem *problem);

/* A choice that was examined once, and how far its matrix may move before it must be examined again. If all members are zero, no
 * choice was examined yet. */
typedef struct Judged {
  int32_t rows;        /* 0: none */
  VEC(double) values;  /* the entries at that time */
  VEC(double) scale;   /* per entry: the product of its row's and its column's scale, 0 outside the candidates */
  VEC(double) inverse; /* |M^-1| of the chosen columns, scaled, by columns */
  double room;         /* how much the moves may add to an entry of M^-1 N */
} Judged;

/* Can no exchange gain more than `limit`? Like selector_gain, but a good choice is kept in `judged` and examined again only
 * after its matrix has changed too much. The caller clears `judged` (rows = 0) when the choice or its weights change. */
bool selector_is_good(Selector *selector, const SelectProblem *problem, double limit, Judged *judged);

/* The condition number of the chosen (weighted) columns; NAN if the matrix is too large for a dense method. O(rows^3). */
double selector_condition(Selector *selector, const SelectProblem *problem);
