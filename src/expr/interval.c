/* interval: see interval.h. */
#include "expr/interval.h"

#include "expr/interval_op.h"
#include "expr/op_math.h"

static const double PI = 3.14159265358979323846;

/* Errors of the C library's functions and of the operators of op_math.h, in units of the spacing of numbers at the result: one
 * for each function of the library and a half for each multiplication. */
static const double LIBRARY_UNITS = 2, POWER_UNITS = 40;

/* The rule by which the bounds of a value follow from those of the arguments. */
typedef enum Rule {
  RULE_NONE,
  RULE_LEAF,
  RULE_SUM,
  RULE_PRODUCT,
  RULE_QUOTIENT,
  RULE_CORNERS, /* monotone in each argument: the extremes are at the corners */
  RULE_EVEN,    /* falls to 0, then rises */
  RULE_PERIODIC,
  RULE_TANGENT,
  RULE_POWER,
  RULE_EXPONENTIAL,
  RULE_ROOT,
  RULE_ANGLE,
  RULE_RELATION,
  RULE_EQUALITY,
  RULE_LOGIC,
  RULE_WHOLE_QUOTIENT,
  RULE_REMAINDER,
  RULE_SEMILINEAR,
  RULE_IF,
  RULE_FIRST,
  RULE_SECOND,
} Rule;

static const uint8_t RULES[OP_COUNT] = {
    [OP_CONSTANT] = RULE_LEAF,
    [OP_TIME] = RULE_LEAF,
    [OP_VARIABLE] = RULE_LEAF,
    [OP_PARAMETER] = RULE_LEAF,
    [OP_DISCRETE] = RULE_LEAF,
    [OP_PRE] = RULE_LEAF,
    [OP_SUM] = RULE_SUM,
    [OP_MULTIPLY] = RULE_PRODUCT,
    [OP_DIVIDE] = RULE_QUOTIENT,
    [OP_POWER] = RULE_POWER,
    [OP_SQRT] = RULE_ROOT,
    [OP_EXP] = RULE_EXPONENTIAL,
    [OP_LOG] = RULE_CORNERS,
    [OP_LOG10] = RULE_CORNERS,
    [OP_SIN] = RULE_PERIODIC,
    [OP_COS] = RULE_PERIODIC,
    [OP_TAN] = RULE_TANGENT,
    [OP_ASIN] = RULE_CORNERS,
    [OP_ACOS] = RULE_CORNERS,
    [OP_ATAN] = RULE_CORNERS,
    [OP_SINH] = RULE_CORNERS,
    [OP_COSH] = RULE_EVEN,
    [OP_TANH] = RULE_CORNERS,
    [OP_ASINH] = RULE_CORNERS,
    [OP_ACOSH] = RULE_CORNERS,
    [OP_ATANH] = RULE_CORNERS,
    [OP_ATAN2] = RULE_ANGLE,
    [OP_ABS] = RULE_EVEN,
    [OP_SIGN] = RULE_CORNERS,
    [OP_MIN] = RULE_CORNERS,
    [OP_MAX] = RULE_CORNERS,
    [OP_FLOOR] = RULE_CORNERS,
    [OP_CEIL] = RULE_CORNERS,
    [OP_INTEGER] = RULE_CORNERS,
    [OP_DIV] = RULE_WHOLE_QUOTIENT,
    [OP_MOD] = RULE_REMAINDER,
    [OP_REM] = RULE_REMAINDER,
    [OP_SEMILINEAR] = RULE_SEMILINEAR,
    [OP_LESS] = RULE_RELATION,
    [OP_LESS_EQUAL] = RULE_RELATION,
    [OP_GREATER] = RULE_RELATION,
    [OP_GREATER_EQUAL] = RULE_RELATION,
    [OP_EQUAL] = RULE_EQUALITY,
    [OP_NOT_EQUAL] = RULE_EQUALITY,
    [OP_AND] = RULE_LOGIC,
    [OP_OR] = RULE_LOGIC,
    [OP_NOT] = RULE_LOGIC,
    [OP_IF] = RULE_IF,
    [OP_NOEVENT] = RULE_FIRST,
    [OP_HOMOTOPY] = RULE_FIRST,
    [OP_SMOOTH] = RULE_SECOND,
};

bool interval_has_rule(Op op) { return RULES[op] != RULE_NONE; }

/* ---- values ---- */

