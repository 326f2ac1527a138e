/* block_matrix: the Jacobian of one block of the differentiated problem with respect to its highest derivatives, d f_i
 * / d x_j^(d_j - c_i). It is G of Mattsson and Söderlind 1991, section 3. Every H and M of a lower level is a part of
 * it, because d(D f)/d(D v) = d f/d v. Rows are sorted by falling c (assumption A2), so the rows of a stage come first.
 * Row i depends on columns up to stage -c_i only: rows of equal c form a group that can be evaluated as soon as that
 * stage is known. */
#pragma once

#include "base/copy.h"
#include "code/evaluator.h"

typedef struct BlockGroup {
  int32_t first_entry, entries;
  Program *program; /* NULL without entries */
  bool linear;      /* the entries do not depend on the group's own highest columns within the block */
  bool constant;    /* the entries depend on parameters only: evaluated once */
} BlockGroup;

/* What is known of the matrix without any value. */
typedef struct BlockShape {
  int32_t block, size, stages; /* stages = largest c */
  int32_t *equation, *unknown; /* of the problem, per row and column of the block */
  int32_t *stage_rows;         /* [s], 0 <= s <= stages: rows with c >= s */
  int32_t *row_start, *column; /* entries by rows; block columns */
  Expr *roots;                 /* per entry */
  BlockGroup *group;           /* [c], 0 <= c <= stages */
} BlockShape;

/* The values, of one run. */
typedef struct BlockMatrix {
  const BlockShape *shape;
  double *values;
  Workspace **workspace; /* per group; NULL before it is run */
  bool *known;           /* per group: constant and evaluated */
  uint64_t version;      /* grows when values change */
} BlockMatrix;

/* The shape of a block of the array, whose offsets are those of `structure`; made once and kept by the code. `place` is
 * workspace, one number an unknown of the problem. O(size of the block's equations). */
const BlockShape *block_shape(ArrayCode *code, const Structure *structure, int32_t block, int32_t *place);

/* A matrix of that shape. Lives in the heap. */
BlockMatrix *block_matrix_new(Heap *heap, const BlockShape *shape);

/* Takes values of so many entries from `first` on, by rows, which a program evaluated along with something else. */
static inline void block_matrix_set_values(BlockMatrix *matrix, Evaluator *evaluator, int32_t first, int32_t count,
                                           const double *values) {
  if (!count) return;
  matrix->version++;
  evaluator->entry_evaluations += (uint64_t)count;
  copy_numbers(matrix->values + first, values, (size_t)count);
}

/* Evaluates the rows with c == group, or all rows with c > 0: those that dummies are chosen by. */
EvalStatus block_matrix_run_group(BlockMatrix *matrix, Evaluator *evaluator, int32_t group, double t, const double *y);
EvalStatus block_matrix_run_differentiated(BlockMatrix *matrix, Evaluator *evaluator, double t, const double *y);
