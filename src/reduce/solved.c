/* solved: see solved.h. */
#include "reduce/solved.h"

#include "reduce/state_plan.h"

#include <math.h>
#include <string.h>

/* Expressions with at most this many nodes are repeated rather than named. */
enum { SMALL_NODES = 5 };
static const double PIVOT_PART = 0.1;

/* If a pivot has fallen below this part of its value at the start, three more digits are lost than at the start. */
static const double EDGE = 1e-3;

/* One block at one stage: matrix * columns = right side, in the derived graph, with its values at the initial point. */
typedef struct SolvedBlock {
  uint32_t size;
  uint32_t *row;    /* row of the reduced array */
  uint32_t *column; /* column of the reduced array */
  Expr *leaf;       /* leaf of each column, in the original graph */
  Expr *a, *b;      /* row-major */
  double *value, *right;
} SolvedBlock;

typedef struct SolvedWriter {
  Reduction *reduction;
  Derived *derived;
  const int32_t *depth; /* the choice of states, see dummy.h */
  Arena arena;
  uint32_t temporaries;
} SolvedWriter;

static double value_of(const SolvedWriter *solver, Expr e) {
  double value = reduction_value(solver->reduction, e);
  return isnan(value) ? 0 : value;
}

/* ---- units ---- */

static uint32_t original_column(const SolvedWriter *solver, uint32_t here) {
  const Array *array = solver->reduction->reduced.array;
  return solver->reduction->array->column_start[array->column_unknown[here]] + array_order(array, here);
}

/* Rows and columns of a block at a stage; size 0 if it has none. */
static SolvedBlock list_unit(SolvedWriter *solver, int32_t block, int32_t stage) {
  const Reduced *reduced = &solver->reduction->reduced;
  const Blocks *blocks = &reduced->structure->blocks;
  const Array *array = reduced->array;
  const int32_t *depth = solver->depth;
  uint32_t size = (uint32_t)(blocks->start[block + 1] - blocks->start[block]), columns = 0;
  SolvedBlock unit = {.row = arena_array(&solver->arena, size, sizeof(uint32_t)),
                      .column = arena_array(&solver->arena, size, sizeof(uint32_t))};
  unit.leaf = arena_array(&solver->arena, size, sizeof(Expr));
  for (int32_t p = blocks->start[block]; p < blocks->start[block + 1]; p++) {
    int32_t i = blocks->row[p], j = blocks->column[p];
    if (array->c[i] >= stage) unit.row[unit.size++] = array->row_start[i] + (uint32_t)(array->c[i] - stage);
    if (stage && (array->d[j] < stage || depth[j] < stage)) continue;
    uint32_t order = (uint32_t)(array->d[j] - stage);
    unit.leaf[columns] = dag_variable(array->dag, array->problem->unknown[j], order);
    unit.column[columns++] = array->column_start[j] + order;
  }
  return unit;
}

/* Fills matrix and right side; false if the rows are not linear in the columns. */
static bool linearize(SolvedWriter *solver, SolvedBlock *unit) {
  Array *array = solver->reduction->reduced.array;
  Dag *dag = array->dag;
  uint32_t n = unit->size;
  Arena *arena = &solver->arena;
  Transplant *plan = &solver->derived->plan;
  Expr *zeros = arena_array(arena, n, sizeof *zeros);
  unit->a = arena_array(arena, (size_t)n * n, sizeof(Expr));
  unit->b = arena_array(arena, n, sizeof(Expr));
  unit->value = arena_array(arena, (size_t)n * n, sizeof(double));
  unit->right = arena_array(arena, n, sizeof(double));
  for (uint32_t k = 0; k < n; k++) zeros[k] = dag_constant(dag, 0);
  for (uint32_t r = 0; r < n; r++) {
    Expr row = array_row(array, unit->row[r]), rest = row;
    dag_substitute(dag, unit->leaf, zeros, n, &rest, 1);
    for (uint32_t k = 0; k < n; k++) {
      Expr slope = dag_partial(dag, row, unit->leaf[k]), again = slope;
      dag_substitute(dag, unit->leaf, zeros, n, &again, 1);
      if (again != slope) return false;
      unit->value[r * n + k] = value_of(solver, slope);
      unit->a[r * n + k] = transplant(plan, slope);
    }
    unit->right[r] = -value_of(solver, rest);
    unit->b[r] = dag_negate(solver->derived->model->dag, transplant(plan, rest));
  }
  return true;
}

