/* proof: shows that the matrix of a block is singular wherever it is defined, by exact algebra (exact.h).
 *
 * Rows are eliminated with pivots of one term, which can be divided by; what is left is expanded by minors.
 * Invariant: whatever the elimination does is an identity, so a determinant that comes out zero is zero at
 * the given parameter values, not only at some points. The opposite is never concluded.
 */
#ifndef DAEDAL_ARRAY_PROOF_H
#define DAEDAL_ARRAY_PROOF_H

#include "array/dependence.h"

/* Is the determinant shown to vanish identically? false: not shown; the expressions may be too large, or the
 * block. */
bool proof_singular(const BlockJacobian *jacobian, const Samples *samples);

/* Is the dependence of rows shown to hold identically? Then the matrix is singular, however large it is. */
bool proof_dependence(const BlockJacobian *jacobian, const Dependence *rows, const Samples *samples);

/* Is the sum over k of factor[k] * part[k] shown to vanish identically? */
bool proof_vanishes(const Samples *samples, const Expr *factor, const Expr *part, uint32_t count);

#endif
