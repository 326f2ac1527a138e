/* determinants: of the Jacobians of those blocks that change along a run, and their ranks.
 *
 * Invariant: a determinant is relative to the first one of its block that was not zero, so that products of many factors
 * neither over- nor underflow; a block of one equation has its entry as it is. */
#pragma once

#include "base/linear.h"
#include "code/evaluator.h"

typedef struct Watched {
  int32_t block, size, first; /* first entry among all */
  const int32_t *row_start, *column;
  Linear *linear;   /* of a run; NULL for a single equation */
  double reference; /* logarithm of the first determinant that was not zero; NAN: none yet */
} Watched;

typedef VEC(Watched) WatchedVec;

/* Blocks and the program of all their entries; NULL: there are none. */
typedef struct DeterminantPlan {
  WatchedVec blocks;
  const Program *program;
} DeterminantPlan;

/* The blocks whose matrices move, and those that change at events only. Live as long as the code. */
void determinant_plans(ArrayCode *code, const Structure *structure, DeterminantPlan *moving, DeterminantPlan *switched);

/* The same at the values of a run. */
typedef struct Determinants {
  Heap *heap;
  Evaluator *evaluator;
  WatchedVec blocks;
  Workspace *workspace;
  double *entries;
  bool are_certain; /* those of nothing but round-off are 0 */
} Determinants;

/* Lives in the heap. */
Determinants determinants_new(Heap *heap, Evaluator *evaluator, const DeterminantPlan *plan);

/* Sets the entries to those at (t, y); false where they are not defined. */
bool determinants_evaluate(Determinants *determinants, double t, const double *y);

/* The same; entries of which nothing is left but round-off are zero. Twice the cost. */
bool determinants_evaluate_certain(Determinants *determinants, double t, const double *y);

/* Of block number b at the current entries. One factorization. */
double determinants_value(Determinants *determinants, uint32_t b);

/* The rank of block number b, rows scaled: pivots below `lost` of what they are made of count as zero. Of a large block only that it cannot be
 * factored is seen. */
int32_t determinants_rank(Determinants *determinants, uint32_t b, double lost);
