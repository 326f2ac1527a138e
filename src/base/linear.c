/* linear: see linear.h. Invariant: `kind` decides which of the groups of fields is in use; rows of dense matrices
 * are scaled to largest entry one, so that pivoting does not depend on how equations are written. */
#include "base/linear.h"

#include "base/blas.h"
#include "base/pairs.h"
#include "base/sparse_lu.h"

#include <klu.h>
#include <lapacke.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Measured: the plain LU beats LAPACK up to about sixty rows. */
enum {
  KEPT_MIN = 8,   /* matrices from this size on */
  KEPT_MAX = 128, /* to this size keep their pivots if, */
  KEPT_GAIN = 4,  /* with their zeros left out, elimination takes less than one operation in so many */
  FILL = 4,       /* larger ones are dense when one entry in so many is not zero */
  PLAIN_MAX = 60, /* largest matrix for the plain LU */
};

typedef enum LinearKind { LINEAR_PLAIN, LINEAR_LAPACK, LINEAR_KEPT, LINEAR_SPARSE } LinearKind;

struct Linear {
  Heap *heap;
  int32_t n, nonzeros;
  bool complex_values;
  LinearKind kind;
  bool is_new; /* the pattern: it has not been factored yet */
  const int32_t *start, *row;

  /* of a transpose: its pattern, where values go in it, and they themselves; NULL: the pattern is that given */
  int32_t *transposed_start, *transposed_row, *place;
  double *ordered;

  double *matrix, *scale; /* dense: factors (column-major), row scales */
  int32_t *pivot, room;   /* equations for which these three are allocated */

  SparseLu *kept;

  void *deferred; /* release of the three below */
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *numeric;
};

static void linear_release(void *object) {
  Linear *linear = object;
  klu_free_numeric(&linear->numeric, &linear->common);
  klu_free_symbolic(&linear->symbolic, &linear->common);
}

static LinearKind dense_kind(int32_t n) { return n <= PLAIN_MAX ? LINEAR_PLAIN : LINEAR_LAPACK; }

/* By the numbers of equations and entries alone. */
static LinearKind suitable_kind(int32_t n, int64_t nonzeros) {
  int64_t all = (int64_t)n * n;
  if (n >= KEPT_MIN && n <= KEPT_MAX && 2 * nonzeros <= all) return LINEAR_KEPT;
  return n > KEPT_MAX && nonzeros * FILL < all ? LINEAR_SPARSE : dense_kind(n);
}

static void make_dense_room(Linear *linear) {
  size_t size = (size_t)linear->n, numbers = size * size * (linear->complex_values ? 2 : 1);
  if (linear->matrix && linear->n <= linear->room) return;
  linear->matrix = heap_resize(linear->heap, linear->matrix, numbers * sizeof(double));
  linear->scale = heap_resize(linear->heap, linear->scale, size * sizeof(double));
  linear->pivot = heap_resize(linear->heap, linear->pivot, size * sizeof(int32_t));
  linear->room = linear->n;
}

static void make_room(Linear *linear, LinearKind kind) {
  linear->kind = kind;
  if (kind == LINEAR_LAPACK) blas_expect_room(linear->heap);
  if (kind == LINEAR_PLAIN || kind == LINEAR_LAPACK) make_dense_room(linear);
  if (kind == LINEAR_KEPT && !linear->kept) linear->kept = sparse_lu_new(linear->heap, linear->complex_values);
  if (kind == LINEAR_SPARSE && !linear->deferred) linear->deferred = heap_defer(linear->heap, linear_release, linear);
}

void linear_resize(Linear *linear, int32_t n, int32_t nonzeros) {
  linear->n = n;
  make_room(linear, suitable_kind(n, nonzeros));
}

Linear *linear_new(Heap *heap, int32_t n, int32_t nonzeros, bool complex_values) {
  Linear *linear = heap_alloc(heap, sizeof *linear);
  linear->heap = heap;
  linear->complex_values = complex_values;
  klu_defaults(&linear->common);
  linear_resize(linear, n, nonzeros);
  return linear;
}

