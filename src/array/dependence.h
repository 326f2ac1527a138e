/* dependence: exact linear dependences of the rows or columns of a matrix of expressions, with expressions as factors.
 *
 * Lines of numbers are eliminated exactly (eliminate.h). If that finds nothing, Gauss-Jordan elimination follows in the field of
 * expressions. Every entry carries its values at a few sample points, which decide what is zero; so nothing depends on how far an
 * expression can be simplified. As pivots, numbers are preferred to parameters, and parameters to anything that changes with
 * time. */
#pragma once

#include "array/regular.h"

/* sum over k of factor[k] * line[k] = 0, lines being rows or columns of the matrix. The factor of `last`, the last in
 * the list, is a number. */
typedef struct Dependence {
  uint32_t count;
  int32_t *line;
  Expr *factor;
  int32_t last;
} Dependence;

typedef VEC(Dependence) DependenceVec;

/* A basis of the dependences among the rows (or columns) of a block's matrix. A line depends on lines that come before it in
 * `order`. Owned by the arena, the list by its heap. false: the entries are undefined at too many points, or more than 400 lines
 * that are not numbers take part. O(lines that take part, to the third). */
bool dependence_find(const BlockJacobian *jacobian, bool rows, const int32_t *order, const Samples *samples,
                     Arena *arena, DependenceVec *found);
