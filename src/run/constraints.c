/* constraints: see constraints.h. */
#include "run/constraints.h"

#include "base/copy.h"
#include "core/constants.h"

#include <math.h>
#include <string.h>

const double *constraints_columns(Constraints *constraints, const double *y) {
  const View *view = constraints->view;
  for (uint32_t q = 0; q < view->original->array->columns; q++)
    constraints->y[q] = view->source[q] == MAP_NONE ? 0 : view->sign[q] * y[view->source[q]];
  return constraints->y;
}

/* ---- which rows ---- */

typedef struct Listing {
  ArrayCode *code;
  const uint32_t *source;
  ConstraintPlan *plan;
  IndexVec rows, levels;
  ExprVec leaves; /* leaves of the last expression examined */
} Listing;

/* Does the view hold every column of the expression? */
static bool has_columns(Listing *listing, Expr e) {
  Array *array = listing->code->array;
  listing->leaves.count = 0;
  dag_variables(array->dag, dag_scratch(array->dag), e, &listing->leaves);
  for (uint32_t k = 0; k < listing->leaves.count; k++)
    if (listing->source[array_column(array, listing->leaves.data[k])] == MAP_NONE) return false;
  return true;
}

/* Does the equation contain a derivative? Conditions that have become modes since its incidence was made do not count. */
static bool has_derivative(const Array *array, uint32_t i) {
  const Incidence *incidence = &array->problem->incidence;
  bool found = false;
  for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) found |= incidence->order[e] > 0;
  return found && !dag_depends(array->dag, array->problem->residual[i], OP_DISCRETE);
}

/* Is the row below the last differentiation of its equation, or the equation without any derivative? */
static bool is_constraint(Listing *listing, uint32_t row) {
  Array *array = listing->code->array;
  uint32_t i = array->row_equation[row];
  bool is_last = (int32_t)array_level(array, row) == array->c[i];
  if (is_last && (array->c[i] > 0 || has_derivative(array, i))) return false;
  if (!has_columns(listing, array_row(array, row))) return false;
  for (uint32_t k = 0; is_last && k < listing->leaves.count; k++)
    if (dag_order(array->dag, listing->leaves.data[k]) > 0) return false;
  return true;
}

static void add_constraint(Listing *listing, uint32_t row, uint32_t level) {
  Heap *heap = listing->code->heap;
  vec_push(heap, &listing->rows, row);
  vec_push(heap, &listing->levels, level);
  if (level >= listing->plan->levels) listing->plan->levels = level + 1;
}

static void add_one(Listing *listing, uint32_t i, Expr residual, ExprVec *written) {
  ArrayCode *code = listing->code;
  if (!has_columns(listing, residual)) return;
  add_constraint(listing, code->array->row_start[i], 0);
  vec_push(code->heap, written, residual);
}

/* Adds the equations as written that conversions or inverses replaced. */
static void add_written(Listing *listing) {
  ArrayCode *code = listing->code;
  const Problem *problem = code->array->problem;
  ExprVec written = {0};
  for (uint32_t i = 0; problem->written && i < problem->equations; i++)
    if (problem->written[i] != problem->residual[i]) add_one(listing, i, problem->written[i], &written);
  uint32_t converted = written.count;
  for (uint32_t k = 0; k < problem->replaced_count; k++)
    add_one(listing, problem->replaced[k].equation, problem->replaced[k].residual, &written);
  listing->plan->written = written.count;
  listing->plan->inverted = written.count - converted;
  if (!written.count) return;
  listing->plan->program = array_code_program(code, written.data, written.count);
  listing->plan->jacobian = array_code_jacobian(code, written.data, written.count);
  vec_free(code->heap, &written);
}

ConstraintPlan *constraint_plan(ArrayCode *code, const uint32_t *source) {
  Listing listing = {.code = code, .source = source, .plan = heap_alloc(code->heap, sizeof(ConstraintPlan))};
  for (uint32_t r = 0; r < code->array->rows; r++)
    if (is_constraint(&listing, r)) add_constraint(&listing, r, array_level(code->array, r));
  add_written(&listing);
  listing.plan->count = listing.rows.count;
  listing.plan->row = listing.rows.data;
  listing.plan->level = listing.levels.data;
  vec_free(code->heap, &listing.leaves);
  return listing.plan;
}

