/* order: which columns keep their start values, which row determines which other column, and in what order the rows are solved.
 *
 * Invariant: every row except the surplus ones determines a column of its own. Columns are kept in this order:
 * those that the model fixes, those with given start values, the others (a greedy choice, see structure/initial.h). */
#pragma once

#include "init/starts.h"
#include "structure/blocks.h"
#include "structure/initial.h"

typedef struct Order {
  Pattern pattern;      /* pattern of the system, surplus rows emptied */
  InitialChoice choice; /* columns that are given, and the matching of rows and columns */
  IndexVec surplus;     /* initial equations beyond the number of columns: the other rows leave no column for them */
  IndexVec redundant;   /* fixed columns that the rows and the other fixed columns determine */
} Order;

/* Chooses for the system's columns, by its pattern or a part of it. Owned by the arena. O(n log n) and matchings. */
Order order_make(const InitialSystem *system, const Pattern *pattern, const InitialColumn *columns, Arena *arena);

/* The units in which the rows are solved, in order; `row` and `column` of the blocks are the system's. With `nearest`, rows that
 * share a movable column of their own stage are in one unit, so that a least-norm correction sees them all. Owned by the arena.
 * About linear. */
Blocks order_units(const InitialSystem *system, const InitialColumn *columns, const Order *order, bool nearest,
                   Arena *arena);

/* The rows on which some rows depend, directly or indirectly, because they determine or move their columns. These are whole
 * units, including those of the rows themselves. Owned by the system's heap. About linear. */
IndexVec order_upstream(const InitialSystem *system, const InitialColumn *columns, const Order *order,
                        const IndexVec *rows);

/* May a start value move although no row needs it? A start value may move if it is a column of the row's own stage. */
bool order_may_move(const InitialSystem *system, const InitialColumn *columns, const Order *order, uint32_t row,
                    uint32_t column);
