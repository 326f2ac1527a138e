/* problem: from the model's equations to an incidence with derivative orders. The incidence is made from the simplified residuals,
 * so an unknown that cancels identically is not incident. */
#include "array/inverse.h"
#include "array/semilinear.h"
#include "structure/structure.h"

#include <stdlib.h>
#include <string.h>

/* With aliases: which unknowns stay, and the residuals of the equations that stay. */
static void list_equations(Problem *problem, bool eliminate, Arena *arena) {
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
  vec_free(heap, &residuals, &kept);
}

static void list_unknowns(Problem *problem, Arena *arena) {
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

/* An entry of a row as one number: entries of a column are neighbours, its highest order first. */
static uint64_t incidence_key(uint32_t column, uint32_t order) { return (uint64_t)column << 32 | (UINT32_MAX - order); }

static int compare_keys(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void sort_keys(uint64_t *key, uint32_t count) {
  enum { SHORT = 16 };
  if (count > SHORT) {
    qsort(key, count, sizeof *key, compare_keys);
    return;
  }
  for (uint32_t i = 1; i < count; i++) {
    uint64_t held = key[i];
    uint32_t j = i;
    for (; j > 0 && key[j - 1] > held; j--) key[j] = key[j - 1];
    key[j] = held;
  }
}

/* Each variable in an equation costs this many steps of work in later passes, which visit every variable and differentiate the
 * equation with respect to it. */
enum { INCIDENCE_WORK = 60 };

static void build_incidence(Problem *problem, Arena *arena) {
  Dag *dag = problem->model->dag;
  Heap *heap = arena->heap;
  int32_t *start = arena_array(arena, (size_t)problem->equations + 1, sizeof *start);
  ExprVec leaves = {0};
  VEC(uint64_t) row = {0};
  IntVec column = {0}, order = {0};
  for (uint32_t i = 0; i < problem->equations; i++) {
    leaves.count = row.count = 0;
    dag_variables(dag, dag_scratch(dag), problem->residual[i], &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) {
      uint32_t local = problem->local[dag_index(dag, leaves.data[k])];
      vec_push(heap, &row, incidence_key(local, dag_order(dag, leaves.data[k])));
    }
    sort_keys(row.data, row.count);
    for (uint32_t k = 0; k < row.count; k++) {
      if (k && row.data[k] >> 32 == row.data[k - 1] >> 32) continue;
      vec_push(heap, &column, (int32_t)(row.data[k] >> 32));
      vec_push(heap, &order, (int32_t)(UINT32_MAX - (uint32_t)row.data[k]));
    }
    start[i + 1] = (int32_t)column.count;
    heap_work(heap, (uint64_t)(start[i + 1] - start[i]) * INCIDENCE_WORK);
  }
  int32_t *columns = arena_copy_array(arena, column.data, column.count, sizeof *columns);
  int32_t *orders = arena_copy_array(arena, order.data, order.count, sizeof *orders);
  problem->incidence = (Incidence){(int32_t)problem->equations, (int32_t)problem->unknowns, start, columns, orders};
  vec_free(heap, &leaves, &row, &column, &order);
}

Expr problem_expression(const Problem *problem, Expr e) {
  if (!problem->aliases.removed) return e;
  Dag *dag = problem->model->dag;
  Heap *heap = problem->model->heap;
  const Aliases *aliases = &problem->aliases;
  ExprVec leaves = {0}, values = {0};
  dag_variables(dag, dag_scratch(dag), e, &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t unknown = dag_index(dag, leaves.data[k]), order = dag_order(dag, leaves.data[k]);
    Expr value;
    if (aliases->root[unknown] == UINT32_MAX) value = order ? dag_constant(dag, 0) : aliases->constant[unknown];
    else
      value = dag_scale(dag, aliases->sign[unknown],
                        dag_variable(dag, aliases->root[unknown], order + aliases->shift[unknown]));
    vec_push(heap, &values, value);
  }
  dag_substitute(dag, leaves.data, values.data, leaves.count, &e, 1);
  vec_free(heap, &leaves, &values);
  return e;
}

static Expr put_aliases(const void *problem, Expr e) { return problem_expression(problem, e); }

/* Raises `least` to the orders that expressions of the discrete part read. Returns whether an order is above d. */
static bool raise_by_logic(const Problem *problem, const int32_t *d, int32_t *least) {
  Dag *dag = problem->model->dag;
  Heap *heap = problem->model->heap;
  PlaceVec places = {0};
  ExprVec leaves = {0};
  bool beyond = false;
  logic_places(problem->logic, heap, &places);
  for (uint32_t k = 0; k < places.count; k++) dag_variables(dag, dag_scratch(dag), *places.data[k], &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t j = problem->local[dag_index(dag, leaves.data[k])];
    int32_t order = (int32_t)dag_order(dag, leaves.data[k]);
    if (order > least[j]) least[j] = order;
    beyond = beyond || order > d[j];
  }
  vec_free(heap, &places);
  vec_free(dag_heap(dag), &leaves);
  return beyond;
}

bool problem_raise_orders(const Problem *problem, const uint32_t *written, uint32_t count, const int32_t *d,
                          int32_t *least) {
  bool beyond = false;
  for (uint32_t u = 0; u < count; u++) {
    uint32_t root = problem->aliases.removed ? problem->aliases.root[u] : u;
    if (root == UINT32_MAX) continue;
    uint32_t j = problem->local[root];
    int32_t order = (int32_t)(written[u] + (problem->aliases.removed ? problem->aliases.shift[u] : 0));
    if (order > least[j]) least[j] = order;
    beyond = beyond || order > d[j];
  }
  return beyond;
}

bool problem_least_orders(const Problem *problem, const int32_t *d, int32_t *least) {
  bool beyond = raise_by_logic(problem, d, least);
  if (!problem->aliases.removed && !problem->written) return beyond; /* the equations contain these derivatives */
  return problem_raise_orders(problem, problem->highest, problem->model->unknowns.count, d, least) || beyond;
}

void problem_named_derivatives(const Problem *problem, const int32_t *d, bool *named) {
  const Aliases *aliases = &problem->aliases;
  for (uint32_t j = 0; j < problem->unknowns; j++) named[j] = false;
  for (uint32_t u = 0; aliases->removed && u < aliases->count; u++) {
    if (aliases->root[u] == UINT32_MAX || aliases->shift[u] == 0) continue;
    uint32_t j = problem->local[aliases->root[u]];
    if (aliases->shift[u] == d[j]) named[j] = true;
  }
}

/* Does the balance of a node give its slope? The balance does not give the slope if the slope is a state, or follows from states
 * before the balance is used. */
static bool gives_slope(const Problem *problem, const Structure *structure, const StreamNode *node) {
  uint32_t j = problem->local[dag_index(problem->model->dag, node->slope)];
  return structure->status != STRUCTURE_OK ||
         (structure->d[j] == structure->c[node->row] &&
          structure->blocks.block_of_column[j] == structure->blocks.block_of_row[node->row]);
}

/* Joins streams of equal flows, and handles nodes where streams meet. */
static void join_streams(Problem *problem, Arena *arena) {
  Heap *heap = arena->heap;
  StreamNodeVec nodes = {0};
  Arena scratch = arena_make(heap);
  semilinear_join(problem->model->dag, problem->residual, problem->equations, &nodes);
  if (nodes.count) build_incidence(problem, &scratch);
  Structure structure = nodes.count ? structure_run(&scratch, &problem->incidence) : (Structure){0};
  for (uint32_t k = 0; k < nodes.count; k++)
    if (gives_slope(problem, &structure, &nodes.data[k])) problem->residual[nodes.data[k].row] = nodes.data[k].mixed;
  arena_free(&scratch);
  vec_free(heap, &nodes);
}

static void use_inverses(Problem *problem, Arena *arena) {
  Arena scratch = arena_make(arena->heap);
  if (problem->model->inversions.count) {
    build_incidence(problem, &scratch);
    inverse_replace(problem, put_aliases, arena);
  }
  arena_free(&scratch);
}

/* Per unknown of the model: its highest derivative in the equations of the model. If the problem still has these equations, its
 * incidence says so. */
static const uint32_t *highest_written(const Problem *problem, Arena *arena) {
  const Model *model = problem->model;
  bool is_written = !problem->aliases.removed;
  for (uint32_t i = 0; i < problem->equations && is_written; i++)
    is_written = problem->residual[i] == model->equations.data[i].residual;
  return is_written ? (const uint32_t *)problem_orders(problem, arena)
                    : model_highest_orders(model, model->equations.count, arena);
}

Problem problem_make(Model *model, bool eliminate_aliases, Arena *arena) {
  Problem problem = {.model = model};
  list_equations(&problem, eliminate_aliases, arena);
  list_unknowns(&problem, arena);
  join_streams(&problem, arena);
  semilinear_put_choices(model->dag, problem.residual, problem.equations);
  use_inverses(&problem, arena);
  problem.logic = logic_make(model, problem.residual, problem.equations, put_aliases, &problem);
  build_incidence(&problem, arena);
  problem.highest = highest_written(&problem, arena);
  return problem;
}

Problem problem_replace(const Problem *problem, const Expr *residual, Arena *arena) {
  Problem replaced = *problem;
  replaced.residual = arena_copy_array(arena, residual, problem->equations, sizeof *replaced.residual);
  build_incidence(&replaced, arena);
  return replaced;
}

/* Which unknowns of the model occur in the equations? */
static void keep_occurring(Problem *problem, Arena *arena) {
  const Model *model = problem->model;
  const uint32_t *all = problem->unknown;
  bool *occurs = arena_array(arena, model->unknowns.count, sizeof *occurs);
  ExprVec leaves = {0};
  for (uint32_t i = 0; i < problem->equations; i++)
    dag_variables(model->dag, dag_scratch(model->dag), problem->residual[i], &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) occurs[dag_index(model->dag, leaves.data[k])] = true;
  vec_free(dag_heap(model->dag), &leaves);
  uint32_t count = problem->unknowns;
  problem->unknown = arena_array(arena, count, sizeof *problem->unknown);
  problem->local = arena_array(arena, model->unknowns.count, sizeof *problem->local);
  problem->unknowns = 0;
  for (uint32_t u = 0; u < model->unknowns.count; u++) problem->local[u] = MAP_NONE;
  for (uint32_t j = 0; j < count; j++) {
    if (!occurs[all[j]]) continue;
    problem->local[all[j]] = problem->unknowns;
    problem->unknown[problem->unknowns++] = all[j];
  }
}

Problem problem_narrow(const Problem *problem, const uint32_t *equation, uint32_t count, Arena *arena) {
  Problem narrow = *problem;
  narrow.equations = count;
  narrow.residual = arena_array(arena, count, sizeof *narrow.residual);
  narrow.equation = arena_array(arena, count, sizeof *narrow.equation);
  for (uint32_t i = 0; i < count; i++) {
    narrow.residual[i] = problem->residual[equation[i]];
    narrow.equation[i] = problem->equation[equation[i]];
  }
  narrow.written = NULL;
  narrow.replaced_count = 0;
  narrow.opened = narrow.by_mode = NULL;
  narrow.aliases = (Aliases){0};
  keep_occurring(&narrow, arena);
  build_incidence(&narrow, arena);
  return narrow;
}

int32_t *problem_orders(const Problem *problem, Arena *arena) {
  const Incidence *incidence = &problem->incidence;
  int32_t *order = arena_array(arena, problem->unknowns, sizeof *order);
  for (int32_t e = 0; e < incidence->row_start[incidence->n_equations]; e++)
    if (incidence->order[e] > order[incidence->column[e]]) order[incidence->column[e]] = incidence->order[e];
  return order;
}

static void *grown(Arena *arena, const void *data, size_t count, size_t more, size_t size) {
  void *copy = arena_array(arena, count + more, size);
  if (count) memcpy(copy, data, count * size);
  return copy;
}

/* A copy of the model that can grow without changing the given one. */
static Model *copy_model(const Model *model, uint32_t more, Arena *arena) {
  Model *copy = arena_alloc(arena, sizeof *copy);
  *copy = *model;
  copy->variables.data =
      grown(arena, model->variables.data, model->variables.count, more, sizeof *model->variables.data);
  copy->unknowns.data = grown(arena, model->unknowns.data, model->unknowns.count, more, sizeof *model->unknowns.data);
  copy->equations.data =
      grown(arena, model->equations.data, model->equations.count, more, sizeof *model->equations.data);
  copy->variables.capacity = model->variables.count + more;
  copy->unknowns.capacity = model->unknowns.count + more;
  copy->equations.capacity = model->equations.count + more;
  return copy;
}

/* Variable `$wN` = value. */
static void add_unknown(Model *model, Expr value, Arena *arena) {
  uint32_t index = model->unknowns.count, position = model->variables.count;
  const char *text = arena_printf(arena, "$w%u", index + 1);
  Variable variable = variable_make(names_add(model->names, text, strlen(text)), TYPE_REAL, ROLE_UNKNOWN);
  variable.index = index;
  model->variables.data[model->variables.count++] = variable;
  model->unknowns.data[model->unknowns.count++] = position;
  Expr leaf = dag_variable(model->dag, index, 0);
  model->equations.data[model->equations.count++] =
      (Equation){.left = leaf, .right = value, .residual = dag_subtract(model->dag, leaf, value), .is_added = true};
}

static Aliases copy_aliases(const Aliases *aliases, uint32_t more, Arena *arena) {
  Aliases copy = *aliases;
  uint32_t n = aliases->count;
  if (!aliases->removed) return copy;
  copy.root = grown(arena, aliases->root, n, more, sizeof *copy.root);
  copy.sign = grown(arena, aliases->sign, n, more, sizeof *copy.sign);
  copy.shift = grown(arena, aliases->shift, n, more, sizeof *copy.shift);
  copy.constant = grown(arena, aliases->constant, n, more, sizeof *copy.constant);
  for (uint32_t j = n; j < n + more; j++) copy.root[j] = j, copy.sign[j] = 1, copy.constant[j] = EXPR_NONE;
  copy.count = n + more;
  return copy;
}

Problem problem_extend(const Problem *problem, const Expr *residual, const Expr *value, uint32_t count, Arena *arena) {
  Problem extended = *problem;
  uint32_t n = problem->equations, m = problem->unknowns, known = problem->model->unknowns.count;
  Model *model = extended.model = copy_model(problem->model, count, arena);
  extended.residual = grown(arena, residual, n, count, sizeof *residual);
  extended.equation = grown(arena, problem->equation, n, count, sizeof *problem->equation);
  if (problem->opened) extended.opened = grown(arena, problem->opened, n, count, sizeof(bool));
  if (problem->by_mode) extended.by_mode = grown(arena, problem->by_mode, n, count, sizeof(bool));
  extended.unknown = grown(arena, problem->unknown, m, count, sizeof *problem->unknown);
  extended.local = grown(arena, problem->local, known, count, sizeof *problem->local);
  extended.aliases = copy_aliases(&problem->aliases, count, arena);
  for (uint32_t k = 0; k < count; k++) {
    add_unknown(model, value[k], arena);
    extended.residual[n + k] = model->equations.data[model->equations.count - 1].residual;
    extended.equation[n + k] = model->equations.count - 1;
    extended.unknown[m + k] = known + k;
    extended.local[known + k] = m + k;
  }
  extended.equations = n + count;
  extended.unknowns = m + count;
  extended.highest = model_highest_orders(model, model->equations.count, arena);
  build_incidence(&extended, arena);
  return extended;
}

Problem problem_append(const Problem *problem, Expr left, Expr right, Arena *arena) {
  Problem longer = *problem;
  uint32_t n = problem->equations;
  Model *model = longer.model = copy_model(problem->model, 1, arena);
  Equation equation = {
      .left = left, .right = right, .residual = dag_subtract(model->dag, left, right), .is_added = true};
  longer.residual = grown(arena, problem->residual, n, 1, sizeof *problem->residual);
  longer.equation = grown(arena, problem->equation, n, 1, sizeof *problem->equation);
  if (problem->opened) longer.opened = grown(arena, problem->opened, n, 1, sizeof(bool));
  if (problem->by_mode) longer.by_mode = grown(arena, problem->by_mode, n, 1, sizeof(bool));
  longer.residual[n] = equation.residual;
  longer.equation[n] = model->equations.count;
  longer.equations = n + 1;
  model->equations.data[model->equations.count++] = equation;
  longer.highest = model_highest_orders(model, model->equations.count, arena);
  build_incidence(&longer, arena);
  return longer;
}