static bool holds_zero(Interval x) { return interval_holds(x, 0); }

static Interval corners(Op op, const Interval *x, uint32_t count) {
  Interval result = {INFINITY, -INFINITY};
  for (uint32_t corner = 0; corner < 1u << count; corner++) {
    double arguments[3] = {0}, value;
    for (uint32_t c = 0; c < count; c++) arguments[c] = corner >> c & 1 ? x[c].high : x[c].low;
    if (!op_evaluate(op, arguments, &value) || isnan(value)) return INTERVAL_WHOLE;
    result = interval_hull(result, (Interval){value, value});
  }
  return interval_widen(result, LIBRARY_UNITS);
}

/* Whole numbers and results of comparisons are exact. */
static Interval exact_corners(Op op, const Interval *x, uint32_t count) {
  Interval wide = corners(op, x, count);
  return interval_is_bounded(wide) ? (Interval){rint(wide.low), rint(wide.high)} : wide;
}

Interval interval_divide(Interval a, Interval b) {
  if (holds_zero(b)) return INTERVAL_WHOLE;
  Interval inverse = interval_widen((Interval){1 / b.high, 1 / b.low}, 1);
  if (!interval_is_bounded(a) || !interval_is_bounded(b)) return interval_multiply(a, inverse);
  double p = a.low / b.low, q = a.low / b.high, r = a.high / b.low, s = a.high / b.high;
  Interval result = {fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s))};
  if (result.low == 0 && (a.low != 0 || a.high != 0)) result.low -= INTERVAL_LEAST;
  if (result.high == 0 && (a.low != 0 || a.high != 0)) result.high += INTERVAL_LEAST;
  return interval_widen(result, 1);
}

Interval interval_power(Interval x, unsigned n) {
  if (n == 0) return (Interval){1, 1};
  if (n % 2 == 0 && x.low < 0) x = x.high <= 0 ? interval_negate(x) : (Interval){0, interval_size(x)};
  Interval result = {op_power_integer(x.low, n), op_power_integer(x.high, n)};
  if (result.low == 0 && x.low < 0) result.low = -INTERVAL_LEAST;
  if (result.high == 0 && x.high > 0) result.high = INTERVAL_LEAST;
  return interval_widen(result, n);
}

static Interval enclose_even(Op op, Interval x) {
  Interval result = corners(op, &x, 1);
  double at_zero, zero = 0;
  if (holds_zero(x) && op_evaluate(op, &zero, &at_zero)) result.low = at_zero;
  return result;
}

/* Is there a peak, at `peak` plus whole turns, within x? x is widened by the error of reducing the argument. */
static bool holds_peak(Interval x, double peak) {
  double slack = 4 * DBL_EPSILON * (fabs(x.low) + fabs(x.high) + PI);
  return floor((x.high + slack - peak) / (2 * PI)) > floor((x.low - slack - peak) / (2 * PI));
}

static Interval enclose_periodic(Op op, Interval x) {
  double peak = op == OP_SIN ? PI / 2 : 0;
  if (!(x.high - x.low < 2 * PI)) return (Interval){-1, 1};
  Interval result = corners(op, &x, 1);
  if (holds_peak(x, peak)) result.high = 1;
  if (holds_peak(x, peak + PI)) result.low = -1;
  return result;
}

/* The poles of the tangent are half a turn apart. */
static Interval enclose_tangent(Interval x) {
  if (!interval_is_bounded(x) || holds_peak((Interval){2 * x.low, 2 * x.high}, PI)) return INTERVAL_WHOLE;
  return corners(OP_TAN, &x, 1);
}

