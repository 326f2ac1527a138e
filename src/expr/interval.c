/* interval: see interval.h. */
#include "expr/interval.h"

#include <float.h>
#include <math.h>

static const double PI = 3.14159265358979323846;
static const Interval WHOLE = {-INFINITY, INFINITY};

/* A node with the places of its children's values; of a sum the terms begin at `coefficient`. */
typedef struct Step {
  Op op;
  uint32_t count, child, index;
  Expr node; /* of a variable; its index is that among the variables */
  double constant;
} Step;

struct Enclosure {
  uint32_t count, variables;
  Step *step;
  uint32_t *child;
  double *coefficient; /* beside child; of sums alone */
  Interval *bounds;
  double *value;
};

/* How the bounds of a value follow from those of the arguments. */
typedef enum Rule {
  RULE_NONE,
  RULE_LEAF,
  RULE_SUM,
  RULE_CORNERS, /* monotone in each argument: the extremes are at the corners */
  RULE_EVEN,    /* falls to 0, then rises */
  RULE_PERIODIC,
  RULE_TANGENT,
  RULE_QUOTIENT,
  RULE_POWER,
  RULE_RELATION,
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
    [OP_MULTIPLY] = RULE_CORNERS,
    [OP_DIVIDE] = RULE_QUOTIENT,
    [OP_POWER] = RULE_POWER,
    [OP_SQRT] = RULE_CORNERS,
    [OP_EXP] = RULE_CORNERS,
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
    [OP_ABS] = RULE_EVEN,
    [OP_SIGN] = RULE_CORNERS,
    [OP_MIN] = RULE_CORNERS,
    [OP_MAX] = RULE_CORNERS,
    [OP_FLOOR] = RULE_CORNERS,
    [OP_CEIL] = RULE_CORNERS,
    [OP_INTEGER] = RULE_CORNERS,
    [OP_LESS] = RULE_RELATION,
    [OP_LESS_EQUAL] = RULE_RELATION,
    [OP_GREATER] = RULE_RELATION,
    [OP_GREATER_EQUAL] = RULE_RELATION,
    [OP_AND] = RULE_CORNERS,
    [OP_OR] = RULE_CORNERS,
    [OP_NOT] = RULE_CORNERS,
    [OP_IF] = RULE_IF,
    [OP_NOEVENT] = RULE_FIRST,
    [OP_HOMOTOPY] = RULE_FIRST,
    [OP_SMOOTH] = RULE_SECOND,
};

bool enclosure_possible_of_variables(const Dag *dag, DagScratch *scratch, Expr e) {
  IndexVec order = {0};
  bool possible = true;
  dag_below(dag, scratch, &e, 1, &order);
  for (uint32_t i = 0; i < order.count && possible; i++) possible = RULES[dag_op(dag, order.data[i])] != RULE_NONE;
  vec_free(scratch->heap, &order);
  return possible;
}

bool enclosure_possible(const Dag *dag, DagScratch *scratch, Expr e) {
  return !dag_depends(dag, e, OP_VARIABLE) && enclosure_possible_of_variables(dag, scratch, e);
}

static Step make_step(const Dag *dag, Expr e, const DagScratch *scratch, Enclosure *enclosure, uint32_t *places) {
  Step step = {.op = dag_op(dag, e), .count = dag_child_count(dag, e), .child = *places};
  const Term *terms;
  if (step.op == OP_VARIABLE) step.node = e, step.index = enclosure->variables++;
  if (step.op == OP_CONSTANT) step.constant = dag_value(dag, e);
  if (step.op == OP_PARAMETER || step.op == OP_DISCRETE || step.op == OP_PRE) step.index = dag_index(dag, e);
  if (step.op == OP_SUM) {
    dag_terms(dag, e, &step.constant, &terms);
    for (uint32_t c = 0; c < step.count; c++) enclosure->coefficient[step.child + c] = terms[c].coefficient;
  }
  for (uint32_t c = 0; c < step.count; c++) enclosure->child[(*places)++] = scratch->slots.data[dag_child(dag, e, c)];
  return step;
}

