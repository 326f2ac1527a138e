/* Exact dependences of matrices of numbers, and raised offsets, checked by products that must vanish and conditions that must
 * hold. */
#include "array/eliminate.h"
#include "signature.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static double random_integer(uint32_t *state, int32_t bound) {
  return (double)((int32_t)(next_random(state) % (uint32_t)(2 * bound + 1)) - bound);
}

/* The dependences of the columns of a full matrix; their number, or -1. */
static int32_t columns_of(const double *matrix, int32_t rows, int32_t columns, Arena *arena, ExactVec *found) {
  int32_t *start = arena_array(arena, (size_t)columns + 1, sizeof *start);
  int32_t *place = arena_array(arena, (size_t)(rows * columns), sizeof *place);
  double *value = arena_array(arena, (size_t)(rows * columns), sizeof *value);
  for (int32_t q = 0; q < columns; q++) {
    start[q + 1] = start[q];
    for (int32_t p = 0; p < rows; p++) {
      if (matrix[p * columns + q] == 0) continue;
      place[start[q + 1]] = p;
      value[start[q + 1]++] = matrix[p * columns + q];
    }
  }
  SparseLines lines = {columns, rows, start, place, value};
  found->count = 0;
  return eliminate_exactly(&lines, arena, found) ? (int32_t)found->count : -1;
}

/* A matrix of n rows whose last `missing` columns are integer combinations of the others: it has as many dependences, each
 * exact. */
static void test_exact_dependences(void **unused) {
  (void)unused;
  Heap *heap = heap_new(NULL);
  Arena arena = arena_make(heap);
  uint32_t state = 7;
  ExactVec list = {0};
  for (int trial = 0; trial < 200; trial++) {
    int32_t n = 2 + (int32_t)(next_random(&state) % 15), missing = (int32_t)(next_random(&state) % (uint32_t)n);
    double *matrix = arena_array(&arena, (size_t)(n * n), sizeof *matrix);
    for (int32_t p = 0; p < n; p++)
      for (int32_t q = 0; q < n - missing; q++) matrix[p * n + q] = random_integer(&state, 3) + (p == q ? 20 : 0);
    for (int32_t q = n - missing; q < n; q++)
      for (int32_t k = 0; k < n - missing; k++) {
        double factor = random_integer(&state, 2);
        for (int32_t p = 0; p < n; p++) matrix[p * n + q] += factor * matrix[p * n + k];
      }
    assert_int_equal(columns_of(matrix, n, n, &arena, &list), missing);
    const ExactDependence *found = list.data;
    for (int32_t d = 0; d < missing; d++) {
      assert_int_equal(found[d].line[found[d].count - 1], found[d].last);
      for (int32_t p = 0; p < n; p++) {
        double sum = 0; /* integers: exact */
        for (int32_t k = 0; k < found[d].count; k++) sum += found[d].factor[k] * matrix[p * n + found[d].line[k]];
        assert_true(sum == 0);
      }
    }
  }
  heap_destroy(heap);
}

/* Fractions, powers of two, and a dependence with numbers too large to be accepted. */
static void test_exact_fractions(void **unused) {
  (void)unused;
  Heap *heap = heap_new(NULL);
  Arena arena = arena_make(heap);
  ExactVec list = {0};
  const double halves[] = {0.5, 0.75, -0x1p-40, -0x1.8p-40};
  assert_int_equal(columns_of(halves, 2, 2, &arena, &list), 1);
  assert_int_equal(list.data[0].count, 2);
  assert_true(list.data[0].factor[0] == -3 && list.data[0].factor[1] == 2);
  const double nearly[] = {1, 1 + 0x1p-52, 1, 1 + 0x1p-52};
  assert_int_equal(columns_of(nearly, 2, 2, &arena, &list), -1);
  const double regular[] = {1, 1 + 0x1p-52, 1, 1};
  assert_int_equal(columns_of(regular, 2, 2, &arena, &list), 0);
  heap_destroy(heap);
}

/* Raised offsets are valid, contain the requested derivatives, and keep the degrees of freedom. */
static void test_raised_offsets(void **unused) {
  (void)unused;
  Heap *heap = heap_new(NULL);
  Arena arena = arena_make(heap);
  uint32_t state = 3;
  int sound = 0;
  for (int trial = 0; trial < 300; trial++) {
    int32_t n = 2 + (int32_t)(next_random(&state) % 8), entries = 0;
    int32_t *start = index_zeros(&arena, n + 1), *column = index_zeros(&arena, n * n),
            *order = index_zeros(&arena, n * n);
    for (int32_t i = 0; i < n; i++) {
      for (int32_t j = 0; j < n; j++) {
        if (i != j && next_random(&state) % 3) continue;
        column[entries] = j;
        order[entries++] = (int32_t)(next_random(&state) % 3);
      }
      start[i + 1] = entries;
    }
    Incidence incidence = {n, n, start, column, order};
    Structure structure = structure_run(&arena, &incidence);
    if (structure.status != STRUCTURE_OK) continue;
    sound++;
    int32_t *least = index_zeros(&arena, n);
    for (int32_t j = 0; j < n; j++) least[j] = (int32_t)(next_random(&state) % 5);
    Structure raised = structure_raise(&arena, &incidence, &structure, least);
    assert_true(signature_slackness(&incidence, &raised.matching, raised.c, raised.d));
    assert_int_equal(raised.dof, structure.dof);
    bool needed = false;
    for (int32_t j = 0; j < n; j++) {
      assert_true(raised.d[j] >= least[j] && raised.d[j] >= structure.d[j]);
      needed = needed || least[j] > structure.d[j];
    }
    for (int32_t i = 0; i < n && !needed; i++) assert_int_equal(raised.c[i], structure.c[i]);
  }
  assert_true(sound > 100);
  heap_destroy(heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact_dependences),
      cmocka_unit_test(test_exact_fractions),
      cmocka_unit_test(test_raised_offsets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