static Interval enclose_power(const Interval *x) {
  double exponent = x[1].low;
  bool is_number = exponent == x[1].high, is_whole = is_number && exponent == floor(exponent) && fabs(exponent) < 1e9;
  if (is_whole && exponent >= 0) {
    if (exponent <= 32) return interval_power(x[0], (unsigned)exponent);
    Interval base = x[0];
    if (fmod(exponent, 2) == 0 && base.low < 0)
      base = base.high <= 0 ? interval_negate(base) : (Interval){0, interval_size(base)};
    Interval arguments[3] = {base, x[1], {0, 0}};
    return interval_widen(corners(OP_POWER, arguments, 2), POWER_UNITS);
  }
  if (is_whole && holds_zero(x[0])) return INTERVAL_WHOLE;
  if (is_whole && exponent >= -32) return interval_divide((Interval){1, 1}, interval_power(x[0], (unsigned)-exponent));
  if (is_whole && x[0].high < 0) { /* the sign alternates, the size falls */
    Interval positive[2] = {interval_negate(x[0]), x[1]}, size = enclose_power(positive);
    return fmod(exponent, 2) == 0 ? size : interval_negate(size);
  }
  if (x[0].low > 0 || (x[0].low == 0 && x[1].low > 0)) {
    Interval result = interval_widen(corners(OP_POWER, x, 2), POWER_UNITS);
    if (result.high == 0 && x[0].high > 0) result.high = INTERVAL_LEAST;
    return (Interval){fmax(result.low, 0), result.high};
  }
  return INTERVAL_WHOLE;
}

static Interval enclose_exponential(Interval x) {
  Interval result = interval_widen((Interval){exp(x.low), exp(x.high)}, LIBRARY_UNITS);
  return (Interval){fmax(result.low, 0), fmax(result.high, INTERVAL_LEAST)};
}

/* Below zero the root is not defined, even if the argument is negative only by round-off. */
static Interval enclose_root(Interval x) {
  if (x.low < 0) return INTERVAL_WHOLE;
  Interval result = interval_widen((Interval){sqrt(x.low), sqrt(x.high)}, LIBRARY_UNITS);
  return (Interval){fmax(result.low, 0), result.high};
}

/* atan2(a, b) jumps where a passes zero and b is negative. */
static bool holds_cut(const Interval *x) { return holds_zero(x[0]) && x[1].low <= 0; }

static Interval enclose_angle(const Interval *x) {
  if (holds_cut(x)) return interval_widen((Interval){-PI, PI}, LIBRARY_UNITS);
  return corners(OP_ATAN2, x, 2);
}

static Interval enclose_relation(Op op, Interval a, Interval b) {
  Interval lows[2] = {{a.low, a.low}, {b.high, b.high}}, highs[2] = {{a.high, a.high}, {b.low, b.low}};
  return interval_hull(exact_corners(op, lows, 2), exact_corners(op, highs, 2));
}

static Interval enclose_equality(Op op, Interval a, Interval b) {
  bool may_differ = !(a.low == a.high && b.low == b.high && a.low == b.low);
  bool may_equal = a.low <= b.high && b.low <= a.high;
  Interval equal = {!may_differ, may_equal};
  return op == OP_EQUAL ? equal : (Interval){1 - equal.high, 1 - equal.low};
}

static Interval truth(Interval x) { return (Interval){!holds_zero(x), x.low != 0 || x.high != 0}; }

static Interval enclose_logic(Op op, const Interval *x) {
  Interval a = truth(x[0]);
  if (op == OP_NOT) return (Interval){1 - a.high, 1 - a.low};
  Interval b = truth(x[1]);
  return op == OP_AND ? (Interval){fmin(a.low, b.low), fmin(a.high, b.high)}
                      : (Interval){fmax(a.low, b.low), fmax(a.high, b.high)};
}

/* The whole part of a quotient: rounded down for mod, towards zero for div and rem. */
static Interval whole_quotient(Op op, Interval a, Interval b) {
  Interval quotient = interval_divide(a, b);
  if (op == OP_MOD) return (Interval){floor(quotient.low), floor(quotient.high)};
  return (Interval){trunc(quotient.low), trunc(quotient.high)};
}

static Interval enclose_remainder(Op op, Interval a, Interval b) {
  Interval whole = whole_quotient(op, a, b);
  if (!interval_is_bounded(whole)) return INTERVAL_WHOLE;
  return interval_subtract(a, interval_multiply(whole, b));
}

static Interval enclose_semilinear(const Interval *x) {
  Interval positive = {fmax(x[0].low, 0), x[0].high}, negative = {x[0].low, fmin(x[0].high, 0)};
  if (x[0].low >= 0) return interval_multiply(positive, x[1]);
  if (x[0].high < 0) return interval_multiply(negative, x[2]);
  return interval_hull(interval_multiply(positive, x[1]), interval_multiply(negative, x[2]));
}

static Interval select_branch(Interval condition, Interval yes, Interval no) {
  if (!holds_zero(condition)) return yes;
  return condition.low == 0 && condition.high == 0 ? no : interval_hull(yes, no);
}

