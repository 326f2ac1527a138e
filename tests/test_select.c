/* Choices of columns along random paths of matrices: a conclusion from an earlier examination equals a new one, for steps of
 * every length, with weights and rows of different sizes. */
#include "core/select.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PATHS = 200, STEPS = 120, ROWS = 9, COLUMNS = 16, ENTRIES = ROWS * COLUMNS };

static const double LIMIT = 1.5;

static double random_number(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (1 << 24);
}

typedef struct Path {
  SelectProblem problem;
  int32_t start[ROWS + 1], column[ENTRIES], candidates[COLUMNS];
  double value[ENTRIES], slope[ENTRIES], weight[COLUMNS];
  bool chosen[COLUMNS];
} Path;

/* Rows of different sizes, columns of different weights; some columns are not candidates, some occur twice in a row. */
static void path_fill(Path *path, uint32_t *seed) {
  int32_t rows = 1 + (int32_t)(random_number(seed) * ROWS), count = 0;
  *path = (Path){.problem = {.rows = rows, .columns = COLUMNS, .keep = 1}};
  for (int32_t i = 0; i < rows; i++) {
    double size = pow(10, 6 * random_number(seed) - 3);
    path->start[i] = count;
    for (int32_t j = 0; j < COLUMNS; j++) {
      if (j != i && random_number(seed) < 0.6) continue;
      path->column[count] = random_number(seed) < 0.1 && j ? j - 1 : j;
      path->value[count] = size * (random_number(seed) - 0.5);
      path->slope[count++] = size * (random_number(seed) - 0.5);
    }
  }
  path->start[rows] = count;
  for (int32_t j = 0; j < COLUMNS; j++) {
    path->weight[j] = pow(10, 2 * random_number(seed) - 1);
    if (j < rows || random_number(seed) < 0.8) path->candidates[path->problem.candidate_count++] = j;
  }
  path->problem.row_start = path->start;
  path->problem.column = path->column;
  path->problem.values = path->value;
  path->problem.weight = path->weight;
  path->problem.candidates = path->candidates;
  path->problem.chosen = path->chosen;
}

static void test_what_was_judged(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  Selector *selector = selector_new(heap), *other = selector_new(heap);
  uint32_t seed = 7, good = 0, bad = 0;
  for (int32_t p = 0; p < PATHS; p++) {
    Path path;
    Judged judged = {0};
    path_fill(&path, &seed);
    double step = pow(10, -4 * random_number(&seed));
    if (!selector_choose(selector, &path.problem)) continue;
    for (int32_t k = 0; k < STEPS; k++) {
      for (int32_t e = 0; e < path.start[path.problem.rows]; e++) path.value[e] += step * path.slope[e];
      bool is_good = selector_is_good(selector, &path.problem, LIMIT, &judged);
      assert_int_equal(is_good, selector_gain(other, &path.problem) <= LIMIT);
      good += is_good;
      bad += !is_good;
      if (is_good) continue;
      judged.rows = 0;
      if (!selector_choose(selector, &path.problem)) break;
    }
  }
  assert_true(good > 1000 && bad > 100);
  heap_destroy(heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_was_judged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