/* The pattern of a matrix of this kind. */
static void take_pattern(Linear *linear, LinearKind kind, const int32_t *column_start, const int32_t *row_index) {
  linear->start = column_start;
  linear->row = row_index;
  linear->nonzeros = column_start[linear->n];
  linear->is_new = true;
  make_room(linear, kind);
  if (kind == LINEAR_KEPT) sparse_lu_set_pattern(linear->kept, linear->n, column_start, row_index);
  if (kind != LINEAR_SPARSE) return;
  linear_release(linear);
  linear->symbolic = klu_analyze(linear->n, (int32_t *)column_start, (int32_t *)row_index, &linear->common);
  if (!linear->symbolic && linear->common.status == KLU_OUT_OF_MEMORY) heap_fail(linear->heap);
}

void linear_set_pattern(Linear *linear, const int32_t *column_start, const int32_t *row_index) {
  take_pattern(linear, suitable_kind(linear->n, column_start[linear->n]), column_start, row_index);
}

void linear_set_transposed(Linear *linear, const int32_t *column_start, const int32_t *row_index) {
  int32_t n = linear->n, nonzeros = column_start[n];
  size_t count = (size_t)nonzeros, width = linear->complex_values ? 2 : 1;
  int32_t *start = linear->transposed_start =
      heap_resize(linear->heap, linear->transposed_start, ((size_t)n + 2) * sizeof *start);
  linear->transposed_row = heap_resize(linear->heap, linear->transposed_row, count * sizeof(int32_t));
  linear->place = heap_resize(linear->heap, linear->place, count * sizeof(int32_t));
  linear->ordered = heap_resize(linear->heap, linear->ordered, count * width * sizeof(double));
  memset(start, 0, ((size_t)n + 2) * sizeof *start);
  for (int32_t k = 0; k < nonzeros; k++) start[row_index[k] + 2]++;
  for (int32_t i = 0; i < n; i++) start[i + 2] += start[i + 1];
  for (int32_t j = 0; j < n; j++)
    for (int32_t k = column_start[j]; k < column_start[j + 1]; k++) {
      linear->place[k] = start[row_index[k] + 1]++;
      linear->transposed_row[linear->place[k]] = j;
    }
  linear_set_pattern(linear, start, linear->transposed_row);
}

/* Values in the order of the pattern that is factored. */
static const double *linear_order(Linear *linear, const double *values) {
  double *ordered = linear->ordered;
  if (!linear->place) return values;
  for (int32_t k = 0; k < linear->nonzeros; k++) {
    int32_t place = linear->place[k];
    if (!linear->complex_values) ordered[place] = values[k];
    else ordered[2 * place] = values[2 * k], ordered[2 * place + 1] = values[2 * k + 1];
  }
  return ordered;
}

/* The next two are made for real and for complex numbers: `width` is a constant where they are called. */
#define FOR_EACH_WIDTH __attribute__((always_inline)) static inline

/* The reciprocals of the largest entries of rows; false: a row is zero or not finite. */
FOR_EACH_WIDTH bool linear_find_scales(Linear *linear, const double *values, size_t width) {
  double *scale = linear->scale;
  const int32_t *row = linear->row;
  for (int32_t i = 0; i < linear->n; i++) scale[i] = 0;
  for (int32_t k = 0; k < linear->nonzeros; k++) {
    double size = width == 2 ? fabs(values[2 * k]) + fabs(values[2 * k + 1]) : fabs(values[k]);
    if (!(size <= scale[row[k]])) scale[row[k]] = size;
  }
  for (int32_t i = 0; i < linear->n; i++) {
    if (!(scale[i] > 0) || !isfinite(scale[i])) return false;
    scale[i] = 1 / scale[i];
  }
  return true;
}

