/* linear: one square linear system, real or complex, factored often and solved oftener.
 *
 * Well-filled matrices are dense (a plain LU for the very small, LAPACK above); small sparse ones keep their pivots (sparse_lu.h),
 * and the rest go to KLU.
 * The pattern is fixed between calls of linear_set_pattern; the values come in the order of that pattern.
 */
#pragma once

#include "base/heap.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Linear Linear;

/* A system of n equations, at most `nonzeros` entries in any pattern. Complex values are pairs (re, im).
 * Lives in the heap. linear_set_pattern must follow. */
Linear *linear_new(Heap *heap, int32_t n, int32_t nonzeros, bool complex_values);

/* From now on the system has n equations and at most `nonzeros` entries; linear_set_pattern must follow. */
void linear_resize(Linear *linear, int32_t n, int32_t nonzeros);

/* Takes the pattern: compressed columns, no entry twice, rows in any order. The arrays must stay. O(nonzeros). */
void linear_set_pattern(Linear *linear, const int32_t *column_start, const int32_t *row_index);

/* The same for the transpose of the matrix with this pattern: it is what is factored and solved from then on, though values come in
 * the order of the pattern given. */
void linear_set_transposed(Linear *linear, const int32_t *column_start, const int32_t *row_index);

/* Factors the matrix with these values. False: singular, or not a number. Dense: O(n^3). */
bool linear_factor(Linear *linear, const double *values);

/* Solves in place with the last factors. */
void linear_solve(Linear *linear, double *b);

/* The determinant of the real matrix factored last: its sign, and the logarithm of its size. O(n). */
double linear_determinant(const Linear *linear, double *logarithm);

/* In which order to factor a matrix with this pattern: its columns, and the row wanted as the pivot of each. Returns how many entries each of
 * the factors has then, estimated from the pattern. */
double linear_pivot_order(Heap *heap, int32_t n, const int32_t *start, const int32_t *row_index, int32_t *columns,
                          int32_t *rows);

/* The smallest pivot of the real matrix factored last, whose rows are scaled to about one. O(n). */
double linear_least_pivot(const Linear *linear);

/* Estimate of the condition number of a sparse matrix of compressed columns, in the 1-norm (Hager 1984, by KLU);
 * HUGE_VAL if it is singular. About the cost of one factorization. */
double linear_condition(Heap *heap, int32_t n, int32_t *start, int32_t *row, double *values);

/* The rank of a dense n x n matrix, by elimination with complete pivoting, in place: entries count as zero that are not larger than
 * `lost` times the size of what they are the difference of. At first these are the sizes given, to which the entries are exact. So
 * small numbers that are no difference, as capacitances beside ones, are not lost. `absorbed`, if not NULL: sizes of terms that an entry had
 * and that round-off took away; those that the elimination adds are added. Where such terms are left behind the rank, it may be larger. O(n^3). */
int32_t linear_rank(double *a, double *size, double *absorbed, int32_t n, double lost);