/* ---- elimination ---- */

/* The expression itself if it is short, otherwise a variable that has its value. */
static Expr named(SolvedWriter *solver, Expr e, double value) {
  Dag *dag = solver->derived->model->dag;
  if (dag_count(dag, dag_scratch(dag), &e, 1) <= SMALL_NODES) return e;
  const char *stem = arena_printf(&solver->arena, "elimination_%u", ++solver->temporaries);
  uint32_t unknown = derived_add_unknown(solver->derived, stem, "intermediate result", value);
  Expr leaf = dag_variable(dag, unknown, 0);
  derived_add_equation(solver->derived, leaf, e, "intermediate result of an elimination");
  return leaf;
}

static bool is_zero(const Dag *dag, Expr e) {
  double value;
  return dag_is_constant(dag, e, &value) && value == 0;
}

/* The pivot with the least fill among those large enough, from step `k` on. */
static bool find_pivot(const SolvedBlock *unit, const Dag *dag, uint32_t k, uint32_t *row, uint32_t *column) {
  uint32_t n = unit->size, best = UINT32_MAX;
  double best_size = 0;
  for (uint32_t c = k; c < n; c++) {
    double largest = 0;
    uint32_t in_column = 0;
    for (uint32_t r = k; r < n; r++) {
      largest = fmax(largest, fabs(unit->value[r * n + c]));
      in_column += !is_zero(dag, unit->a[r * n + c]);
    }
    for (uint32_t r = k; r < n && largest > 0; r++) {
      double size = fabs(unit->value[r * n + c]) / largest;
      if (size < PIVOT_PART) continue;
      uint32_t in_row = 0;
      for (uint32_t o = k; o < n; o++) in_row += !is_zero(dag, unit->a[r * n + o]);
      uint32_t fill = (in_row - 1) * (in_column - 1);
      if (fill > best || (fill == best && size <= best_size)) continue;
      best = fill;
      best_size = size;
      *row = r;
      *column = c;
    }
  }
  return best != UINT32_MAX;
}

static void swap_pivot(SolvedBlock *unit, uint32_t k, uint32_t row, uint32_t column) {
  uint32_t n = unit->size;
#define SWAP(type, x, y) \
  do {                   \
    type held = (x);     \
    (x) = (y);           \
    (y) = held;          \
  } while (0)
  for (uint32_t c = 0; c < n; c++) {
    SWAP(Expr, unit->a[k * n + c], unit->a[row * n + c]);
    SWAP(double, unit->value[k * n + c], unit->value[row * n + c]);
  }
  SWAP(Expr, unit->b[k], unit->b[row]);
  SWAP(double, unit->right[k], unit->right[row]);
  for (uint32_t r = 0; r < n; r++) {
    SWAP(Expr, unit->a[r * n + k], unit->a[r * n + column]);
    SWAP(double, unit->value[r * n + k], unit->value[r * n + column]);
  }
  SWAP(uint32_t, unit->column[k], unit->column[column]);
#undef SWAP
}

/* Row r without its entry below the pivot k: subtracts a multiple of row k. */
static void eliminate_row(SolvedWriter *solver, SolvedBlock *unit, uint32_t k, uint32_t r) {
  Dag *dag = solver->derived->model->dag;
  uint32_t n = unit->size;
  double ratio = unit->value[r * n + k] / unit->value[k * n + k];
  Expr factor = named(solver, dag_divide(dag, unit->a[r * n + k], unit->a[k * n + k]), ratio);
  for (uint32_t c = k + 1; c < n; c++) {
    if (is_zero(dag, unit->a[k * n + c])) continue;
    unit->value[r * n + c] -= ratio * unit->value[k * n + c];
    Expr product = dag_multiply(dag, factor, unit->a[k * n + c]);
    Expr difference = dag_subtract(dag, unit->a[r * n + c], product);
    unit->a[r * n + c] = named(solver, difference, unit->value[r * n + c]);
  }
  unit->right[r] -= ratio * unit->right[k];
  Expr product = dag_multiply(dag, factor, unit->b[k]);
  Expr difference = dag_subtract(dag, unit->b[r], product);
  unit->b[r] = named(solver, difference, unit->right[r]);
}

