/* sparse_lu: LU factors of small sparse matrices, real or complex, with pivots that are chosen once and kept.
 *
 * The first values decide on the pivots (Markowitz: least fill among entries large enough). What elimination with them
 * does is then a list of places, gone through for later values without a search. Pivots that no longer serve are chosen
 * again.
 */
#pragma once

#include "base/heap.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct SparseLu SparseLu;

/* Lives in the heap. sparse_lu_set_pattern must follow. */
SparseLu *sparse_lu_new(Heap *heap, bool complex_values);

/* Takes the pattern of an n x n matrix: compressed columns, no entry twice. The arrays must stay. */
void sparse_lu_set_pattern(SparseLu *lu, int32_t n, const int32_t *column_start, const int32_t *row_index);

/* Factors the matrix with these values, complex ones as pairs (re, im). False: singular, or not a number. O(operations);
 * O(n^3) where pivots are chosen. */
bool sparse_lu_factor(SparseLu *lu, const double *values);

/* Solves in place with the last factors. O(entries of the factors). */
void sparse_lu_solve(const SparseLu *lu, double *b);

/* Multiplications that a factorization with the present pivots takes. */
int64_t sparse_lu_operations(const SparseLu *lu);

/* The smallest pivot of the last factors, whose rows are scaled to about one. O(n). */
double sparse_lu_least_pivot(const SparseLu *lu);

/* The determinant of the real matrix factored last: its sign, and the logarithm of its size. O(n). */
double sparse_lu_determinant(const SparseLu *lu, double *logarithm);