Enclosure *enclosure_new(Heap *heap, const Dag *dag, DagScratch *scratch, Expr e) {
  Enclosure *enclosure = heap_alloc(heap, sizeof *enclosure);
  IndexVec order = {0};
  uint32_t places = 0;
  dag_below(dag, scratch, &e, 1, &order);
  for (uint32_t i = 0; i < order.count; i++) places += dag_child_count(dag, order.data[i]);
  enclosure->count = order.count;
  enclosure->step = heap_array(heap, order.count, sizeof *enclosure->step);
  enclosure->child = heap_array(heap, places, sizeof *enclosure->child);
  enclosure->coefficient = heap_array(heap, places, sizeof *enclosure->coefficient);
  enclosure->bounds = heap_array(heap, order.count, sizeof *enclosure->bounds);
  enclosure->value = heap_array(heap, order.count, sizeof *enclosure->value);
  places = 0;
  for (uint32_t i = 0; i < order.count; i++)
    enclosure->step[i] = make_step(dag, order.data[i], scratch, enclosure, &places);
  vec_free(scratch->heap, &order);
  return enclosure;
}

void enclosure_variables(const Enclosure *enclosure, Heap *heap, IndexVec *nodes) {
  for (uint32_t i = 0; i < enclosure->count; i++)
    if (enclosure->step[i].op == OP_VARIABLE) vec_push(heap, nodes, enclosure->step[i].node);
}

/* One unit in the last place and a half of the library's functions; zero stays zero. */
static Interval outwards(Interval x) {
  return (Interval){x.low - 2 * DBL_EPSILON * fabs(x.low), x.high + 2 * DBL_EPSILON * fabs(x.high)};
}

static bool holds_zero(Interval x) { return x.low <= 0 && x.high >= 0; }

static Interval hull(Interval a, Interval b) { return (Interval){fmin(a.low, b.low), fmax(a.high, b.high)}; }

static Interval corners(Op op, const Interval *x, uint32_t count) {
  Interval result = {INFINITY, -INFINITY};
  for (uint32_t corner = 0; corner < 1u << count; corner++) {
    double arguments[3] = {0}, value;
    for (uint32_t c = 0; c < count; c++) arguments[c] = corner >> c & 1 ? x[c].high : x[c].low;
    if (!op_evaluate(op, arguments, &value) || isnan(value)) return WHOLE;
    result = hull(result, (Interval){value, value});
  }
  return outwards(result);
}

static Interval enclose_even(Op op, Interval x) {
  Interval result = corners(op, &x, 1);
  double at_zero, zero = 0;
  if (holds_zero(x) && op_evaluate(op, &zero, &at_zero)) result.low = at_zero;
  return result;
}