/* Entries that are used more than once are named. */
static void name_row(SolvedWriter *solver, SolvedBlock *unit, uint32_t k) {
  uint32_t n = unit->size;
  for (uint32_t c = k; c < n; c++) unit->a[k * n + c] = named(solver, unit->a[k * n + c], unit->value[k * n + c]);
  unit->b[k] = named(solver, unit->b[k], unit->right[k]);
}

static bool eliminate(SolvedWriter *solver, SolvedBlock *unit) {
  Dag *dag = solver->derived->model->dag;
  uint32_t n = unit->size;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t row = k, column = k;
    if (!find_pivot(unit, dag, k, &row, &column)) return false;
    swap_pivot(unit, k, row, column);
    if (k + 1 < n) name_row(solver, unit, k);
    for (uint32_t r = k + 1; r < n; r++)
      if (!is_zero(dag, unit->a[r * n + k])) eliminate_row(solver, unit, k, r);
  }
  return true;
}

/* ---- elimination on the tangent space ---- */

/* The meaning of the rows and columns of a block while they are permuted: a coordinate, or -1 - a constraint. */
typedef struct Roles {
  int32_t *row, *column;
} Roles;

static Roles roles_make(SolvedWriter *solver, const TangentPlan *plan, uint32_t n) {
  Roles roles = {arena_array(&solver->arena, n, sizeof(int32_t)), arena_array(&solver->arena, n, sizeof(int32_t))};
  for (uint32_t r = 0; r < n; r++) roles.row[r] = plan->role[r];
  for (int32_t i = 0; i < plan->coordinates; i++) roles.column[plan->acceleration[i]] = i;
  for (int32_t c = 0; c < plan->constraints; c++) roles.column[plan->multiplier[c]] = -1 - c;
  return roles;
}

static void swap_roles(SolvedBlock *unit, Roles *roles, uint32_t k, uint32_t row, uint32_t column) {
  int32_t held = roles->row[k];
  roles->row[k] = roles->row[row];
  roles->row[row] = held;
  held = roles->column[k];
  roles->column[k] = roles->column[column];
  roles->column[column] = held;
  swap_pivot(unit, k, row, column);
}

/* Eliminates with the largest entry of the rows and columns that take part as the pivot. */
static bool eliminate_among(SolvedWriter *solver, SolvedBlock *unit, Roles *roles, uint32_t k, const bool *rows,
                            bool is_multiplier) {
  uint32_t n = unit->size, row = k, column = k;
  double largest = 0;
  for (uint32_t r = k; r < n; r++)
    for (uint32_t c = k; c < n; c++) {
      bool takes_part = (roles->row[r] < 0 ? !is_multiplier : is_multiplier && rows[roles->row[r]]);
      if (!takes_part || (roles->column[c] < 0) != is_multiplier || !(fabs(unit->value[r * n + c]) > largest)) continue;
      largest = fabs(unit->value[r * n + c]);
      row = r;
      column = c;
    }
  if (largest == 0) return false;
  swap_roles(unit, roles, k, row, column);
  name_row(solver, unit, k);
  for (uint32_t r = k + 1; r < n; r++)
    if (!is_zero(solver->derived->model->dag, unit->a[r * n + k])) eliminate_row(solver, unit, k, r);
  return true;
}

/* The remaining matrix is D^T M D, which is symmetric. Puts rows and columns in the same order, and gives equal entries the same
 * node. */
static void align_symmetric(SolvedBlock *unit, Roles *roles, uint32_t first) {
  uint32_t n = unit->size;
  for (uint32_t k = first; k < n; k++)
    for (uint32_t c = k; c < n; c++)
      if (roles->column[c] == roles->row[k]) {
        swap_roles(unit, roles, k, k, c);
        break;
      }
  for (uint32_t r = first; r < n; r++)
    for (uint32_t c = first; c < r; c++) unit->a[r * n + c] = unit->a[c * n + r];
}

