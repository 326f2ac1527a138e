/* determinants: see determinants.h. */
#include "watch/determinants.h"

#include "array/regular.h"
#include "base/rank.h"
#include "core/constants.h"
#include "expr/linearity.h"

#include <math.h>

enum { LARGEST_LOGARITHM = 600 };

/* ---- which blocks ---- */

static bool is_moving(Dag *dag, Expr e) { return dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_TIME); }

/* If a single equation gives its variable with a constant factor, this is known without differentiating it. */
static bool is_plain(const Problem *problem, const Structure *structure, int32_t block) {
  int32_t begin = structure->blocks.start[block];
  if (structure->blocks.start[block + 1] - begin > 1) return false;
  int32_t i = structure->blocks.row[begin], j = structure->blocks.column[begin];
  Dag *dag = problem->model->dag;
  Expr slope, leaf = dag_variable(dag, problem->unknown[j], (uint32_t)(structure->d[j] - structure->c[i]));
  if (!dag_linear(dag, problem->residual[i], leaf, &slope, NULL)) return false;
  return !is_moving(dag, slope) && !dag_depends(dag, slope, OP_DISCRETE);
}

static bool is_any(const void *context, Expr leaf) {
  (void)context;
  (void)leaf;
  return true;
}

/* Marks the equations whose partial derivatives never change: linear ones whose coefficients are parameters. */
static bool *find_fixed(const Problem *problem, Arena *arena) {
  Dag *dag = problem->model->dag;
  bool *fixed = arena_array(arena, problem->equations, sizeof *fixed);
  Linearity linearity = linearity_make(dag, dag_scratch(dag));
  for (uint32_t i = 0; i < problem->equations; i++) {
    Expr row = problem->residual[i];
    bool switches =
        dag_depends(dag, row, OP_TIME) || dag_depends(dag, row, OP_DISCRETE) || dag_depends(dag, row, OP_PRE);
    fixed[i] = !switches && linearity_test(&linearity, row, is_any, NULL);
  }
  linearity_free(&linearity);
  return fixed;
}

static bool has_fixed_rows(const Structure *structure, int32_t block, const bool *fixed) {
  for (int32_t p = structure->blocks.start[block]; p < structure->blocks.start[block + 1]; p++)
    if (!fixed[structure->blocks.row[p]]) return false;
  return true;
}

/* The plan that a matrix belongs to; NULL: the matrix never changes. */
static DeterminantPlan *choose_plan(Dag *dag, const BlockJacobian *jacobian, DeterminantPlan *moving,
                                    DeterminantPlan *switched) {
  DeterminantPlan *plan = NULL;
  for (int32_t e = 0; e < jacobian->row_start[jacobian->size]; e++) {
    if (is_moving(dag, jacobian->entry[e])) return moving;
    if (dag_depends(dag, jacobian->entry[e], OP_DISCRETE)) plan = switched;
  }
  return plan;
}

void determinant_plans(ArrayCode *code, const Structure *structure, DeterminantPlan *moving,
                       DeterminantPlan *switched) {
  const Problem *problem = code->array->problem;
  Heap *heap = code->heap;
  Arena *arena = heap_alloc(heap, sizeof *arena);
  *arena = arena_make(heap);
  int32_t *place = arena_array(arena, problem->unknowns, sizeof *place);
  const bool *fixed = find_fixed(problem, arena);
  ExprVec of_moving = {0}, of_switched = {0};
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++) {
    int32_t size = structure->blocks.start[b + 1] - structure->blocks.start[b];
    if (size > LARGE_ROWS || of_moving.count > SEVERAL * SMALL_WORK || has_fixed_rows(structure, b, fixed) ||
        is_plain(problem, structure, b))
      continue;
    BlockJacobian jacobian = regular_jacobian(problem, structure, b, place, arena);
    DeterminantPlan *plan = choose_plan(problem->model->dag, &jacobian, moving, switched);
    if (!plan) continue;
    ExprVec *entries = plan == moving ? &of_moving : &of_switched;
    Watched watched = {.block = b,
                       .size = size,
                       .first = (int32_t)entries->count,
                       .row_start = jacobian.row_start,
                       .column = jacobian.column,
                       .reference = NAN};
    vec_push(heap, &plan->blocks, watched);
    for (int32_t e = 0; e < jacobian.row_start[size]; e++) vec_push(heap, entries, jacobian.entry[e]);
  }
  if (of_moving.count) moving->program = array_code_program(code, of_moving.data, of_moving.count);
  if (of_switched.count) switched->program = array_code_program(code, of_switched.data, of_switched.count);
  vec_free(heap, &of_moving, &of_switched);
}

