/* enclosure_plan: see enclosure_plan.h. */
#include "expr/enclosure_plan.h"

#include "expr/interval_op.h"

/* The search for roots in time uses these bounds. Some operators jump although no other expression has a root there. The checks
 * along the steps find these jumps. */
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

static EnclosureStep make_step(const Dag *dag, Expr e, uint32_t child, double *coefficient) {
  EnclosureStep step = {.op = (int)dag_op(dag, e), .count = dag_child_count(dag, e), .child = child};
  const Term *terms;
  if (step.op == OP_CONSTANT) step.constant = dag_value(dag, e);
  if (step.op == OP_PARAMETER || step.op == OP_DISCRETE || step.op == OP_PRE) step.index = dag_index(dag, e);
  if (step.op != OP_SUM) return step;
  dag_terms(dag, e, &step.constant, &terms);
  for (uint32_t c = 0; c < step.count; c++) coefficient[c] = terms[c].coefficient;
  return step;
}

Enclosure enclosure_plan(Heap *heap, const Dag *dag, DagScratch *scratch, Expr e) {
  IndexVec order = {0};
  uint32_t places = 0;
  dag_below(dag, scratch, &e, 1, &order);
  for (uint32_t i = 0; i < order.count; i++) places += dag_child_count(dag, order.data[i]);
  EnclosureStep *step = heap_array(heap, order.count, sizeof *step);
  uint32_t *child = heap_array(heap, places, sizeof *child);
  double *coefficient = heap_array(heap, places, sizeof *coefficient);
  places = 0;
  for (uint32_t i = 0; i < order.count; i++) {
    Expr node = order.data[i];
    step[i] = make_step(dag, node, places, coefficient + places);
    for (uint32_t c = 0; c < step[i].count; c++) child[places++] = scratch->slots.data[dag_child(dag, node, c)];
  }
  Enclosure enclosure = {order.count, step, child, coefficient};
  vec_free(scratch->heap, &order);
  return enclosure;
}
