/* sparse_lu: LU factors of small sparse matrices, real or complex, with pivots that are chosen once and kept.
 *
 * The first values determine the pivots (Markowitz: least fill among entries that are large enough). The elimination is then a list
 * of places, which later values follow without a search. Pivots that no longer fit are chosen again. */
#pragma once

#include "base/heap.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct SparseLu SparseLu;

/* Lives in the heap. sparse_lu_set_pattern must follow. */
SparseLu *sparse_lu_new(Heap *heap, bool complex_values);

/* Sets the pattern of an n x n matrix: compressed columns without duplicate entries. The arrays must outlive their use here. */
void sparse_lu_set_pattern(SparseLu *lu, int32_t n, const int32_t *column_start, const int32_t *row_index);

/* Factors the matrix with these values; complex ones are pairs (re, im). False: singular, or not a number. O(operations); O(n^3) if
 * pivots are chosen. */
bool sparse_lu_factor(SparseLu *lu, const double *values);

/* Solves in place with the last factors. O(entries of the factors). */
void sparse_lu_solve(const SparseLu *lu, double *b);

/* The number of multiplications of a factorization with the present pivots. */
int64_t sparse_lu_operations(const SparseLu *lu);

/* The smallest pivot of the last factors, whose rows are scaled to about one. O(n). */
double sparse_lu_least_pivot(const SparseLu *lu);

/* The determinant of the last factored real matrix: its sign, and the logarithm of its absolute value. O(n). */
double sparse_lu_determinant(const SparseLu *lu, double *logarithm);
