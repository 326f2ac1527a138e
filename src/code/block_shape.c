/* block_shape: see block_shape.h. */
#include "code/block_shape.h"

#include <stdlib.h>

static int compare_falling(const void *a, const void *b) {
  const int32_t *p = a, *q = b;
  if (p[0] != q[0]) return p[0] > q[0] ? -1 : 1;
  return (p[1] > q[1]) - (p[1] < q[1]);
}

/* Sorts the equations of the block by falling c; equations with the same c keep their order. Counts the rows of each stage. */
static void sort_equations(Heap *heap, BlockShape *shape, const Structure *structure, const int32_t *rows) {
  int32_t *equation = heap_array(heap, (size_t)shape->size, sizeof *equation);
  int32_t(*keys)[2] = heap_array(heap, (size_t)shape->size, sizeof *keys);
  for (int32_t p = 0; p < shape->size; p++) keys[p][0] = structure->c[rows[p]], keys[p][1] = rows[p];
  qsort(keys, (size_t)shape->size, sizeof *keys, compare_falling);
  shape->stages = keys[0][0];
  int32_t *stage_rows = heap_array(heap, (size_t)shape->stages + 2, sizeof *stage_rows);
  for (int32_t p = 0; p < shape->size; p++) {
    equation[p] = keys[p][1];
    for (int32_t s = 0; s <= keys[p][0]; s++) stage_rows[s]++;
  }
  shape->equation = equation;
  shape->stage_rows = stage_rows;
  heap_free(heap, keys);
}

typedef struct EntryLists {
  ExprVec leaves, partials, roots;
  IntVec columns;
} EntryLists;

static void collect_row(Heap *heap, BlockShape *shape, const Array *array, const Structure *structure, int32_t row,
                        const int32_t *place, EntryLists *lists) {
  int32_t i = shape->equation[row];
  lists->leaves.count = lists->partials.count = 0;
  dag_gradient(array->dag, array->problem->residual[i], &lists->leaves, &lists->partials);
  for (uint32_t e = 0; e < lists->leaves.count; e++) {
    int32_t j = (int32_t)array->problem->local[dag_index(array->dag, lists->leaves.data[e])];
    if (structure->blocks.block_of_column[j] != shape->block) continue;
    if ((int32_t)dag_order(array->dag, lists->leaves.data[e]) != structure->d[j] - structure->c[i]) continue;
    vec_push(heap, &lists->roots, lists->partials.data[e]);
    vec_push(heap, &lists->columns, place[j]);
  }
}

/* Do the entries depend on parameters and constants only? */
static bool group_is_constant(const Dag *dag, const Expr *roots, int32_t count) {
  static const Op moving[] = {OP_VARIABLE, OP_TIME, OP_DISCRETE, OP_PRE};
  for (int32_t e = 0; e < count; e++)
    for (size_t k = 0; k < sizeof moving / sizeof *moving; k++)
      if (dag_depends(dag, roots[e], moving[k])) return false;
  return true;
}

/* Does any entry of the group contain a highest column of an equation of the group within the block? */
static bool group_is_linear(Heap *heap, const BlockShape *shape, const Array *array, const Structure *structure,
                            int32_t c, const Expr *roots, int32_t count) {
  ExprVec leaves = {0};
  bool linear = true;
  for (int32_t e = 0; e < count && linear; e++) {
    leaves.count = 0;
    dag_variables(array->dag, dag_scratch(array->dag), roots[e], &leaves);
    for (uint32_t k = 0; k < leaves.count && linear; k++) {
      int32_t j = (int32_t)array->problem->local[dag_index(array->dag, leaves.data[k])];
      linear = structure->blocks.block_of_column[j] != shape->block ||
               (int32_t)dag_order(array->dag, leaves.data[k]) != structure->d[j] - c;
    }
  }
  vec_free(heap, &leaves);
  return linear;
}

static void build_groups(ArrayCode *code, BlockShape *shape, const Structure *structure) {
  BlockGroup *groups = heap_array(code->heap, (size_t)shape->stages + 1, sizeof *groups);
  shape->group = groups;
  for (int32_t c = 0; c <= shape->stages; c++) {
    BlockGroup *group = &groups[c];
    int32_t first_row = shape->stage_rows[c + 1], last_row = shape->stage_rows[c]; /* falling c */
    group->first_entry = shape->row_start[first_row];
    group->entries = shape->row_start[last_row] - group->first_entry;
    group->linear = true;
    if (!group->entries) continue;
    const Expr *roots = shape->roots + group->first_entry;
    group->linear = group_is_linear(code->heap, shape, code->array, structure, c, roots, group->entries);
    group->constant = group_is_constant(code->array->dag, roots, group->entries);
    group->program = array_code_program(code, roots, (uint32_t)group->entries);
  }
}

static BlockShape *make_shape(ArrayCode *code, const Structure *structure, int32_t block, int32_t *place) {
  Heap *heap = code->heap;
  BlockShape *shape = heap_alloc(heap, sizeof *shape);
  int32_t begin = structure->blocks.start[block];
  shape->block = block;
  shape->size = structure->blocks.start[block + 1] - begin;
  int32_t *row_start = heap_array(heap, (size_t)shape->size + 1, sizeof *row_start);
  shape->unknown = structure->blocks.column + begin;
  shape->row_start = row_start;
  sort_equations(heap, shape, structure, structure->blocks.row + begin);
  for (int32_t p = 0; p < shape->size; p++) place[shape->unknown[p]] = p;
  EntryLists lists = {0};
  for (int32_t p = 0; p < shape->size; p++) {
    collect_row(heap, shape, code->array, structure, p, place, &lists);
    row_start[p + 1] = (int32_t)lists.columns.count;
  }
  shape->column = lists.columns.data;
  shape->roots = lists.roots.data;
  vec_free(heap, &lists.leaves, &lists.partials);
  build_groups(code, shape, structure);
  return shape;
}

const BlockShape *block_shape(ArrayCode *code, const Structure *structure, int32_t block, int32_t *place) {
  if (!code->shapes) code->shapes = heap_array(code->heap, (size_t)structure->blocks.n_blocks, sizeof *code->shapes);
  if (!code->shapes[block]) code->shapes[block] = make_shape(code, structure, block, place);
  return code->shapes[block];
}
