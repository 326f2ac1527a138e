/* linear: one square linear system, real or complex, that is factored often and solved even more often.
 *
 * Matrices with few zeros are stored dense. Small sparse matrices keep their pivots (sparse_lu.h). Large matrices of both kinds
 * are left to large.h. Exported solvers contain this file unchanged. The pattern is fixed between calls of linear_set_pattern; the
 * values come in the order of that pattern. */
#pragma once

#include "base/heap.h"

#include <stdbool.h>
#include <stdint.h>

enum { LINEAR_KEPT_MAX = 128 }; /* a sparse matrix with more equations needs large.h */

typedef struct Linear Linear;

/* A system of n equations with at most `nonzeros` entries in any pattern. Complex values are pairs (re, im). Lives in the heap.
 * linear_set_pattern must follow. */
Linear *linear_new(Heap *heap, int32_t n, int32_t nonzeros, bool complex_values);

/* Changes the system to n equations and at most `nonzeros` entries; linear_set_pattern must follow. */
void linear_resize(Linear *linear, int32_t n, int32_t nonzeros);

/* Sets the pattern: compressed columns without duplicate entries, rows in any order. The arrays must outlive their use here.
 * O(nonzeros). */
void linear_set_pattern(Linear *linear, const int32_t *column_start, const int32_t *row_index);

/* Like linear_set_pattern, but the transpose is factored and solved from then on. Values still come in the order of the given
 * pattern. */
void linear_set_transposed(Linear *linear, const int32_t *column_start, const int32_t *row_index);

/* Factors the matrix with these values. False: singular, or not a number. Dense: O(n^3). */
bool linear_factor(Linear *linear, const double *values);

/* Solves in place with the last factors. */
void linear_solve(Linear *linear, double *b);

/* The determinant of the last factored real matrix: its sign, and the logarithm of its absolute value. O(n). */
double linear_determinant(const Linear *linear, double *logarithm);

/* The smallest pivot of the last factored real matrix, whose rows are scaled to about one. O(n). */
double linear_least_pivot(const Linear *linear);
