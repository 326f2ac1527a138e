/* degree: see degree.h. One sweep over the nodes below the roots, children before parents. */
#include "init/degree.h"

struct Degrees {
  Heap *heap;
  Dag *dag;
  uint32_t size;
  Degree *degree; /* per node; valid for the nodes of the last sweep */
  IndexVec order;
};

Degrees *degrees_new(Heap *heap, Dag *dag) {
  Degrees *degrees = heap_alloc(heap, sizeof *degrees);
  degrees->heap = heap;
  degrees->dag = dag;
  degrees->size = dag_size(dag);
  degrees->degree = heap_array(heap, degrees->size, sizeof(Degree));
  return degrees;
}

static uint32_t all(Degree a) { return a.linear | a.beyond; }

static Degree united(Degree a, Degree b) {
  uint32_t beyond = a.beyond | b.beyond;
  return (Degree){(a.linear | b.linear) & ~beyond, beyond};
}

static Degree product(Degree a, Degree b) {
  uint32_t beyond = a.beyond | b.beyond | (a.linear & b.linear);
  return (Degree){(a.linear | b.linear) & ~beyond, beyond};
}

static Degree quotient(Degree a, Degree b) {
  uint32_t beyond = a.beyond | all(b);
  return (Degree){a.linear & ~beyond, beyond};
}

static Degree child_degree(const Degrees *degrees, Expr e, uint32_t i) {
  return degrees->degree[dag_child(degrees->dag, e, i)];
}

static Degree node_degree(const Degrees *degrees, Expr e) {
  uint32_t count = dag_child_count(degrees->dag, e);
  Degree sum = {0};
  for (uint32_t i = 0; i < count; i++) sum = united(sum, child_degree(degrees, e, i));
  switch (dag_op(degrees->dag, e)) {
  case OP_SUM:
  case OP_NOEVENT:
  case OP_HOMOTOPY: return sum;
  case OP_SMOOTH: return child_degree(degrees, e, 1);
  case OP_MULTIPLY: return product(child_degree(degrees, e, 0), child_degree(degrees, e, 1));
  case OP_DIVIDE: return quotient(child_degree(degrees, e, 0), child_degree(degrees, e, 1));
  case OP_IF:
    return quotient(united(child_degree(degrees, e, 1), child_degree(degrees, e, 2)), child_degree(degrees, e, 0));
  default: return (Degree){0, all(sum)};
  }
}

void degrees_run(Degrees *degrees, const Expr *roots, uint32_t count, LeafClasses classes, void *context, Degree *out) {
  if (dag_size(degrees->dag) > degrees->size) {
    degrees->size = dag_size(degrees->dag);
    degrees->degree = heap_resize(degrees->heap, degrees->degree, degrees->size * sizeof(Degree));
  }
  degrees->order.count = 0;
  dag_below(degrees->dag, roots, count, &degrees->order);
  for (uint32_t k = 0; k < degrees->order.count; k++) {
    Expr e = degrees->order.data[k];
    degrees->degree[e] = dag_op(degrees->dag, e) == OP_VARIABLE ? classes(context, e) : node_degree(degrees, e);
  }
  for (uint32_t r = 0; r < count; r++) out[r] = degrees->degree[roots[r]];
}