/* ---- scales ---- */

/* Per row of the matrix: the largest product of an entry and the size of its column. Owned by the heap. */
static double *largest_entries(const Constraints *constraints, double t, const Jacobian *jacobian, Workspace *entries) {
  Evaluator *evaluator = constraints->view->original;
  double *values = heap_array(evaluator->heap, jacobian->nonzeros, sizeof *values);
  double *largest = heap_array(evaluator->heap, jacobian->rows, sizeof *largest);
  Point point = evaluator_point(evaluator, t, constraints->y);
  evaluator->entry_evaluations += jacobian->nonzeros;
  if (workspace_run(entries, &point, values) == EVAL_OK) {
    for (uint32_t q = 0; q < jacobian->columns; q++) {
      double size = evaluator->nominal[q] + fabs(constraints->y[q]);
      for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
        largest[jacobian->row_index[e]] = fmax(largest[jacobian->row_index[e]], fabs(values[e]) * size);
    }
  }
  heap_free(evaluator->heap, values);
  return largest;
}

static double scale_of(double largest) { return largest > 0 ? largest : 1; }

/* Updates the scales at the current columns; a scale is never lowered. */
static void raise_scales(Constraints *constraints, double t) {
  Evaluator *evaluator = constraints->view->original;
  const ConstraintPlan *plan = constraints->plan;
  uint32_t first = plan->count - plan->written;
  double *largest = largest_entries(constraints, t, evaluator->jacobian, evaluator->entries);
  for (uint32_t k = 0; k < first; k++)
    constraints->scale[k] = fmax(constraints->scale[k], scale_of(largest[plan->row[k]]));
  heap_free(evaluator->heap, largest);
  if (!plan->written) return;
  Workspace *entries = workspace_new(evaluator->heap, plan->jacobian->program);
  largest = largest_entries(constraints, t, plan->jacobian, entries);
  for (uint32_t k = 0; k < plan->written; k++)
    constraints->scale[first + k] = fmax(constraints->scale[first + k], scale_of(largest[k]));
  heap_free(evaluator->heap, largest);
}

Constraints *constraints_new(Heap *heap, View *view, const ConstraintPlan *plan, double t, const double *y) {
  Constraints *constraints = heap_alloc(heap, sizeof *constraints);
  constraints->view = view;
  constraints->plan = plan;
  if (plan->program) constraints->program = workspace_new(heap, plan->program);
  constraints->y = heap_array(heap, view->original->array->columns, sizeof(double));
  constraints->corner = heap_array(heap, (size_t)view->system.columns, sizeof(double));
  constraints->rows = heap_array(heap, view->original->array->rows, sizeof(double));
  heap_numbers(heap, plan->count, &constraints->values, &constraints->scale);
  constraints->level_worst = heap_array(heap, plan->levels, sizeof(double));
  constraints->worst_row = MAP_NONE;
  constraints_columns(constraints, y);
  raise_scales(constraints, t);
  return constraints;
}

/* ---- checking ---- */

static bool is_inverted(const Constraints *constraints, uint32_t k) {
  return k >= constraints->plan->count - constraints->plan->inverted;
}

static void keep_worst(Constraints *constraints, uint32_t k, double size, double t) {
  if (size <= constraints->worst && constraints->worst_row != MAP_NONE) return;
  constraints->worst = size;
  constraints->worst_time = t;
  constraints->worst_row = constraints->plan->row[k];
}

