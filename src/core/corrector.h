/* corrector: Newton's method from a guess near a solution. Every loop of corrections takes place here, except those of the general
 * solver (nonlinear/nonlinear.h) and of `radau`; callers make the corrections, and may shorten them.
 *
 * The only test of convergence is that of the simplified Newton method (Hairer, Wanner, Solving Ordinary Differential Equations II,
 * section IV.8). If corrections shrink by a ratio r, the remaining error is r / (1 - r) times the last one. The caller chooses the
 * norm of a correction: relative to nominal value and value of each column, or in tolerances. */
#pragma once

#include <math.h>
#include <stdbool.h>

/* Adds a correction to the point and returns its size. If a function is undefined or the matrix is singular, it returns infinity.
 * *renew as input: make new factors at this point. *renew as output: new factors were made, because there were none. */
typedef double CorrectorStep(void *context, bool *renew);

typedef enum CorrectorEnd {
  CORRECTOR_CONVERGED,
  CORRECTOR_SLOW,      /* or diverging */
  CORRECTOR_UNDEFINED, /* no correction could be computed, even with factors of its own point */
} CorrectorEnd;

typedef enum CorrectorReach {
  REACH_NEXT, /* the solution nearest to the guess: corrections shrink from the first one on (Kantorovich's theorem) */
  REACH_ANY,  /* any solution that the corrections reach */
} CorrectorReach;

/* The smallest error that can be requested: round-off of a column. */
#define CORRECTOR_ROUND_OFF 1e-14

typedef struct Corrector {
  double enough;  /* the error that may be left */
  double slowest; /* the largest ratio of two corrections that is allowed; infinite: corrections may grow */
  double stale;   /* factors are renewed above this ratio; 0: at every point; infinite: never */
  double ratio;   /* in: the ratio expected before the second correction; out: the first that was seen */
  double last;    /* the size of the last correction; infinite: there is none */
  double noise;   /* corrections up to this size that no longer shrink are round-off */
  double
      curved; /* the largest ratio of the next correction to the square of this one, with new factors at each point */
  int limit;  /* of corrections */
  int count;  /* out: corrections made */
} Corrector;

/* keeps: factors, including those of earlier points, are kept while corrections shrink. enough: the error that may be left. */
Corrector corrector_make(CorrectorReach reach, bool keeps, double enough);

/* Never makes new factors. ratio: the one expected before the second correction. */
Corrector corrector_with_factors(double enough, double slowest, double ratio, int limit);

CorrectorEnd corrector_iterate(Corrector *corrector, CorrectorStep *correct, void *context);

/* Both. */
CorrectorEnd corrector_run(CorrectorStep *correct, void *context, CorrectorReach reach, bool keeps, double enough);
