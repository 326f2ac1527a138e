/* constraints: see constraints.h. */
#include "solve/constraints.h"

#include <math.h>

/* A row below the last differentiation, or an equation without any derivative. */
static bool is_constraint(Array *array, uint32_t row, ExprVec *leaves) {
  if ((int32_t)array_level(array, row) < array->c[array->row_equation[row]]) return true;
  if (array_level(array, row) > 0) return false;
  leaves->count = 0;
  dag_variables(array->dag, array->row[row], leaves);
  for (uint32_t k = 0; k < leaves->count; k++)
    if (dag_order(array->dag, leaves->data[k]) > 0) return false;
  return true;
}

static void fill_scales(Constraints *constraints, double t, const double *y) {
  Evaluator *evaluator = constraints->evaluator;
  const Jacobian *jacobian = evaluator->jacobian;
  double *values = heap_array(evaluator->heap, jacobian->nonzeros, sizeof *values);
  double *largest = heap_array(evaluator->heap, jacobian->rows, sizeof *largest);
  if (evaluator_jacobian(evaluator, t, y, values) == EVAL_OK) {
    for (uint32_t q = 0; q < jacobian->columns; q++) {
      double size = evaluator->nominal[q] + fabs(y[q]);
      for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
        largest[jacobian->row_index[e]] = fmax(largest[jacobian->row_index[e]], fabs(values[e]) * size);
    }
  }
  for (uint32_t k = 0; k < constraints->count; k++)
    constraints->scale[k] = largest[constraints->row[k]] > 0 ? largest[constraints->row[k]] : 1;
  heap_free(evaluator->heap, values);
  heap_free(evaluator->heap, largest);
}

Constraints *constraints_new(Heap *heap, Evaluator *evaluator, double t, const double *y) {
  Array *array = evaluator->array;
  Constraints *constraints = heap_alloc(heap, sizeof *constraints);
  IndexVec rows = {0};
  ExprVec roots = {0}, leaves = {0};
  for (uint32_t r = 0; r < array->rows; r++) {
    if (!is_constraint(array, r, &leaves)) continue;
    vec_push(heap, &rows, r);
    vec_push(heap, &roots, array_row(array, r));
  }
  constraints->evaluator = evaluator;
  constraints->count = rows.count;
  constraints->row = rows.data;
  constraints->program = program_new(heap, evaluator->model, &evaluator->layout, roots.data, roots.count);
  constraints->values = heap_array(heap, rows.count, sizeof(double));
  constraints->scale = heap_array(heap, rows.count, sizeof(double));
  constraints->worst_row = MAP_NONE;
  fill_scales(constraints, t, y);
  vec_free(heap, &roots);
  vec_free(heap, &leaves);
  return constraints;
}

void constraints_check(Constraints *constraints, double t, const double *y) {
  Point point = evaluator_point(constraints->evaluator, t, y);
  constraints->evaluator->row_evaluations += constraints->count;
  program_run(constraints->program, &point, constraints->values); /* a value that is not finite counts as infinite below */
  for (uint32_t k = 0; k < constraints->count; k++) {
    double size = fabs(constraints->values[k]) / constraints->scale[k];
    if (!isfinite(size)) size = HUGE_VAL;
    if (size <= constraints->worst && constraints->worst_row != MAP_NONE) continue;
    constraints->worst = size;
    constraints->worst_time = t;
    constraints->worst_row = constraints->row[k];
  }
}
