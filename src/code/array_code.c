/* array_code: see array_code.h. */
#include "code/array_code.h"

#include "code/compile.h"

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
  if (modes->count) code->conditions = array_code_program(code, modes->difference, modes->count);
  return code;
}

bool array_code_compile(ArrayCode *code, Diags *diags) {
  return program_compile(code->heap, code->programs.data, code->programs.count, diags);
}
