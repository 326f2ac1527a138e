/* transplant: see transplant.h. */
#include "reduce/transplant.h"

static Expr copy_leaf(Transplant *plan, Expr e) {
  const Dag *from = plan->from;
  switch (dag_op(from, e)) {
  case OP_CONSTANT: return dag_constant(plan->to, dag_value(from, e));
  case OP_TIME: return dag_time(plan->to);
  case OP_PARAMETER: return dag_parameter(plan->to, dag_index(from, e));
  case OP_DISCRETE: return dag_discrete(plan->to, dag_index(from, e));
  case OP_PRE: return dag_pre(plan->to, dag_index(from, e));
  case OP_STRING: return dag_string(plan->to, dag_index(from, e));
  default: return plan->variable(plan->context, dag_index(from, e), dag_order(from, e));
  }
}

static Expr copy_sum(Transplant *plan, Expr e) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(plan->from, e, &constant, &terms);
  Term *copy = heap_array(plan->heap, count, sizeof *copy);
  for (uint32_t k = 0; k < count; k++) copy[k] = (Term){terms[k].coefficient, map_get(&plan->image, terms[k].node)};
  Expr sum = dag_sum(plan->to, constant, copy, count);
  heap_free(plan->heap, copy);
  return sum;
}

static Expr copy_operator(Transplant *plan, Expr e) {
  const Expr *arguments;
  uint32_t count = dag_arguments(plan->from, e, &arguments);
  Expr *copy = heap_array(plan->heap, count, sizeof *copy);
  for (uint32_t k = 0; k < count; k++) copy[k] = map_get(&plan->image, arguments[k]);
  Expr made;
  if (dag_op(plan->from, e) == OP_CALL) {
    CallInfo call = dag_call_info(plan->from, e);
    made = dag_call(plan->to, call.function, call.output, call.partials, call.partial_count, copy, count);
  } else {
    made = dag_nary(plan->to, dag_op(plan->from, e), copy, count);
  }
  heap_free(plan->heap, copy);
  return made;
}

Expr transplant(Transplant *plan, Expr e) {
  IndexVec order = {0};
  if (!plan->image.heap) plan->image = map_make(plan->heap);
  dag_below(plan->from, &e, 1, &order);
  for (uint32_t k = 0; k < order.count; k++) {
    Expr node = order.data[k];
    if (map_get(&plan->image, node) != MAP_NONE) continue;
    Op op = dag_op(plan->from, node);
    Expr made = op_kind(op) == KIND_LEAF ? copy_leaf(plan, node)
                : op == OP_SUM           ? copy_sum(plan, node)
                                         : copy_operator(plan, node);
    map_put(&plan->image, node, made);
  }
  vec_free(plan->heap, &order);
  return map_get(&plan->image, e);
}
