/* linear: see linear.h. Invariant: `kind` decides which group of fields is in use. Rows of dense matrices are scaled to a largest
 * entry of one, so that pivoting does not depend on how equations are written. */
#include "base/linear.h"

#include "base/large.h"
#include "base/pairs.h"
#include "base/sparse_lu.h"

#include <math.h>
#include <string.h>

enum {
  KEPT_MIN = 8,  /* smallest size of a matrix that keeps its pivots */
  KEPT_GAIN = 4, /* a matrix keeps its pivots if at most one in this many operations is needed without the zeros */
  FILL = 4,      /* a larger matrix is dense if at least one in this many entries is not zero */
};

typedef enum LinearKind { LINEAR_PLAIN, LINEAR_DENSE, LINEAR_KEPT, LINEAR_SPARSE } LinearKind;

struct Linear {
  Heap *heap;
  int32_t n, nonzeros;
  bool complex_values;
  LinearKind kind;
  bool is_new; /* the pattern has not been factored yet */
  const int32_t *start, *row;

  /* for a transpose: its pattern, the place of each value in it, and the values; NULL: the given pattern is used */
  int32_t *transposed_start, *transposed_row, *place;
  double *ordered;

  double *matrix, *scale; /* dense: factors (column-major), row scales */
  int32_t *pivot, room;   /* number of equations for which matrix, scale and pivot are allocated */

  SparseLu *kept;

  Large *large;
};

static LinearKind dense_kind(int32_t n) { return large_dense && n >= large_dense->rows ? LINEAR_DENSE : LINEAR_PLAIN; }

/* Chooses the kind by the numbers of equations and entries only. */
static LinearKind suitable_kind(int32_t n, int64_t nonzeros) {
  int64_t all = (int64_t)n * n;
  if (n >= KEPT_MIN && n <= LINEAR_KEPT_MAX && 2 * nonzeros <= all) return LINEAR_KEPT;
  return n > LINEAR_KEPT_MAX && nonzeros * FILL < all ? LINEAR_SPARSE : dense_kind(n);
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
  if (kind == LINEAR_DENSE) large_dense->expect(linear->heap);
  if (kind == LINEAR_PLAIN || kind == LINEAR_DENSE) make_dense_room(linear);
  if (kind == LINEAR_KEPT && !linear->kept) linear->kept = sparse_lu_new(linear->heap, linear->complex_values);
  if (kind == LINEAR_SPARSE && !linear->large) linear->large = large_sparse->make(linear->heap, linear->complex_values);
}

void linear_resize(Linear *linear, int32_t n, int32_t nonzeros) {
  linear->n = n;
  make_room(linear, suitable_kind(n, nonzeros));
}

Linear *linear_new(Heap *heap, int32_t n, int32_t nonzeros, bool complex_values) {
  Linear *linear = heap_alloc(heap, sizeof *linear);
  linear->heap = heap;
  linear->complex_values = complex_values;
  linear_resize(linear, n, nonzeros);
  return linear;
}

/* Sets the pattern of a matrix of this kind. */
static void take_pattern(Linear *linear, LinearKind kind, const int32_t *column_start, const int32_t *row_index) {
  linear->start = column_start;
  linear->row = row_index;
  linear->nonzeros = column_start[linear->n];
  linear->is_new = true;
  make_room(linear, kind);
  if (kind == LINEAR_KEPT) sparse_lu_set_pattern(linear->kept, linear->n, column_start, row_index);
  if (kind == LINEAR_SPARSE) large_sparse->set_pattern(linear->large, linear->n, column_start, row_index);
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

/* The values in the order of the pattern that is factored. */
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

/* The next two are compiled for real and for complex numbers: `width` is a constant where they are called. */
#define FOR_EACH_WIDTH __attribute__((always_inline)) static inline

/* Computes the reciprocals of the largest entries of rows; false: a row is zero or not finite. */
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

/* These are also compiled for each size of small matrices, where loops cost more than their bodies: `n` is a constant where they
 * are called. */
#define FOR_EACH_SIZE __attribute__((always_inline)) static inline

/* Like linear_scatter, for small matrices. */
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

/* Gaussian elimination with partial pivoting, column by column; the reciprocals of the pivots stay on the diagonal. */
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

/* This many multiplications and additions take the time of one step of work. */
enum { STEP_OPERATIONS = 32 };

/* Do the zeros save enough to make a search for them worthwhile? */
static bool zeros_pay(const Linear *linear) {
  int64_t n = linear->n;
  return 3 * KEPT_GAIN * sparse_lu_operations(linear->kept) <= n * n * n;
}

/* The first values of a pattern show how much fill elimination makes. *done: no dense matrix is needed. */
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
  return linear->kind == LINEAR_DENSE
             ? large_dense->factor(linear->n, linear->matrix, linear->pivot, linear->complex_values)
             : linear_plain_factor(linear, linear->n);
}

