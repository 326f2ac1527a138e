/* dummies: see dummies.h. A block has a choice when at some stage it has fewer rows than candidates but at least
 * one row; only such blocks are kept here. */
#include "reduce/dummies.h"

#include "code/block_shape.h"
#include "reduce/preference.h"

struct DummyBlocks {
  const Structure *structure;
  int32_t *depth;                 /* per unknown, of blocks without a choice */
  bool *removable;                /* per unknown */
  VEC(const BlockShape *) shapes; /* shapes of blocks with a choice */
};

static bool has_choice(const Structure *structure, int32_t block) {
  int32_t begin = structure->blocks.start[block], end = structure->blocks.start[block + 1], stages = 0;
  for (int32_t p = begin; p < end; p++)
    if (structure->c[structure->blocks.row[p]] > stages) stages = structure->c[structure->blocks.row[p]];
  for (int32_t s = 1; s <= stages; s++) {
    int32_t rows = 0, columns = 0;
    for (int32_t p = begin; p < end; p++) {
      rows += structure->c[structure->blocks.row[p]] >= s;
      columns += structure->d[structure->blocks.column[p]] >= s;
    }
    if (rows < columns) return true;
  }
  return false;
}

/* Without a choice every candidate of a stage with rows is a dummy. */
static void set_fixed_depth(const Structure *structure, int32_t block, int32_t *depth) {
  const Blocks *blocks = &structure->blocks;
  int32_t stages = 0;
  for (int32_t p = blocks->start[block]; p < blocks->start[block + 1]; p++)
    if (structure->c[blocks->row[p]] > stages) stages = structure->c[blocks->row[p]];
  for (int32_t p = blocks->start[block]; p < blocks->start[block + 1]; p++) {
    int32_t j = blocks->column[p];
    depth[j] = stages < structure->d[j] ? stages : structure->d[j];
  }
}

DummyBlocks *dummy_blocks(ArrayCode *code, const Structure *structure) {
  Heap *heap = code->heap;
  uint32_t n = code->array->problem->unknowns;
  DummyBlocks *blocks = heap_alloc(heap, sizeof *blocks);
  blocks->structure = structure;
  blocks->depth = heap_array(heap, n, sizeof(int32_t));
  int32_t *place = heap_array(heap, n, sizeof *place);
  for (int32_t b = 0; b < structure->blocks.n_blocks; b++)
    if (has_choice(structure, b)) vec_push(heap, &blocks->shapes, block_shape(code, structure, b, place));
    else set_fixed_depth(structure, b, blocks->depth);
  heap_free(heap, place);
  blocks->removable = heap_array(heap, n, sizeof(bool));
  for (uint32_t j = 0; j < n; j++)
    blocks->removable[j] = structure->removable_block[structure->blocks.block_of_column[j]];
  return blocks;
}

bool dummy_blocks_choose(const DummyBlocks *blocks, int32_t block) {
  for (uint32_t b = 0; b < blocks->shapes.count; b++)
    if (blocks->shapes.data[b]->block == block) return true;
  return false;
}

static ChoicePlan choice_plan(Heap *heap, const Evaluator *evaluator, const BlockShape *shape) {
  double *preference = heap_array(heap, (size_t)shape->size, sizeof *preference);
  bool follows_sizes = preference_of_block(evaluator, shape, preference);
  return (ChoicePlan){shape, preference, follows_sizes};
}

Dummy *dummy_new(Heap *heap, Evaluator *evaluator, const DummyBlocks *blocks) {
  const Array *array = evaluator->array;
  ChoicePlan *choice = heap_array(heap, blocks->shapes.count, sizeof *choice);
  for (uint32_t b = 0; b < blocks->shapes.count; b++) choice[b] = choice_plan(heap, evaluator, blocks->shapes.data[b]);
  DummyPlan plan = {.unknowns = array->problem->unknowns,
                    .columns = array->columns,
                    .count = blocks->shapes.count,
                    .d = array->d,
                    .column_start = array->column_start,
                    .depth = blocks->depth,
                    .removable = blocks->removable,
                    .choice = choice};
  RowsHost host = evaluator_host(evaluator);
  return dummy_make(heap, &plan, &host);
}

static void describe_stage(const Array *array, const BlockShape *shape, int32_t stage, const DummyStage *found,
                           Arena *arena, TextVec *text) {
  bool *marked = arena_array(arena, array->columns, sizeof *marked);
  for (int32_t p = 0; p < shape->size; p++)
    if (found->chosen[p])
      marked[array->column_start[shape->unknown[p]] + (uint32_t)(array->d[shape->unknown[p]] - stage)] = true;
  text_printf(arena->heap, text, "choice: %d of %d at stage %d, condition number %.3g: ", (int)found->rows,
              (int)found->candidates, (int)stage, found->condition);
  array_list_columns(array, marked, arena, text);
  text_printf(arena->heap, text, "\n");
}

void dummy_describe(Dummy *dummy, const Evaluator *evaluator, const DummyBlocks *blocks, double t, const double *y,
                    Arena *arena, TextVec *text) {
  DummyStage found;
  for (uint32_t b = 0; b < blocks->shapes.count; b++)
    for (int32_t s = 1; s <= blocks->shapes.data[b]->stages; s++)
      if (dummy_stage(dummy, b, s, t, y, &found))
        describe_stage(evaluator->array, blocks->shapes.data[b], s, &found, arena, text);
}
