/* block_matrix: see block_matrix.h. */
#include "code/block_matrix.h"

#include <stdlib.h>
#include <string.h>

static int compare_falling(const void *a, const void *b) {
  const int32_t *p = a, *q = b;
  if (p[0] != q[0]) return p[0] > q[0] ? -1 : 1;
  return (p[1] > q[1]) - (p[1] < q[1]);
}

/* The equations of the block by falling c, ties in the given order, and the count of rows a stage. */
static void sort_equations(Heap *heap, BlockMatrix *matrix, const Structure *structure, const int32_t *rows) {
  int32_t(*keys)[2] = heap_array(heap, (size_t)matrix->size, sizeof *keys);
  for (int32_t p = 0; p < matrix->size; p++) keys[p][0] = structure->c[rows[p]], keys[p][1] = rows[p];
  qsort(keys, (size_t)matrix->size, sizeof *keys, compare_falling);
  matrix->stages = keys[0][0];
  matrix->stage_rows = heap_array(heap, (size_t)matrix->stages + 2, sizeof(int32_t));
  matrix->group = heap_array(heap, (size_t)matrix->stages + 1, sizeof(BlockGroup));
  for (int32_t p = 0; p < matrix->size; p++) {
    matrix->equation[p] = keys[p][1];
    for (int32_t s = 0; s <= keys[p][0]; s++) matrix->stage_rows[s]++;
  }
  heap_free(heap, keys);
}

typedef struct EntryLists {
  ExprVec leaves, partials, roots;
  IntVec columns;
} EntryLists;

static void collect_row(Heap *heap, BlockMatrix *matrix, const Array *array, const Structure *structure, int32_t row,
                        const int32_t *place, EntryLists *lists) {
  int32_t i = matrix->equation[row];
  lists->leaves.count = lists->partials.count = 0;
  dag_gradient(array->dag, array->problem->residual[i], &lists->leaves, &lists->partials);
  for (uint32_t e = 0; e < lists->leaves.count; e++) {
    int32_t j = (int32_t)array->problem->local[dag_index(array->dag, lists->leaves.data[e])];
    if (structure->blocks.block_of_column[j] != matrix->block) continue;
    if ((int32_t)dag_order(array->dag, lists->leaves.data[e]) != structure->d[j] - structure->c[i]) continue;
    vec_push(heap, &lists->roots, lists->partials.data[e]);
    vec_push(heap, &lists->columns, place[j]);
  }
}

/* Do the entries depend on parameters and constants only? */
static bool group_is_constant(Dag *dag, const Expr *roots, int32_t count) {
  static const Op moving[] = {OP_VARIABLE, OP_TIME, OP_DISCRETE, OP_PRE};
  for (int32_t e = 0; e < count; e++)
    for (size_t k = 0; k < sizeof moving / sizeof *moving; k++)
      if (dag_depends(dag, roots[e], moving[k])) return false;
  return true;
}

/* Does any entry of the group contain a highest column of an equation of the group within the block? */
static bool group_is_linear(Heap *heap, const BlockMatrix *matrix, const Array *array, const Structure *structure,
                            int32_t c, const Expr *roots, int32_t count) {
  ExprVec leaves = {0};
  bool linear = true;
  for (int32_t e = 0; e < count && linear; e++) {
    leaves.count = 0;
    dag_variables(array->dag, dag_scratch(array->dag), roots[e], &leaves);
    for (uint32_t k = 0; k < leaves.count && linear; k++) {
      int32_t j = (int32_t)array->problem->local[dag_index(array->dag, leaves.data[k])];
      linear = structure->blocks.block_of_column[j] != matrix->block ||
               (int32_t)dag_order(array->dag, leaves.data[k]) != structure->d[j] - c;
    }
  }
  vec_free(heap, &leaves);
  return linear;
}

