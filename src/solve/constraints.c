/* constraints: see constraints.h. */
#include "solve/constraints.h"

#include <math.h>

/* The columns of the model's array out of those of the view. */
static void take_columns(Constraints *constraints, const double *y) {
  const View *view = constraints->view;
  for (uint32_t q = 0; q < view->original->array->columns; q++)
    constraints->y[q] = view->source[q] == MAP_NONE ? 0 : view->sign[q] * y[view->source[q]];
}

/* Does the view hold every column of the expression? They are left in `leaves`. */
static bool has_columns(const View *view, Expr e, ExprVec *leaves) {
  Array *array = view->original->array;
  leaves->count = 0;
  dag_variables(array->dag, e, leaves);
  for (uint32_t k = 0; k < leaves->count; k++)
    if (view->source[array_column(array, leaves->data[k])] == MAP_NONE) return false;
  return true;
}

/* A row below the last differentiation, or an equation without any derivative. */
static bool is_constraint(const View *view, uint32_t row, ExprVec *leaves) {
  Array *array = view->original->array;
  if (!has_columns(view, array_row(array, row), leaves)) return false;
  if ((int32_t)array_level(array, row) < array->c[array->row_equation[row]]) return true;
  if (array_level(array, row) > 0) return false;
  for (uint32_t k = 0; k < leaves->count; k++)
    if (dag_order(array->dag, leaves->data[k]) > 0) return false;
  return true;
}

/* Per row of the matrix: largest entry times the size of its column. Owned by the heap. */
static double *largest_entries(const Constraints *constraints, double t, Jacobian *jacobian) {
  Evaluator *evaluator = constraints->view->original;
  double *values = heap_array(evaluator->heap, jacobian->nonzeros, sizeof *values);
  double *largest = heap_array(evaluator->heap, jacobian->rows, sizeof *largest);
  Point point = evaluator_point(evaluator, t, constraints->y);
  evaluator->entry_evaluations += jacobian->nonzeros;
  if (jacobian_run(jacobian, &point, values) == EVAL_OK) {
    for (uint32_t q = 0; q < jacobian->columns; q++) {
      double size = evaluator->nominal[q] + fabs(constraints->y[q]);
      for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
        largest[jacobian->row_index[e]] = fmax(largest[jacobian->row_index[e]], fabs(values[e]) * size);
    }
  }
  heap_free(evaluator->heap, values);
  return largest;
}

static void fill_scales(Constraints *constraints, double t) {
  Evaluator *evaluator = constraints->view->original;
  uint32_t first = constraints->count - constraints->written.count;
  double *largest = largest_entries(constraints, t, evaluator->jacobian);
  for (uint32_t k = 0; k < first; k++)
    constraints->scale[k] = largest[constraints->row[k]] > 0 ? largest[constraints->row[k]] : 1;
  heap_free(evaluator->heap, largest);
  if (!constraints->written.count) return;
  largest = largest_entries(constraints, t,
                            jacobian_new(evaluator->heap, evaluator->model, &evaluator->layout,
                                         constraints->written.data, constraints->written.count, NULL, 0));
  for (uint32_t k = 0; k < constraints->written.count; k++)
    constraints->scale[first + k] = largest[k] > 0 ? largest[k] : 1;
  heap_free(evaluator->heap, largest);
}

static void list_rows(Heap *heap, Constraints *constraints) {
  Evaluator *evaluator = constraints->view->original;
  Array *array = evaluator->array;
  const Problem *problem = array->problem;
  IndexVec rows = {0}, levels = {0};
  ExprVec leaves = {0};
  for (uint32_t r = 0; r < array->rows; r++) {
    if (!is_constraint(constraints->view, r, &leaves)) continue;
    uint32_t level = array_level(array, r);
    vec_push(heap, &rows, r);
    vec_push(heap, &levels, level);
    if (level >= constraints->levels) constraints->levels = level + 1;
  }
  for (uint32_t i = 0; problem->written && i < problem->equations; i++) {
    if (problem->written[i] == problem->residual[i] || !has_columns(constraints->view, problem->written[i], &leaves))
      continue;
    vec_push(heap, &rows, array->row_start[i]);
    vec_push(heap, &levels, 0);
    vec_push(heap, &constraints->written, problem->written[i]);
    if (!constraints->levels) constraints->levels = 1;
  }
  constraints->count = rows.count;
  constraints->row = rows.data;
  constraints->level = levels.data;
  const ExprVec *written = &constraints->written;
  if (written->count)
    constraints->program = program_new(heap, evaluator->model, &evaluator->layout, written->data, written->count);
  vec_free(heap, &leaves);
}

Constraints *constraints_new(Heap *heap, View *view, double t, const double *y) {
  Constraints *constraints = heap_alloc(heap, sizeof *constraints);
  constraints->view = view;
  list_rows(heap, constraints);
  constraints->y = heap_array(heap, view->original->array->columns, sizeof(double));
  constraints->rows = heap_array(heap, view->original->array->rows, sizeof(double));
  constraints->values = heap_array(heap, constraints->count, sizeof(double));
  constraints->scale = heap_array(heap, constraints->count, sizeof(double));
  constraints->level_worst = heap_array(heap, constraints->levels, sizeof(double));
  constraints->worst_row = MAP_NONE;
  take_columns(constraints, y);
  fill_scales(constraints, t);
  return constraints;
}

static void keep_worst(Constraints *constraints, uint32_t k, double size, double t) {
  if (size <= constraints->worst && constraints->worst_row != MAP_NONE) return;
  constraints->worst = size;
  constraints->worst_time = t;
  constraints->worst_row = constraints->row[k];
}

/* The values of all constraints; one that is not finite is left so. */
static void evaluate(Constraints *constraints, double t) {
  const View *view = constraints->view;
  uint32_t written = constraints->written.count, first = constraints->count - written;
  Point point = evaluator_point(view->original, t, constraints->y);
  program_run(view->original->rows, &point, constraints->rows);
  for (uint32_t k = 0; k < first; k++) constraints->values[k] = constraints->rows[constraints->row[k]];
  if (written) program_run(constraints->program, &point, constraints->values + first);
  view->evaluator->row_evaluations += view->original->array->rows + written;
}

void constraints_check(Constraints *constraints, double t, const double *y) {
  View *view = constraints->view;
  Heap *heap = view->original->heap;
  take_columns(constraints, y);
  if (view->original_switches && switches_evaluate(view->original_switches, t, constraints->y)) {
    switches_begin(view->original_switches); /* each point settles its modes anew */
    switches_set(view->original_switches);
  }
  evaluate(constraints, t);
  vec_push(heap, &constraints->times, t);
  double *now = vec_extend(heap, &constraints->history, constraints->levels);
  for (uint32_t l = 0; l < constraints->levels; l++) now[l] = 0;
  for (uint32_t k = 0; k < constraints->count; k++) {
    double size = fabs(constraints->values[k]) / constraints->scale[k];
    if (!isfinite(size)) size = HUGE_VAL;
    uint32_t level = constraints->level[k];
    now[level] = fmax(now[level], size);
    constraints->level_worst[level] = fmax(constraints->level_worst[level], size);
    keep_worst(constraints, k, size, t);
  }
}
