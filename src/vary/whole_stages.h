/* whole_stages: the linear equations of all stages of a step of Radau IIA at once, with the Jacobian of each, or their transpose. Where the Jacobians
 * differ so much that corrections by one of them do not converge, they are solved as they are. */
#pragma once

#include "integrate/radau_coefficients.h"
#include "segment/elimination.h"

typedef struct WholeStages WholeStages;

/* Lives in the heap. */
WholeStages *whole_stages_new(Heap *heap, bool is_transposed);

/* For the states that were chosen, of the system's own pattern. jacobian[i]: the entries at stage i. values[i][rows]: the right sides, of the rows at the stages or, of
 * the transpose, of the columns that are no states; then the solution. false: the matrix is singular. */
bool whole_stages_solve(WholeStages *whole, const Elimination *elimination, const RadauCoefficients *method, double h,
                        double *const *jacobian, double *const *values);
