/* array_jump: see array_jump.h. */
#include "view/array_jump.h"

#include "base/copy.h"

#include <string.h>

struct ArrayJump {
  Jump *jump;
  Evaluator *evaluator;
  bool is_switched;   /* rows that are differentiated depend on discrete values */
  double *parameters; /* parameters at the last jump; NULL: there was none */
};

/* Does a differentiated row depend on something that events change? */
static bool has_switched_constraint(const Array *array) {
  for (uint32_t i = 0; i < array->problem->equations; i++) {
    Expr e = array->problem->residual[i];
    if (array->c[i] && (dag_depends(array->dag, e, OP_DISCRETE) || dag_depends(array->dag, e, OP_PRE))) return true;
  }
  return false;
}

static bool rows(void *host, double t, const double *y, double *out) {
  return evaluator_rows(((ArrayJump *)host)->evaluator, t, y, out) == EVAL_OK;
}

static bool entries(void *host, double t, const double *y, double *out) {
  return evaluator_jacobian(((ArrayJump *)host)->evaluator, t, y, out) == EVAL_OK;
}

ArrayJump *array_jump_new(Heap *heap, Evaluator *evaluator) {
  static const JumpHost methods = {rows, entries};
  ArrayJump *own = heap_alloc(heap, sizeof *own);
  const Array *array = evaluator->array;
  const Jacobian *jacobian = evaluator->jacobian;
  JumpPlan plan = {.unknowns = (int)array->problem->unknowns,
                   .columns = (int)array->columns,
                   .rows = (int)array->rows,
                   .nonzeros = (int)jacobian->nonzeros,
                   .column_start = (const int *)array->column_start,
                   .d = array->d,
                   .row_start = (const int *)array->row_start,
                   .c = array->c,
                   .row_equation = (const int *)array->row_equation,
                   .jacobian_start = jacobian->column_start,
                   .jacobian_row = jacobian->row_index,
                   .nominal = evaluator->nominal};
  own->evaluator = evaluator;
  own->is_switched = has_switched_constraint(array);
  own->jump = jump_new(heap, &plan, &methods, own);
  return own;
}

void array_jump_forget(ArrayJump *jump) {
  jump_forget(jump->jump);
  heap_free(jump->evaluator->heap, jump->parameters);
  jump->parameters = NULL;
}

bool array_jump_is_ruled_out(ArrayJump *jump) {
  const Evaluator *evaluator = jump->evaluator;
  size_t count = evaluator->model->parameters.count;
  bool same = jump->parameters && memcmp(jump->parameters, evaluator->parameters, count * sizeof(double)) == 0;
  if (!jump->parameters) jump->parameters = heap_array(evaluator->heap, count, sizeof(double));
  copy_numbers(jump->parameters, evaluator->parameters, count);
  return same && !jump->is_switched && !evaluator->past && !evaluator->inputs;
}

bool array_jump_solve(ArrayJump *jump, double t, double *y, uint32_t *column) {
  return jump_solve(jump->jump, t, y, column);
}