Interval interval_operator(Op op, const Interval *x) {
  switch ((Rule)RULES[op]) {
  case RULE_PRODUCT: return interval_multiply(x[0], x[1]);
  case RULE_QUOTIENT: return interval_divide(x[0], x[1]);
  case RULE_CORNERS: {
    bool is_whole_number = op == OP_SIGN || op == OP_FLOOR || op == OP_CEIL || op == OP_INTEGER;
    if (op == OP_MIN) return (Interval){fmin(x[0].low, x[1].low), fmin(x[0].high, x[1].high)};
    if (op == OP_MAX) return (Interval){fmax(x[0].low, x[1].low), fmax(x[0].high, x[1].high)};
    return is_whole_number ? exact_corners(op, x, 1) : corners(op, x, 1);
  }
  case RULE_EVEN: return enclose_even(op, x[0]);
  case RULE_PERIODIC: return enclose_periodic(op, x[0]);
  case RULE_TANGENT: return enclose_tangent(x[0]);
  case RULE_POWER: return enclose_power(x);
  case RULE_EXPONENTIAL: return enclose_exponential(x[0]);
  case RULE_ROOT: return enclose_root(x[0]);
  case RULE_ANGLE: return enclose_angle(x);
  case RULE_RELATION: return enclose_relation(op, x[0], x[1]);
  case RULE_EQUALITY: return enclose_equality(op, x[0], x[1]);
  case RULE_LOGIC: return enclose_logic(op, x);
  case RULE_WHOLE_QUOTIENT: return whole_quotient(op, x[0], x[1]);
  case RULE_REMAINDER: return enclose_remainder(op, x[0], x[1]);
  case RULE_SEMILINEAR: return enclose_semilinear(x);
  case RULE_IF: return select_branch(x[0], x[1], x[2]);
  case RULE_FIRST: return x[0];
  case RULE_SECOND: return x[1];
  case RULE_SUM:
  case RULE_LEAF:
  case RULE_NONE: break;
  }
  return INTERVAL_WHOLE;
}

/* ---- derivatives ---- */

bool interval_is_continuous(Op op, const Interval *x, Interval self) {
  Interval whole;
  switch ((Rule)RULES[op]) {
  case RULE_NONE: return false;
  case RULE_IF: return !holds_zero(x[0]) || (x[0].low == 0 && x[0].high == 0);
  case RULE_RELATION:
  case RULE_EQUALITY:
  case RULE_LOGIC:
  case RULE_WHOLE_QUOTIENT: return self.low == self.high;
  case RULE_REMAINDER: whole = whole_quotient(op, x[0], x[1]); return whole.low == whole.high;
  case RULE_ANGLE: return !holds_cut(x);
  case RULE_CORNERS:
    if (op == OP_SIGN || op == OP_FLOOR || op == OP_CEIL || op == OP_INTEGER) return self.low == self.high;
    return interval_is_bounded(self);
  default: return interval_is_bounded(self);
  }
}

static Interval sum_of_squares(Interval x, Interval y) {
  return interval_add(interval_power(x, 2), interval_power(y, 2));
}

static Interval function_of(Op op, Interval x, Interval y) {
  Interval arguments[3] = {x, y, {0, 0}};
  return interval_operator(op, arguments);
}

/* The rules of ops.def in this arithmetic. */
#define A (x[0])
#define B (x[1])
#define C (x[2])
#define SELF self
#define CONST(v) interval_point(v)
#define NONE ((Interval){0, 0})
#define ADD(p, q) interval_add(p, q)
#define SUB(p, q) interval_subtract(p, q)
#define MUL(p, q) interval_multiply(p, q)
#define DIV(p, q) interval_divide(p, q)
#define NEG(p) interval_negate(p)
#define SQUARES(p, q) sum_of_squares(p, q)
#define FN1(op, p) function_of(OP_##op, p, (Interval){0, 0})
#define FN2(op, p, q) function_of(OP_##op, p, q)
#define SELECT(condition, p, q) select_branch(condition, p, q)
Interval interval_partial(Op op, uint32_t k, const Interval *x, Interval self) {
  switch (op) {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) \
  case OP_##id:                                              \
    return k == 0 ? (d1) : k == 1 ? (d2) : (d3);
#include "expr/ops.def"
#undef OP
  default: return INTERVAL_WHOLE;
  }
}
