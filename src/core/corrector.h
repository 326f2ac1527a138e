/* corrector: Newton's method from a guess near a solution. It takes full corrections, and keeps the factors while they are good
 * enough.
 *
 * It uses the test of the simplified Newton method (Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.8). If
 * corrections shrink by a ratio r, the remaining error is r / (1 - r) times the last one. The size of a correction is relative to
 * the nominal value and the value of its column. */
#pragma once

#include <stdbool.h>

/* Adds a correction to the point and returns its size. If a function is undefined or the matrix is singular, it returns infinity,
 * and the point is the guess again. *renew as input: make new factors at this point. *renew as output: new factors were made,
 * because there were none. */
typedef double CorrectorStep(void *context, bool *renew);

typedef enum CorrectorEnd {
  CORRECTOR_CONVERGED,
  CORRECTOR_SLOW,      /* or diverging */
  CORRECTOR_UNDEFINED, /* no correction could be computed, even with factors of its own point */
} CorrectorEnd;

typedef enum CorrectorReach {
  REACH_NEXT, /* the solution nearest to the guess: corrections shrink from the first one on (Kantorovich's theorem) */
  REACH_ANY,  /* any solution that full corrections reach */
} CorrectorReach;

/* The smallest error that can be requested: round-off of a column. */
#define CORRECTOR_ROUND_OFF 1e-14

/* keeps: factors, including those of earlier points, are kept while corrections shrink. enough: the error that may be left. */
CorrectorEnd corrector_run(CorrectorStep *correct, void *context, CorrectorReach reach, bool keeps, double enough);
