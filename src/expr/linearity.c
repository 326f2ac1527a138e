/* linearity: see linearity.h. One sweep over the nodes below the expression, children before parents. */
#include "expr/linearity.h"

/* How a node depends on the leaves of the set. */
typedef enum LinearityClass { DEPENDS_NOT, DEPENDS_LINEARLY, DEPENDS_OTHERWISE } LinearityClass;

Linearity linearity_make(const Dag *dag, DagScratch *scratch) {
  return (Linearity){.dag = dag, .scratch = scratch, .dependence = heap_array(scratch->heap, dag_size(dag), 1)};
}

void linearity_free(Linearity *linearity) {
  heap_free(linearity->scratch->heap, linearity->dependence);
  vec_free(linearity->scratch->heap, &linearity->order);
}

static bool child_depends(const Linearity *linearity, Expr e, uint32_t k) {
  return linearity->dependence[dag_child(linearity->dag, e, k)] != DEPENDS_NOT;
}

static LinearityClass node_dependence(const Linearity *linearity, Expr e) {
  LinearityClass largest = DEPENDS_NOT;
  for (uint32_t k = 0; k < dag_child_count(linearity->dag, e); k++) {
    LinearityClass child = (LinearityClass)linearity->dependence[dag_child(linearity->dag, e, k)];
    if (child > largest) largest = child;
  }
  if (largest == DEPENDS_NOT) return DEPENDS_NOT;
  switch (dag_op(linearity->dag, e)) {
  case OP_SUM:
  case OP_NOEVENT:
  case OP_SMOOTH:
  case OP_HOMOTOPY: return largest;
  case OP_MULTIPLY:
    return child_depends(linearity, e, 0) && child_depends(linearity, e, 1) ? DEPENDS_OTHERWISE : largest;
  case OP_DIVIDE: return child_depends(linearity, e, 1) ? DEPENDS_OTHERWISE : largest;
  case OP_IF: return child_depends(linearity, e, 0) ? DEPENDS_OTHERWISE : largest;
  default: return DEPENDS_OTHERWISE;
  }
}

bool linearity_test(Linearity *linearity, Expr e, LeafTest is_member, const void *context) {
  linearity->order.count = 0;
  dag_below(linearity->dag, linearity->scratch, &e, 1, &linearity->order);
  for (uint32_t k = 0; k < linearity->order.count; k++) {
    Expr node = linearity->order.data[k];
    bool is_leaf = dag_op(linearity->dag, node) == OP_VARIABLE;
    linearity->dependence[node] =
        (uint8_t)(is_leaf ? is_member(context, node) * DEPENDS_LINEARLY : node_dependence(linearity, node));
  }
  return linearity->dependence[e] != DEPENDS_OTHERWISE;
}
