/* stages: the linear equations of the stages of Radau IIA: J d_i + r_i = 0 in the rows of every stage i, and for every link
 * d_i[from] = h sum_j a_ij d_j[to]. With A = T diag(mu) T^-1 they separate into one real system and (s - 1)/2 complex ones. They
 * contain the rows that no assignment eliminates (condense.h), and the columns that are not states (elimination.h). Newton's
 * method for the stages and their variations share the factors. */
#pragma once

#include "base/linear.h"
#include "integrate/condense.h"
#include "integrate/radau_coefficients.h"

typedef struct Stages {
  Heap *heap;
  const System *system;
  int most;                 /* the most stages of any method */
  Condense *condense;       /* eliminates the rows that are assignments */
  Elimination *elimination; /* eliminates the states from the rows that `condense` leaves */
  bool is_chosen;           /* the choice was made with a Jacobian, for the links of `elimination` */
  int32_t rows;             /* number of remaining rows */
  Linear *real, *pair[RADAU_STAGES_MAX / 2];
  double *real_values, *pair_values;
  double factored_step; /* 0: none */
  const RadauCoefficients *factored_method;
  double *residuals, *change; /* residuals of all rows, changes of all columns: s + 1 numbers each, the last 0 */
  double *real_right, *pair_right[RADAU_STAGES_MAX / 2]; /* remaining rows, by eigenvalue */
  double *work, *right;                                  /* all columns; rows */
} Stages;

/* For methods with up to `most` stages. Lives in the heap. stages_choose must follow. */
Stages *stages_new(Heap *heap, const System *system, int most);

/* Accepts the present links; `jacobian` is any Jacobian of the system, NULL: there is none. */
void stages_choose(Stages *stages, const double *jacobian);

/* Are the links still the ones of the choice? */
bool stages_are_chosen(const Stages *stages);

/* Accepts a Jacobian, with the present choice. */
void stages_take_jacobian(Stages *stages, const double *jacobian);

/* Factors all matrices for this method and step; false if one is singular. Does nothing if they are already factored. */
bool stages_factor(Stages *stages, const RadauCoefficients *method, double h);

/* Computes the changes d of all columns from the residuals r of each stage, into stages->change, with the last factors. */
void stages_solve(Stages *stages, double *const *residual);

/* Reduces one right-hand side to the remaining rows, and changes it. */
void stages_take_right(const Stages *stages, double *residual, double *right);

/* Applies (I - step J)^-1 to the states in `error`; the other columns follow. `step` is h mu of the real matrix, which must be
 * factored. In terms of G: finds the change d with G_y d = 0 and d_from = step d_to + error_from. */
void stages_filter(Stages *stages, double step, double *error);

/* The polynomials through the points of a step from `first` on; point 0 is its start, the others are its stages. */
typedef struct Continuation {
  int first, last;
  double node[RADAU_STAGES_MAX + 1],
      reciprocal[RADAU_STAGES_MAX + 1]; /* the points; reciprocals of the products of their distances */
} Continuation;

Continuation radau_continue_from(const RadauCoefficients *method, int first);

/* The first point of a step that is used to extrapolate it by this ratio of sizes. The farther it is extrapolated, the lower is
 * the degree. */
int radau_first_point(const RadauCoefficients *method, double ratio);

/* Weights of the points from the first on, at x in units of the step. Returns their number. */
int radau_continuation_weights(const Continuation *continuation, double x, double *weight);

/* Computes the states of the stages from their rates and from the states at the start: stage[i][from] = start[from] + h sum_j a_ij stage[j][to]. If the `to` of
 * a link is itself a state, the link that has it as `from` must come earlier. */
void radau_follow_links(const RadauCoefficients *method, double h, const int32_t *from, const int32_t *to,
                        int32_t links, const double *start, double *const *stage);