static void build_groups(Heap *heap, BlockMatrix *matrix, Evaluator *evaluator, const Structure *structure,
                         const EntryLists *lists) {
  for (int32_t c = 0; c <= matrix->stages; c++) {
    BlockGroup *group = &matrix->group[c];
    int32_t first_row = matrix->stage_rows[c + 1], last_row = matrix->stage_rows[c]; /* falling c */
    group->first_entry = matrix->row_start[first_row];
    group->entries = matrix->row_start[last_row] - group->first_entry;
    group->linear = true;
    if (!group->entries) continue;
    const Expr *roots = lists->roots.data + group->first_entry;
    group->linear = group_is_linear(heap, matrix, evaluator->array, structure, c, roots, group->entries);
    group->constant = group_is_constant(evaluator->array->dag, roots, group->entries);
    group->program = evaluator_program(evaluator, roots, (uint32_t)group->entries);
  }
}

BlockMatrix *block_matrix_new(Heap *heap, Evaluator *evaluator, const Structure *structure, int32_t block,
                              int32_t *place) {
  const Array *array = evaluator->array;
  BlockMatrix *matrix = heap_alloc(heap, sizeof *matrix);
  int32_t begin = structure->blocks.start[block];
  matrix->block = block;
  matrix->size = structure->blocks.start[block + 1] - begin;
  matrix->equation = heap_array(heap, (size_t)matrix->size, sizeof(int32_t));
  matrix->unknown = heap_array(heap, (size_t)matrix->size, sizeof(int32_t));
  matrix->row_start = heap_array(heap, (size_t)matrix->size + 1, sizeof(int32_t));
  sort_equations(heap, matrix, structure, structure->blocks.row + begin);
  for (int32_t p = 0; p < matrix->size; p++) {
    matrix->unknown[p] = structure->blocks.column[begin + p];
    place[matrix->unknown[p]] = p;
  }
  EntryLists lists = {0};
  for (int32_t p = 0; p < matrix->size; p++) {
    collect_row(heap, matrix, array, structure, p, place, &lists);
    matrix->row_start[p + 1] = (int32_t)lists.columns.count;
  }
  matrix->column = lists.columns.data;
  matrix->values = heap_array(heap, lists.columns.count, sizeof(double));
  build_groups(heap, matrix, evaluator, structure, &lists);
  vec_free(heap, &lists.leaves);
  vec_free(heap, &lists.partials);
  matrix->roots = lists.roots.data;
  return matrix;
}

void block_matrix_roots(const BlockMatrix *matrix, int32_t c, Heap *heap, ExprVec *roots) {
  const BlockGroup *group = &matrix->group[c];
  for (int32_t e = 0; e < group->entries; e++) vec_push(heap, roots, matrix->roots[group->first_entry + e]);
}

void block_matrix_take(BlockMatrix *matrix, Evaluator *evaluator, int32_t c, const double *values) {
  const BlockGroup *group = &matrix->group[c];
  matrix->version++;
  evaluator->entry_evaluations += (uint64_t)group->entries;
  memcpy(matrix->values + group->first_entry, values, (size_t)group->entries * sizeof *values);
}

EvalStatus block_matrix_run_group(BlockMatrix *matrix, Evaluator *evaluator, int32_t c, double t, const double *y) {
  BlockGroup *group = &matrix->group[c];
  if (!group->program || group->known) return EVAL_OK;
  group->known = group->constant;
  matrix->version++;
  evaluator->entry_evaluations += (uint64_t)group->entries;
  Point point = evaluator_point(evaluator, t, y);
  return program_run(group->program, &point, matrix->values + group->first_entry);
}

EvalStatus block_matrix_run(BlockMatrix *matrix, Evaluator *evaluator, double t, const double *y) {
  for (int32_t c = matrix->stages; c >= 0; c--) {
    EvalStatus status = block_matrix_run_group(matrix, evaluator, c, t, y);
    if (status != EVAL_OK) return status;
  }
  return EVAL_OK;
}
