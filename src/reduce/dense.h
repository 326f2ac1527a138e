/* dense: singular values and pivoted orthogonal triangles of small dense matrices, stored by columns, through
 * LAPACK. Method strangeness uses these ranks. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Svd {
  double *s, *u, *vt; /* u and vt square */
  int32_t rank;       /* singular values above tolerance times the largest */
} Svd;

/* a (m x n) = u diag(s) vt; overwrites a. Owned by the arena. O(n^3). */
Svd dense_svd(double *a, int32_t m, int32_t n, double tolerance, Arena *arena);

/* Only singular values and rank, by the same test; overwrites a. O(n^3), about ten times cheaper. */
Svd dense_values(double *a, int32_t m, int32_t n, double tolerance, Arena *arena);

/* Columns of a (m x n), counted from 0, in the order of a pivoted QR; those marked in `before` (NULL: none) come first. Overwrites
 * a. Owned by the arena. */
int32_t *dense_pivots(double *a, int32_t m, int32_t n, const bool *before, Arena *arena);

/* The eigenvalues of a symmetric matrix (n x n), ascending; a becomes its eigenvectors, as columns. false: they were
 * not found. O(n^3). */
bool dense_eigenvalues(double *a, int32_t n, double *values, Arena *arena);
