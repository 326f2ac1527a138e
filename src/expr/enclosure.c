/* enclosure: see enclosure.h. */
#include "expr/enclosure.h"

#include "expr/interval_op.h"

static bool is_discrete(const EnclosureStep *step) { return step->op == OP_DISCRETE || step->op == OP_PRE; }

uint32_t enclosure_discretes(const Enclosure *enclosure) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < enclosure->count; i++) count += is_discrete(&enclosure->step[i]);
  return count;
}

static Interval enclose_sum(const Enclosure *enclosure, const EnclosureStep *step, const Interval *room) {
  Interval sum = {step->constant, step->constant};
  double size = fabs(step->constant);
  for (uint32_t c = 0; c < step->count; c++) {
    double coefficient = enclosure->coefficient[step->child + c];
    Interval x = room[enclosure->child[step->child + c]];
    double a = coefficient * x.low, b = coefficient * x.high;
    sum.low += fmin(a, b);
    sum.high += fmax(a, b);
    size += fmax(fabs(a), fabs(b));
  }
  double slack = DBL_EPSILON * (double)step->count * size;
  return (Interval){sum.low - slack, sum.high + slack};
}

static Interval enclose_leaf(const EnclosureStep *step, Interval time, HeldValues held) {
  double value = step->constant;
  if (step->op == OP_TIME) return time;
  if (step->op == OP_VARIABLE) return INTERVAL_WHOLE;
  if (step->op == OP_PARAMETER) value = held.parameters[step->index];
  if (step->op == OP_DISCRETE) value = held.discretes[step->index];
  if (step->op == OP_PRE) value = held.pre[step->index];
  return (Interval){value, value};
}

static Interval enclose(const Enclosure *enclosure, const EnclosureStep *step, const Interval *room) {
  Interval x[3] = {{0, 0}, {0, 0}, {0, 0}};
  if (step->op == OP_SUM) return enclose_sum(enclosure, step, room);
  for (uint32_t c = 0; c < step->count && c < 3; c++) x[c] = room[enclosure->child[step->child + c]];
  return interval_operator((Op)step->op, x);
}

static bool is_leaf(const EnclosureStep *step) { return step->count == 0 && step->op != OP_SUM; }

Interval enclosure_bounds(const Enclosure *enclosure, Interval time, HeldValues held, Interval *room) {
  for (uint32_t i = 0; i < enclosure->count; i++) {
    const EnclosureStep *step = &enclosure->step[i];
    room[i] = is_leaf(step) ? enclose_leaf(step, time, held) : enclose(enclosure, step, room);
  }
  return room[enclosure->count - 1];
}

static double value_of(const Enclosure *enclosure, const EnclosureStep *step, const Interval *room) {
  double sum = step->constant, arguments[3] = {0}, value;
  for (uint32_t c = 0; c < step->count; c++) {
    double x = room[enclosure->child[step->child + c]].low;
    if (step->op == OP_SUM) sum += enclosure->coefficient[step->child + c] * x;
    else arguments[c] = x;
  }
  if (step->op == OP_SUM) return sum;
  return op_evaluate((Op)step->op, arguments, &value) ? value : NAN;
}

double enclosure_value(const Enclosure *enclosure, double time, HeldValues held, Interval *room) {
  for (uint32_t i = 0; i < enclosure->count; i++) {
    const EnclosureStep *step = &enclosure->step[i];
    bool leaf = is_leaf(step);
    room[i].low = leaf ? enclose_leaf(step, (Interval){time, time}, held).low : value_of(enclosure, step, room);
  }
  return room[enclosure->count - 1].low;
}

bool enclosure_hold(const Enclosure *enclosure, HeldValues held, double *kept) {
  bool same = true;
  for (uint32_t i = 0; i < enclosure->count; i++) {
    const EnclosureStep *step = &enclosure->step[i];
    if (!is_discrete(step)) continue;
    double value = (step->op == OP_PRE ? held.pre : held.discretes)[step->index];
    same = same && *kept == value;
    *kept++ = value;
  }
  return same;
}
