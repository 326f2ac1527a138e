/* branches: see branches.h. */
#include "array/branches.h"

#include "base/map.h"

#include <string.h>

/* Does the condition depend only on discrete values? */
static bool is_discrete(const Dag *dag, Expr condition) {
  return !dag_depends(dag, condition, OP_VARIABLE) && !dag_depends(dag, condition, OP_TIME) &&
         (dag_depends(dag, condition, OP_DISCRETE) || dag_depends(dag, condition, OP_PRE));
}

/* Do the branches contain different variables or derivatives? */
static bool differ(Dag *dag, Expr a, Expr b) {
  ExprVec left = {0}, right = {0};
  DagScratch *scratch = dag_scratch(dag);
  dag_variables(dag, scratch, a, &left);
  dag_variables(dag, scratch, b, &right);
  bool same =
      left.count == right.count && (!left.count || memcmp(left.data, right.data, left.count * sizeof *left.data) == 0);
  vec_free(scratch->heap, &left);
  vec_free(scratch->heap, &right);
  return !same;
}

/* Finds the if-expressions whose conditions satisfy `is_condition` and whose branches differ, and those with the same conditions. */
static Branches find(const Problem *problem, bool (*is_condition)(const Dag *dag, Expr e), Arena *arena) {
  Dag *dag = problem->model->dag;
  IndexVec below = {0};
  ExprVec found = {0};
  Map differing = map_make(arena->heap);
  dag_below_nonsmooth(dag, dag_scratch(dag), problem->residual, problem->equations, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    Expr e = below.data[k];
    if (dag_op(dag, e) == OP_IF && is_condition(dag, dag_child(dag, e, 0)) &&
        differ(dag, dag_child(dag, e, 1), dag_child(dag, e, 2)))
      map_put(&differing, dag_child(dag, e, 0), 1);
  }
  for (uint32_t k = 0; k < below.count; k++) {
    Expr e = below.data[k];
    if (dag_op(dag, e) == OP_IF && map_get(&differing, dag_child(dag, e, 0)) != MAP_NONE)
      vec_push(arena->heap, &found, e);
  }
  map_free(&differing);
  Branches branches = {.count = found.count};
  branches.node = arena_array(arena, found.count, sizeof(Expr));
  branches.condition = arena_array(arena, found.count, sizeof(Expr));
  for (uint32_t k = 0; k < found.count; k++) {
    branches.node[k] = found.data[k];
    branches.condition[k] = dag_child(dag, found.data[k], 0);
  }
  vec_free(dag_heap(dag), &below);
  vec_free(arena->heap, &found);
  return branches;
}

Branches branches_find(const Problem *problem, Arena *arena) { return find(problem, is_discrete, arena); }

/* Does the condition change during a run, outside of noEvent and smooth? */
static bool is_written(const Dag *dag, Expr condition) {
  return dag_has_event(dag, condition) || is_discrete(dag, condition);
}

Branches branches_find_written(const Problem *problem, Arena *arena) { return find(problem, is_written, arena); }

void branches_take(Dag *dag, const Branches *branches, const bool *holds, Expr *residual, uint32_t count) {
  Heap *heap = dag_scratch(dag)->heap;
  Expr *taken = heap_array(heap, branches->count, sizeof *taken);
  for (uint32_t k = 0; k < branches->count; k++) {
    taken[k] = dag_child(dag, branches->node[k], holds[k] ? 1 : 2);
    if (k) dag_substitute(dag, branches->node, taken, k, &taken[k], 1);
  }
  if (branches->count) dag_substitute(dag, branches->node, taken, branches->count, residual, count);
  heap_free(heap, taken);
}

Problem branches_narrow(const Problem *problem, const Branches *branches, const bool *holds, Arena *arena) {
  Expr *residual = arena_copy_array(arena, problem->residual, problem->equations, sizeof *residual);
  branches_take(problem->model->dag, branches, holds, residual, problem->equations);
  Problem narrow = problem_replace(problem, residual, arena);
  bool *by_mode = arena_array(arena, problem->equations, sizeof *by_mode);
  for (uint32_t i = 0; i < problem->equations; i++) by_mode[i] = residual[i] != problem->residual[i];
  narrow.by_mode = by_mode;
  return narrow;
}
