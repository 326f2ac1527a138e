/* lu: factors of small dense matrices, stored by columns, and the choice of independent columns. Exported solvers carry it as it stands. */
#pragma once

/* Factors, and solutions in place. Factoring returns 0, or 1 where the matrix is singular. */
int lu_factor(int n, double *a, int *pivot);
void lu_solve(int n, const double *a, const int *pivot, double *b);

/* The determinant, by the factors. */
double lu_determinant(int n, const double *a, const int *pivot);

/* The first `rows` of `order` become independent columns, the largest remainder first, or one about as large (Gram and Schmidt). The matrix is
 * destroyed. Returns 1 where the rank is smaller. */
int select_columns(int rows, int columns, double *a, int *order);

/* Singular values, in no order, by turning pairs of columns until all are orthogonal (Jacobi, Hestenes). The matrix is destroyed. */
void singular_values(int rows, int columns, double *a, double *values);