/* One step of Cholesky's factorization, L diag L^T: only entries above the diagonal are computed. */
static bool step_cholesky(SolvedWriter *solver, SolvedBlock *unit, uint32_t k) {
  Dag *dag = solver->derived->model->dag;
  uint32_t n = unit->size;
  if (!(unit->value[k * n + k] > 0)) return false;
  if (k + 1 < n) name_row(solver, unit, k);
  for (uint32_t r = k + 1; r < n; r++) {
    if (is_zero(dag, unit->a[k * n + r])) continue;
    double ratio = unit->value[k * n + r] / unit->value[k * n + k];
    Expr factor = named(solver, dag_divide(dag, unit->a[k * n + r], unit->a[k * n + k]), ratio);
    for (uint32_t c = r; c < n; c++) {
      unit->value[r * n + c] -= ratio * unit->value[k * n + c];
      Expr product = dag_multiply(dag, factor, unit->a[k * n + c]);
      unit->a[r * n + c] = named(solver, dag_subtract(dag, unit->a[r * n + c], product), unit->value[r * n + c]);
    }
    unit->right[r] -= ratio * unit->right[k];
    Expr product = dag_multiply(dag, factor, unit->b[k]);
    unit->b[r] = named(solver, dag_subtract(dag, unit->b[r], product), unit->right[r]);
  }
  return true;
}

/* The constraints give the dependent accelerations, and the equations of their coordinates give the multipliers; the others
 * become (72). */
static bool eliminate_projected(SolvedWriter *solver, SolvedBlock *unit, const TangentPlan *plan) {
  uint32_t n = unit->size, m = (uint32_t)plan->constraints;
  Roles roles = roles_make(solver, plan, n);
  bool *dependent = arena_array(&solver->arena, n, sizeof *dependent);
  for (uint32_t k = 0; k < m; k++) {
    if (!eliminate_among(solver, unit, &roles, k, dependent, false)) return false;
    dependent[roles.column[k]] = true;
  }
  for (uint32_t k = m; k < 2 * m; k++)
    if (!eliminate_among(solver, unit, &roles, k, dependent, true)) return false;
  align_symmetric(unit, &roles, 2 * m);
  for (uint32_t k = 2 * m; k < n; k++)
    if (!step_cholesky(solver, unit, k)) return false;
  return true;
}

/* Are the entries really those of M, G and -G^T? A force may depend on accelerations and multipliers. */
static bool is_saddle(const SolvedWriter *solver, const SolvedBlock *unit, const TangentPlan *plan) {
  Dag *dag = solver->derived->model->dag;
  uint32_t n = unit->size;
  for (int32_t i = 0; i < plan->coordinates; i++) {
    const Expr *row = unit->a + (size_t)plan->motion[i] * n;
    for (int32_t j = 0; j < i; j++)
      if (row[plan->acceleration[j]] != unit->a[(uint32_t)plan->motion[j] * n + (uint32_t)plan->acceleration[i]])
        return false;
    for (int32_t c = 0; c < plan->constraints; c++) {
      Expr gradient = unit->a[(uint32_t)plan->constraint[c] * n + (uint32_t)plan->acceleration[i]];
      if (row[plan->multiplier[c]] != dag_negate(dag, gradient)) return false;
    }
  }
  return true;
}

/* The block as a system of motion under constraints with a definite mass matrix; NULL: it is not one. */
static const TangentPlan *find_tangent(SolvedWriter *solver, const SolvedBlock *unit) {
  const Array *array = solver->reduction->reduced.array;
  int32_t *equation = arena_array(&solver->arena, unit->size, sizeof *equation);
  int32_t *unknown = arena_array(&solver->arena, unit->size, sizeof *unknown);
  if (!solver->reduction->is_definite) return NULL;
  for (uint32_t k = 0; k < unit->size; k++) {
    equation[k] = (int32_t)array->row_equation[unit->row[k]];
    unknown[k] = (int32_t)array->column_unknown[unit->column[k]];
  }
  const TangentPlan *plan =
      tangent_plan(array->problem, equation, unknown, (int32_t)unit->size, solver->reduction->heap);
  return plan && is_saddle(solver, unit, plan) ? plan : NULL;
}

/* ---- the region ---- */

/* The equations divide by the pivot: where it vanishes they are invalid, and the text says so. */
static void assert_pivot(SolvedWriter *solver, Expr pivot, double value) {
  Model *model = solver->derived->model;
  Dag *dag = model->dag;
  if (!dag_depends(dag, pivot, OP_VARIABLE) && !dag_depends(dag, pivot, OP_TIME)) return;
  const char *words = arena_printf(&solver->arena,
                                   "the choice made at time %.10g ends here: %s, which the equations divide by, has "
                                   "fallen to a thousandth; reduce the model again from here",
                                   solver->reduction->time, model_text(model, pivot, &solver->arena));
  Expr edge = dag_constant(dag, EDGE * fabs(value));
  Action action = {.kind = ACTION_ASSERT,
                   .guard = EXPR_NONE,
                   .value = dag_binary(dag, OP_GREATER, dag_scale(dag, value < 0 ? -1 : 1, pivot), edge),
                   .message = dag_string(dag, names_add(model->names, words, strlen(words)))};
  vec_push(model->heap, &model->asserts, action);
}

