/* pattern: bipartite graphs in compressed rows, the one input of the structural algorithms.
 *
 * Invariant: row i has the entries row_start[i] .. row_start[i+1]-1. Entries need no order within a
 * row, and duplicates are allowed everywhere. A pattern only points at its arrays.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* "None" in every index array of this folder. */
#define STRUCTURE_NONE (-1)

typedef struct Pattern {
  int32_t n_rows, n_columns;
  const int32_t *row_start; /* n_rows + 1 */
  const int32_t *column;
} Pattern;

/* A differential-algebraic problem reduced to integers: order[e] is sigma_ij, the highest derivative
 * of variable j = column[e] in equation i (0: the variable itself), never negative. The
 * sum of each equation's highest order must fit in int32_t. */
typedef struct Incidence {
  int32_t n_equations, n_variables;
  const int32_t *row_start; /* n_equations + 1 */
  const int32_t *column;
  const int32_t *order;
} Incidence;

/* The graph without its orders: differentiation counts as an algebraic operation. */
Pattern incidence_pattern(const Incidence *incidence);

/* Rows become columns; entries of a new row ascend. Owned by the arena. O(entries). */
Pattern pattern_transpose(Arena *arena, const Pattern *pattern);

/* The entries with order + c == d, which hold a highest derivative of the differentiated problem.
 * Owned by the arena. O(entries). */
Pattern incidence_tight(Arena *arena, const Incidence *incidence, const int32_t *c, const int32_t *d);

/* `count` zeros, or `count` times STRUCTURE_NONE. Owned by the arena. O(count). */
int32_t *index_zeros(Arena *arena, int32_t count);
int32_t *index_nones(Arena *arena, int32_t count);

/* Sorts in place, ascending. O(count log count). */
void index_sort(int32_t *index, int32_t count);

/* Finds the connected components of the rows that are kept and their columns: the component of each, STRUCTURE_NONE for rows and
 * columns outside. Returns their number. The queue is workspace for all rows. O(entries). */
int32_t pattern_components(const Pattern *pattern, const Pattern *transposed, const bool *kept, int32_t *queue,
                           int32_t *of_row, int32_t *of_column);

/* Equation i has the rows of levels 0 .. level[i] - 1, its derivatives. Removes rows with a derivative of a variable that no other
 * row contains, until there are none; such rows cannot be part of a dependence. level[i] becomes the number of rows left. O(entries
 * * (levels + rows of a column)). */
void incidence_peel(Arena *arena, const Incidence *incidence, int32_t *level);
