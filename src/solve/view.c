/* view: see view.h. */
#include "solve/view.h"

static EvalStatus whole_residual(void *context, double t, const double *y, double *residual) {
  return evaluator_rows(((View *)context)->evaluator, t, y, residual);
}

static EvalStatus whole_jacobian(void *context, double t, const double *y, double *values) {
  return evaluator_jacobian(((View *)context)->evaluator, t, y, values);
}

System view_whole_system(Heap *heap, View *view, Evaluator *evaluator) {
  const Array *array = evaluator->array;
  const Jacobian *jacobian = evaluator->jacobian;
  int32_t *successor = heap_array(heap, array->columns, sizeof *successor);
  for (uint32_t q = 0; q < array->columns; q++)
    successor[q] = (int32_t)array_order(array, q) < array->d[array->column_unknown[q]] ? (int32_t)q + 1 : -1;
  return (System){.context = view,
                  .columns = (int32_t)array->columns,
                  .rows = (int32_t)array->rows,
                  .successor = successor,
                  .column_start = jacobian->column_start,
                  .row_index = jacobian->row_index,
                  .constant = jacobian->is_constant,
                  .nominal = evaluator->nominal,
                  .residual = whole_residual,
                  .jacobian = whole_jacobian};
}

const System *view_system(const View *view, const Integrator *integrator) {
  return integrator->removes_superfluous && view->without_superfluous.rows ? &view->without_superfluous : &view->system;
}
