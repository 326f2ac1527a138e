/* Broyden's updates of kept factors: the secant equation, a matrix changed in one direction, and refused pairs. */
#include "base/heap.h"
#include "core/secant.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { N = 5 };

/* The true matrix is I + change; the factored one is I, so solving with the factors gives the residual itself. */
static const double change[N][N] = {
    {0.1, 0, 0.2, 0, 0}, {0, -0.2, 0, 0.1, 0}, {0, 0, 0.15, 0, 0.05}, {0.1, 0, 0, 0.1, 0}, {0, 0.1, 0, 0, -0.1}};
static const double weight[N] = {1, 2, 0.5, 1, 3};

static void multiply(const double *x, double *result) {
  for (int i = 0; i < N; i++) {
    result[i] = x[i];
    for (int j = 0; j < N; j++) result[i] += change[i][j] * x[j];
  }
}

static double length(const double *x) {
  double sum = 0;
  for (int i = 0; i < N; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

/* Corrections from x until `count` pairs are learned; returns the final norm of the residual. */
static double correct(Secant *secant, double *x, int count) {
  double residual[N], step[N], next[N];
  multiply(x, residual);
  for (int i = 0; i < N; i++) step[i] = residual[i];
  secant_apply(secant, step);
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < N; i++) x[i] -= step[i];
    multiply(x, next);
    secant_apply(secant, next);
    assert_true(secant_learn(secant, step, next, weight));
    for (int i = 0; i < N; i++) step[i] = next[i];
  }
  multiply(x, residual);
  return length(residual);
}

static void test_secant_equation(void **state) {
  Heap *heap = *state;
  Secant made = secant_make(N, 3, heap_array(heap, secant_room(N, 3), sizeof(double))), *secant = &made;
  double x[N] = {1, -2, 3, 0.5, 4}, before[N], after[N], step[N], next[N];
  multiply(x, before);
  for (int i = 0; i < N; i++) step[i] = before[i], x[i] -= step[i];
  multiply(x, after);
  for (int i = 0; i < N; i++) next[i] = after[i];
  assert_true(secant_learn(secant, step, next, weight));
  double difference[N], again[N];
  for (int i = 0; i < N; i++) difference[i] = before[i] - after[i], again[i] = after[i];
  secant_apply(secant, difference);
  secant_apply(secant, again);
  for (int i = 0; i < N; i++) {
    assert_true(fabs(difference[i] - step[i]) < 1e-12);
    assert_true(fabs(again[i] - next[i]) < 1e-12);
  }
}

/* On a linear system the iteration ends after at most 2 n updates (Gay 1979), while plain corrections still converge slowly. */
static void test_converges(void **state) {
  Heap *heap = *state;
  double x[N] = {1, -2, 3, 0.5, 4}, plain[N] = {1, -2, 3, 0.5, 4}, residual[N];
  for (int k = 0; k < 2 * N; k++) {
    multiply(plain, residual);
    for (int i = 0; i < N; i++) plain[i] -= residual[i];
  }
  assert_true(length(plain) > 1e-9);
  Secant secant = secant_make(N, 2 * N, heap_array(heap, secant_room(N, 2 * N), sizeof(double)));
  assert_true(correct(&secant, x, 2 * N) < 1e-13);
}

static void test_refused(void **state) {
  Heap *heap = *state;
  Secant made = secant_make(N, 1, heap_array(heap, secant_room(N, 1), sizeof(double))), *secant = &made;
  double step[N] = {1, 1, 0, 0, 0}, same[N] = {1, 1, 0, 0, 0}, none[N] = {0}, next[N] = {0.1, 0, 0, 0, 0};
  assert_false(
      secant_learn(secant, step, same, weight)); /* a correction that changed nothing: the matrix would be singular */
  assert_false(secant_learn(secant, none, next, weight)); /* no direction */
  assert_true(next[0] == 0.1);
  assert_int_equal(secant->count, 0);
  assert_true(secant_learn(secant, step, next, weight));
  assert_false(secant_learn(secant, step, next, weight)); /* no room */
  secant_reset(secant);
  double d[N] = {1, 2, 3, 4, 5};
  secant_apply(secant, d);
  for (int i = 0; i < N; i++) assert_true(d[i] == i + 1);
}

static int setup(void **state) {
  *state = heap_new(NULL);
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  heap_destroy(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_secant_equation, setup, teardown),
      cmocka_unit_test_setup_teardown(test_converges, setup, teardown),
      cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
