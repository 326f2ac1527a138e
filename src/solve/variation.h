/* variation: the system linearized at a point, G_y dy + g = 0. Given the variations of the states, the implicit function
 * theorem gives those of all other columns: one factorization a point, one solve a direction. */
#pragma once

#include "solve/integrator.h"

typedef struct Variation Variation;

/* Of a system that has a state-space form. Lives in the heap. */
Variation *variation_new(Heap *heap, const System *system);

/* Takes the point, and the links of now. EVAL_DOMAIN: the states do not determine the other columns there. */
EvalStatus variation_factor(Variation *variation, double t, const double *y);

/* The same with the entries of the Jacobian at the point. */
EvalStatus variation_take(Variation *variation, const double *entries);

/* dy[columns] holds the variations of the states, and gets those of the others. g[rows]: the direct influence of whatever
 * varies besides; NULL: there is none. */
void variation_solve(Variation *variation, const double *g, double *dy);
