/* dulmage: the Dulmage-Mendelsohn parts of a pattern without a perfect matching, and in each connected component of them a
 * smallest culprit that a message can name.
 *
 * Invariant: rows of the over-determined part have entries only in columns of that part; columns of the under-determined part
 * have entries only in rows of that part. A culprit is minimal: if any one of its rows (over) or columns (under) is left out,
 * the rest can be matched.
 */
#pragma once

#include "structure/matching.h"

/* A set of rows (equations) with a set of columns (variables); both ascending. */
typedef struct DulmageSet {
  int32_t n_rows, n_columns;
  const int32_t *rows, *columns;
} DulmageSet;

/* A connected component of the over- or under-determined part. Over-determined: culprit.n_rows == culprit.n_columns + 1, and its
 * rows have no entry in another column. Under-determined: culprit.n_columns == culprit.n_rows + 1, and no other row has an entry in
 * its columns. `excess` is the number of rows (columns) that the component has too many. */
typedef struct DulmageComponent {
  DulmageSet all, culprit;
  int32_t excess;
} DulmageComponent;

typedef enum DulmageKind { DULMAGE_WELL, DULMAGE_OVER, DULMAGE_UNDER } DulmageKind;

/* Components are sorted by the size of their culprit, then by their smallest row and column. */
typedef struct Dulmage {
  uint8_t *row_kind, *column_kind; /* DulmageKind of every row and column */
  int32_t n_over, n_under;
  DulmageComponent *over, *under;
} Dulmage;

/* `matching` must be of maximum size. Owned by the arena. O(entries) for the parts; the search for small
 * culprits stops after a fixed multiple of that, and then keeps the smallest found. */
Dulmage dulmage_find(Arena *arena, const Pattern *pattern, const Matching *matching);
