/* The solver of nonlinear equations: paths with turning points, and corrections near a solution. */
#include "core/corrector.h"
#include "nonlinear/nonlinear.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- paths ---- */

/* x^3/3 - x = 3 (2 s - 1) in (x, s): from s = 0 the path turns back at x = -1 and at x = 1. */
static bool fold_residual(void *context, const double *x, double *r) {
  (void)context;
  r[0] = x[0] * x[0] * x[0] / 3 - x[0] - 3 * (2 * x[1] - 1);
  return true;
}

static bool fold_jacobian(void *context, const double *x, double *entries) {
  (void)context;
  entries[0] = x[0] * x[0] - 1;
  entries[1] = -6;
  return true;
}

static const int32_t FOLD_START[] = {0, 1, 2}, FOLD_ROW[] = {0, 0};
static const double ONE[] = {1, 1};

static void test_path_passes_turning_points(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  NonlinearProblem problem = {.rows = 1,
                              .columns = 2,
                              .column_start = FOLD_START,
                              .row_index = FOLD_ROW,
                              .nominal = ONE,
                              .residual = fold_residual,
                              .jacobian = fold_jacobian};
  double x[2] = {-2.5, 0}, r;
  Nonlinear *nonlinear = nonlinear_new(heap, &problem);
  nonlinear_set_weights(nonlinear, (const double[]){1, 0});
  assert_true(nonlinear_solve(nonlinear, x).solved);
  assert_true(x[0] < -2);
  nonlinear_set_weights(nonlinear, ONE);
  assert_true(nonlinear_trace(nonlinear, 1, 1, x).solved);
  fold_residual(NULL, x, &r);
  assert_true(x[1] == 1);
  assert_true(x[0] > 2);
  assert_true(fabs(r) < 1e-12);
  heap_destroy(heap);
}

/* (k u cos(a), k u sin(a)) = 0 in (u, a), a force that vanishes for every angle. At the solutions the rows depend on each
 * other, and the nearest solution has the angle of the start. */
static bool force_residual(void *context, const double *x, double *r) {
  const double *k = context;
  r[0] = *k * x[0] * cos(x[1]) + 0.3 * x[0] * x[0];
  r[1] = *k * x[0] * sin(x[1]);
  return true;
}

static bool force_jacobian(void *context, const double *x, double *entries) {
  const double *k = context;
  entries[0] = *k * cos(x[1]) + 0.6 * x[0];
  entries[1] = *k * sin(x[1]);
  entries[2] = -*k * x[0] * sin(x[1]);
  entries[3] = *k * x[0] * cos(x[1]);
  return true;
}

static void test_what_is_not_determined_stays(void **state) {
  (void)state;
  static const int32_t START[] = {0, 2, 4}, ROW[] = {0, 1, 0, 1};
  for (int member = 0; member < 40; member++) {
    Heap *heap = heap_new(NULL);
    double k = 0.5 + 0.05 * member, from[2] = {0.2 + 0.02 * member, 0.1 + 0.03 * member}, x[2] = {from[0], from[1]};
    NonlinearProblem problem = {.context = &k,
                                .rows = 2,
                                .columns = 2,
                                .column_start = START,
                                .row_index = ROW,
                                .nominal = ONE,
                                .residual = force_residual,
                                .jacobian = force_jacobian};
    Nonlinear *nonlinear = nonlinear_new(heap, &problem);
    NonlinearResult result = nonlinear_solve(nonlinear, x);
    assert_true(result.solved);
    nonlinear_approach(nonlinear, from, x, &result);
    assert_true(fabs(x[0]) < 1e-9);
    assert_true(fabs(x[1] - from[1]) < 1e-6);
    heap_destroy(heap);
  }
}

/* atan(x) = 0, from where full steps of Newton's method diverge. */
static bool arc_residual(void *context, const double *x, double *r) {
  (void)context;
  r[0] = atan(x[0]);
  return true;
}

static bool arc_jacobian(void *context, const double *x, double *entries) {
  (void)context;
  entries[0] = 1 / (1 + x[0] * x[0]);
  return true;
}

static void test_newton_homotopy(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  NonlinearProblem problem = {.rows = 1,
                              .columns = 1,
                              .column_start = FOLD_START,
                              .row_index = FOLD_ROW,
                              .nominal = ONE,
                              .residual = arc_residual,
                              .jacobian = arc_jacobian};
  double x = 20;
  assert_true(nonlinear_continue(nonlinear_new(heap, &problem), &x).solved);
  assert_true(fabs(x) < 1e-9);
  heap_destroy(heap);
}

/* ---- corrections ---- */

typedef struct Root {
  double x, guess, factor; /* factor: the present slope; 0: none */
  int renewals;
  bool diverges;
} Root;

/* x^2 = 2, or |x|^(1/3) sign(x) = 0, for which corrections double. */
static double correct_root(void *context, bool *renew) {
  Root *root = context;
  double f = root->diverges ? cbrt(root->x) : root->x * root->x - 2;
  double slope = root->diverges ? cbrt(root->x) / (3 * root->x) : 2 * root->x;
  *renew |= root->factor == 0;
  if (*renew) root->factor = slope, root->renewals++;
  double change = f / root->factor;
  if (!isfinite(change)) {
    root->x = root->guess;
    return HUGE_VAL;
  }
  root->x -= change;
  return fabs(change) / (1 + fabs(root->x));
}

static void test_corrections_converge(void **state) {
  (void)state;
  Root root = {.x = 1.5, .guess = 1.5};
  assert_int_equal(corrector_run(correct_root, &root, REACH_NEXT, false, CORRECTOR_ROUND_OFF), CORRECTOR_CONVERGED);
  assert_true(fabs(root.x - sqrt(2)) < 1e-14);
}

static void test_factors_stay_while_they_serve(void **state) {
  (void)state;
  Root good = {.x = 1.4141, .guess = 1.4141, .factor = 2.8}, bad = {.x = 1.4141, .guess = 1.4141, .factor = 7};
  assert_int_equal(corrector_run(correct_root, &good, REACH_NEXT, true, CORRECTOR_ROUND_OFF), CORRECTOR_CONVERGED);
  assert_int_equal(good.renewals, 0);
  assert_int_equal(corrector_run(correct_root, &bad, REACH_ANY, true, CORRECTOR_ROUND_OFF), CORRECTOR_CONVERGED);
  assert_true(bad.renewals > 0);
  assert_true(fabs(good.x - sqrt(2)) + fabs(bad.x - sqrt(2)) < 1e-13);
}

static void test_corrections_that_grow_are_slow(void **state) {
  (void)state;
  Root root = {.x = 1, .guess = 1, .diverges = true};
  assert_int_equal(corrector_run(correct_root, &root, REACH_NEXT, false, CORRECTOR_ROUND_OFF), CORRECTOR_SLOW);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_path_passes_turning_points),    cmocka_unit_test(test_newton_homotopy),
      cmocka_unit_test(test_what_is_not_determined_stays),  cmocka_unit_test(test_corrections_converge),
      cmocka_unit_test(test_factors_stay_while_they_serve), cmocka_unit_test(test_corrections_that_grow_are_slow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
