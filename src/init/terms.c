/* terms: see terms.h. */
#include "init/terms.h"

#include <float.h>
#include <math.h>

/* Nodes whose sizes are known, with their values. */
typedef struct SizedNodes {
  const Dag *dag;
  ExprVec nodes;  /* parts before the nodes that contain them */
  uint32_t *slot; /* per node of the graph: 1 + place */
  double *value, *size;
} SizedNodes;

/* The range [*first, end) of the children that a node adds up, or that cause its round-off; returns the end. */
static uint32_t part_range(const Dag *dag, Expr e, uint32_t *first) {
  *first = 0;
  switch (dag_op(dag, e)) {
  case OP_SUM:
  case OP_MULTIPLY:
  case OP_DIVIDE:
  case OP_MIN:
  case OP_MAX:
  case OP_SMOOTH:
  case OP_HOMOTOPY: return dag_child_count(dag, e);
  case OP_POWER:
  case OP_NOEVENT: return 1;
  case OP_IF: *first = 1; return 3;
  default: return 0;
  }
}

static SizedNodes find_parts(Heap *heap, Dag *dag, const Expr *rows, uint32_t count) {
  IndexVec below = {0};
  dag_below(dag, dag_scratch(dag), rows, count, &below);
  uint32_t *slot = heap_array(heap, dag_size(dag), sizeof *slot), first;
  for (uint32_t r = 0; r < count; r++) slot[rows[r]] = 1;
  for (uint32_t k = below.count; k-- > 0;) {
    uint32_t end = slot[below.data[k]] ? part_range(dag, below.data[k], &first) : 0;
    for (uint32_t c = first; c < end; c++) slot[dag_child(dag, below.data[k], c)] = 1;
  }
  SizedNodes parts = {.dag = dag, .slot = slot};
  for (uint32_t k = 0; k < below.count; k++) {
    if (!slot[below.data[k]]) continue;
    vec_push(heap, &parts.nodes, below.data[k]);
    slot[below.data[k]] = parts.nodes.count;
  }
  vec_free(dag_heap(dag), &below);
  return parts;
}

static double sum_size(const SizedNodes *parts, Expr e) {
  const Term *terms;
  double constant;
  uint32_t count = dag_terms(parts->dag, e, &constant, &terms);
  double size = fabs(constant);
  for (uint32_t k = 0; k < count; k++) size += fabs(terms[k].coefficient) * parts->size[parts->slot[terms[k].node] - 1];
  return size;
}

/* For if, min and max, the branch that gives the value. */
static double branch_size(const SizedNodes *parts, Expr e, double value) {
  double size = fabs(value);
  uint32_t first, end = part_range(parts->dag, e, &first);
  for (uint32_t c = first; c < end; c++) {
    uint32_t part = parts->slot[dag_child(parts->dag, e, c)] - 1;
    if (parts->value[part] == value) size = fmax(size, parts->size[part]);
  }
  return size;
}

static double part_size(const SizedNodes *parts, Expr e, double value) {
  uint32_t first, end = part_range(parts->dag, e, &first);
  uint32_t a = end ? parts->slot[dag_child(parts->dag, e, first)] - 1 : 0;
  uint32_t b = end > 1 ? parts->slot[dag_child(parts->dag, e, first + 1)] - 1 : 0;
  const double *v = parts->value, *size = parts->size;
  switch (dag_op(parts->dag, e)) {
  case OP_SUM: return sum_size(parts, e);
  case OP_MULTIPLY: return fabs(v[a]) * size[b] + fabs(v[b]) * size[a];
  case OP_DIVIDE: return (size[a] + fabs(value) * size[b]) / fabs(v[b]);
  case OP_POWER: return v[a] == 0 ? fabs(value) : fabs(value / v[a]) * size[a];
  case OP_IF:
  case OP_MIN:
  case OP_MAX:
  case OP_SMOOTH:
  case OP_HOMOTOPY:
  case OP_NOEVENT: return branch_size(parts, e, value);
  default: return dag_is_residue(parts->dag, e) ? fabs(value) / DBL_EPSILON : fabs(value);
  }
}

