/* dense: small dense matrices, by rows. */
#pragma once

#include <stdint.h>

/* Eliminates the first n columns of a matrix of n rows and `columns` columns, rows exchanged for the largest pivots, so that the others become A^-1 times
 * what they were, and returns the determinant of these n; 0: it is singular, or not finite, and the matrix is spoilt. O(n^2 columns). */
double dense_eliminate(double *matrix, int32_t n, int32_t columns);