/* Scatters the values into the dense matrix, each row divided by its largest entry. False: a row is zero. */
FOR_EACH_WIDTH bool linear_scatter(Linear *linear, const double *values, size_t width) {
  size_t n = (size_t)linear->n;
  const double *scale = linear->scale;
  const int32_t *start = linear->start, *row = linear->row;
  if (!linear_find_scales(linear, values, width)) return false;
  if ((size_t)linear->nonzeros < n * n) memset(linear->matrix, 0, n * n * width * sizeof(double));
  double *column = linear->matrix;
  for (int32_t j = 0; j < linear->n; j++, column += n * width) {
    for (int32_t k = start[j]; k < start[j + 1]; k++) {
      int32_t i = row[k];
      if (width == 1) {
        column[i] = values[k] * scale[i];
        continue;
      }
      column[2 * i] = values[2 * k] * scale[i];
      column[2 * i + 1] = values[2 * k + 1] * scale[i];
    }
  }
  return true;
}

/* b[i] -= factor * a[i] for first <= i < last, complex numbers (re, im). */
static inline void subtract_complex(double *b, const double *a, double re, double im, int32_t first, int32_t last) {
  const Pair straight = {re, re}, crossed = {-im, im};
  Pair *target = (Pair *)(void *)b;
  const Pair *source = (const Pair *)(const void *)a;
  for (int32_t i = first; i < last; i++) {
    Pair turned = {source[i][1], source[i][0]};
    target[i] -= source[i] * straight + turned * crossed;
  }
}

/* Made for each size of small matrices, too, where loops take longer than what they do: `n` is a constant where they are called. */
#define FOR_EACH_SIZE __attribute__((always_inline)) static inline

/* As linear_scatter, for small matrices. */
FOR_EACH_SIZE bool linear_scatter_small(Linear *linear, const double *values, int32_t n) {
  double *a = linear->matrix;
  const int32_t *start = linear->start, *row = linear->row;
  memset(a, 0, (size_t)(n * n) * sizeof *a);
#pragma GCC unroll 3
  for (int32_t j = 0; j < n; j++)
    for (int32_t k = start[j]; k < start[j + 1]; k++) a[j * n + row[k]] = values[k];
#pragma GCC unroll 3
  for (int32_t i = 0; i < n; i++) {
    double largest = 0;
    for (int32_t j = 0; j < n; j++) largest = fabs(a[j * n + i]) <= largest ? largest : fabs(a[j * n + i]);
    if (!(largest > 0) || !isfinite(largest)) return false;
    linear->scale[i] = 1 / largest;
    for (int32_t j = 0; j < n; j++) a[j * n + i] *= linear->scale[i];
  }
  return true;
}

/* Gaussian elimination with partial pivoting, column by column; the pivots' reciprocals stay on the diagonal. */
FOR_EACH_SIZE bool linear_plain_factor(Linear *linear, int32_t n) {
  double *a = linear->matrix;
#pragma GCC unroll 3
  for (int32_t k = 0; k < n; k++) {
    double *pivot_column = a + (size_t)k * (size_t)n;
    int32_t p = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(pivot_column[i]) > fabs(pivot_column[p])) p = i;
    linear->pivot[k] = p;
    if (!(fabs(pivot_column[p]) > 0)) return false;
    double reciprocal = 1 / pivot_column[p];
    pivot_column[p] = pivot_column[k];
    pivot_column[k] = reciprocal;
    for (int32_t i = k + 1; i < n; i++) pivot_column[i] *= reciprocal;
    for (int32_t j = k + 1; j < n; j++) {
      double *column = a + (size_t)j * (size_t)n, head = column[p];
      column[p] = column[k];
      column[k] = head;
      if (head == 0) continue;
      add_multiple(column + k + 1, pivot_column + k + 1, -head, n - k - 1);
    }
  }
  return true;
}

FOR_EACH_SIZE void linear_plain_solve(const Linear *linear, double *b, int32_t n) {
  const double *a = linear->matrix;
#pragma GCC unroll 3
  for (int32_t k = 0; k < n; k++) {
    const double *column = a + (size_t)k * (size_t)n;
    int32_t p = linear->pivot[k];
    double head = b[p];
    b[p] = b[k];
    b[k] = head;
    if (head != 0) add_multiple(b + k + 1, column + k + 1, -head, n - k - 1);
  }
#pragma GCC unroll 3
  for (int32_t k = n - 1; k >= 0; k--) {
    const double *column = a + (size_t)k * (size_t)n;
    double head = b[k] *= column[k];
    add_multiple(b, column, -head, k);
  }
}

