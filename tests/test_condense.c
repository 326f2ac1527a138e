/* Columns that are neither states nor rates are eliminated from linear systems. J d + r = 0 with d_from = factor d_to is solved
 * through the remaining system, for random sparse Jacobians. The solution must satisfy every row of the whole system. */
#include "base/linear.h"
#include "integrate/condense.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 40, LINKS = 4, COLUMNS = ROWS + LINKS, ENTRIES = ROWS * COLUMNS, LANES = 8 };

typedef struct Sample {
  System system;
  int32_t start[COLUMNS + 1], row[ENTRIES], from[LINKS], to[LINKS];
  bool constant[ENTRIES];
  double value[ENTRIES];
} Sample;

static double random_number(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (1 << 24);
}

typedef enum SampleKind {
  SAMPLE_ASSIGNMENTS, /* rows refer to columns of earlier rows */
  SAMPLE_RINGS,       /* to any */
  SAMPLE_VALUES,      /* no entry is known to be constant */
} SampleKind;

/* Columns 0 .. LINKS-1 are states, LINKS .. 2 LINKS-1 their rates; row r is solved for column LINKS + r, and from row
 * LINKS on with a constant 1 or -1. */
static void sample_fill(Sample *sample, uint32_t seed, SampleKind kind) {
  int32_t count = 0;
  *sample = (Sample){.system = {.columns = COLUMNS, .rows = ROWS, .links = LINKS}};
  for (int32_t l = 0; l < LINKS; l++) sample->from[l] = l, sample->to[l] = LINKS + l;
  for (int32_t c = 0; c < COLUMNS; c++) {
    sample->start[c] = count;
    for (int32_t r = 0; r < ROWS; r++) {
      bool own = c == LINKS + r, before = c < LINKS + r;
      if (!own && !((before || kind != SAMPLE_ASSIGNMENTS || r < LINKS) && random_number(&seed) < 0.08)) continue;
      sample->row[count] = r;
      sample->constant[count] = own && r >= LINKS && kind != SAMPLE_VALUES;
      double sign = random_number(&seed) < 0.5 ? -1 : 1;
      sample->value[count++] = own ? sign : random_number(&seed) - 0.5;
    }
  }
  sample->start[COLUMNS] = count;
  sample->system.link_from = sample->from;
  sample->system.link_to = sample->to;
  sample->system.column_start = sample->start;
  sample->system.row_index = sample->row;
  sample->system.constant = sample->constant;
}

/* Largest entry of J d + r. */
static double sample_residual(const Sample *sample, const double *d, const double *r) {
  double sum[ROWS], worst = 0;
  memcpy(sum, r, sizeof sum);
  for (int32_t c = 0; c < COLUMNS; c++)
    for (int32_t k = sample->start[c]; k < sample->start[c + 1]; k++) sum[sample->row[k]] += sample->value[k] * d[c];
  for (int32_t i = 0; i < ROWS; i++) worst = fmax(worst, fabs(sum[i]));
  return worst;
}

/* Solves for r and multiples of it; returns how many rows were left. */
static int32_t solve(const Sample *sample, bool condensed, int lanes, double factor, const double *r, double *d) {
  Heap *heap = heap_new(NULL);
  Condense *condense = condense_new(heap, &sample->system);
  Elimination *elimination = elimination_new(heap, &sample->system);
  _Alignas(16) double residual[LANES * ROWS], change[LANES * COLUMNS] = {0};
  double right[ROWS], values[ENTRIES];
  condense_choose(condense, condensed ? sample->value : NULL);
  condense_jacobian(condense, sample->value);
  elimination_choose(elimination, condense_pattern(condense));
  int32_t rows = condense_pattern(condense)->rows;
  Linear *linear = linear_new(heap, rows, elimination->start[rows], false);
  linear_set_pattern(linear, elimination->start, elimination->row);
  elimination_real(elimination, condense_values(condense), factor, values);
  assert_true(linear_factor(linear, values));
  for (int32_t k = 0; k < lanes * ROWS; k++) residual[k] = (1 + k % lanes) * r[k / lanes];
  condense_right(condense, lanes, residual);
  for (int i = 0; i < lanes; i++) {
    for (int32_t u = 0; u < rows; u++) right[u] = residual[condense_rows(condense)[u] * lanes + i];
    linear_solve(linear, right);
    for (int32_t u = 0; u < rows; u++) change[elimination->unknown[u] * lanes + i] = -right[u];
    for (int32_t l = 0; l < LINKS; l++)
      change[sample->from[l] * lanes + i] = factor * change[sample->to[l] * lanes + i];
  }
  condense_expand(condense, lanes, residual, change);
  for (int32_t k = 0; k < lanes * COLUMNS; k++)
    assert_true(fabs(change[k] - (1 + k % lanes) * change[k / lanes * lanes]) < 1e-9 * (1 + fabs(change[k])));
  for (int32_t c = 0; c < COLUMNS; c++) d[c] = change[c * lanes];
  heap_destroy(heap);
  return rows;
}

