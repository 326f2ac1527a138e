/* The history of a multistep method: polynomials are continued exactly for any steps, rejected plans leave no trace, and equal
 * steps give the coefficients of the books. */
#include "integrate/history.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { COLUMNS = 3 };
static const int32_t all[COLUMNS] = {0, 1, 2};

/* Column c is a polynomial of degree `degree`, c + 1 times something shifted by c. */
static double value(int column, int degree, double t) { return (column + 1) * pow(t - 0.3 * column, degree) + column; }

static double slope(int column, int degree, double t) {
  return (column + 1) * degree * pow(t - 0.3 * column, degree - 1);
}

static void values(int degree, double t, double *y) {
  for (int c = 0; c < COLUMNS; c++) y[c] = value(c, degree, t);
}

/* Steps of changing size along the polynomial, raising the order by one up to `order`; returns the time reached. */
static double follow(History *history, int order, int degree, int steps) {
  double y[COLUMNS], rate[COLUMNS], t = 1, h = 0.1;
  values(degree, t, y);
  for (int c = 0; c < COLUMNS; c++) rate[c] = slope(c, degree, t);
  history_begin(history, y, rate, h);
  for (int k = 0; k < steps; k++) {
    h *= k % 3 == 1 ? 1.3 : k % 3 == 2 ? 0.7 : 1;
    history_plan(history, order < k + 1 ? order : k + 1, h);
    history_predict(history, y);
    for (int c = 0; c < COLUMNS; c++) y[c] = value(c, degree, t + h) - y[c];
    history_keep(history, y);
    t += h;
  }
  return t;
}

static void test_continues_polynomials(void **state) {
  Heap *heap = *state;
  for (int order = 1; order <= HISTORY_ORDER; order++) {
    double y[COLUMNS], rate[COLUMNS], scale = 300;
    History *history = history_new(heap, COLUMNS);
    double t = follow(history, order, order, 12);
    history_plan(history, order, 0.17);
    history_predict(history, y);
    history_slopes(history, all, COLUMNS, rate);
    for (int c = 0; c < COLUMNS; c++) {
      assert_true(fabs(y[c] - value(c, order, t + 0.17)) < 1e-12 * scale);
      assert_true(fabs(rate[c] - slope(c, order, t + 0.17)) < 1e-11 * scale);
    }
    history_evaluate(history, -0.043, NULL, (uint32_t)history->columns, y);
    for (int c = 0; c < COLUMNS; c++) assert_true(fabs(y[c] - value(c, order, t - 0.043)) < 1e-12 * scale);
  }
}

/* A polynomial of one degree more than the order: prediction and continuous output are no longer exact, but the stored points are. */
static void test_keeps_its_points(void **state) {
  double y[COLUMNS];
  History *history = history_new(*state, COLUMNS);
  double t = follow(history, 3, 4, 12), last = history->step;
  history_evaluate(history, 0, NULL, (uint32_t)history->columns, y);
  for (int c = 0; c < COLUMNS; c++) assert_true(fabs(y[c] - value(c, 4, t)) < 1e-12);
  history_evaluate(history, -last, NULL, (uint32_t)history->columns, y);
  for (int c = 0; c < COLUMNS; c++) assert_true(fabs(y[c] - value(c, 4, t - last)) < 1e-12);
  history_evaluate(history, -last / 2, NULL, (uint32_t)history->columns, y);
  assert_true(fabs(y[0] - value(0, 4, t - last / 2)) > 1e-7);
}

static void test_plan_is_no_step(void **state) {
  double once[COLUMNS], again[COLUMNS];
  History *history = history_new(*state, COLUMNS);
  follow(history, 4, 4, 9);
  history_plan(history, 4, 0.1);
  history_predict(history, once);
  history_plan(history, 2, 0.025);
  history_plan(history, 5, 0.2);
  history_predict(history, again);
  history_plan(history, 4, 0.1);
  history_predict(history, again);
  for (int c = 0; c < COLUMNS; c++) assert_true(once[c] == again[c]);
}

/* Equal steps: the leading coefficient is (1 + 1/2 + ... + 1/k) / h, the error 1 / (k + 1) of the change, and steps are
 * counted. */
static void test_equal_steps(void **state) {
  double zero[COLUMNS] = {0}, harmonic = 0;
  for (int order = 1; order <= HISTORY_ORDER; order++) {
    History *history = history_new(*state, COLUMNS);
    harmonic += 1.0 / order;
    history_begin(history, zero, zero, 0.25);
    for (int k = 1; k < 12; k++) {
      history_plan(history, order < k ? order : k, 0.25);
      history_keep(history, zero);
    }
    history_plan(history, order, 0.25);
    assert_true(fabs(history->leading * 0.25 - harmonic) < 1e-14);
    assert_true(fabs(history->error * (order + 1) - 1) < 1e-13);
    assert_int_equal(history->planned_equal, order == 1 ? 12 : 13 - order);
    for (int i = 0; i <= order; i++) assert_true(history->beta[i] == 1);
  }
}

static void test_moves_as_a_whole(void **state) {
  double y[COLUMNS], moved[COLUMNS];
  History *history = history_new(*state, COLUMNS);
  double t = follow(history, 3, 3, 9);
  values(3, t, y);
  for (int c = 0; c < COLUMNS; c++) y[c] += 0.5;
  history_move(history, y);
  history_evaluate(history, -0.05, NULL, (uint32_t)history->columns, moved);
  for (int c = 0; c < COLUMNS; c++) assert_true(fabs(moved[c] - 0.5 - value(c, 3, t - 0.05)) < 1e-12);
}

static int make_heap(void **state) {
  *state = heap_new(NULL);
  return *state == NULL;
}

static int destroy_heap(void **state) {
  heap_destroy(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_continues_polynomials, make_heap, destroy_heap),
      cmocka_unit_test_setup_teardown(test_keeps_its_points, make_heap, destroy_heap),
      cmocka_unit_test_setup_teardown(test_plan_is_no_step, make_heap, destroy_heap),
      cmocka_unit_test_setup_teardown(test_equal_steps, make_heap, destroy_heap),
      cmocka_unit_test_setup_teardown(test_moves_as_a_whole, make_heap, destroy_heap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