/* Evaluates all constraints; values that are not finite stay so. */
static void evaluate(Constraints *constraints, double t) {
  const View *view = constraints->view;
  uint32_t written = constraints->plan->written, first = constraints->plan->count - written;
  Point point = evaluator_point(view->original, t, constraints->y);
  workspace_run(view->original->rows, &point, constraints->rows);
  for (uint32_t k = 0; k < first; k++) constraints->values[k] = constraints->rows[constraints->plan->row[k]];
  if (written) workspace_run(constraints->program, &point, constraints->values + first);
  view->evaluator->row_evaluations += view->original->array->rows + written;
}

/* Is a significant violation larger than any before? */
static bool seems_violated(const Constraints *constraints) {
  for (uint32_t k = 0; k < constraints->plan->count; k++) {
    double most = fmax(is_inverted(constraints, k) ? constraints->inexact : constraints->worst, SAME);
    if (fabs(constraints->values[k]) > most * constraints->scale[k]) return true;
  }
  return false;
}

/* A relation without event, noEvent(m >= 0), may hold or not if m is zero up to round-off. A constraint counts as satisfied
 * if it holds at columns that differ by no more than that. */
static void check_beside(Constraints *constraints, double t) {
  const Evaluator *evaluator = constraints->view->original;
  uint32_t columns = evaluator->array->columns, count = constraints->plan->count;
  double *held = heap_array(evaluator->heap, columns, sizeof *held),
         *least = heap_array(evaluator->heap, count, sizeof *least);
  copy_numbers(held, constraints->y, columns);
  copy_numbers(least, constraints->values, count);
  for (int side = -1; side <= 1; side += 2) {
    for (uint32_t q = 0; q < columns; q++)
      constraints->y[q] = held[q] + side * ROUND_OFF * (fabs(held[q]) + evaluator->nominal[q]);
    evaluate(constraints, t);
    for (uint32_t k = 0; k < count; k++)
      if (fabs(constraints->values[k]) < fabs(least[k])) least[k] = constraints->values[k];
  }
  copy_numbers(constraints->y, held, columns);
  copy_numbers(constraints->values, least, count);
  heap_free(evaluator->heap, held);
  heap_free(evaluator->heap, least);
}

/* Checks columns in which all rows should hold; `now` is the largest residual of each level so far. */
static void check_columns(Constraints *constraints, double t, const double *y, double *now) {
  View *view = constraints->view;
  constraints_columns(constraints, y);
  view_set_original(view);
  evaluate(constraints, t);
  if (seems_violated(constraints)) raise_scales(constraints, t); /* columns may have grown since the start */
  if (seems_violated(constraints)) check_beside(constraints, t);
  for (uint32_t k = 0; k < constraints->plan->count; k++) {
    double size = fabs(constraints->values[k]) / constraints->scale[k];
    uint32_t level = constraints->plan->level[k];
    if (view->is_between && level > 0) continue; /* higher derivatives may have a pole there */
    if (!isfinite(size)) size = HUGE_VAL;
    if (is_inverted(constraints, k)) {
      if (size > constraints->inexact)
        constraints->inexact = size, constraints->inexact_row = constraints->plan->row[k];
      continue;
    }
    now[level] = fmax(now[level], size);
    constraints->level_worst[level] = fmax(constraints->level_worst[level], size);
    keep_worst(constraints, k, size, t);
  }
}

static void check_corners(Constraints *constraints, double t, const double *y, double *now) {
  View *view = constraints->view;
  for (int corner = 0; corner <= view->switches->edges.now->slides; corner++) {
    copy_numbers(constraints->corner, y, (size_t)view->system.columns);
    if (view->methods->solve_corner(view, t, constraints->corner, corner) == EVAL_OK)
      check_columns(constraints, t, constraints->corner, now);
  }
}

void constraints_check(Constraints *constraints, double t, const double *y) {
  const Switches *switches = constraints->view->switches;
  Heap *heap = constraints->view->original->heap;
  vec_push(heap, &constraints->times, t);
  double *now = vec_extend(heap, &constraints->history, constraints->plan->levels);
  for (uint32_t l = 0; l < constraints->plan->levels; l++) now[l] = 0;
  if (switches && switches->edges.now->slides) check_corners(constraints, t, y, now);
  else check_columns(constraints, t, y, now);
}
