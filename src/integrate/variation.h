/* variation: the system linearized at a point, G_y dy + g = 0. Given the variations of the states, the implicit function
 * theorem gives those of all other columns: one factorization per point, and one solve per direction. */
#pragma once

#include "integrate/contract.h"

typedef struct Variation Variation;

/* The variation of a system that has a state-space form. Lives in the heap. */
Variation *variation_new(Heap *heap, const System *system);

/* Only for variation_solve_transposed. */
Variation *variation_new_transposed(Heap *heap, const System *system);

/* Linearizes at the point, with the current links. EVAL_DOMAIN: the states do not determine the other columns there. */
EvalStatus variation_factor(Variation *variation, double t, const double *y);

/* Like variation_factor, with the given entries of the Jacobian at the point. */
EvalStatus variation_take(Variation *variation, const double *entries);

/* The entries of the Jacobian at the point. */
const double *variation_entries(const Variation *variation);

/* dy[columns] holds the variations of the states, and gets the variations of the other columns. g[rows]: the direct effect of
 * anything else that varies; NULL: none. */
void variation_solve(Variation *variation, const double *g, double *dy);

/* The Jacobian of the rates with respect to the states at the point, dense and column-major: System.rates_jacobian of a system with
 * a state-space form. */
EvalStatus variation_rates(Variation *variation, double t, const double *y, double *jacobian);

/* The transpose of that map: weights[columns] of all columns become weights of the states, and the weights of other
 * columns become zero. -z[rows] are the weights of g. */
void variation_solve_transposed(Variation *variation, double *weights, double *z);
