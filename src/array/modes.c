/* modes: see modes.h. */
#include "array/modes.h"

#include <string.h>

static bool stops_events(Op op) { return op == OP_NOEVENT || op == OP_SMOOTH; }

static bool is_event_relation(Op op) {
  return op == OP_LESS || op == OP_LESS_EQUAL || op == OP_GREATER || op == OP_GREATER_EQUAL;
}

/* Does the value change along a solution? */
static bool is_moving(Dag *dag, Expr e) { return dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_TIME); }

/* Which nodes of `order` are reached without passing a noEvent: walked from the roots down. */
static bool *mark_outside(Dag *dag, const IndexVec *order, const uint32_t *slot, const Expr *roots, uint32_t count,
                          Heap *heap) {
  bool *outside = heap_array(heap, order->count, sizeof *outside);
  for (uint32_t r = 0; r < count; r++) outside[slot[roots[r]]] = true;
  for (uint32_t k = order->count; k-- > 0;) {
    Expr e = order->data[k];
    if (!outside[k] || stops_events(dag_op(dag, e))) continue;
    for (uint32_t c = 0; c < dag_child_count(dag, e); c++) outside[slot[dag_child(dag, e, c)]] = true;
  }
  return outside;
}

typedef struct Extraction {
  Heap *heap;
  Dag *dag;
  uint32_t first;
  ExprVec relations, differences;
  ExprVec children;
} Extraction;

static Expr add_mode(Extraction *extraction, Expr relation, Expr left, Expr right) {
  uint32_t mode = extraction->relations.count;
  vec_push(extraction->heap, &extraction->relations, relation);
  vec_push(extraction->heap, &extraction->differences, dag_subtract(extraction->dag, left, right));
  return dag_discrete(extraction->dag, extraction->first + mode);
}

static Expr replace_node(Extraction *extraction, Expr e, const Expr *changed, const uint32_t *slot) {
  Dag *dag = extraction->dag;
  Op op = dag_op(dag, e);
  uint32_t count = dag_child_count(dag, e);
  if (count == 0 || stops_events(op)) return e;
  bool same = true;
  extraction->children.count = 0;
  for (uint32_t c = 0; c < count; c++) {
    Expr child = dag_child(dag, e, c), now = changed[slot[child]];
    same = same && child == now;
    vec_push(extraction->heap, &extraction->children, now);
  }
  if (is_event_relation(op) && is_moving(dag, e))
    return add_mode(extraction, e, extraction->children.data[0], extraction->children.data[1]);
  return same ? e : dag_rebuild(dag, e, extraction->children.data);
}

Modes modes_extract(Problem *problem, Arena *arena) {
  Dag *dag = problem->model->dag;
  Heap *heap = arena->heap;
  Modes modes = {.first = problem->model->discretes.count};
  ExprVec roots = {0};
  IndexVec order = {0};
  for (uint32_t i = 0; i < problem->equations; i++)
    if (dag_has_event(dag, problem->residual[i])) vec_push(heap, &roots, problem->residual[i]);
  if (!roots.count) return modes;
  dag_below(dag, dag_scratch(dag), roots.data, roots.count, &order);
  uint32_t *slot = heap_array(heap, dag_size(dag), sizeof *slot);
  for (uint32_t k = 0; k < order.count; k++) slot[order.data[k]] = k;
  bool *outside = mark_outside(dag, &order, slot, roots.data, roots.count, heap);
  Expr *changed = heap_array(heap, order.count, sizeof *changed);
  Extraction extraction = {.heap = heap, .dag = dag, .first = modes.first};
  for (uint32_t k = 0; k < order.count; k++)
    changed[k] = outside[k] ? replace_node(&extraction, order.data[k], changed, slot) : order.data[k];
  for (uint32_t i = 0; i < problem->equations; i++)
    if (dag_has_event(dag, problem->residual[i])) problem->residual[i] = changed[slot[problem->residual[i]]];
  modes.count = extraction.relations.count;
  modes.relation = arena_array(arena, modes.count, sizeof(Expr));
  modes.difference = arena_array(arena, modes.count, sizeof(Expr));
  for (uint32_t m = 0; m < modes.count; m++) {
    modes.relation[m] = extraction.relations.data[m];
    modes.difference[m] = extraction.differences.data[m];
  }
  vec_free(heap, &extraction.relations);
  vec_free(heap, &extraction.differences);
  vec_free(heap, &extraction.children);
  vec_free(heap, &roots);
  vec_free(heap, &order);
  heap_free(heap, slot);
  heap_free(heap, outside);
  heap_free(heap, changed);
  return modes;
}

/* A relation holds only modes made before it. */
Expr modes_restore(const Modes *modes, Dag *dag, Expr e) {
  for (uint32_t m = modes->count; m-- > 0 && dag_depends(dag, e, OP_DISCRETE);) {
    Expr mode = dag_discrete(dag, modes->first + m);
    dag_substitute(dag, &mode, &modes->relation[m], 1, &e, 1);
  }
  return e;
}
