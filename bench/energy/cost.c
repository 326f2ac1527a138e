/* cost GENERATED HAND ...: pairs of model files; instructions of one evaluation of all equations, aliases put in, of the
 * model whose equations are derived from an energy and of the one whose equations are written by hand. Exit 1: more than
 * 1.3 times as many. */
#include "array/array.h"
#include "code/program.h"
#include "lang/lang.h"
#include "result/file.h"

#include <stdio.h>

static const double BAR = 1.3;

typedef struct Size {
  uint32_t equations, instructions, operations;
} Size;

static Size measure(const char *path) {
  Heap *heap = heap_new(NULL);
  Names names = names_make(heap);
  Diags diags = diags_make(heap);
  Arena arena = arena_make(heap);
  uint32_t length;
  char *text = file_read(heap, &diags, path, &length);
  Source source = source_make(heap, path, text, text ? length : 0);
  Model *model = text ? lang_load(heap, &names, &source, NULL, NULL, (LangOptions){0}, &diags) : NULL;
  Size size = {0};
  if (!model) {
    printf("%s: %s\n", path, diags.list.data[0].message);
    return size;
  }
  Problem problem = problem_make(model, true, &arena);
  uint32_t *start = arena_array(&arena, problem.unknowns + 1, sizeof *start);
  ExprVec leaves = {0};
  for (uint32_t r = 0; r < problem.equations; r++)
    dag_variables(model->dag, dag_scratch(model->dag), problem.residual[r], &leaves);
  uint32_t *all = arena_array(&arena, model->unknowns.count + 1, sizeof *all);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t *own = &all[dag_index(model->dag, leaves.data[k]) + 1], order = dag_order(model->dag, leaves.data[k]);
    if (order + 1 > *own) *own = order + 1;
  }
  for (uint32_t j = 0; j < model->unknowns.count; j++) all[j + 1] += all[j];
  Layout layout = {model->unknowns.count, all[model->unknowns.count], all};
  Program *program = program_new(heap, model, &layout, problem.residual, problem.equations);
  size.equations = problem.equations;
  size.instructions = program_size(program).instructions;
  size.operations = dag_count(model->dag, dag_scratch(model->dag), problem.residual, problem.equations);
  heap_destroy(heap);
  return size;
}

int main(int count, char **arguments) {
  bool fine = true;
  printf("%-24s %22s %22s %8s\n", "", "derived", "by hand", "ratio");
  for (int k = 1; k + 1 < count; k += 2) {
    Size derived = measure(arguments[k]), hand = measure(arguments[k + 1]);
    double ratio = hand.instructions ? (double)derived.instructions / hand.instructions : 0;
    printf("%u %u | %u %u\n", derived.equations, derived.operations, hand.equations, hand.operations);
    printf("%-24s %22u %22u %8.2f\n", arguments[k], derived.instructions, hand.instructions, ratio);
    fine = fine && ratio > 0 && ratio <= BAR;
  }
  return !fine;
}
