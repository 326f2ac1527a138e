/* grid: a function of two variables through values on a grid, for tables in two dimensions: bicubic, bilinear or constant pieces,
 * continued beyond its ends. It is C99 that exported models contain, and allocates nothing. */
#pragma once

#include "external/curve.h"

/* Places along one direction. */
typedef struct GridAxis {
  uint32_t count;
  const double *x;
} GridAxis;

typedef struct Grid {
  GridAxis axis[2];
  const double *z;                /* z[i * axis[1].count + j] */
  const double *slope[2], *twist; /* bicubic: derivatives in u1, in u2, in both, at each point */
  Smoothness smoothness;
  Extrapolation extrapolation;
} Grid;

/* Fills in the slopes of a bicubic grid; `room` holds 2 numbers for each point, one for each place, and 6 more. O(points). */
void grid_fill_slopes(const Grid *grid, double *room, double *slope[2], double *twist);

/* out[j * (n + 1) + k]: the j-th derivative in u1 and k-th in u2, at most the n-th. false: a place is outside of a grid that is not to
 * be extrapolated. */
bool grid_derivatives(const Grid *grid, double u1, double u2, uint32_t n, double *out);
