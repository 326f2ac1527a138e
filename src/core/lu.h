/* lu: factors of small dense matrices, stored by columns, and the choice of independent columns. Exported solvers contain it unchanged. */
#pragma once

/* Factors a matrix, and solves in place. Factoring returns 0, or 1 if the matrix is singular. */
int lu_factor(int n, double *a, int *pivot);
void lu_solve(int n, const double *a, const int *pivot, double *b);

/* The determinant, by the factors. */
double lu_determinant(int n, const double *a, const int *pivot);

/* Orders the columns so that the first `rows` of `order` are independent: repeatedly takes the column with the largest remainder,
 * or one whose remainder is about as large (Gram and Schmidt). Destroys the matrix. Returns 1 if the rank is smaller. */
int select_columns(int rows, int columns, double *a, int *order);

/* Singular values, unsorted: rotates pairs of columns until all are orthogonal (Jacobi, Hestenes). Destroys the matrix. */
void singular_values(int rows, int columns, double *a, double *values);