/* The values and sizes of all parts of some rows. */
static SizedNodes measure_parts(Heap *heap, Model *model, const Layout *layout, const Expr *rows, uint32_t count,
                                const Point *point) {
  SizedNodes parts = find_parts(heap, model->dag, rows, count);
  uint32_t n = parts.nodes.count;
  parts.value = heap_array(heap, n, sizeof *parts.value);
  parts.size = heap_array(heap, n, sizeof *parts.size);
  Program *program = program_new(heap, model, layout, parts.nodes.data, n);
  workspace_run(workspace_new(heap, program), point, parts.value);
  for (uint32_t k = 0; k < n; k++) parts.size[k] = part_size(&parts, parts.nodes.data[k], parts.value[k]);
  return parts;
}

static void parts_free(Heap *heap, SizedNodes *parts) {
  heap_free_all(heap, parts->value, parts->size, parts->slot);
  vec_free(heap, &parts->nodes);
}

void terms_sizes(Heap *heap, Model *model, const Layout *layout, const Expr *rows, uint32_t count, const Point *point,
                 double *sizes) {
  if (!count) return;
  SizedNodes parts = measure_parts(heap, model, layout, rows, count, point);
  for (uint32_t r = 0; r < count; r++) sizes[r] = parts.size[parts.slot[rows[r]] - 1];
  parts_free(heap, &parts);
}

/* ---- divisors ---- */

static bool is_lost(const SizedNodes *parts, Expr e, double error) {
  uint32_t part = parts->slot[e] - 1;
  return fabs(parts->value[part]) <= error * parts->size[part];
}

/* Is the divisor constant? Then it stays round-off during the whole run. While the dividend is zero, the quotient has a value
 * nevertheless. */
static bool is_held(const Dag *dag, Expr e) {
  return !dag_depends(dag, e, OP_VARIABLE) && !dag_depends(dag, e, OP_TIME) && !dag_depends(dag, e, OP_DISCRETE);
}

static bool has_lost_divisor(const SizedNodes *parts, Expr e, double error) {
  double exponent;
  Op op = dag_op(parts->dag, e);
  if (op == OP_DIVIDE) {
    Expr dividend = dag_child(parts->dag, e, 0), divisor = dag_child(parts->dag, e, 1);
    return is_lost(parts, divisor, error) && (is_held(parts->dag, divisor) || !is_lost(parts, dividend, error));
  }
  return op == OP_POWER && dag_is_constant(parts->dag, dag_child(parts->dag, e, 1), &exponent) && exponent < 0 &&
         is_lost(parts, dag_child(parts->dag, e, 0), error);
}

/* Does the value of the used node e depend on this child? Only the branch that gives the value counts. */
static bool uses_part(const SizedNodes *parts, Expr e, Expr child) {
  Op op = dag_op(parts->dag, e);
  bool selects = op == OP_IF || op == OP_MIN || op == OP_MAX;
  return !selects || parts->value[parts->slot[e] - 1] == parts->value[parts->slot[child] - 1];
}

/* Is there a quotient below? */
static bool divides(Dag *dag, Expr row) {
  IndexVec below = {0};
  bool found = false;
  dag_below(dag, dag_scratch(dag), &row, 1, &below);
  for (uint32_t k = 0; k < below.count && !found; k++)
    found = dag_op(dag, below.data[k]) == OP_DIVIDE || dag_op(dag, below.data[k]) == OP_POWER;
  vec_free(dag_heap(dag), &below);
  return found;
}

Expr terms_lost_divisor(Heap *heap, Model *model, const Layout *layout, Expr row, const Point *point, double error) {
  if (!divides(model->dag, row)) return EXPR_NONE;
  SizedNodes parts = measure_parts(heap, model, layout, &row, 1, point);
  uint32_t n = parts.nodes.count, first;
  bool *is_used = heap_array(heap, n, sizeof *is_used);
  Expr found = EXPR_NONE;
  is_used[parts.slot[row] - 1] = true;
  for (uint32_t k = n; k-- > 0 && found == EXPR_NONE;) {
    Expr e = parts.nodes.data[k];
    if (!is_used[k]) continue;
    if (has_lost_divisor(&parts, e, error)) found = e;
    uint32_t end = part_range(parts.dag, e, &first);
    for (uint32_t c = first; c < end; c++) {
      Expr child = dag_child(parts.dag, e, c);
      is_used[parts.slot[child] - 1] |= uses_part(&parts, e, child);
    }
  }
  heap_free(heap, is_used);
  parts_free(heap, &parts);
  return found;
}
