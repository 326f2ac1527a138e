/* evaluate MODEL COUNT: evaluates all equations of the model, after alias elimination, COUNT times at one point. Prints the
 * number of equations and of instructions of the tape. */
#include "array/array.h"
#include "code/program.h"
#include "lang/lang.h"
#include "result/file.h"

#include <stdio.h>
#include <stdlib.h>

/* Each unknown has the columns up to its highest derivative in the equations. */
static Layout make_layout(const Model *model, const Problem *problem, Arena *arena) {
  uint32_t *start = arena_array(arena, model->unknowns.count + 1, sizeof *start);
  ExprVec leaves = {0};
  for (uint32_t r = 0; r < problem->equations; r++)
    dag_variables(model->dag, dag_scratch(model->dag), problem->residual[r], &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t columns = dag_order(model->dag, leaves.data[k]) + 1;
    uint32_t *own = &start[dag_index(model->dag, leaves.data[k]) + 1];
    if (columns > *own) *own = columns;
  }
  for (uint32_t j = 0; j < model->unknowns.count; j++) start[j + 1] += start[j];
  return (Layout){model->unknowns.count, start[model->unknowns.count], start};
}

int main(int count, char **arguments) {
  Heap *heap = heap_new(NULL);
  Names names = names_make(heap);
  Diags diags = diags_make(heap);
  Arena arena = arena_make(heap);
  uint32_t length = 0;
  char *text = count == 3 ? file_read(heap, &diags, arguments[1], &length) : NULL;
  if (!text) return 2;
  Source source = source_make(heap, arguments[1], text, length);
  Model *model = lang_load(heap, &names, &source, NULL, NULL, (LangOptions){0}, &diags);
  if (!model) return 3;
  Problem problem = problem_make(model, true, &arena);
  Layout layout = make_layout(model, &problem, &arena);
  Program *program = program_new(heap, model, &layout, problem.residual, problem.equations);
  Workspace *workspace = workspace_new(heap, program);
  double *y = heap_array(heap, layout.columns, sizeof *y), *out = heap_array(heap, problem.equations, sizeof *out);
  double *parameters = heap_array(heap, model->parameters.count, sizeof *parameters);
  if (!model_parameter_values(model, heap, NULL, parameters, &diags)) return 3;
  for (uint32_t k = 0; k < layout.columns; k++) y[k] = 0.1 + 0.01 * k;
  Point point = {.time = 0.1, .y = y, .parameters = parameters};
  for (long k = strtol(arguments[2], NULL, 10); k > 0; k--) workspace_run(workspace, &point, out);
  printf("%u %u\n", problem.equations, program_size(program).instructions);
  heap_destroy(heap);
  return 0;
}
