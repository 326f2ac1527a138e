/* problem: from the model's equations to an incidence with derivative orders. The incidence is that of the
 * simplified residuals, so an unknown that cancels identically is not incident. */
#include "array/array.h"

#include <stdlib.h>
#include <string.h>

/* With aliases: which unknowns stay, and the residuals of the equations that stay. */
static void take_equations(Problem *problem, bool eliminate, Arena *arena) {
  Model *model = problem->model;
  Heap *heap = arena->heap;
  ExprVec residuals = {0};
  IndexVec kept = {0};
  if (eliminate) {
    problem->aliases = model_find_aliases(model, arena);
    model_substitute_aliases(model, &problem->aliases, &residuals, &kept);
  } else {
    for (uint32_t i = 0; i < model->equations.count; i++) {
      vec_push(heap, &residuals, model->equations.data[i].residual);
      vec_push(heap, &kept, i);
    }
  }
  problem->equations = residuals.count;
  problem->residual = arena_array(arena, residuals.count, sizeof *problem->residual);
  problem->equation = arena_array(arena, residuals.count, sizeof *problem->equation);
  if (residuals.count) {
    memcpy(problem->residual, residuals.data, residuals.count * sizeof *residuals.data);
    memcpy(problem->equation, kept.data, kept.count * sizeof *kept.data);
  }
  vec_free(heap, &residuals);
  vec_free(heap, &kept);
}

static void take_unknowns(Problem *problem, Arena *arena) {
  const Model *model = problem->model;
  uint32_t n = model->unknowns.count;
  problem->unknown = arena_array(arena, n, sizeof *problem->unknown);
  problem->local = arena_array(arena, n, sizeof *problem->local);
  for (uint32_t j = 0; j < n; j++) {
    bool kept = !problem->aliases.removed || problem->aliases.root[j] == j;
    problem->local[j] = kept ? problem->unknowns : MAP_NONE;
    if (kept) problem->unknown[problem->unknowns++] = j;
  }
}

typedef struct Entry {
  int32_t column, order;
} Entry;

static int compare_entries(const void *a, const void *b) {
  const Entry *p = a, *q = b;
  if (p->column != q->column) return p->column < q->column ? -1 : 1;
  return (p->order < q->order) - (p->order > q->order); /* highest order first */
}

static void build_incidence(Problem *problem, Arena *arena) {
  Dag *dag = problem->model->dag;
  Heap *heap = arena->heap;
  int32_t *start = arena_array(arena, (size_t)problem->equations + 1, sizeof *start);
  ExprVec leaves = {0};
  VEC(Entry) row = {0};
  IntVec column = {0}, order = {0};
  for (uint32_t i = 0; i < problem->equations; i++) {
    leaves.count = row.count = 0;
    dag_variables(dag, problem->residual[i], &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) {
      uint32_t local = problem->local[dag_index(dag, leaves.data[k])];
      vec_push(heap, &row, (Entry){(int32_t)local, (int32_t)dag_order(dag, leaves.data[k])});
    }
    if (row.count) qsort(row.data, row.count, sizeof *row.data, compare_entries);
    for (uint32_t k = 0; k < row.count; k++) {
      if (k && row.data[k].column == row.data[k - 1].column) continue;
      vec_push(heap, &column, row.data[k].column);
      vec_push(heap, &order, row.data[k].order);
    }
    start[i + 1] = (int32_t)column.count;
  }
  int32_t *columns = arena_array(arena, column.count, sizeof *columns);
  int32_t *orders = arena_array(arena, order.count, sizeof *orders);
  if (column.count) {
    memcpy(columns, column.data, column.count * sizeof *columns);
    memcpy(orders, order.data, order.count * sizeof *orders);
  }
  problem->incidence = (Incidence){(int32_t)problem->equations, (int32_t)problem->unknowns, start, columns, orders};
  vec_free(heap, &leaves);
  vec_free(heap, &row);
  vec_free(heap, &column);
  vec_free(heap, &order);
}

Expr problem_expression(const Problem *problem, Expr e) {
  if (!problem->aliases.removed) return e;
  Dag *dag = problem->model->dag;
  Heap *heap = problem->model->heap;
  const Aliases *aliases = &problem->aliases;
  ExprVec leaves = {0}, values = {0};
  dag_variables(dag, e, &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t unknown = dag_index(dag, leaves.data[k]), order = dag_order(dag, leaves.data[k]);
    Expr value;
    if (aliases->root[unknown] == UINT32_MAX) value = order ? dag_constant(dag, 0) : aliases->constant[unknown];
    else value = dag_scale(dag, aliases->sign[unknown],
                           dag_variable(dag, aliases->root[unknown], order + aliases->shift[unknown]));
    vec_push(heap, &values, value);
  }
  dag_substitute(dag, leaves.data, values.data, leaves.count, &e, 1);
  vec_free(heap, &leaves);
  vec_free(heap, &values);
  return e;
}

uint32_t *problem_written_orders(Model *model, Heap *heap) {
  uint32_t *order = heap_array(heap, model->unknowns.count, sizeof *order);
  ExprVec leaves = {0};
  for (uint32_t i = 0; i < model->equations.count; i++) {
    leaves.count = 0;
    dag_variables(model->dag, model->equations.data[i].residual, &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) {
      uint32_t unknown = dag_index(model->dag, leaves.data[k]), written = dag_order(model->dag, leaves.data[k]);
      if (written > order[unknown]) order[unknown] = written;
    }
  }
  vec_free(heap, &leaves);
  return order;
}

bool problem_least_orders(const Problem *problem, const int32_t *d, int32_t *least) {
  if (!problem->aliases.removed) return false;
  Heap *heap = problem->model->heap;
  uint32_t *written = problem_written_orders(problem->model, heap);
  bool beyond = false;
  for (uint32_t u = 0; u < problem->model->unknowns.count; u++) {
    uint32_t root = problem->aliases.root[u];
    if (root == UINT32_MAX) continue;
    uint32_t j = problem->local[root];
    int32_t order = (int32_t)(written[u] + problem->aliases.shift[u]);
    if (order > least[j]) least[j] = order;
    beyond = beyond || order > d[j];
  }
  heap_free(heap, written);
  return beyond;
}

Problem problem_make(Model *model, bool eliminate_aliases, Arena *arena) {
  Problem problem = {.model = model};
  take_equations(&problem, eliminate_aliases, arena);
  take_unknowns(&problem, arena);
  build_incidence(&problem, arena);
  return problem;
}

Problem problem_replace(const Problem *problem, const Expr *residual, Arena *arena) {
  Problem replaced = *problem;
  replaced.residual = arena_array(arena, problem->equations, sizeof *replaced.residual);
  if (problem->equations) memcpy(replaced.residual, residual, problem->equations * sizeof *residual);
  build_incidence(&replaced, arena);
  return replaced;
}