static bool linear_dense_factor_complex(Linear *linear, const double *values) {
  if (!linear_scatter(linear, values, 2)) return false;
  return linear->kind == LINEAR_DENSE
             ? large_dense->factor(linear->n, linear->matrix, linear->pivot, linear->complex_values)
             : linear_plain_factor_complex(linear);
}

bool linear_factor(Linear *linear, const double *values) {
  values = linear_order(linear, values);
  if (linear->kind == LINEAR_SPARSE) return large_sparse->factor(linear->large, values);
  if (linear->kind == LINEAR_KEPT) {
    bool done, is_regular = linear_kept_factor(linear, values, &done);
    if (done) return is_regular;
    make_room(linear, dense_kind(linear->n));
  }
  double n = linear->n;
  count_factor_work(linear->heap, linear->n, linear->nonzeros,
                    (linear->complex_values ? 4 : 1) * n * n * n * 2 / 3 / STEP_OPERATIONS);
  return linear->complex_values ? linear_dense_factor_complex(linear, values) : linear_dense_factor(linear, values);
}

void linear_solve(Linear *linear, double *b) {
  int32_t n = linear->n;
  if (linear->kind == LINEAR_KEPT) {
    sparse_lu_solve(linear->kept, b);
    return;
  }
  if (linear->kind == LINEAR_SPARSE) {
    large_sparse->solve(linear->large, b);
    return;
  }
  const double *scale = linear->scale;
  if (linear->complex_values)
    for (int32_t i = 0; i < n; i++) b[2 * i] *= scale[i], b[2 * i + 1] *= scale[i];
  else
    for (int32_t i = 0; i < n; i++) b[i] *= scale[i];
  if (linear->kind == LINEAR_DENSE) large_dense->solve(n, linear->matrix, linear->pivot, linear->complex_values, b);
  else if (linear->complex_values) linear_plain_solve_complex(linear, b);
  else if (n == 2) linear_plain_solve(linear, b, 2);
  else if (n == 3) linear_plain_solve(linear, b, 3);
  else linear_plain_solve(linear, b, n);
}

/* ---- determinant ---- */

double linear_determinant(const Linear *linear, double *logarithm) {
  int32_t n = linear->n, first = linear->kind == LINEAR_DENSE; /* the first row number: LAPACK counts from 1 */
  double sign = 1;
  *logarithm = 0;
  if (linear->kind == LINEAR_KEPT) return sparse_lu_determinant(linear->kept, logarithm);
  if (linear->kind == LINEAR_SPARSE) return large_sparse->determinant(linear->large, logarithm);
  for (int32_t k = 0; k < n; k++) {
    double diagonal = linear->matrix[(size_t)k * (size_t)n + (size_t)k];
    multiply_determinant(linear->kind == LINEAR_DENSE ? diagonal : 1 / diagonal, &sign, logarithm);
    multiply_determinant(1 / linear->scale[k], &sign, logarithm);
    if (linear->pivot[k] - first != k) sign = -sign;
  }
  return sign;
}

double linear_least_pivot(const Linear *linear) {
  double least = INFINITY;
  if (linear->kind == LINEAR_KEPT) return sparse_lu_least_pivot(linear->kept);
  if (linear->kind == LINEAR_SPARSE) return large_sparse->least_pivot(linear->large);
  for (int32_t k = 0; k < linear->n; k++) {
    double diagonal = linear->matrix[(size_t)k * ((size_t)linear->n + 1)];
    least = fmin(least, fabs(linear->kind == LINEAR_PLAIN ? 1 / diagonal : diagonal));
  }
  return least;
}
