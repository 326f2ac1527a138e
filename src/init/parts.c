/* parts: see parts.h. A part is a set of coarse blocks connected by derivatives: x' = ... with the constraint that determines x.
 * Other parts that use its variables raise all its offsets by the same number, so its own index is a difference of offsets. */
#include "init/parts.h"

static int32_t find_group(int32_t *group, int32_t block) {
  while (group[block] != block) block = group[block] = group[group[block]];
  return block;
}

/* Per coarse block: the first block of its part. */
static int32_t *tie_blocks(const Incidence *incidence, const Blocks *coarse, Arena *arena) {
  int32_t *group = index_zeros(arena, coarse->n_blocks);
  for (int32_t b = 0; b < coarse->n_blocks; b++) group[b] = b;
  for (int32_t i = 0; i < incidence->n_equations; i++) {
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
      if (!incidence->order[e]) continue;
      int32_t a = find_group(group, coarse->block_of_row[i]),
              b = find_group(group, coarse->block_of_column[incidence->column[e]]);
      if (a < b) group[b] = a;
      else group[a] = b;
    }
  }
  for (int32_t b = 0; b < coarse->n_blocks; b++) group[b] = find_group(group, b);
  return group;
}

/* Offsets of a part. */
typedef struct Range {
  int32_t lowest_c, highest_c, lowest_d;
  uint32_t part; /* 1 + its number among those found */
} Range;

static Range *find_ranges(const Structure *structure, const int32_t *group, Arena *arena) {
  const Blocks *coarse = &structure->coarse;
  Range *range = arena_array(arena, (size_t)coarse->n_blocks, sizeof *range);
  for (int32_t b = 0; b < coarse->n_blocks; b++) range[b].lowest_c = range[b].lowest_d = INT32_MAX;
  for (int32_t k = 0; k < structure->n_equations; k++) {
    Range *of_row = &range[group[coarse->block_of_row[k]]], *of_column = &range[group[coarse->block_of_column[k]]];
    if (structure->c[k] < of_row->lowest_c) of_row->lowest_c = structure->c[k];
    if (structure->c[k] > of_row->highest_c) of_row->highest_c = structure->c[k];
    if (structure->d[k] < of_column->lowest_d) of_column->lowest_d = structure->d[k];
  }
  return range;
}

/* Per block: does a differentiated equation determine the block itself, or an earlier block that it uses? Other variables without
 * derivatives,
 * such as abbreviations, follow from the states alone. */
static bool *mark_late(const Incidence *incidence, const Structure *structure, const int32_t *group,
                       const Range *ranges, Arena *arena) {
  const Blocks *blocks = &structure->blocks;
  bool *late = arena_array(arena, (size_t)blocks->n_blocks, sizeof *late);
  for (int32_t b = 0; b < blocks->n_blocks; b++) {
    for (int32_t p = blocks->start[b]; p < blocks->start[b + 1]; p++) {
      int32_t i = blocks->row[p];
      late[b] |= structure->c[i] > ranges[group[structure->coarse.block_of_row[i]]].lowest_c;
      for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
        int32_t j = incidence->column[e];
        if (structure->c[i] + incidence->order[e] == structure->d[j]) late[b] |= late[blocks->block_of_column[j]];
      }
    }
  }
  return late;
}

HiddenParts parts_find(Model *model, Heap *heap) {
  HiddenParts parts = {0};
  Arena scratch = arena_make(heap);
  Problem problem = problem_make(model, false, &scratch);
  Structure structure = structure_run(&scratch, &problem.incidence);
  if (structure.status == STRUCTURE_OK && structure.differentiations > 0) {
    int32_t *group = tie_blocks(&problem.incidence, &structure.coarse, &scratch);
    Range *ranges = find_ranges(&structure, group, &scratch);
    bool *late = mark_late(&problem.incidence, &structure, group, ranges, &scratch);
    for (uint32_t j = 0; j < problem.unknowns; j++) {
      Range *range = &ranges[group[structure.coarse.block_of_column[j]]];
      if (range->highest_c == range->lowest_c) continue;
      if (!range->part) {
        vec_push(heap, &parts, (HiddenPart){.index = range->highest_c - range->lowest_c + 1});
        range->part = parts.count;
      }
      HiddenPart *part = &parts.data[range->part - 1];
      vec_push(heap, &part->variables, problem.unknown[j]);
      if (structure.d[j] == range->lowest_d && late[structure.blocks.block_of_column[j]])
        vec_push(heap, &part->highest, problem.unknown[j]);
    }
  }
  arena_free(&scratch);
  return parts;
}
