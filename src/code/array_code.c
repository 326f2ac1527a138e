/* array_code: see array_code.h. */
#include "code/array_code.h"

#include "code/compile.h"

#include <string.h>

Program *array_code_program(ArrayCode *code, const Expr *roots, uint32_t count) {
  Program *program = program_new(code->heap, code->model, &code->layout, roots, count);
  vec_push(code->heap, &code->programs, program);
  return program;
}

Jacobian *array_code_jacobian(ArrayCode *code, const Expr *rows, uint32_t count) {
  Jacobian *jacobian = jacobian_new(code->heap, code->model, &code->layout, rows, count, NULL, 0);
  vec_push(code->heap, &code->programs, jacobian->program);
  return jacobian;
}

/* Are all variables of the expression columns? */
static bool within_columns(const Array *array, Expr e) {
  ExprVec leaves = {0};
  DagScratch *scratch = dag_scratch(array->dag);
  bool within = true;
  dag_variables(array->dag, scratch, e, &leaves);
  for (uint32_t v = 0; v < leaves.count && within; v++) {
    uint32_t j = array->problem->local[dag_index(array->dag, leaves.data[v])];
    within = j != MAP_NONE && (int32_t)dag_order(array->dag, leaves.data[v]) <= array->d[j];
  }
  vec_free(scratch->heap, &leaves);
  return within;
}

/* What is looked at for events. */
static void add_conditions(ArrayCode *code, const Modes *modes) {
  uint32_t count = modes->count;
  Expr *roots = heap_array(code->heap, 2 * (size_t)count, sizeof *roots);
  code->has_rate = heap_array(code->heap, count, sizeof *code->has_rate);
  memcpy(roots, modes->difference, count * sizeof *roots);
  memcpy(roots + count, modes->size, count * sizeof *roots);
  code->conditions = array_code_program(code, roots, 2 * count);
  memcpy(roots, modes->written, count * sizeof *roots);
  code->written = array_code_program(code, roots, 2 * count);
  for (uint32_t m = 0; m < count; m++) {
    code->has_rate[m] = within_columns(code->array, modes->rate[m]);
    roots[m] = code->has_rate[m] ? modes->rate[m] : dag_constant(code->array->dag, 0);
  }
  code->rates = array_code_program(code, roots, count);
  heap_free(code->heap, roots);
}

ArrayCode *array_code_new(Heap *heap, Array *array, const Modes *modes) {
  ArrayCode *code = heap_alloc(heap, sizeof *code);
  Model *model = array->problem->model;
  code->heap = heap;
  code->model = model;
  code->array = array;
  code->modes = modes;
  code->layout = (Layout){model->unknowns.count, array->columns, array->model_column};
  for (uint32_t r = 0; r < array->rows; r++) array_row(array, r);
  code->rows = array_code_program(code, array->row, array->rows);
  code->jacobian = array_code_jacobian(code, array->row, array->rows);
  if (modes->count) add_conditions(code, modes);
  return code;
}

bool array_code_compile(ArrayCode *code, Diags *diags) {
  return program_compile(code->heap, code->programs.data, code->programs.count, diags);
}
