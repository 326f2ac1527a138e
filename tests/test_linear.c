/* Linear systems of every kind (plain, LAPACK, kept pivots, KLU; real and complex), checked by their residuals; with EXPORTED those
 * of exported solvers. */
#include "base/large.h"
#include "base/linear.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef EXPORTED
const LargeDense *const large_dense = NULL;
const LargeSparse *const large_sparse = &large_plain;
#endif

enum { ROWS_MAX = 160 };

typedef struct Matrix {
  int32_t n, start[ROWS_MAX + 1], row[ROWS_MAX * ROWS_MAX];
  double value[2 * ROWS_MAX * ROWS_MAX];
} Matrix;

static double random_number(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (1 << 24) - 0.5;
}

/* A matrix with about `filled` entries per column in addition to the diagonal, and with rows of very different size. */
static void matrix_fill(Matrix *m, int32_t n, double filled, int width, uint32_t *seed) {
  int32_t count = 0;
  m->n = n;
  for (int32_t j = 0; j < n; j++) {
    m->start[j] = count;
    for (int32_t i = 0; i < n; i++)
      if (i == (j + 3) % n || (random_number(seed) + 0.5) * n < filled) m->row[count++] = i;
  }
  m->start[n] = count;
  for (int32_t k = 0; k < count; k++)
    for (int w = 0; w < width; w++)
      m->value[k * width + w] = (random_number(seed) + (w == 0 ? 1 : 0)) * pow(10, m->row[k] % 7 - 3);
}

/* Largest relative residual of A x - b by rows. */
static double matrix_residual(const Matrix *m, int width, const double *x, const double *b) {
  double sum[2 * ROWS_MAX], size[ROWS_MAX] = {0}, worst = 0;
  for (int32_t i = 0; i < m->n * width; i++) sum[i] = -b[i];
  for (int32_t j = 0; j < m->n; j++)
    for (int32_t k = m->start[j]; k < m->start[j + 1]; k++) {
      const double *a = m->value + k * width, *v = x + j * width;
      int32_t i = m->row[k];
      size[i] += width == 1 ? fabs(a[0] * v[0]) : hypot(a[0], a[1]) * hypot(v[0], v[1]);
      sum[i * width] += a[0] * v[0] - (width == 2 ? a[1] * v[1] : 0);
      if (width == 2) sum[i * width + 1] += a[0] * v[1] + a[1] * v[0];
    }
  for (int32_t i = 0; i < m->n * width; i++) worst = fmax(worst, fabs(sum[i]) / (size[i / width] + fabs(b[i])));
  return worst;
}

static void check(int32_t n, double filled, bool complex_values) {
  Heap *heap = heap_new(NULL);
  Matrix *m = heap_alloc(heap, sizeof *m);
  uint32_t seed = (uint32_t)n * 7 + complex_values;
  int width = complex_values ? 2 : 1;
  double b[2 * ROWS_MAX], x[2 * ROWS_MAX];
  matrix_fill(m, n, filled, width, &seed);
  Linear *linear = linear_new(heap, n, m->start[n], complex_values);
  linear_set_pattern(linear, m->start, m->row);
  for (int round = 0; round < 3; round++) {
    assert_true(linear_factor(linear, m->value));
    for (int32_t i = 0; i < n * width; i++) x[i] = b[i] = random_number(&seed);
    linear_solve(linear, x);
    assert_true(matrix_residual(m, width, x, b) < 1e-9);
    for (int32_t k = 0; k < m->start[n] * width; k++) m->value[k] *= 1 + random_number(&seed);
  }
  heap_destroy(heap);
}

