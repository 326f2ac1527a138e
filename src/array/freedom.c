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

/* The equations in which leaves occur; returns how many there are. */
static uint32_t list_holders(const Problem *problem, const Freedom *freedom, const Expr *entry, uint32_t *holder) {
  uint32_t n = problem->equations, count = 0;
  double number;
  for (uint32_t i = 0; i < n; i++) {
    bool holds = false;
    for (uint32_t k = 0; k < freedom->count && !holds; k++)
      holds = !(dag_is_constant(problem->model->dag, entry[i + k * n], &number) && number == 0);
    if (holds) holder[count++] = i;
  }
  return count;
}

/* z_k - s_k - B_k^T m, with unknowns m that begin at `first`, one for each equation that holds leaves. */
static Expr normal_row(const Problem *problem, const Freedom *freedom, const Expr *entry, const uint32_t *holder,
                       uint32_t k, uint32_t first) {
  Dag *dag = problem->model->dag;
  Expr row = dag_subtract(dag, freedom->leaf[k], freedom->target[k]);
  for (uint32_t p = 0; p < freedom->rank; p++)
    row = dag_subtract(dag, row,
                       dag_multiply(dag, entry[holder[p] + k * problem->equations], dag_variable(dag, first + p, 0)));
  return row;
}

Problem freedom_close(const Problem *problem, const Freedom *freedom, const uint32_t *replaced, Arena *arena) {
  Dag *dag = problem->model->dag;
  uint32_t more = freedom->count - freedom->rank, rank = freedom->rank, known = problem->model->unknowns.count;
  const Expr *entry = list_entries(problem, freedom, arena);
  uint32_t *holder = arena_array(arena, problem->equations, sizeof *holder);
  bool is_full = list_holders(problem, freedom, entry, holder) == rank;
  uint32_t added = is_full ? rank : more * rank;
  Expr *row = arena_array(arena, added + 1, sizeof *row), *nearest = arena_array(arena, more, sizeof *nearest);
  for (uint32_t p = 0; p < rank && is_full; p++) row[p] = normal_row(problem, freedom, entry, holder, p, known);
  for (uint32_t k = 0; k < more; k++) {
    uint32_t first = known + k * rank;
    if (!is_full) list_proportions(problem, freedom, entry, rank + k, first, row + (size_t)k * rank);
    nearest[k] = is_full ? normal_row(problem, freedom, entry, holder, rank + k, known)
                         : nearest_row(dag, freedom, rank + k, first);
  }
  for (uint32_t p = 0; p < added; p++) row[p] = dag_subtract(dag, dag_variable(dag, known + p, 0), row[p]);
  Expr *residual = arena_copy_array(arena, problem->residual, problem->equations, sizeof *residual);
  for (uint32_t k = 0; k < more && replaced; k++) residual[replaced[k]] = nearest[k];
  Problem closed = problem_extend(problem, residual, row, added, arena);
  for (uint32_t k = 0; k < more && !replaced; k++)
    closed = problem_append(&closed, nearest[k], dag_constant(dag, 0), arena);
  return closed;
}
