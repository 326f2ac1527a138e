/* enclosure: see enclosure.h. */
#include "expr/enclosure.h"

/* A node with the places of its children's values. The coefficients of a sum are at the same places. */
typedef struct EnclosedNode {
  Op op;
  uint32_t count, child, index;
  Expr node; /* of a variable; `index` counts the variables */
  double constant;
} EnclosedNode;

struct Enclosure {
  uint32_t count, variables;
  EnclosedNode *step;
  uint32_t *child;
  double *coefficient; /* parallel to child; for sums only */
  Interval *bounds;
  double *value;
};

/* The search for roots in time uses these bounds. Operators that jump although no other expression has a root there are left to the
 * checks along the steps. */
static bool is_enclosed(Op op) {
  switch (op) {
  case OP_ATAN2:
  case OP_DIV:
  case OP_MOD:
  case OP_REM:
  case OP_SEMILINEAR:
  case OP_EQUAL:
  case OP_NOT_EQUAL: return false;
  default: return interval_has_rule(op);
  }
}

bool enclosure_possible_of_variables(const Dag *dag, DagScratch *scratch, Expr e) {
  IndexVec order = {0};
  bool possible = true;
  dag_below(dag, scratch, &e, 1, &order);
  for (uint32_t i = 0; i < order.count && possible; i++) possible = is_enclosed(dag_op(dag, order.data[i]));
  vec_free(scratch->heap, &order);
  return possible;
}

bool enclosure_possible(const Dag *dag, DagScratch *scratch, Expr e) {
  return !dag_depends(dag, e, OP_VARIABLE) && enclosure_possible_of_variables(dag, scratch, e);
}

static EnclosedNode make_step(const Dag *dag, Expr e, const DagScratch *scratch, Enclosure *enclosure,
                              uint32_t *places) {
  EnclosedNode step = {.op = dag_op(dag, e), .count = dag_child_count(dag, e), .child = *places};
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

uint32_t enclosure_size(const Enclosure *enclosure) { return enclosure->count; }

void enclosure_variables(const Enclosure *enclosure, Heap *heap, IndexVec *nodes) {
  for (uint32_t i = 0; i < enclosure->count; i++)
    if (enclosure->step[i].op == OP_VARIABLE) vec_push(heap, nodes, enclosure->step[i].node);
}

static bool is_discrete(const EnclosedNode *step) { return step->op == OP_DISCRETE || step->op == OP_PRE; }

uint32_t enclosure_discretes(const Enclosure *enclosure) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < enclosure->count; i++) count += is_discrete(&enclosure->step[i]);
  return count;
}

static Interval enclose_sum(const Enclosure *enclosure, const EnclosedNode *step) {
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

static Interval enclose_leaf(const EnclosedNode *step, Interval time, HeldValues held) {
  double value = step->constant;
  if (step->op == OP_TIME) return time;
  if (step->op == OP_VARIABLE) return held.variables[step->index];
  if (step->op == OP_PARAMETER) value = held.parameters[step->index];
  if (step->op == OP_DISCRETE) value = held.discretes[step->index];
  if (step->op == OP_PRE) value = held.pre[step->index];
  return (Interval){value, value};
}

static Interval enclose(const Enclosure *enclosure, const EnclosedNode *step) {
  Interval x[3] = {{0, 0}, {0, 0}, {0, 0}};
  if (step->op == OP_SUM) return enclose_sum(enclosure, step);
  for (uint32_t c = 0; c < step->count && c < 3; c++) x[c] = enclosure->bounds[enclosure->child[step->child + c]];
  return interval_operator(step->op, x);
}

static bool is_leaf(const EnclosedNode *step) { return step->count == 0 && step->op != OP_SUM; }

Interval enclosure_bounds(Enclosure *enclosure, Interval time, HeldValues held) {
  for (uint32_t i = 0; i < enclosure->count; i++) {
    const EnclosedNode *step = &enclosure->step[i];
    bool leaf = is_leaf(step);
    enclosure->bounds[i] = leaf ? enclose_leaf(step, time, held) : enclose(enclosure, step);
  }
  return enclosure->bounds[enclosure->count - 1];
}

static double value_of(const Enclosure *enclosure, const EnclosedNode *step) {
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
    const EnclosedNode *step = &enclosure->step[i];
    bool leaf = is_leaf(step);
    enclosure->value[i] = leaf ? enclose_leaf(step, (Interval){time, time}, held).low : value_of(enclosure, step);
  }
  return enclosure->value[enclosure->count - 1];
}

bool enclosure_hold(const Enclosure *enclosure, HeldValues held, double *kept) {
  bool same = true;
  for (uint32_t i = 0; i < enclosure->count; i++) {
    const EnclosedNode *step = &enclosure->step[i];
    if (!is_discrete(step)) continue;
    double value = (step->op == OP_PRE ? held.pre : held.discretes)[step->index];
    same = same && *kept == value;
    *kept++ = value;
  }
  return same;
}
