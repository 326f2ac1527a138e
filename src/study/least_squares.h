/* least_squares: parameters that make the sum of squares of residuals least, within bounds.
 *
 * The method of Levenberg and Marquardt (Nielsen 1999 for the damping): Gauss-Newton steps, damped in units of the columns' norms.
 * Parameters at a bound that the step would leave stay there; the others move, and the step ends at the bounds. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

typedef struct LeastSquares {
  uint32_t parameters, residuals;
  const double *lower, *upper; /* -INFINITY and INFINITY: none */
  uint32_t most_iterations;
  double
      zero; /* residuals below this, over the size of their terms, are zero, and the search ends; 0: it seeks the least */
  bool is_long; /* many variables that the residuals join: such a search creeps unless Newton's steps come first */
  /* Residuals r at p and, where it is not NULL, their derivatives by columns. false: there are none at p. */
  bool (*evaluate)(void *context, const double *p, double *r, double *jacobian);
  void *context;
} LeastSquares;

typedef enum LeastSquaresStatus {
  LEAST_SQUARES_CONVERGED,
  LEAST_SQUARES_UNDEFINED, /* at the start there are no residuals */
  LEAST_SQUARES_ENDLESS,   /* not within the iterations */
} LeastSquaresStatus;

typedef struct LeastSquaresResult {
  LeastSquaresStatus status;
  uint32_t iterations;
  double squares;       /* sum of them */
  double *r, *jacobian; /* at the end */
  bool *is_bound;       /* per parameter: it is at a bound that the residuals push it to */
} LeastSquaresResult;

/* Improves p in place. Results live in the arena. */
LeastSquaresResult least_squares(const LeastSquares *problem, double *p, Arena *arena);

/* What the residuals say of the parameters that are not held. */
typedef struct Identification {
  uint32_t rank;
  double *covariance; /* parameters x parameters, for residuals of deviation 1; NaN where nothing is known */
  double *singular;   /* values of the matrix with columns of norm 1, descending; as many as parameters are not held */
  double *
      directions; /* parameters x (parameters - rank - held): combinations, by columns, that change no residual; the largest
                         change is 1 */
  uint32_t free; /* parameters that are not held */
} Identification;

/* tolerance: singular values below, over the largest, are zero. Lives in the arena. */
Identification identify(const double *jacobian, uint32_t residuals, uint32_t parameters, const bool *held,
                        double tolerance, Arena *arena);
