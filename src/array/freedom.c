/* freedom: see freedom.h. */
#include "array/freedom.h"

#include "base/map.h"

/* Entries of B that are not zero: row i has those from start[i] to start[i + 1]. */
typedef struct FreedomEntries {
  uint32_t *start;
  IndexVec leaf; /* place among the leaves */
  ExprVec value;
} FreedomEntries;

static FreedomEntries list_entries(const Problem *problem, const Freedom *freedom, Arena *arena) {
  Dag *dag = problem->model->dag;
  FreedomEntries entries = {.start = arena_array(arena, (size_t)problem->equations + 1, sizeof(uint32_t))};
  Map place = map_make(arena->heap);
  ExprVec leaves = {0}, partials = {0};
  for (uint32_t k = 0; k < freedom->count; k++) map_put(&place, freedom->leaf[k], k);
  for (uint32_t i = 0; i < problem->equations; i++) {
    leaves.count = partials.count = 0;
    dag_gradient(dag, problem->residual[i], &leaves, &partials);
    for (uint32_t e = 0; e < leaves.count; e++) {
      uint32_t k = map_get(&place, leaves.data[e]);
      if (k == MAP_NONE) continue;
      vec_push(arena->heap, &entries.leaf, k);
      vec_push(arena->heap, &entries.value, partials.data[e]);
    }
    entries.start[i + 1] = entries.leaf.count;
  }
  vec_free(dag_heap(dag), &leaves, &partials);
  map_free(&place);
  return entries;
}

static bool is_full(const Problem *problem, const Freedom *freedom, const FreedomEntries *entries) {
  uint32_t holders = 0;
  for (uint32_t i = 0; i < problem->equations; i++) holders += entries->start[i + 1] > entries->start[i];
  return holders == freedom->rank;
}

/* Returns row i of the product B_p w. */
static Expr pivot_sum(Dag *dag, const Freedom *freedom, const FreedomEntries *entries, uint32_t i, uint32_t first) {
  Expr sum = dag_constant(dag, 0);
  for (uint32_t e = entries->start[i]; e < entries->start[i + 1]; e++) {
    uint32_t k = entries->leaf.data[e];
    if (k < freedom->rank)
      sum = dag_add(dag, sum, dag_multiply(dag, entries->value.data[e], dag_variable(dag, first + k, 0)));
  }
  return sum;
}

/* z - s - B^T B_p w per leaf; the unknowns w begin at `first`. If B has no more rows than its rank, its columns span all vectors,
 * and w stands for B_p w: then no pivots are needed. */
static Expr *list_rows(const Problem *problem, const Freedom *freedom, uint32_t first, Arena *arena) {
  Dag *dag = problem->model->dag;
  FreedomEntries entries = list_entries(problem, freedom, arena);
  Expr *row = arena_array(arena, freedom->count, sizeof *row);
  bool has_all = is_full(problem, freedom, &entries);
  uint32_t holder = first;
  for (uint32_t k = 0; k < freedom->count; k++) row[k] = dag_subtract(dag, freedom->leaf[k], freedom->target[k]);
  for (uint32_t i = 0; i < problem->equations; i++) {
    if (entries.start[i + 1] == entries.start[i]) continue;
    Expr sum = has_all ? dag_variable(dag, holder++, 0) : pivot_sum(dag, freedom, &entries, i, first);
    for (uint32_t e = entries.start[i]; e < entries.start[i + 1]; e++) {
      Expr *to = &row[entries.leaf.data[e]];
      *to = dag_subtract(dag, *to, dag_multiply(dag, entries.value.data[e], sum));
    }
  }
  vec_free(arena->heap, &entries.leaf, &entries.value);
  return row;
}

Problem freedom_close(const Problem *problem, const Freedom *freedom, const uint32_t *replaced, Arena *arena) {
  Dag *dag = problem->model->dag;
  uint32_t more = freedom->count - freedom->rank, rank = freedom->rank, first = problem->model->unknowns.count;
  Expr *row = list_rows(problem, freedom, first, arena), *rest = row + rank;
  for (uint32_t p = 0; p < rank; p++) row[p] = dag_subtract(dag, dag_variable(dag, first + p, 0), row[p]);
  Expr *residual = arena_copy_array(arena, problem->residual, problem->equations, sizeof *residual);
  for (uint32_t k = 0; k < more && replaced; k++) residual[replaced[k]] = rest[k];
  Problem closed = problem_extend(problem, residual, row, rank, arena);
  for (uint32_t k = 0; k < more && !replaced; k++)
    closed = problem_append(&closed, rest[k], dag_constant(dag, 0), arena);
  return closed;
}
