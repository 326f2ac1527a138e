/* evaluate: values of operators and of expressions. A value outside of an operator's domain does not fail the
 * whole at once: it is carried as "undefined", with the node at fault, and counts only if it is used; so an
 * inactive branch of an if, or the rest of an and that is already false, may be undefined. */
#include "expr/dag_internal.h"
#include "expr/op_math.h"

bool op_evaluate(Op op, const double *arguments, double *out) {
  int arity = op_arity(op);
  double a = arity > 0 ? arguments[0] : 0, b = arity > 1 ? arguments[1] : 0, c = arity > 2 ? arguments[2] : 0;
  switch (op) {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) \
  case OP_##id:                                              \
    if (!(domain)) return false;                             \
    *out = (value);                                          \
    return true;
#include "expr/ops.def"
#undef OP
  default: return false;
  }
}

typedef struct Evaluation {
  Dag *dag;
  LeafValue leaf;
  void *context;
  double *values; /* by position in the walk */
  Expr *culprits; /* the undefined node, or NO_EXPR */
} Evaluation;

static uint32_t child_slot(const Evaluation *run, Expr e, uint32_t i) {
  return run->dag->slots.data[dag_child(run->dag, e, i)];
}

/* The first child in [begin, end) that is undefined, as its culprit. */
static Expr undefined_child(const Evaluation *run, Expr e, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++) {
    Expr culprit = run->culprits[child_slot(run, e, i)];
    if (culprit != NO_EXPR) return culprit;
  }
  return NO_EXPR;
}

static Expr evaluate_sum(const Evaluation *run, Expr e, double *value) {
  const Term *terms;
  uint32_t count = dag_terms(run->dag, e, value, &terms);
  for (uint32_t i = 0; i < count; i++) *value += terms[i].coefficient * run->values[child_slot(run, e, i)];
  return undefined_child(run, e, 0, count);
}

/* if, and, or use their second part only if the first asks for it. */
static Expr evaluate_lazily(const Evaluation *run, Op op, Expr e, double *value) {
  Expr culprit = undefined_child(run, e, 0, 1);
  if (culprit != NO_EXPR) return culprit;
  bool first = run->values[child_slot(run, e, 0)] != 0;
  if (op != OP_IF && first == (op == OP_OR)) {
    *value = first;
    return NO_EXPR;
  }
  uint32_t chosen = op == OP_IF && !first ? 2 : 1;
  *value = run->values[child_slot(run, e, chosen)];
  return undefined_child(run, e, chosen, chosen + 1);
}

static Expr evaluate_operator(const Evaluation *run, Op op, Expr e, double *value) {
  double x[3];
  uint32_t count = dag_child_count(run->dag, e);
  Expr culprit = undefined_child(run, e, 0, count);
  if (culprit != NO_EXPR) return culprit;
  for (uint32_t i = 0; i < count && i < 3; i++) x[i] = run->values[child_slot(run, e, i)];
  return op_evaluate(op, x, value) ? NO_EXPR : e;
}

static Expr evaluate_node(const Evaluation *run, Expr e, double *value) {
  Op op = dag_op(run->dag, e);
  switch (op) {
  case OP_CONSTANT: *value = dag_value(run->dag, e); return NO_EXPR;
  case OP_TIME:
  case OP_PARAMETER:
  case OP_VARIABLE:
  case OP_DISCRETE:
  case OP_PRE: *value = run->leaf(run->context, run->dag, e); return NO_EXPR;
  case OP_SUM: return evaluate_sum(run, e, value);
  case OP_IF:
  case OP_AND:
  case OP_OR: return evaluate_lazily(run, op, e, value);
  default: return evaluate_operator(run, op, e, value);
  }
}

bool dag_evaluate(Dag *dag, Expr e, LeafValue leaf, void *context, double *value, Expr *where) {
  IndexVec order = {0};
  dag_below(dag, &e, 1, &order);
  Evaluation run = {dag, leaf, context, NULL, NULL};
  run.values = heap_array(dag->heap, order.count, sizeof *run.values);
  run.culprits = heap_array(dag->heap, order.count, sizeof *run.culprits);
  for (uint32_t i = 0; i < order.count; i++) run.culprits[i] = evaluate_node(&run, order.data[i], &run.values[i]);
  Expr culprit = run.culprits[order.count - 1];
  if (where) *where = culprit;
  *value = run.values[order.count - 1];
  heap_free(dag->heap, run.values);
  heap_free(dag->heap, run.culprits);
  vec_free(dag->heap, &order);
  return culprit == NO_EXPR;
}
