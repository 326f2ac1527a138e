/* large: see large.h. Dense matrices use LAPACK, sparse ones KLU. */
#include "base/large.h"

#include "base/blas.h"

#include <klu.h>
#include <lapacke.h>

#include <math.h>

static bool dense_factor(int32_t n, double *matrix, int32_t *pivot, bool complex_values) {
  lapack_int info;
  if (complex_values) LAPACK_zgetrf(&n, &n, (lapack_complex_double *)matrix, &n, pivot, &info);
  else LAPACK_dgetrf(&n, &n, matrix, &n, pivot, &info);
  return info == 0;
}

static void dense_solve(int32_t n, const double *matrix, const int32_t *pivot, bool complex_values, double *b) {
  lapack_int one = 1, info;
  char no = 'N';
  if (complex_values)
    LAPACK_zgetrs(&no, &n, &one, (const lapack_complex_double *)matrix, &n, pivot, (lapack_complex_double *)b, &n,
                  &info);
  else LAPACK_dgetrs(&no, &n, &one, matrix, &n, pivot, b, &n, &info);
}

/* Measured: the plain LU is faster than LAPACK up to about sixty rows. */
static const LargeDense lapack = {61, blas_expect_room, dense_factor, dense_solve};
const LargeDense *const large_dense = &lapack;

struct Large {
  Heap *heap;
  int32_t n;
  bool complex_values;
  int32_t *start, *row;
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *numeric;
};

static void release(void *object) {
  Large *large = object;
  klu_free_numeric(&large->numeric, &large->common);
  klu_free_symbolic(&large->symbolic, &large->common);
}

/* *ticket releases it early. */
static Large *make(Heap *heap, bool complex_values, void **ticket) {
  Large *large = heap_alloc(heap, sizeof *large);
  *large = (Large){.heap = heap, .complex_values = complex_values};
  klu_defaults(&large->common);
  *ticket = heap_defer(heap, release, large);
  return large;
}

static Large *new_sparse(Heap *heap, bool complex_values) {
  void *ticket;
  return make(heap, complex_values, &ticket);
}

static void set_pattern(Large *large, int32_t n, const int32_t *start, const int32_t *row) {
  release(large);
  large->n = n;
  large->start = (int32_t *)start;
  large->row = (int32_t *)row;
  large->symbolic = klu_analyze(n, large->start, large->row, &large->common);
  if (!large->symbolic && large->common.status == KLU_OUT_OF_MEMORY) heap_fail(large->heap);
}

/* Factors again with the previous pivots; false if they no longer fit. */
static bool refactor(Large *large, double *values) {
  int32_t *start = large->start, *row = large->row;
  klu_common *common = &large->common;
  if (!large->numeric) return false;
  if (large->complex_values)
    return klu_z_refactor(start, row, values, large->symbolic, large->numeric, common) && common->status == KLU_OK &&
           klu_z_rgrowth(start, row, values, large->symbolic, large->numeric, common) && common->rgrowth > 1e-5;
  return klu_refactor(start, row, values, large->symbolic, large->numeric, common) && common->status == KLU_OK &&
         klu_rgrowth(start, row, values, large->symbolic, large->numeric, common) && common->rgrowth > 1e-5;
}

/* This many multiplications and additions take the time of one step of work. */
enum { STEP_OPERATIONS = 8 };

static bool factor_sparse(Large *large, const double *given) {
  int32_t *start = large->start, *row = large->row, nonzeros = start ? start[large->n] : 0;
  double *values = (double *)given;
  if (!large->symbolic) return false;
  for (int32_t k = 0; k < nonzeros * (large->complex_values ? 2 : 1); k++)
    if (!isfinite(values[k])) return false;
  if (refactor(large, values)) return true;
  /* KLU knows the number of operations beforehand if it chose the order. */
  count_factor_work(large->heap, large->n, nonzeros, large->symbolic->est_flops / STEP_OPERATIONS);
  klu_free_numeric(&large->numeric, &large->common);
  large->numeric = large->complex_values ? klu_z_factor(start, row, values, large->symbolic, &large->common)
                                         : klu_factor(start, row, values, large->symbolic, &large->common);
  if (!large->numeric && large->common.status == KLU_OUT_OF_MEMORY) heap_fail(large->heap);
  return large->numeric && large->common.status == KLU_OK;
}

static void solve_sparse(Large *large, double *b) {
  if (large->complex_values) klu_z_solve(large->symbolic, large->numeric, large->n, 1, b, &large->common);
  else klu_solve(large->symbolic, large->numeric, large->n, 1, b, &large->common);
}

static double permutation_sign(const int32_t *permutation, int32_t n, bool *seen) {
  double sign = 1;
  for (int32_t k = 0; k < n; k++) seen[k] = false;
  for (int32_t k = 0; k < n; k++)
    for (int32_t next = k; !seen[next]; next = permutation[next]) {
      seen[next] = true;
      if (permutation[next] != k) sign = -sign; /* a cycle of m elements is m - 1 exchanges */
    }
  return sign;
}

/* P R^-1 A Q is block triangular with factors L U on its diagonal; R has the row scales. */
static double determinant_of(const Large *large, double *logarithm) {
  int32_t n = large->n;
  const double *diagonal = large->numeric->Udiag;
  bool *seen = heap_array(large->heap, (size_t)n, sizeof *seen);
  double sign = permutation_sign(large->numeric->Pnum, n, seen) * permutation_sign(large->symbolic->Q, n, seen);
  heap_free(large->heap, seen);
  for (int32_t k = 0; k < n; k++) {
    multiply_determinant(diagonal[k], &sign, logarithm);
    if (large->numeric->Rs) multiply_determinant(large->numeric->Rs[k], &sign, logarithm);
  }
  return sign;
}

static double least_pivot(const Large *large) {
  double least = INFINITY;
  for (int32_t k = 0; k < large->n; k++) least = fmin(least, fabs(((const double *)large->numeric->Udiag)[k]));
  return least;
}

static const LargeSparse sparse = {new_sparse, set_pattern, factor_sparse, solve_sparse, determinant_of, least_pivot};
const LargeSparse *const large_sparse = &sparse;

double large_condition(Heap *heap, int32_t n, int32_t *start, int32_t *row, double *values) {
  void *ticket;
  if (n == 0) return 1;
  Large *large = make(heap, false, &ticket);
  set_pattern(large, n, start, row);
  bool is_regular =
      factor_sparse(large, values) && klu_condest(start, values, large->symbolic, large->numeric, &large->common);
  double condition = is_regular ? large->common.condest : HUGE_VAL;
  heap_release(heap, ticket);
  heap_free(heap, large);
  return condition;
}
