/* block: the Jacobian of one block of the differentiated problem with respect to its highest derivatives, d f_i / d x_j^(d_j -
 * c_i). It is G of Mattsson and Söderlind 1991, section 3. Every H and M of a lower level is a part of it, because d(D f)/d(D v) =
 * d f/d v. Rows are sorted by falling c (assumption A2), so the rows of a stage come first. Row i depends on columns up to stage
 * -c_i only: rows of equal c form a group that can be evaluated as soon as that stage is known.
 *
 * Exported solvers contain this file unchanged. Only the host can run a program. */
#pragma once

#include "base/copy.h"
#include "base/heap.h"
#include "core/point.h"

#include <stdbool.h>
#include <stdint.h>

struct Program;
struct Workspace;

typedef struct BlockGroup {
  int32_t first_entry, entries;
  const struct Program *program; /* 0 without entries */
  bool linear;                   /* the entries do not depend on the group's own highest columns within the block */
  bool constant;                 /* the entries depend on parameters only: evaluated once */
} BlockGroup;

/* The part of the matrix that does not depend on values. */
typedef struct BlockShape {
  int32_t block, size, stages;       /* stages = largest c */
  const int32_t *unknown;            /* per column of the block */
  const int32_t *stage_rows;         /* [s], 0 <= s <= stages: rows with c >= s */
  const int32_t *row_start, *column; /* entries by rows; block columns */
  const BlockGroup *group;           /* [c], 0 <= c <= stages */
  /* used only while the plan is made */
  const int32_t *equation; /* per row */
  const uint32_t *roots;   /* per entry: its expression */
} BlockShape;

/* What evaluates programs. */
typedef struct RowsHost {
  void *host;
  const double *nominal; /* per column */
  struct Workspace *(*prepare)(void *host, Heap *heap, const struct Program *program);
  EvalStatus (*run)(void *host, struct Workspace *workspace, double t, const double *y, double *out);
  EvalStatus (*fail)(void *host, double t, const double *y); /* called where rows are undefined; returns EVAL_DOMAIN */
  uint64_t *row_evaluations, *entry_evaluations;
} RowsHost;

/* The values, of one run. */
typedef struct BlockMatrix {
  const BlockShape *shape;
  double *values;
  struct Workspace **workspace; /* per group; 0 before its first evaluation */
  bool *known;                  /* per group: constant and evaluated */
  uint64_t version;             /* grows when values change */
  Heap *heap;
} BlockMatrix;

/* Makes a matrix of that shape in the heap. */
BlockMatrix *block_matrix_new(Heap *heap, const BlockShape *shape);

/* Copies values of `count` entries from `first` on, by rows. A program has evaluated them together with other values. */
static inline void block_matrix_set_values(BlockMatrix *matrix, const RowsHost *host, int32_t first, int32_t count,
                                           const double *values) {
  if (!count) return;
  matrix->version++;
  *host->entry_evaluations += (uint64_t)count;
  copy_numbers(matrix->values + first, values, (size_t)count);
}

/* Call this after parameters have changed: everything that depends on parameters only is evaluated again. */
void block_matrix_forget(BlockMatrix *matrix);

/* Evaluates the rows with c == group, or all rows with c > 0, which decide the choice of dummies. */
EvalStatus block_matrix_run_group(BlockMatrix *matrix, const RowsHost *host, int32_t group, double t, const double *y);
EvalStatus block_matrix_run_differentiated(BlockMatrix *matrix, const RowsHost *host, double t, const double *y);
