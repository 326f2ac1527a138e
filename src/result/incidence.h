/* incidence: a picture of the structure of a model: its incidence matrix as written and, next to it, in block triangular form.
 * Entries are coloured by derivative order, blocks are framed, and names appear on hover.
 *
 * Small systems show every entry; very small ones also show names, orders and offsets. Beyond INCIDENCE_DETAIL equations or
 * INCIDENCE_ENTRIES entries the picture is a density map of bounded size, with the larger blocks as areas. */
#pragma once

#include "base/vec.h"

enum { INCIDENCE_DETAIL = 600, INCIDENCE_ENTRIES = 20000 };

typedef struct IncidencePicture {
  const char *title; /* NULL: none */
  int32_t n_equations, n_variables;
  const int32_t *row_start;          /* n_equations + 1 */
  const int32_t *column, *order;     /* by entry; order: highest derivative of the variable in the equation */
  const char *const *equation_names; /* NULL: numbers from 1. Not read beyond INCIDENCE_DETAIL */
  const char *const *variable_names;
  /* The block form: row and column at each place, and block starts (n_blocks + 1). Without blocks (n_blocks
   * 0, for a singular or unbalanced model) only the matrix as written is drawn. */
  int32_t n_blocks;
  const int32_t *block_start, *row_at, *column_at;
  const int32_t *c, *d; /* offsets, or NULL. With them, entries below the highest derivative are drawn pale */
} IncidencePicture;

/* Appends one SVG document. O(entries + n). */
void incidence_svg(Heap *heap, const IncidencePicture *picture, TextVec *text);
