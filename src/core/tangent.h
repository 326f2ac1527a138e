/* tangent: the linear systems of motion under constraints,
 *
 *   M a + B l = r,  G a = s,  B = -G^T,
 *
 * with the accelerations a and multipliers l of coordinates whose equations come from an energy (model->mass). If M is positive
 * definite on the tangent space, the null space of G, they are solved there: a = D u + b with G D = 0, and D^T M D by Cholesky
 * (Shmoylova et al. 2013, (72)). D belongs to a partition of the coordinates: u contains the independent accelerations, and G
 * is solved for the others.
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "base/heap.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TangentMethods TangentMethods;

/* The meaning of the rows and columns of a system; each coordinate has one row and one column. */
typedef struct TangentPlan {
  int32_t coordinates, constraints;
  const int32_t *motion, *acceleration;   /* rows and columns, per coordinate */
  const int32_t *constraint, *multiplier; /* rows and columns, per constraint */
  const int32_t *role;                    /* per row: its coordinate, or -1 - its constraint */
  const TangentMethods *methods;          /* so that exports without such systems leave them out */
} TangentPlan;

typedef struct Tangent Tangent;

struct TangentMethods {
  Tangent *(*make)(Heap *heap, const TangentPlan *plan); /* lives in the heap */

  /* Factors the matrix given by compressed columns. false: G does not have full rank, B is not -G^T, or M is not symmetric and
   * positive definite on the tangent space. O(n^3). */
  bool (*factor)(Tangent *tangent, const int32_t *column_start, const int32_t *row_index, const double *values);

  /* Solves in place with the last factors. O(n^2). */
  void (*solve)(const Tangent *tangent, double *b);
};

extern const TangentMethods tangent_methods;
