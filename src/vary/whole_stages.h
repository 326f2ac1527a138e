/* whole_stages: solves the linear equations of all stages of a Radau IIA step together, each with its own Jacobian, or their
 * transpose.
 *
 * Stages map the variations of states at the start of a step to those of all columns at every stage. The transpose maps weights
 * w_i of all columns at the stages to weights of the states at the start. Along every chain of links let n_i[to] = (J_i' m_i +
 * w_i)[to] + h sum_j a_ji n_j[from]. The multipliers m_i of the rows are those for which n vanishes in all columns that are not
 * states. Then the weights at the start are sum_i n_i, and m_i are the weights of the direct dependence of the rows. */
#pragma once

#include "integrate/stages.h"

typedef struct WholeStages WholeStages;

/* For any links of the system. Lives in the heap. */
WholeStages *whole_stages_new(Heap *heap, const System *system, bool is_transposed);

/* A step, with the present links of the system. jacobian[i]: the entries at stage i. */
typedef struct WholeStep {
  const RadauCoefficients *method;
  double h;
  double *const *jacobian;
} WholeStep;

/* Finds the variations of all columns at the stages: subtracts the corrections that the residuals of the rows require. The states
 * follow from the other columns by the links. Overwrites the residuals. `now`: the variations at the start. false: the matrix is
 * singular. */
bool whole_stages_solve(WholeStages *whole, const WholeStep *step, double *const *residual, const double *now,
                        double *const *stage);

/* For the transpose: overwrites `weights[i]` of all columns at the stages; start[columns] and multiplier[i][rows] are the results.
 * false: the matrix is singular. */
bool whole_stages_transpose(WholeStages *whole, const WholeStep *step, double *const *weights, double *start,
                            double *const *multiplier);
