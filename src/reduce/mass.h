/* mass: is the mass matrix of a model that gives its energy positive definite on the tangent space of its constraints? */
#pragma once

#include "reduce/reduction.h"

/* One line for the remark of a reduction; NULL if the model gives no energy. A warning names the coordinates concerned
 * where the matrix is singular or indefinite there at the initial point. Lives in the reduction's arena. O(n^3). */
const char *mass_remark(Reduction *reduction);
