/* whole_stages: solves the linear equations of all stages of a Radau IIA step together, each with its own Jacobian, or their transpose.
 *
 * Stages map the variations of states at the start of a step to those of all columns at every stage. The transpose maps weights w_i
 * of all columns at the stages to weights of the states at the start: find the multipliers m_i of the rows with, along every chain of
 * links, n_i[to] = (J_i' m_i + w_i)[to] + h sum_j a_ji n_j[from], such that n vanishes in all columns that are no states. Then the
 * weights at the start are sum_i n_i, and m_i weigh what the rows owe directly. */
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

/* Variations of all columns at the stages, whose states follow from the others by the links: subtracts from them what the residuals of the rows ask for.
 * The residuals are spoilt. `now`: the variations at the start. false: the matrix is singular. */
bool whole_stages_solve(WholeStages *whole, const WholeStep *step, double *const *residual, const double *now,
                        double *const *stage);

/* Of the transpose: `weights[i]` of all columns at the stages are spoilt; start[columns] and multiplier[i][rows] are what is found. false: the matrix is
 * singular. */
bool whole_stages_transpose(WholeStages *whole, const WholeStep *step, double *const *weights, double *start,
                            double *const *multiplier);
