/* evaluate: values of expressions. An argument outside of an operator's domain does not fail the whole evaluation
 * at once: the value is carried as "undefined", with the node at fault, and counts only if it is used. So an inactive branch of an
 * if, or the rest of an `and` that is already false, may be undefined. */
#include "expr/dag_internal.h"

static uint32_t child_slot(const Dag *dag, const NodeValues *nodes, Expr e, uint32_t i) {
  Expr child = dag_child(dag, e, i);
  return nodes->slots ? nodes->slots[child] : child;
}

/* The first child in [begin, end) that is undefined, as the node at fault. */
static Expr child_fault(const Dag *dag, const NodeValues *nodes, Expr e, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++) {
    Expr fault = nodes->faults[child_slot(dag, nodes, e, i)];
    if (fault != EXPR_NONE) return fault;
  }
  return EXPR_NONE;
}

static Expr evaluate_sum(const Dag *dag, const NodeValues *nodes, Expr e, double *value) {
  const Term *terms;
  uint32_t count = dag_terms(dag, e, value, &terms);
  for (uint32_t i = 0; i < count; i++) *value += terms[i].coefficient * nodes->values[child_slot(dag, nodes, e, i)];
  return child_fault(dag, nodes, e, 0, count);
}

/* `if`, `and` and `or` use their second argument only if the first one requires it. */
static Expr evaluate_choice(const Dag *dag, const NodeValues *nodes, Op op, Expr e, double *value) {
  Expr fault = child_fault(dag, nodes, e, 0, 1);
  if (fault != EXPR_NONE) return fault;
  bool first = nodes->values[child_slot(dag, nodes, e, 0)] != 0;
  *value = first;
  if (op != OP_IF && first == (op == OP_OR)) return EXPR_NONE;
  uint32_t chosen = op == OP_IF && !first ? 2 : 1;
  *value = nodes->values[child_slot(dag, nodes, e, chosen)];
  return child_fault(dag, nodes, e, chosen, chosen + 1);
}

Expr dag_evaluate_node(const Dag *dag, const NodeValues *nodes, Expr e, double *value) {
  Op op = dag_op(dag, e);
  if (op == OP_CONSTANT) return *value = dag_value(dag, e), EXPR_NONE;
  if (op == OP_SUM) return evaluate_sum(dag, nodes, e, value);
  if (op == OP_IF || op == OP_AND || op == OP_OR) return evaluate_choice(dag, nodes, op, e, value);
  double arguments[3] = {0};
  uint32_t count = dag_child_count(dag, e);
  Expr fault = child_fault(dag, nodes, e, 0, count);
  if (fault != EXPR_NONE) return fault;
  for (uint32_t i = 0; i < count && i < 3; i++) arguments[i] = nodes->values[child_slot(dag, nodes, e, i)];
  return op_arity(op) == (int)count && op_evaluate(op, arguments, value) ? EXPR_NONE : e;
}

static bool is_valued_leaf(Op op) {
  return op == OP_TIME || op == OP_PARAMETER || op == OP_VARIABLE || op == OP_DISCRETE || op == OP_PRE;
}

bool dag_evaluate(const Dag *dag, DagScratch *scratch, Expr e, LeafValue leaf, void *context, double *value,
                  Expr *where) {
  if (where) *where = EXPR_NONE;
  if (dag_is_constant(dag, e, value)) return true;
  IndexVec order = {0};
  dag_below(dag, scratch, &e, 1, &order);
  NodeValues nodes = {.slots = scratch->slots.data,
                      .values = heap_array(scratch->heap, order.count, sizeof *nodes.values),
                      .faults = heap_array(scratch->heap, order.count, sizeof *nodes.faults)};
  for (uint32_t i = 0; i < order.count; i++) {
    Expr node = order.data[i];
    nodes.faults[i] = EXPR_NONE;
    if (is_valued_leaf(dag_op(dag, node))) nodes.values[i] = leaf(context, dag, node);
    else nodes.faults[i] = dag_evaluate_node(dag, &nodes, node, &nodes.values[i]);
  }
  Expr fault = nodes.faults[order.count - 1];
  if (where) *where = fault;
  *value = nodes.values[order.count - 1];
  heap_free_all(scratch->heap, nodes.values, nodes.faults);
  vec_free(scratch->heap, &order);
  return fault == EXPR_NONE;
}
