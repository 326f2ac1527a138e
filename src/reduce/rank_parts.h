/* rank_parts: divides a sparse matrix into parts whose ranks are found separately, each as a dense matrix.
 *
 * Invariant: a row has entries only in columns of its own part and of earlier parts. If the parts are connected
 * components, a row has entries only in its own part, and ranks and singular vectors of the whole are those of the
 * parts together. If they are the blocks of a triangular form, that holds only if every part has full rank. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

typedef struct RankPart {
  int32_t rows, columns;
  uint32_t *row, *column; /* their indices in the whole matrix, ascending */
  size_t first; /* where this part begins among the dense entries; parts follow one another, each by columns */
} RankPart;

typedef struct RankParts {
  uint32_t count;
  RankPart *part;
  uint32_t *of_row, *of_column;       /* part */
  uint32_t *row_place, *column_place; /* number in there */
  size_t entries;                     /* entries of all dense matrices */
} RankParts;

/* The connected components of a pattern by columns. Owned by the arena. About O(entries). */
RankParts rank_parts_connected(uint32_t rows, uint32_t columns, const int32_t *column_start, const int32_t *row_index,
                               Arena *arena);

/* The parts of_row and of_column, `count` of them. The result keeps of_row and of_column; owned by the arena. O(rows + columns). */
RankParts rank_parts_list(uint32_t *of_row, uint32_t rows, uint32_t *of_column, uint32_t columns, uint32_t count,
                          Arena *arena);

/* The part with the most columns; NULL if there is none. */
const RankPart *rank_parts_largest(const RankParts *parts);