static void test_kinds(void **state) {
  (void)state;
  const struct {
    int32_t n;
    double filled;
  } cases[] = {{1, 1}, {2, 2}, {7, 3}, {12, 12}, {30, 30}, {30, 3}, {80, 80}, {120, 3}, {160, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check(cases[i].n, cases[i].filled, false);
    check(cases[i].n, cases[i].filled, true);
  }
}

/* Pivots chosen for other values cannot be used when entries change by orders of magnitude. */
static void test_pivots_change(void **state) {
  (void)state;
  for (int trial = 0; trial < 40; trial++) {
    Heap *heap = heap_new(NULL);
    Matrix *m = heap_alloc(heap, sizeof *m);
    uint32_t seed = (uint32_t)trial + 1;
    int32_t n = 4 + trial;
    int width = trial % 2 + 1;
    double b[2 * ROWS_MAX], x[2 * ROWS_MAX];
    matrix_fill(m, n, 2, width, &seed);
    Linear *linear = linear_new(heap, n, m->start[n], width == 2);
    linear_set_pattern(linear, m->start, m->row);
    for (int round = 0; round < 10; round++) {
      for (int32_t k = 0; k < m->start[n]; k++) {
        double size = pow(10, 8 * random_number(&seed));
        for (int w = 0; w < width; w++) m->value[k * width + w] = size * random_number(&seed);
      }
      assert_true(linear_factor(linear, m->value));
      for (int32_t i = 0; i < n * width; i++) x[i] = b[i] = random_number(&seed);
      linear_solve(linear, x);
      assert_true(matrix_residual(m, width, x, b) < 1e-6);
    }
    heap_destroy(heap);
  }
}

/* Solves by elimination of the dense matrix with complete pivoting. */
static double plain_determinant(double *a, int32_t n, double *logarithm) {
  double sign = 1;
  *logarithm = 0;
  for (int32_t k = 0; k < n; k++) {
    int32_t row = k, column = k;
    for (int32_t i = k; i < n; i++)
      for (int32_t j = k; j < n; j++)
        if (fabs(a[i * n + j]) > fabs(a[row * n + column])) row = i, column = j;
    for (int32_t j = 0; j < n; j++) {
      double kept = a[k * n + j];
      a[k * n + j] = a[row * n + j], a[row * n + j] = kept;
    }
    for (int32_t i = 0; i < n; i++) {
      double kept = a[i * n + k];
      a[i * n + k] = a[i * n + column], a[i * n + column] = kept;
    }
    if ((row != k) != (column != k)) sign = -sign;
    if (a[k * n + k] < 0) sign = -sign;
    *logarithm += log(fabs(a[k * n + k]));
    for (int32_t i = k + 1; i < n; i++)
      for (int32_t j = n; j-- > k;) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
  }
  return sign;
}

static void test_determinants(void **state) {
  (void)state;
  uint32_t seed = 3;
  static const struct {
    int32_t n;
    double filled;
  } cases[] = {{1, 1}, {2, 2}, {3, 2}, {8, 4}, {12, 9}, {40, 3}, {60, 50}, {80, 70}, {100, 4}, {160, 2}};
  for (int trial = 0; trial < 40; trial++) {
    Heap *heap = heap_new(NULL);
    Matrix *m = heap_alloc(heap, sizeof *m);
    int32_t n = cases[trial % 10].n;
    matrix_fill(m, n, cases[trial % 10].filled, 1, &seed);
    double *dense = heap_array(heap, (size_t)(n * n), sizeof *dense), expected, logarithm;
    for (int32_t j = 0; j < n; j++)
      for (int32_t k = m->start[j]; k < m->start[j + 1]; k++) dense[m->row[k] * n + j] = m->value[k];
    double sign = plain_determinant(dense, n, &expected);
    Linear *linear = linear_new(heap, n, m->start[n], false);
    linear_set_pattern(linear, m->start, m->row);
    for (int again = 0; again < 2; again++) { /* KLU keeps its pivots the second time */
      assert_true(linear_factor(linear, m->value));
      assert_true(linear_determinant(linear, &logarithm) == sign);
      assert_true(fabs(logarithm - expected) < 1e-8 * (1 + fabs(expected)));
    }
    heap_destroy(heap);
  }
}

/* A new pattern on the same object, as after a change of states. */
static void test_pattern_changes(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  Matrix *m = heap_alloc(heap, sizeof *m);
  uint32_t seed = 5;
  double b[ROWS_MAX], x[ROWS_MAX];
  Linear *linear = linear_new(heap, 60, 60 * 8, false);
  for (int round = 0; round < 4; round++) {
    matrix_fill(m, 60, 3, 1, &seed);
    linear_set_pattern(linear, m->start, m->row);
    assert_true(linear_factor(linear, m->value));
    for (int32_t i = 0; i < 60; i++) x[i] = b[i] = random_number(&seed);
    linear_solve(linear, x);
    assert_true(matrix_residual(m, 1, x, b) < 1e-9);
  }
  heap_destroy(heap);
}

/* Another size on the same object, dense and sparse in turn. */
static void test_size_changes(void **state) {
  (void)state;
  const int32_t sizes[] = {60, 9, 80, 5, 70, 40};
  const double filled[] = {3, 9, 80, 5, 3, 40};
  for (int width = 1; width <= 2; width++) {
    Heap *heap = heap_new(NULL);
    Matrix *m = heap_alloc(heap, sizeof *m);
    uint32_t seed = 5;
    double b[2 * ROWS_MAX], x[2 * ROWS_MAX];
    Linear *linear = linear_new(heap, 7, 49, width == 2);
    for (int k = 0; k < 6; k++) {
      matrix_fill(m, sizes[k], filled[k], width, &seed);
      linear_resize(linear, sizes[k], m->start[m->n]);
      linear_set_pattern(linear, m->start, m->row);
      assert_true(linear_factor(linear, m->value));
      for (int32_t i = 0; i < sizes[k] * width; i++) x[i] = b[i] = random_number(&seed);
      linear_solve(linear, x);
      assert_true(matrix_residual(m, width, x, b) < 1e-9);
    }
    heap_destroy(heap);
  }
}

static void test_singular(void **state) {
  (void)state;
  const int32_t sizes[] = {3, 50, 100};
  for (int k = 0; k < 3; k++)
    for (int width = 1; width <= 2; width++) {
      Heap *heap = heap_new(NULL);
      Matrix *m = heap_alloc(heap, sizeof *m);
      uint32_t seed = 9;
      matrix_fill(m, sizes[k], k == 1 ? 50 : 3, width, &seed);
      Linear *linear = linear_new(heap, m->n, m->start[m->n], width == 2);
      linear_set_pattern(linear, m->start, m->row);
      for (int32_t e = m->start[1]; e < m->start[2]; e++)
        for (int w = 0; w < width; w++) m->value[e * width + w] = 0;
      assert_false(linear_factor(linear, m->value));
      m->value[m->start[1] * width] = NAN;
      assert_false(linear_factor(linear, m->value));
      heap_destroy(heap);
    }
}

#ifndef EXPORTED
/* The condition number of small matrices. */
static void test_condition(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  int32_t start[] = {0, 2, 3}, row[] = {0, 1, 1};
  double values[] = {1, 1, 1e-3}, singular[] = {1, 1, 0};
  double condition = large_condition(heap, 2, start, row, values);
  assert_true(condition > 1e3 && condition < 1e4);
  assert_true(large_condition(heap, 2, start, row, singular) == HUGE_VAL);
  heap_destroy(heap);
}
#endif

/* Sum of products, real part; without conjugation. */
static double product(const double *a, const double *b, int32_t n, int width) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i * width] * b[i * width] - (width == 2 ? a[2 * i + 1] * b[2 * i + 1] : 0);
  return sum;
}