static bool linear_plain_factor_complex(Linear *linear) {
  int32_t n = linear->n;
  for (int32_t k = 0; k < n; k++) {
    double *c = linear->matrix + 2 * (size_t)k * (size_t)n;
    int32_t p = k;
    double largest = fabs(c[2 * k]) + fabs(c[2 * k + 1]);
    for (int32_t i = k + 1; i < n; i++) {
      double size = fabs(c[2 * i]) + fabs(c[2 * i + 1]);
      if (size > largest) largest = size, p = i;
    }
    linear->pivot[k] = p;
    if (!(largest > 0)) return false;
    double re = c[2 * p], im = c[2 * p + 1], square = re * re + im * im;
    double inverse_re = re / square, inverse_im = -im / square;
    c[2 * p] = c[2 * k];
    c[2 * p + 1] = c[2 * k + 1];
    c[2 * k] = inverse_re;
    c[2 * k + 1] = inverse_im;
    for (int32_t i = k + 1; i < n; i++) {
      double x = c[2 * i], y = c[2 * i + 1];
      c[2 * i] = x * inverse_re - y * inverse_im;
      c[2 * i + 1] = x * inverse_im + y * inverse_re;
    }
    for (int32_t j = k + 1; j < n; j++) {
      double *d = linear->matrix + 2 * (size_t)j * (size_t)n;
      double head_re = d[2 * p], head_im = d[2 * p + 1];
      d[2 * p] = d[2 * k];
      d[2 * p + 1] = d[2 * k + 1];
      d[2 * k] = head_re;
      d[2 * k + 1] = head_im;
      if (head_re == 0 && head_im == 0) continue;
      subtract_complex(d, c, head_re, head_im, k + 1, n);
    }
  }
  return true;
}

static void linear_plain_solve_complex(const Linear *linear, double *b) {
  int32_t n = linear->n;
  for (int32_t k = 0; k < n; k++) {
    int32_t p = linear->pivot[k];
    double re = b[2 * p], im = b[2 * p + 1];
    b[2 * p] = b[2 * k];
    b[2 * p + 1] = b[2 * k + 1];
    b[2 * k] = re;
    b[2 * k + 1] = im;
    subtract_complex(b, linear->matrix + 2 * (size_t)k * (size_t)n, re, im, k + 1, n);
  }
  for (int32_t k = n - 1; k >= 0; k--) {
    const double *c = linear->matrix + 2 * (size_t)k * (size_t)n;
    double re = b[2 * k] * c[2 * k] - b[2 * k + 1] * c[2 * k + 1];
    double im = b[2 * k] * c[2 * k + 1] + b[2 * k + 1] * c[2 * k];
    b[2 * k] = re;
    b[2 * k + 1] = im;
    subtract_complex(b, c, re, im, 0, k);
  }
}

static bool linear_lapack_factor(Linear *linear) {
  lapack_int n = linear->n, info;
  if (linear->complex_values) LAPACK_zgetrf(&n, &n, (lapack_complex_double *)linear->matrix, &n, linear->pivot, &info);
  else LAPACK_dgetrf(&n, &n, linear->matrix, &n, linear->pivot, &info);
  return info == 0;
}

static void linear_lapack_solve(Linear *linear, double *b) {
  lapack_int n = linear->n, one = 1, info;
  char no = 'N';
  if (linear->complex_values)
    LAPACK_zgetrs(&no, &n, &one, (lapack_complex_double *)linear->matrix, &n, linear->pivot, (lapack_complex_double *)b,
                  &n, &info);
  else LAPACK_dgetrs(&no, &n, &one, linear->matrix, &n, linear->pivot, b, &n, &info);
}

/* Factors again with the pivots of before; false if they no longer fit. */
static bool linear_refactor(Linear *linear, double *values) {
  int32_t *start = (int32_t *)linear->start, *row = (int32_t *)linear->row;
  klu_common *common = &linear->common;
  if (!linear->numeric) return false;
  if (linear->complex_values)
    return klu_z_refactor(start, row, values, linear->symbolic, linear->numeric, common) && common->status == KLU_OK &&
           klu_z_rgrowth(start, row, values, linear->symbolic, linear->numeric, common) && common->rgrowth > 1e-5;
  return klu_refactor(start, row, values, linear->symbolic, linear->numeric, common) && common->status == KLU_OK &&
         klu_rgrowth(start, row, values, linear->symbolic, linear->numeric, common) && common->rgrowth > 1e-5;
}

