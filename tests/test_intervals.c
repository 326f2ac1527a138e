/* Intervals: bounds of each operator contain its values at random points, and slopes contain all differences. */
#include "expr/interval_op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t state = 1;

static double uniform(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) * 0x1p-53;
}

/* Numbers of all sizes, including small whole ones and zero. */
static double draw(void) {
  double kind = uniform(), sign = uniform() < 0.5 ? -1 : 1;
  if (kind < 0.2) return sign * floor(4 * uniform());
  if (kind < 0.7) return sign * 3 * uniform();
  if (kind < 0.98) return sign * pow(10, -6 + 10 * uniform());
  return sign * pow(10, -300 + 600 * uniform());
}

static Interval draw_interval(void) {
  double a = draw(), b = uniform() < 0.2 ? a : uniform() < 0.5 ? a + 0.1 * draw() : draw();
  return (Interval){fmin(a, b), fmax(a, b)};
}

static double draw_within(Interval x) {
  double kind = uniform(), value = x.low + uniform() * (x.high - x.low);
  if (kind < 0.2) value = x.low;
  if (kind > 0.8) value = x.high;
  if (kind > 0.4 && kind < 0.5) value = 0;
  return fmin(fmax(value, x.low), x.high);
}

static bool is_tested(Op op) { return interval_has_rule(op) && op_arity(op) > 0; }

static void check_value(Op op, const Interval *x) {
  Interval bounds = interval_operator(op, x);
  for (int k = 0; k < 20; k++) {
    double arguments[3] = {draw_within(x[0]), draw_within(x[1]), draw_within(x[2])}, value;
    if (!op_evaluate(op, arguments, &value)) {
      assert_true(bounds.low == -INFINITY && bounds.high == INFINITY);
    } else if (!isnan(value) && !(bounds.low <= value && value <= bounds.high)) {
      fail_msg("%s(%.17g, %.17g, %.17g) = %.17g is not in [%.17g, %.17g]", op_name(op), arguments[0], arguments[1],
               arguments[2], value, bounds.low, bounds.high);
    }
  }
}

static void values_are_held(void **unused) {
  (void)unused;
  int tested = 0;
  for (Op op = 0; op < OP_COUNT; op++) {
    if (!is_tested(op)) continue;
    tested++;
    for (int k = 0; k < 3000; k++) {
      Interval x[3] = {draw_interval(), draw_interval(), draw_interval()};
      if (op == OP_POWER && k % 2) x[1] = interval_point(floor(draw_within(x[1])));
      check_value(op, x);
    }
  }
  assert_true(tested >= 40);
}

/* f(y) - f(x) is in the sum of slopes times differences, if the operator is continuous. */
static void check_slope(Op op, const Interval *x) {
  Interval self = interval_operator(op, x);
  if (!interval_is_continuous(op, x, self)) return;
  double from[3], to[3], f, g, size = 0;
  Interval sum = {0, 0};
  for (int k = 0; k < 3; k++) from[k] = draw_within(x[k]), to[k] = draw_within(x[k]);
  if (!op_evaluate(op, from, &f) || !op_evaluate(op, to, &g)) return;
  for (int k = 0; k < op_arity(op); k++) {
    Interval way = interval_subtract(interval_point(to[k]), interval_point(from[k]));
    Interval part = interval_multiply(interval_partial(op, (uint32_t)k, x, self), way);
    sum = interval_add(sum, part);
    size += fabs(from[k]) + fabs(to[k]) + interval_size(part);
  }
  double slack = 1e-12 * (fabs(f) + fabs(g)) + 1e-14 * size;
  if (isfinite(f) && isfinite(g) && !(sum.low - slack <= g - f && g - f <= sum.high + slack))
    fail_msg("%s from (%.17g, %.17g, %.17g) to (%.17g, %.17g, %.17g): %.17g is not in [%.17g, %.17g]", op_name(op),
             from[0], from[1], from[2], to[0], to[1], to[2], g - f, sum.low, sum.high);
}

static void slopes_are_held(void **unused) {
  (void)unused;
  for (Op op = 0; op < OP_COUNT; op++) {
    if (!is_tested(op)) continue;
    for (int k = 0; k < 6000; k++) {
      Interval x[3] = {draw_interval(), draw_interval(), draw_interval()};
      if (op == OP_POWER && k % 2) x[1] = interval_point(floor(draw_within(x[1])));
      check_slope(op, x);
    }
  }
}

/* Bounds must be useful: for monotone functions they are the values at the ends. */
static void bounds_are_tight(void **unused) {
  (void)unused;
  Interval x[3] = {{1, 2}, {3, 4}, {5, 6}};
  Interval product = interval_operator(OP_MULTIPLY, x), power = interval_power((Interval){-1, 2}, 2);
  assert_true(product.low > 2.999999 && product.high < 8.000001);
  assert_true(power.low == 0 && power.high < 4.000001);
  Interval sine = interval_operator(OP_SIN, (Interval[3]){{0, 1}});
  assert_true(sine.low == 0 && sine.high < 0.8415);
  assert_true(interval_operator(OP_EXP, (Interval[3]){{-2000, -1000}}).high > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_held),
      cmocka_unit_test(slopes_are_held),
      cmocka_unit_test(bounds_are_tight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
