/* array_jump: see array_jump.h. */
#include "view/array_jump.h"

#include "base/copy.h"
#include "base/linear.h"

#include <string.h>

struct ArrayJump {
  Jump jump;
  Evaluator *evaluator;
  Linear *linear;
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

static bool factor(void *host, const double *values) { return linear_factor(((ArrayJump *)host)->linear, values); }

static void solve(void *host, double *b) { linear_solve(((ArrayJump *)host)->linear, b); }

ArrayJump *array_jump_new(Heap *heap, Evaluator *evaluator) {
  static const JumpHost methods = {rows, entries, factor, solve};
  ArrayJump *own = heap_alloc(heap, sizeof *own);
  Jump *jump = &own->jump;
  const Array *array = evaluator->array;
  const Jacobian *jacobian = evaluator->jacobian;
  uint32_t n = array->problem->unknowns;
  own->evaluator = evaluator;
  own->is_switched = has_switched_constraint(array);
  jump->plan = (JumpPlan){.unknowns = (int)n,
                          .columns = (int)array->columns,
                          .column_start = (const int *)array->column_start,
                          .d = array->d,
                          .row_start = (const int *)array->row_start,
                          .c = array->c,
                          .nominal = evaluator->nominal};
  jump->methods = &methods;
  jump->host = own;
  jump->start = heap_array(heap, (size_t)n + 1, sizeof *jump->start);
  jump->row = heap_array(heap, jacobian->nonzeros, sizeof *jump->row);
  jump->entry = heap_array(heap, jacobian->nonzeros, sizeof *jump->entry);
  jump_list(jump, jacobian->column_start, jacobian->row_index, (const int *)array->row_equation);
  own->linear = linear_new(heap, (int32_t)n, jump->start[n], false);
  linear_set_pattern(own->linear, jump->start, jump->row);
  heap_numbers(heap, (size_t)jump->start[n], &jump->values, &jump->first);
  jump->entries = heap_array(heap, jacobian->nonzeros, sizeof(double));
  jump->rows = heap_array(heap, array->rows, sizeof(double));
  heap_numbers(heap, n, &jump->b, &jump->moved, &jump->size);
  jump->y = heap_array(heap, array->columns, sizeof(double));
  return own;
}

void array_jump_forget(ArrayJump *jump) {
  linear_set_pattern(jump->linear, jump->jump.start, jump->jump.row);
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
  int own = 0;
  bool is_solved = jump_solve(&jump->jump, t, y, &own);
  *column = (uint32_t)own;
  return is_solved;
}