/* ---- back substitution ---- */

/* From the last column up: each gets its explicit equation. */
static void substitute_back(SolvedWriter *solver, const SolvedBlock *unit, const char *note) {
  Derived *derived = solver->derived;
  Dag *dag = derived->model->dag;
  uint32_t n = unit->size;
  for (uint32_t k = n; k-- > 0;) {
    Expr value = unit->b[k];
    for (uint32_t c = k + 1; c < n; c++) {
      if (is_zero(dag, unit->a[k * n + c])) continue;
      Expr known = derived_column(derived, original_column(solver, unit->column[c]));
      Expr product = dag_multiply(dag, unit->a[k * n + c], known);
      value = dag_subtract(dag, value, product);
    }
    assert_pivot(solver, unit->a[k * n + k], unit->value[k * n + k]);
    value = dag_divide(dag, value, unit->a[k * n + k]);
    uint32_t q = original_column(solver, unit->column[k]);
    Expr left = dag_variable(dag, derived->unknown[q], derived->order[q]);
    derived_add_equation(derived, left, dag_scale(dag, derived->sign[q], value), note);
  }
}

/* ---- the system ---- */

static const char *unit_note(SolvedWriter *solver, const SolvedBlock *unit) {
  const Array *array = solver->reduction->array;
  const Array *here = solver->reduction->reduced.array;
  TextVec text = {0};
  Heap *heap = solver->reduction->heap;
  for (uint32_t r = 0; r < unit->size && r < 8; r++)
    text_printf(heap, &text, "%s%u",
                r                ? ", "
                : unit->size > 1 ? "from equations "
                                 : "from equation ",
                array->problem->equation[here->row_equation[unit->row[r]]] + 1);
  if (unit->size > 8) text_printf(heap, &text, ", ...");
  return text_keep(heap, &text, solver->reduction->arena);
}

static void add_implicit(SolvedWriter *solver, const SolvedBlock *unit, const char *note) {
  Array *array = solver->reduction->reduced.array;
  Dag *dag = solver->derived->model->dag;
  for (uint32_t r = 0; r < unit->size; r++)
    derived_add_equation(solver->derived, transplant(&solver->derived->plan, array_row(array, unit->row[r])),
                         dag_constant(dag, 0), note);
}

static void add_unit(SolvedWriter *solver, int32_t block, int32_t stage) {
  SolvedBlock unit = list_unit(solver, block, stage);
  if (!unit.size) return;
  const char *note = unit_note(solver, &unit);
  bool is_linear = linearize(solver, &unit);
  const TangentPlan *tangent = is_linear && stage == 0 ? find_tangent(solver, &unit) : NULL;
  if (tangent) note = arena_printf(solver->reduction->arena, "%s, on the tangent space: D^T M D by Cholesky", note);
  if (is_linear && (tangent ? eliminate_projected(solver, &unit, tangent) : eliminate(solver, &unit)))
    substitute_back(solver, &unit, note);
  else add_implicit(solver, &unit, note);
}

Derived *solved_make(Reduction *reduction, const char *method) {
  const Structure *structure = reduction->reduced.structure;
  SolvedWriter solver = {.reduction = reduction, .arena = arena_make(reduction->heap)};
  ArrayRun run = reduced_run(reduction, &reduction->at, reduction->heap);
  int32_t block, deepest = 0;
  dummy_select(run.dummy, reduction->time, run.y, &block);
  solver.depth = dummy_depth(run.dummy);
  solver.derived = derived_begin(reduction, method, true);
  for (int32_t i = 0; i < structure->n_equations; i++)
    if (structure->c[i] > deepest) deepest = structure->c[i];
  for (int32_t stage = deepest; stage >= 0; stage--)
    for (int32_t b = 0; b < structure->blocks.n_blocks; b++) add_unit(&solver, b, stage);
  arena_free(&solver.arena);
  return solver.derived;
}
