/* determinants: determinants and ranks of the Jacobians of those blocks that change during a run.
 *
 * Invariant: a determinant is relative to the first nonzero one of its block, so that products of many factors neither overflow nor
 * underflow. For a block of one equation it is the entry itself. */
#pragma once

#include "base/linear.h"
#include "code/evaluator.h"

typedef struct Watched {
  int32_t block, size, first; /* first: its first entry among those of all blocks */
  const int32_t *row_start, *column;
  Linear *linear;   /* factors of a run; NULL for a single equation */
  double reference; /* logarithm of the first nonzero determinant; NAN: none yet */
} Watched;

typedef VEC(Watched) WatchedVec;

/* Blocks, and the program of all their entries; NULL: there are none. */
typedef struct DeterminantPlan {
  WatchedVec blocks;
  const Program *program;
} DeterminantPlan;

/* Makes the plans of the blocks whose matrices move, and of those that change at events only. They live as long as the code. */
void determinant_plans(ArrayCode *code, const Structure *structure, DeterminantPlan *moving, DeterminantPlan *switched);

/* The determinants at the values of a run. */
typedef struct Determinants {
  Heap *heap;
  Evaluator *evaluator;
  WatchedVec blocks;
  Workspace *workspace;
  double *entries;
  bool are_certain; /* entries that are only round-off are set to 0 */
} Determinants;

/* Lives in the heap. */
Determinants determinants_new(Heap *heap, Evaluator *evaluator, const DeterminantPlan *plan);

/* Evaluates the entries at (t, y); false if they are undefined. */
bool determinants_evaluate(Determinants *determinants, double t, const double *y);

/* Like determinants_evaluate, but entries that are only round-off become zero. Costs twice as much. */
bool determinants_evaluate_certain(Determinants *determinants, double t, const double *y);

/* The determinant of block b at the current entries. Costs one factorization. */
double determinants_value(Determinants *determinants, uint32_t b);

/* The rank of block b, with rows scaled: a pivot counts as zero if it is below `lost` times the terms that it is made of. For a
 * large block it only shows whether the block can be factored. */
int32_t determinants_rank(Determinants *determinants, uint32_t b, double lost);
