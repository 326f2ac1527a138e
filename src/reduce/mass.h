/* mass: is the mass matrix of a model that gives its energy positive definite on the tangent space of its constraints? */
#pragma once

#include "reduce/reduction.h"

/* Sets reduction->mass and is_definite if the model gives an energy, and not for too many coordinates. A warning names the
 * coordinates concerned if the matrix is singular or indefinite at the initial point. O(n^3). */
void mass_examine(Reduction *reduction);
