/* blocks: strongly connected blocks of a square pattern with a perfect matching (Tarjan 1972), in block
 * lower triangular order.
 *
 * Invariant: a row of block b has entries only in columns of blocks 0..b. The blocks do not depend on the matching.
 * If several orders are possible, the block of row 0 comes as early as possible, then that of row 1, and so on. */
#pragma once

#include "structure/matching.h"

typedef struct Blocks {
  int32_t n_blocks;
  int32_t *start;        /* n_blocks + 1; block b has the places start[b] .. start[b+1]-1 */
  int32_t *row;          /* row by place; ascending within a block */
  int32_t *column;       /* column by place: the one matched to the row of that place */
  int32_t *block_of_row; /* inverse views */
  int32_t *block_of_column;
} Blocks;

/* Owned by the arena. `matching` must be perfect. O(entries + blocks * log(blocks)). */
Blocks blocks_find(Arena *arena, const Pattern *pattern, const Matching *matching);
