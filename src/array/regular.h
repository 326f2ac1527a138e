/* regular: is the Jacobian of the differentiated problem with respect to its highest derivatives regular? Structural analysis
 * only knows its zeros; here each diagonal block of its triangular form is evaluated at random points (samples.h).
 *
 * Invariant: a block that is regular at one point is regular almost everywhere. A block that is singular at all points counts as
 * identically singular, and then the structural analysis was wrong about it (Mattsson, Söderlind 1991, section 4, "the singular
 * case"). */
#pragma once

#include "array/samples.h"

/* d f_i / d x_j^(d_j - c_i) for the equations and unknowns of one block, as expressions; or other gradients, which need not be
 * square. */
typedef struct BlockJacobian {
  int32_t size, columns;             /* rows; columns, the same number in a block */
  const int32_t *equation, *unknown; /* equations and unknowns of the problem, per row and column */
  int32_t *row_start, *column;       /* entries by rows; columns of the block */
  Expr *entry;
} BlockJacobian;

/* The matrix of a block. `place` is workspace, one number for each unknown of the problem. Owned by the arena. */
BlockJacobian regular_jacobian(const Problem *problem, const Structure *structure, int32_t block, int32_t *place,
                               Arena *arena);

/* Finds by numbers which rows (or columns) take part in the dependences of a singular matrix: those where a null vector is not
 * zero. inside[size] marks them. false: unknown. Costs one sparse factorization for each point. */
bool regular_support(const BlockJacobian *jacobian, bool rows, const Samples *samples, Arena *arena, bool *inside);

/* A block whose matrix is not regular: everywhere, or at the start values only. */
typedef struct SingularBlock {
  int32_t block, size;
  int32_t rank;   /* the largest rank found at a point; -1 for a block that is too large */
  bool here_only; /* regular elsewhere */
  int points;     /* points at which it was found singular */
} SingularBlock;

typedef VEC(SingularBlock) SingularVec;

/* Evaluates the Jacobian of each block at random points. Appends the blocks that are singular at all of them to `singular`, in order,
 * and those that are singular only at the start values to `here`, unless that is NULL. O(size of the equations) if no block is
 * singular. */
void regular_check(const Problem *problem, const Structure *structure, const Samples *samples, Arena *arena,
                   SingularVec *singular, SingularVec *here);
