/* freedom: see freedom.h. */
#include "array/freedom.h"

/* Entry (i, k) of B. */
static Expr *list_entries(const Problem *problem, const Freedom *freedom, Arena *arena) {
  Dag *dag = problem->model->dag;
  uint32_t n = problem->equations;
  Expr *entry = arena_array(arena, (size_t)n * freedom->count + 1, sizeof *entry);
  Expr zero = dag_constant(dag, 0);
  for (uint32_t k = 0; k < n * freedom->count; k++) entry[k] = zero;
  ExprVec leaves = {0}, partials = {0};
  for (uint32_t i = 0; i < n; i++) {
    leaves.count = partials.count = 0;
    dag_gradient(dag, problem->residual[i], &leaves, &partials);
    for (uint32_t e = 0; e < leaves.count; e++)
      for (uint32_t k = 0; k < freedom->count; k++)
        if (leaves.data[e] == freedom->leaf[k]) entry[i + k * n] = partials.data[e];
  }
  vec_free(arena->heap, &leaves, &partials);
  return entry;
}

/* B_p^T (B_p c - B_k), the rows p and the unknowns c of leaf k, which begin at `first`. */
static void list_proportions(const Problem *problem, const Freedom *freedom, const Expr *entry, uint32_t k,
                             uint32_t first, Expr *row) {
  Dag *dag = problem->model->dag;
  uint32_t n = problem->equations;
  for (uint32_t p = 0; p < freedom->rank; p++) row[p] = dag_constant(dag, 0);
  for (uint32_t i = 0; i < n; i++) {
    Expr left = dag_negate(dag, entry[i + k * n]);
    for (uint32_t q = 0; q < freedom->rank; q++)
      left = dag_add(dag, left, dag_multiply(dag, entry[i + q * n], dag_variable(dag, first + q, 0)));
    for (uint32_t p = 0; p < freedom->rank; p++)
      row[p] = dag_add(dag, row[p], dag_multiply(dag, entry[i + p * n], left));
  }
}

/* (c, -1)^T (z - s) of leaf k. */
static Expr nearest_row(Dag *dag, const Freedom *freedom, uint32_t k, uint32_t first) {
  Expr row = dag_subtract(dag, freedom->target[k], freedom->leaf[k]);
  for (uint32_t p = 0; p < freedom->rank; p++)
    row = dag_add(
        dag, row,
        dag_multiply(dag, dag_variable(dag, first + p, 0), dag_subtract(dag, freedom->leaf[p], freedom->target[p])));
  return row;
}

Problem freedom_close(const Problem *problem, const Freedom *freedom, const uint32_t *replaced, Arena *arena) {
  Dag *dag = problem->model->dag;
  uint32_t more = freedom->count - freedom->rank, known = problem->model->unknowns.count;
  const Expr *entry = list_entries(problem, freedom, arena);
  Expr *value = arena_array(arena, (size_t)more * freedom->rank + 1, sizeof *value);
  Expr *residual = arena_copy_array(arena, problem->residual, problem->equations, sizeof *residual);
  Expr *nearest = arena_array(arena, more, sizeof *nearest);
  for (uint32_t k = 0; k < more; k++) {
    uint32_t first = known + k * freedom->rank;
    Expr *row = value + (size_t)k * freedom->rank;
    list_proportions(problem, freedom, entry, freedom->rank + k, first, row);
    for (uint32_t p = 0; p < freedom->rank; p++) row[p] = dag_subtract(dag, dag_variable(dag, first + p, 0), row[p]);
    nearest[k] = nearest_row(dag, freedom, freedom->rank + k, first);
    if (replaced) residual[replaced[k]] = nearest[k];
  }
  Problem closed = problem_extend(problem, residual, value, more * freedom->rank, arena);
  for (uint32_t k = 0; k < more && !replaced; k++)
    closed = problem_append(&closed, nearest[k], dag_constant(dag, 0), arena);
  return closed;
}