static void check(SampleKind kind) {
  static Sample sample;
  for (uint32_t seed = 1; seed <= 30; seed++) {
    double r[ROWS], d[COLUMNS], whole[COLUMNS];
    uint32_t next = seed * 77;
    sample_fill(&sample, seed, kind);
    for (int32_t i = 0; i < ROWS; i++) r[i] = random_number(&next) - 0.5;
    const int lanes[] = {1, 4, 6, 8};
    int32_t left = solve(&sample, true, lanes[seed % 4], 0.1, r, d);
    assert_true(sample_residual(&sample, d, r) < 1e-10);
    assert_int_equal(solve(&sample, false, 1, 0.1, r, whole), ROWS);
    for (int32_t c = 0; c < COLUMNS; c++) assert_true(fabs(d[c] - whole[c]) < 1e-9 * (1 + fabs(whole[c])));
    assert_true(kind == SAMPLE_ASSIGNMENTS ? left == LINKS : left < ROWS);
  }
}

static void test_assignments(void **state) {
  (void)state;
  check(SAMPLE_ASSIGNMENTS);
}

static void test_rings(void **state) {
  (void)state;
  check(SAMPLE_RINGS);
}

static void test_values(void **state) {
  (void)state;
  check(SAMPLE_VALUES);
}

/* Pivots can be used for Jacobians near the one they were chosen for, but not for one in which other entries have
 * grown. */
static void test_pivots_that_no_longer_serve(void **state) {
  (void)state;
  static Sample sample;
  for (uint32_t seed = 1; seed <= 30; seed++) {
    Heap *heap = heap_new(NULL);
    sample_fill(&sample, seed, SAMPLE_VALUES);
    Condense *condense = condense_new(heap, &sample.system);
    condense_choose(condense, sample.value);
    for (int32_t k = 0; k < sample.start[COLUMNS]; k++) sample.value[k] *= 1 + 1e-6 * (k % 3);
    assert_true(condense_jacobian(condense, sample.value));
    for (int32_t c = 2 * LINKS; c < COLUMNS; c++)
      for (int32_t k = sample.start[c]; k < sample.start[c + 1]; k++)
        sample.value[k] *= sample.row[k] == c - LINKS ? 1e-6 : 1;
    assert_false(condense_jacobian(condense, sample.value));
    condense_choose(condense, sample.value);
    assert_true(condense_jacobian(condense, sample.value));
    heap_destroy(heap);
  }
}

/* They can also be used if whole rows have become larger or smaller. */
static void test_rows_of_other_sizes(void **state) {
  (void)state;
  static Sample sample;
  for (uint32_t seed = 1; seed <= 30; seed++) {
    Heap *heap = heap_new(NULL);
    uint32_t next = seed * 99;
    double size[ROWS];
    sample_fill(&sample, seed, SAMPLE_VALUES);
    Condense *condense = condense_new(heap, &sample.system);
    condense_choose(condense, sample.value);
    for (int32_t r = 0; r < ROWS; r++) size[r] = pow(10, 12 * random_number(&next) - 6);
    for (int32_t k = 0; k < sample.start[COLUMNS]; k++) sample.value[k] *= size[sample.row[k]];
    assert_true(condense_jacobian(condense, sample.value));
    heap_destroy(heap);
  }
}

/* Rates, states and columns of higher index are never eliminated, for any entries. */
static void test_fixed(void **state) {
  (void)state;
  static Sample sample;
  int32_t index[COLUMNS];
  Heap *heap = heap_new(NULL);
  sample_fill(&sample, 3, SAMPLE_ASSIGNMENTS);
  for (int32_t c = 0; c < COLUMNS; c++) index[c] = c < LINKS + 10 ? 1 : 2;
  memset(sample.constant, true, sizeof sample.constant);
  sample.system.column_index = index;
  Condense *condense = condense_new(heap, &sample.system);
  condense_choose(condense, sample.value);
  assert_int_equal(condense_pattern(condense)->rows, ROWS - (10 - LINKS));
  for (int32_t c = 0; c < COLUMNS; c++)
    assert_true(condense_pattern(condense)->left_out[c] == (c >= 2 * LINKS && c < LINKS + 10));
  heap_destroy(heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_assignments),
                                     cmocka_unit_test(test_rings),
                                     cmocka_unit_test(test_values),
                                     cmocka_unit_test(test_pivots_that_no_longer_serve),
                                     cmocka_unit_test(test_rows_of_other_sizes),
                                     cmocka_unit_test(test_fixed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
