/* least_norm: the correction of least weighted norm of sparse linear equations A s = b with at least as many unknowns as equations.
 *
 * With S scaling rows and U the units of the columns it solves [I, (SAU)^T; SAU, -slack I] (U^-1 s, m) = (U^-1 target, S b).
 * Dependent rows leave a residual of slack * m, and do no harm. */
#pragma once

#include "base/heap.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct LeastNorm LeastNorm;

/* For a matrix with this pattern of compressed columns, which must outlive it. Lives in the heap. */
LeastNorm *least_norm_new(Heap *heap, int32_t rows, int32_t columns, const int32_t *start, const int32_t *row);

/* The unit of each column; a column with 0 is held, and is not part of the matrix. Must be called before least_norm_factor;
 * costs little while the same columns are held. */
void least_norm_set_units(LeastNorm *norm, const double *unit);

/* Forgets the order of pivots. */
void least_norm_forget(LeastNorm *norm);

/* Factors for the entries of A in the order of its pattern, and the scales of its rows. false: singular. */
bool least_norm_factor(LeastNorm *norm, const double *entries, const double *scale, double slack);

/* Computes the step for S b, which `right` contains: the step of least norm or, if `target` is not NULL, the step that ends
 * nearest to `target`. Returns false if the step is not finite. */
bool least_norm_solve(LeastNorm *norm, const double *right, const double *target, double *step);

/* The squared residual of the scaled equations after the last step. */
double least_norm_left(const LeastNorm *norm);