/* In the time of a step of work so many numbers are multiplied and added, in sparse matrices and in dense ones. */
enum { STEP_OPERATIONS = 8, DENSE_STEP_OPERATIONS = 32 };

/* What is about to be factored is work. */
static void count_work(Linear *linear, double steps) {
  Budget *budget = heap_budget(linear->heap);
  uint64_t left = budget->most[BUDGET_WORK] - budget->used[BUDGET_WORK];
  if (!(steps > 0)) return;
  if (steps > (double)left) {
    char *task = heap_alloc(linear->heap, BUDGET_MESSAGE);
    snprintf(task, BUDGET_MESSAGE, "the factors of a matrix of %d rows and %d nonzeros", linear->n, linear->nonzeros);
    budget_task(budget, task);
  }
  heap_work(linear->heap, steps < 1e18 ? (uint64_t)steps : UINT64_MAX);
}

static bool linear_sparse_factor(Linear *linear, double *values) {
  int32_t *start = (int32_t *)linear->start, *row = (int32_t *)linear->row;
  if (!linear->symbolic) return false;
  for (int32_t k = 0; k < linear->nonzeros * (linear->complex_values ? 2 : 1); k++)
    if (!isfinite(values[k])) return false;
  if (linear_refactor(linear, values)) return true;
  /* KLU knows beforehand how many operations that takes, if it chose the order. */
  count_work(linear, linear->symbolic->est_flops / STEP_OPERATIONS);
  klu_free_numeric(&linear->numeric, &linear->common);
  linear->numeric = linear->complex_values ? klu_z_factor(start, row, values, linear->symbolic, &linear->common)
                                           : klu_factor(start, row, values, linear->symbolic, &linear->common);
  if (!linear->numeric && linear->common.status == KLU_OUT_OF_MEMORY) heap_fail(linear->heap);
  return linear->numeric && linear->common.status == KLU_OK;
}

/* Do zeros save so much that looking for them is worth it? */
static bool zeros_pay(const Linear *linear) {
  int64_t n = linear->n;
  return 3 * KEPT_GAIN * sparse_lu_operations(linear->kept) <= n * n * n;
}

/* The first values of a pattern show how much of it elimination fills: *done if they need no dense matrix. */
static bool linear_kept_factor(Linear *linear, const double *values, bool *done) {
  bool is_regular = sparse_lu_factor(linear->kept, values), is_new = linear->is_new;
  linear->is_new = linear->is_new && !is_regular;
  *done = !is_regular || !is_new || zeros_pay(linear);
  return is_regular;
}

static bool linear_dense_factor(Linear *linear, const double *values) {
  if (linear->n == 2) return linear_scatter_small(linear, values, 2) && linear_plain_factor(linear, 2);
  if (linear->n == 3) return linear_scatter_small(linear, values, 3) && linear_plain_factor(linear, 3);
  if (!linear_scatter(linear, values, 1)) return false;
  return linear->kind == LINEAR_LAPACK ? linear_lapack_factor(linear) : linear_plain_factor(linear, linear->n);
}

static bool linear_dense_factor_complex(Linear *linear, const double *values) {
  if (!linear_scatter(linear, values, 2)) return false;
  return linear->kind == LINEAR_LAPACK ? linear_lapack_factor(linear) : linear_plain_factor_complex(linear);
}

bool linear_factor(Linear *linear, const double *values) {
  values = linear_order(linear, values);
  if (linear->kind == LINEAR_SPARSE) return linear_sparse_factor(linear, (double *)values);
  if (linear->kind == LINEAR_KEPT) {
    bool done, is_regular = linear_kept_factor(linear, values, &done);
    if (done) return is_regular;
    make_room(linear, dense_kind(linear->n));
  }
  double n = linear->n;
  count_work(linear, (linear->complex_values ? 4 : 1) * n * n * n * 2 / 3 / DENSE_STEP_OPERATIONS);
  return linear->complex_values ? linear_dense_factor_complex(linear, values) : linear_dense_factor(linear, values);
}