/* ---- their values ---- */

/* Factors the transposed matrices, which have the same determinants. */
Determinants determinants_new(Heap *heap, Evaluator *evaluator, const DeterminantPlan *plan) {
  Determinants determinants = {.heap = heap, .evaluator = evaluator};
  for (uint32_t b = 0; b < plan->blocks.count; b++) {
    Watched watched = plan->blocks.data[b];
    if (watched.size > 1) {
      watched.linear = linear_new(heap, watched.size, watched.row_start[watched.size], false);
      linear_set_pattern(watched.linear, watched.row_start, watched.column);
    }
    vec_push(heap, &determinants.blocks, watched);
  }
  if (!plan->program) return determinants;
  determinants.workspace = workspace_new(heap, plan->program);
  determinants.entries = heap_array(heap, program_outputs(plan->program), sizeof(double));
  return determinants;
}

bool determinants_evaluate(Determinants *determinants, double t, const double *y) {
  determinants->are_certain = false;
  if (!determinants->blocks.count) return true;
  const Watched *last = &vec_last(&determinants->blocks);
  Point point = evaluator_point(determinants->evaluator, t, y);
  determinants->evaluator->entry_evaluations += (uint64_t)(last->first + last->row_start[last->size]);
  return workspace_run(determinants->workspace, &point, determinants->entries) == EVAL_OK;
}

bool determinants_evaluate_certain(Determinants *determinants, double t, const double *y) {
  if (!determinants->blocks.count) return true;
  Evaluator *evaluator = determinants->evaluator;
  Heap *heap = determinants->heap;
  uint32_t columns = evaluator->array->columns;
  const Watched *last = &vec_last(&determinants->blocks);
  uint32_t count = (uint32_t)(last->first + last->row_start[last->size]);
  double *shaken = heap_array(heap, columns, sizeof *shaken), *entries = determinants->entries;
  evaluator_shake(evaluator, t, y, shaken);
  bool is_defined = determinants_evaluate(determinants, t, shaken);
  double *other = heap_copy(heap, entries, count, sizeof *other);
  bool ok = determinants_evaluate(determinants, t, y);
  if (is_defined) entries_drop_lost(entries, other, count);
  determinants->are_certain = is_defined;
  heap_free_all(heap, shaken, other);
  return ok;
}

double determinants_value(Determinants *determinants, uint32_t b) {
  Watched *watched = &determinants->blocks.data[b];
  const double *entries = determinants->entries + watched->first;
  double logarithm = 0, sum = 0;
  for (int32_t e = 0; watched->size == 1 && e < watched->row_start[1]; e++) sum += entries[e];
  if (watched->size == 1) return sum;
  if (!linear_factor(watched->linear, entries)) return 0;
  double sign = linear_determinant(watched->linear, &logarithm);
  if (isnan(watched->reference)) watched->reference = logarithm;
  return sign * exp(fmin(fmax(logarithm - watched->reference, -LARGEST_LOGARITHM), LARGEST_LOGARITHM));
}

int32_t determinants_rank(Determinants *determinants, uint32_t b, double lost) {
  const Watched *watched = &determinants->blocks.data[b];
  const double *entries = determinants->entries + watched->first;
  int32_t n = watched->size;
  double error = determinants->are_certain ? 0 : MINOR;
  bool is_regular = n > 1 && linear_factor(watched->linear, entries);
  if (n > DENSE_ROWS) return is_regular ? n : n - 1;
  if (is_regular && PRESENT * linear_least_pivot(watched->linear) > lost) return n;
  double *a = heap_array(determinants->heap, 2 * (size_t)n * (size_t)n, sizeof *a), *size = a + (size_t)n * (size_t)n;
  for (int32_t p = 0; p < n; p++) {
    double largest = 0;
    for (int32_t e = watched->row_start[p]; e < watched->row_start[p + 1]; e++)
      largest = fmax(largest, fabs(entries[e]));
    for (int32_t e = watched->row_start[p]; e < watched->row_start[p + 1] && largest > 0; e++) {
      a[p * n + watched->column[e]] += entries[e] / largest;
      size[p * n + watched->column[e]] += fmax(fabs(entries[e]) / largest, error);
    }
  }
  int32_t rank = linear_rank(a, size, NULL, n, lost);
  heap_free(determinants->heap, a);
  return rank;
}
