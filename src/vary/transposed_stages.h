/* transposed_stages: the transpose of the linear equations of the stages of Radau IIA (stages.h), with the Jacobian of each stage.
 *
 * Stages map the variations of states at the start of a step to those of all columns at every stage. The transpose maps weights w_i
 * of all columns at the stages to weights of the states at the start: find the multipliers m_i of the rows with, along every chain of
 * links, n_i[to] = (J_i' m_i + w_i)[to] + h sum_j a_ji n_j[from], such that n vanishes in all columns that are no states. Then the
 * weights at the start are sum_i n_i, and m_i weigh what the rows owe directly. With one Jacobian for all stages they
 * fall apart as those of stages.h do; that is corrected for the Jacobians of the others, and where it does not converge they are solved as
 * they are. */
#pragma once

#include "integrate/radau_coefficients.h"
#include "segment/elimination.h"

typedef struct TransposedStages TransposedStages;

/* For any links of the system. goal: the error, relative. Lives in the heap. */
TransposedStages *transposed_stages_new(Heap *heap, const System *system, double goal);

/* One step, with the present links of the system; jacobian[i] are the entries at stage i. `weights[i]` of all columns at the stages
 * are spoilt; start[columns] and multiplier[i][rows] are what is found. false: the equations are singular. */
bool transposed_stages_solve(TransposedStages *stages, const RadauCoefficients *method, double h,
                             double *const *jacobian, double *const *weights, double *start, double *const *multiplier);