void linear_solve(Linear *linear, double *b) {
  int32_t n = linear->n;
  if (linear->kind == LINEAR_KEPT) {
    sparse_lu_solve(linear->kept, b);
    return;
  }
  if (linear->kind == LINEAR_SPARSE) {
    if (linear->complex_values) klu_z_solve(linear->symbolic, linear->numeric, n, 1, b, &linear->common);
    else klu_solve(linear->symbolic, linear->numeric, n, 1, b, &linear->common);
    return;
  }
  const double *scale = linear->scale;
  if (linear->complex_values)
    for (int32_t i = 0; i < n; i++) b[2 * i] *= scale[i], b[2 * i + 1] *= scale[i];
  else
    for (int32_t i = 0; i < n; i++) b[i] *= scale[i];
  if (linear->kind == LINEAR_LAPACK) linear_lapack_solve(linear, b);
  else if (linear->complex_values) linear_plain_solve_complex(linear, b);
  else if (n == 2) linear_plain_solve(linear, b, 2);
  else if (n == 3) linear_plain_solve(linear, b, 3);
  else linear_plain_solve(linear, b, n);
}

/* ---- determinant ---- */

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

static void multiply_factor(double factor, double *sign, double *logarithm) {
  if (factor < 0) *sign = -*sign;
  *logarithm += log(fabs(factor));
}

/* P R^-1 A Q is block triangular with factors L U on its diagonal, R the row scales. */
static double sparse_determinant(const Linear *linear, double *logarithm) {
  int32_t n = linear->n;
  const double *diagonal = linear->numeric->Udiag;
  bool *seen = heap_array(linear->heap, (size_t)n, sizeof *seen);
  double sign = permutation_sign(linear->numeric->Pnum, n, seen) * permutation_sign(linear->symbolic->Q, n, seen);
  heap_free(linear->heap, seen);
  for (int32_t k = 0; k < n; k++) {
    multiply_factor(diagonal[k], &sign, logarithm);
    if (linear->numeric->Rs) multiply_factor(linear->numeric->Rs[k], &sign, logarithm);
  }
  return sign;
}

double linear_determinant(const Linear *linear, double *logarithm) {
  int32_t n = linear->n, first = linear->kind == LINEAR_LAPACK; /* of LAPACK's row numbers */
  double sign = 1;
  *logarithm = 0;
  if (linear->kind == LINEAR_KEPT) return sparse_lu_determinant(linear->kept, logarithm);
  if (linear->kind == LINEAR_SPARSE) return sparse_determinant(linear, logarithm);
  for (int32_t k = 0; k < n; k++) {
    double diagonal = linear->matrix[(size_t)k * (size_t)n + (size_t)k];
    multiply_factor(linear->kind == LINEAR_LAPACK ? diagonal : 1 / diagonal, &sign, logarithm);
    multiply_factor(1 / linear->scale[k], &sign, logarithm);
    if (linear->pivot[k] - first != k) sign = -sign;
  }
  return sign;
}

/* ---- order, condition and rank ---- */

double linear_pivot_order(Heap *heap, int32_t n, const int32_t *start, const int32_t *row_index, int32_t *columns,
                          int32_t *rows) {
  klu_common common;
  klu_defaults(&common);
  klu_symbolic *symbolic = klu_analyze(n, (int32_t *)start, (int32_t *)row_index, &common);
  if (!symbolic) heap_fail(heap);
  memcpy(columns, symbolic->Q, (size_t)n * sizeof *columns);
  memcpy(rows, symbolic->P, (size_t)n * sizeof *rows);
  double entries = fmax(symbolic->lnz, symbolic->unz) + symbolic->nzoff;
  klu_free_symbolic(&symbolic, &common);
  return entries;
}

