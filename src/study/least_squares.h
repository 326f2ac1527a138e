/* least_squares: finds parameters within bounds that minimize the sum of squares of residuals.
 *
 * The method is that of Levenberg and Marquardt (Nielsen 1999 for the damping): Gauss-Newton steps, damped in units of the columns'
 * norms. A parameter at a bound that the step would cross stays there. The others move, and the step ends at the bounds. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

typedef struct LeastSquares {
  uint32_t parameters, residuals;
  const double *lower, *upper; /* -INFINITY and INFINITY: none */
  uint32_t most_iterations;
  double zero; /* end when all residuals, relative to their terms, are below this; 0: minimize */
  bool
      is_long; /* the residuals couple many variables: then Newton's steps are tried first, because the search is slow without
                 * them */
  /* Computes the residuals r at p and, if jacobian is not NULL, their derivatives with respect to columns. false: they do not exist
   * at p. */
  bool (*evaluate)(void *context, const double *p, double *r, double *jacobian);
  void *context;
} LeastSquares;

typedef enum LeastSquaresStatus {
  LEAST_SQUARES_CONVERGED,
  LEAST_SQUARES_UNDEFINED, /* there are no residuals at the start */
  LEAST_SQUARES_ENDLESS,   /* it did not converge within the iterations */
} LeastSquaresStatus;

typedef struct LeastSquaresResult {
  LeastSquaresStatus status;
  uint32_t iterations;
  double squares;       /* their sum */
  double *r, *jacobian; /* at the end */
  bool *is_bound;       /* per parameter: the residuals would decrease if it crossed a bound */
} LeastSquaresResult;

/* Improves p in place. Results live in the arena. */
LeastSquaresResult least_squares(const LeastSquares *problem, double *p, Arena *arena);

/* The information of the residuals about the parameters that are not held. */
typedef struct Identification {
  uint32_t rank;
  double *covariance; /* parameters x parameters, for residuals of deviation 1; NaN: not known */
  double *singular;   /* singular values of the matrix with columns of norm 1, descending; `free` of them */
  double *directions; /* parameters x (free - rank): columns keep all residuals constant; largest entry 1 */
  uint32_t free;      /* number of parameters that are not held */
} Identification;

/* tolerance: singular values below this fraction of the largest count as zero. Lives in the arena. */
Identification identify(const double *jacobian, uint32_t residuals, uint32_t parameters, const bool *held,
                        double tolerance, Arena *arena);
