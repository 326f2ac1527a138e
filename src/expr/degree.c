/* degree: see degree.h. One sweep over the nodes below the root, children before parents. */
#include "expr/degree.h"

struct Degrees {
  Heap *heap;
  Dag *dag;
  uint32_t size;
  uint8_t *degree; /* per node; valid for the nodes of the last sweep */
  IndexVec order;
};

Degrees *degrees_new(Heap *heap, Dag *dag) {
  Degrees *degrees = heap_alloc(heap, sizeof *degrees);
  degrees->heap = heap;
  degrees->dag = dag;
  degrees->size = dag_size(dag);
  degrees->degree = heap_array(heap, degrees->size, sizeof *degrees->degree);
  return degrees;
}

static Degree child_degree(const Degrees *degrees, Expr e, uint32_t i) {
  return (Degree)degrees->degree[dag_child(degrees->dag, e, i)];
}

static Degree largest_degree(const Degrees *degrees, Expr e) {
  Degree largest = DEGREE_ZERO;
  for (uint32_t i = 0, count = dag_child_count(degrees->dag, e); i < count; i++)
    if (child_degree(degrees, e, i) > largest) largest = child_degree(degrees, e, i);
  return largest;
}

static Degree node_degree(const Degrees *degrees, Expr e) {
  Degree largest = largest_degree(degrees, e);
  if (largest == DEGREE_ZERO) return DEGREE_ZERO;
  switch (dag_op(degrees->dag, e)) {
  case OP_SUM:
  case OP_NOEVENT:
  case OP_HOMOTOPY: return largest;
  case OP_SMOOTH: return child_degree(degrees, e, 1);
  case OP_MULTIPLY: return child_degree(degrees, e, 0) && child_degree(degrees, e, 1) ? DEGREE_HIGHER : largest;
  case OP_DIVIDE: return child_degree(degrees, e, 1) ? DEGREE_HIGHER : largest;
  case OP_IF: return child_degree(degrees, e, 0) ? DEGREE_HIGHER : largest;
  default: return DEGREE_HIGHER;
  }
}

Degree degrees_run(Degrees *degrees, Expr root, IsUnknown is_unknown, void *context) {
  Dag *dag = degrees->dag;
  if (dag_size(dag) > degrees->size) {
    degrees->size = dag_size(dag);
    degrees->degree = heap_resize(degrees->heap, degrees->degree, degrees->size * sizeof *degrees->degree);
  }
  degrees->order.count = 0;
  dag_below(dag, dag_scratch(dag), &root, 1, &degrees->order);
  for (uint32_t k = 0; k < degrees->order.count; k++) {
    Expr e = degrees->order.data[k];
    if (dag_op(dag, e) != OP_VARIABLE) degrees->degree[e] = (uint8_t)node_degree(degrees, e);
    else degrees->degree[e] = is_unknown(context, e) ? DEGREE_ONE : DEGREE_ZERO;
  }
  return (Degree)degrees->degree[root];
}