double linear_least_pivot(const Linear *linear) {
  double least = INFINITY;
  if (linear->kind == LINEAR_KEPT) return sparse_lu_least_pivot(linear->kept);
  for (int32_t k = 0; k < linear->n; k++) {
    double diagonal = linear->kind == LINEAR_SPARSE ? ((const double *)linear->numeric->Udiag)[k]
                                                    : linear->matrix[(size_t)k * ((size_t)linear->n + 1)];
    least = fmin(least, fabs(linear->kind == LINEAR_PLAIN ? 1 / diagonal : diagonal));
  }
  return least;
}

double linear_condition(Heap *heap, int32_t n, int32_t *start, int32_t *row, double *values) {
  if (n == 0) return 1;
  Linear *linear = heap_alloc(heap, sizeof *linear);
  *linear = (Linear){.heap = heap, .n = n};
  klu_defaults(&linear->common);
  take_pattern(linear, LINEAR_SPARSE, start, row);
  bool is_regular = linear_sparse_factor(linear, values) &&
                    klu_condest(start, values, linear->symbolic, linear->numeric, &linear->common);
  double condition = is_regular ? linear->common.condest : HUGE_VAL;
  heap_release(heap, linear->deferred);
  heap_free(heap, linear);
  return condition;
}

static void swap_numbers(double *a, double *b) {
  double kept = *a;
  *a = *b;
  *b = kept;
}

/* The largest entry from row and column k on that is more than the errors of what it was made of; -1 if all are errors. */
static int32_t find_pivot(const double *a, const double *size, int32_t n, int32_t k, double lost) {
  int32_t found = -1;
  for (int32_t p = k; p < n; p++)
    for (int32_t e = p * n + k; e < (p + 1) * n; e++)
      if (fabs(a[e]) > lost * size[e] && (found < 0 || fabs(a[e]) > fabs(a[found]))) found = e;
  return found;
}

static void swap_to(double *a, int32_t n, int32_t k, int32_t row, int32_t column) {
  for (int32_t q = 0; q < n; q++) swap_numbers(&a[k * n + q], &a[row * n + q]);
  for (int32_t p = 0; p < n; p++) swap_numbers(&a[p * n + k], &a[p * n + column]);
}

/* The value of an entry; 0 if it is nothing but errors. */
static double certain_value(const double *a, const double *size, int32_t e, double lost) {
  return fabs(a[e]) > lost * size[e] ? fabs(a[e]) : 0;
}

/* What counts as lost of a sum of two terms: one that is not much more than the round-off of the other. */
static double absorbed_term(double a, double b) {
  static const double ABSORBED = 1e-12;
  return fmin(a, b) <= ABSORBED * fmax(a, b) ? fmin(a, b) : 0;
}

/* Terms lost in row p, and those that its elimination by row k brings: of row k, of the factor, and of the new sums. */
static void absorb_row(double *absorbed, const double *a, const double *size, int32_t n, int32_t k, int32_t p,
                       double lost) {
  double pivot = fabs(a[k * n + k]), factor = certain_value(a, size, p * n + k, lost) / pivot;
  double of_factor = (absorbed[p * n + k] + factor * absorbed[k * n + k]) / pivot;
  for (int32_t q = k + 1; q < n; q++) {
    double above = certain_value(a, size, k * n + q, lost), here = certain_value(a, size, p * n + q, lost);
    absorbed[p * n + q] += factor * absorbed[k * n + q] + of_factor * above + absorbed_term(here, factor * above);
  }
}

int32_t linear_rank(double *a, double *size, double *absorbed, int32_t n, double lost) {
  for (int32_t k = 0; k < n; k++) {
    int32_t pivot = find_pivot(a, size, n, k, lost);
    if (pivot < 0) return k;
    swap_to(a, n, k, pivot / n, pivot % n);
    swap_to(size, n, k, pivot / n, pivot % n);
    if (absorbed) swap_to(absorbed, n, k, pivot / n, pivot % n);
    for (int32_t p = k + 1; p < n; p++) {
      double factor = a[p * n + k] / a[k * n + k];
      if (absorbed) absorb_row(absorbed, a, size, n, k, p, lost);
      for (int32_t q = k; q < n && factor != 0; q++) {
        a[p * n + q] -= factor * a[k * n + q];
        size[p * n + q] += fabs(factor) * size[k * n + q];
      }
    }
  }
  return n;
}