/* Is there a peak, at `peak` plus whole turns, within x? Widened by what reducing the argument may lose. */
static bool holds_peak(Interval x, double peak) {
  double slack = 4 * DBL_EPSILON * (fabs(x.low) + fabs(x.high));
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

static Interval enclose_power(const Interval *x) {
  double exponent = x[1].low;
  bool whole_number = exponent == x[1].high && exponent == floor(exponent);
  if (whole_number && exponent > 0 && holds_zero(x[0]) && fmod(exponent, 2) == 0)
    return hull(corners(OP_POWER, x, 2), (Interval){0, 0});
  if (x[0].low > 0 || (whole_number && (exponent > 0 || !holds_zero(x[0])))) return corners(OP_POWER, x, 2);
  return x[0].low == 0 && x[1].low > 0 ? corners(OP_POWER, x, 2) : WHOLE;
}

static Interval enclose_relation(Op op, Interval a, Interval b) {
  Interval lows[2] = {{a.low, a.low}, {b.high, b.high}}, highs[2] = {{a.high, a.high}, {b.low, b.low}};
  return hull(corners(op, lows, 2), corners(op, highs, 2));
}

static Interval enclose_sum(const Enclosure *enclosure, const Step *step) {
  Interval sum = {step->constant, step->constant};
  double size = fabs(step->constant);
  for (uint32_t c = 0; c < step->count; c++) {
    double coefficient = enclosure->coefficient[step->child + c];
    Interval x = enclosure->bounds[enclosure->child[step->child + c]];
    double a = coefficient * x.low, b = coefficient * x.high;
    sum.low += fmin(a, b);
    sum.high += fmax(a, b);
    size += fmax(fabs(a), fabs(b));
  }
  double slack = DBL_EPSILON * (double)step->count * size;
  return (Interval){sum.low - slack, sum.high + slack};
}

static Interval enclose_leaf(const Step *step, Interval time, HeldValues held) {
  double value = step->constant;
  if (step->op == OP_TIME) return time;
  if (step->op == OP_VARIABLE) return held.variables[step->index];
  if (step->op == OP_PARAMETER) value = held.parameters[step->index];
  if (step->op == OP_DISCRETE) value = held.discretes[step->index];
  if (step->op == OP_PRE) value = held.pre[step->index];
  return (Interval){value, value};
}

static Interval enclose(const Enclosure *enclosure, const Step *step) {
  Interval x[3] = {{0, 0}, {0, 0}, {0, 0}};
  for (uint32_t c = 0; c < step->count && c < 3; c++) x[c] = enclosure->bounds[enclosure->child[step->child + c]];
  switch ((Rule)RULES[step->op]) {
  case RULE_CORNERS: return corners(step->op, x, step->count);
  case RULE_EVEN: return enclose_even(step->op, x[0]);
  case RULE_PERIODIC: return enclose_periodic(step->op, x[0]);
  case RULE_TANGENT: /* its poles are half a turn apart */
    if (holds_peak((Interval){2 * x[0].low, 2 * x[0].high}, PI)) return WHOLE;
    return corners(step->op, x, 1);
  case RULE_QUOTIENT: return holds_zero(x[1]) ? WHOLE : corners(step->op, x, 2);
  case RULE_POWER: return enclose_power(x);
  case RULE_RELATION: return enclose_relation(step->op, x[0], x[1]);
  case RULE_IF:
    if (!holds_zero(x[0])) return x[1];
    return x[0].low == 0 && x[0].high == 0 ? x[2] : hull(x[1], x[2]);
  case RULE_FIRST: return x[0];
  case RULE_SECOND: return x[1];
  case RULE_SUM: return enclose_sum(enclosure, step);
  case RULE_LEAF:
  case RULE_NONE: break;
  }
  return WHOLE;
}

Interval enclosure_bounds(Enclosure *enclosure, Interval time, HeldValues held) {
  for (uint32_t i = 0; i < enclosure->count; i++) {
    const Step *step = &enclosure->step[i];
    bool leaf = RULES[step->op] == RULE_LEAF;
    enclosure->bounds[i] = leaf ? enclose_leaf(step, time, held) : enclose(enclosure, step);
  }
  return enclosure->bounds[enclosure->count - 1];
}

static double value_of(const Enclosure *enclosure, const Step *step) {
  double sum = step->constant, arguments[3] = {0}, value;
  for (uint32_t c = 0; c < step->count; c++) {
    double x = enclosure->value[enclosure->child[step->child + c]];
    if (step->op == OP_SUM) sum += enclosure->coefficient[step->child + c] * x;
    else arguments[c] = x;
  }
  if (step->op == OP_SUM) return sum;
  return op_evaluate(step->op, arguments, &value) ? value : NAN;
}

double enclosure_value(Enclosure *enclosure, double time, HeldValues held) {
  for (uint32_t i = 0; i < enclosure->count; i++) {
    const Step *step = &enclosure->step[i];
    bool leaf = RULES[step->op] == RULE_LEAF;
    enclosure->value[i] = leaf ? enclose_leaf(step, (Interval){time, time}, held).low : value_of(enclosure, step);
  }
  return enclosure->value[enclosure->count - 1];
}
