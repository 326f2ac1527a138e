/* evaluator: see evaluator.h. */
#include "code/evaluator.h"

#include "code/compile.h"

#include <math.h>
#include <string.h>

/* A nominal value that is zero, negative or not given counts as 1; derivatives share that of their variable. */
static void fill_nominal(Evaluator *evaluator) {
  const Array *array = evaluator->array;
  Model *model = evaluator->model;
  evaluator->nominal = heap_array(evaluator->heap, array->columns, sizeof(double));
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    const Variable *variable = &model->variables.data[model->unknowns.data[array->problem->unknown[j]]];
    double value = 1;
    if (variable->nominal != EXPR_NONE && model_evaluate(model, variable->nominal, evaluator->parameters, &value))
      value = fabs(value);
    if (!(value > 0) || !isfinite(value)) value = 1;
    for (uint32_t q = array->column_start[j]; q < array->column_start[j + 1]; q++) evaluator->nominal[q] = value;
  }
}

Evaluator *evaluator_new(Heap *heap, Array *array, const double *parameters, uint32_t modes) {
  Model *model = array->problem->model;
  Evaluator *evaluator = heap_alloc(heap, sizeof *evaluator);
  evaluator->heap = heap;
  evaluator->model = model;
  evaluator->array = array;
  evaluator->layout = (Layout){model->unknowns.count, array->columns, array->model_column};
  evaluator->parameters = heap_array(heap, model->parameters.count, sizeof(double));
  if (model->parameters.count) memcpy(evaluator->parameters, parameters, model->parameters.count * sizeof(double));
  evaluator->discretes = heap_array(heap, model->discretes.count + modes, sizeof(double));
  evaluator->pre = heap_array(heap, model->discretes.count + modes, sizeof(double));
  fill_nominal(evaluator);
  for (uint32_t r = 0; r < array->rows; r++) array_row(array, r);
  evaluator->rows = evaluator_program(evaluator, array->row, array->rows);
  evaluator->jacobian = jacobian_new(heap, model, &evaluator->layout, array->row, array->rows, NULL, 0);
  vec_push(heap, &evaluator->programs, evaluator->jacobian->program);
  return evaluator;
}

Program *evaluator_program(Evaluator *evaluator, const Expr *roots, uint32_t count) {
  Program *program = program_new(evaluator->heap, evaluator->model, &evaluator->layout, roots, count);
  vec_push(evaluator->heap, &evaluator->programs, program);
  return program;
}

bool evaluator_compile(Evaluator *evaluator, Diags *diags) {
  return program_compile(evaluator->heap, evaluator->programs.data, evaluator->programs.count, diags);
}

Point evaluator_point(const Evaluator *evaluator, double t, const double *y) {
  return (Point){t, y, evaluator->parameters, evaluator->discretes, evaluator->pre};
}

EvalStatus evaluator_rows(Evaluator *evaluator, double t, const double *y, double *rows) {
  Point point = evaluator_point(evaluator, t, y);
  evaluator->row_evaluations += evaluator->array->rows;
  return program_run(evaluator->rows, &point, rows);
}

EvalStatus evaluator_jacobian(Evaluator *evaluator, double t, const double *y, double *values) {
  Point point = evaluator_point(evaluator, t, y);
  evaluator->entry_evaluations += evaluator->jacobian->nonzeros;
  return jacobian_run(evaluator->jacobian, &point, values);
}

double evaluator_in_rows(const Evaluator *evaluator, uint64_t rows) {
  return evaluator->array->rows ? (double)rows / evaluator->array->rows : 0;
}

double evaluator_in_jacobians(const Evaluator *evaluator, uint64_t entries) {
  return evaluator->jacobian->nonzeros ? (double)entries / evaluator->jacobian->nonzeros : 0;
}