/* c . (A^-1 b) = (A'^-1 c) . b */
static void test_transposed(void **state) {
  (void)state;
  const int32_t sizes[] = {4, 50, 110};
  for (int k = 0; k < 6; k++) {
    Heap *heap = heap_new(NULL);
    Matrix *m = heap_alloc(heap, sizeof *m);
    int32_t n = sizes[k / 2];
    int width = k % 2 + 1;
    uint32_t seed = (uint32_t)k + 1;
    double b[2 * ROWS_MAX], c[2 * ROWS_MAX], x[2 * ROWS_MAX], y[2 * ROWS_MAX];
    matrix_fill(m, n, k / 2 == 1 ? 40 : 3, width, &seed);
    Linear *linear = linear_new(heap, n, m->start[n], width == 2),
           *transposed = linear_new(heap, n, m->start[n], width == 2);
    linear_set_pattern(linear, m->start, m->row);
    linear_set_transposed(transposed, m->start, m->row);
    assert_true(linear_factor(linear, m->value) && linear_factor(transposed, m->value));
    for (int32_t i = 0; i < n * width; i++) x[i] = b[i] = random_number(&seed), y[i] = c[i] = random_number(&seed);
    linear_solve(linear, x);
    linear_solve(transposed, y);
    double one = product(c, x, n, width), other = product(y, b, n, width);
    assert_true(fabs(one - other) <= 1e-8 * (fabs(one) + fabs(other)));
    heap_destroy(heap);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifndef EXPORTED
      cmocka_unit_test(test_condition),
#endif
      cmocka_unit_test(test_kinds),           cmocka_unit_test(test_pivots_change), cmocka_unit_test(test_determinants),
      cmocka_unit_test(test_pattern_changes), cmocka_unit_test(test_size_changes),  cmocka_unit_test(test_singular),
      cmocka_unit_test(test_transposed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
