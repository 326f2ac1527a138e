/* large: factors large matrices for linear.h. daedal uses LAPACK and KLU (large.c). An exported solver, which needs no library, has
 * its own file instead. */
#pragma once

#include "base/heap.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Factors dense matrices, stored by columns, in place. It is faster than a plain LU from `rows` rows on. */
typedef struct LargeDense {
  int32_t rows;
  void (*expect)(Heap *heap); /* called before the first factorization */

  /* Pivots are numbered from 1. false: the matrix is singular. */
  bool (*factor)(int32_t n, double *matrix, int32_t *pivot, bool complex_values);
  void (*solve)(int32_t n, const double *matrix, const int32_t *pivot, bool complex_values, double *b);
} LargeDense;

extern const LargeDense *const large_dense; /* NULL: the plain LU is used for all sizes */

/* A sparse matrix; complex values are pairs (re, im). */
typedef struct Large Large;

typedef struct LargeSparse {
  Large *(*make)(Heap *heap, bool complex_values); /* set_pattern must follow */

  /* Sets the pattern: compressed columns without duplicate entries. The arrays must outlive their use here. */
  void (*set_pattern)(Large *large, int32_t n, const int32_t *start, const int32_t *row);

  /* Factors the matrix with these values. false: singular, or not a number. */
  bool (*factor)(Large *large, const double *values);

  /* Solves in place with the last factors. */
  void (*solve)(Large *large, double *b);

  /* For the last factored real matrix: the sign of its determinant and the logarithm of its absolute value; its smallest
   * pivot. O(n). */
  double (*determinant)(const Large *large, double *logarithm);
  double (*least_pivot)(const Large *large);
} LargeSparse;

extern const LargeSparse *const large_sparse; /* NULL: no matrix of an exported model is large */
extern const LargeSparse large_plain;         /* of exported solvers */

/* Estimates the condition number of a sparse matrix in compressed columns, in the 1-norm (Hager 1984, by KLU); HUGE_VAL if it is
 * singular. Costs about one factorization. */
double large_condition(Heap *heap, int32_t n, int32_t *start, int32_t *row, double *values);

/* Counts the work of a factorization that is about to begin. */
static inline void count_factor_work(Heap *heap, int32_t n, int32_t nonzeros, double steps) {
  Budget *budget = heap_budget(heap);
  uint64_t left = budget->most[BUDGET_WORK] - budget->used[BUDGET_WORK];
  if (!(steps > 0)) return;
  if (steps > (double)left) {
    char *task = heap_alloc(heap, BUDGET_MESSAGE);
    snprintf(task, BUDGET_MESSAGE, "the factors of a matrix of %d rows and %d nonzeros", n, nonzeros);
    budget_task(budget, task);
  }
  heap_work(heap, steps < 1e18 ? (uint64_t)steps : UINT64_MAX);
}

/* Multiplies a determinant, given by its sign and the logarithm of its absolute value, by a factor. */
static inline void multiply_determinant(double factor, double *sign, double *logarithm) {
  if (factor < 0) *sign = -*sign;
  *logarithm += log(fabs(factor));
}
