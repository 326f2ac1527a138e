/* corrector: Newton's method from a guess near a solution: full corrections, by factors that stay while they serve.
 *
 * Its test is that of simplified Newton's method (Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.8): corrections that shrink by a ratio
 * r leave r / (1 - r) of the last one. Sizes are those of corrections over nominal value and value of their columns.
 */
#pragma once

#include <stdbool.h>

/* Adds a correction to the point and returns its size; infinite, and the point is the guess again, where a function is not defined or the matrix is singular.
 * *renew: by factors of this point; set where there are none of another. */
typedef double CorrectorStep(void *context, bool *renew);

typedef enum CorrectorEnd {
  CORRECTOR_CONVERGED,
  CORRECTOR_SLOW,      /* or diverging */
  CORRECTOR_UNDEFINED, /* a correction cannot be had with factors of its point either */
} CorrectorEnd;

typedef enum CorrectorReach {
  REACH_NEXT, /* the solution next to the guess: corrections shrink from the first on (Kantorovich's theorem) */
  REACH_ANY,  /* any solution to which full corrections lead */
} CorrectorReach;

/* What may be left to correct: round-off of a column. */
#define CORRECTOR_ROUND_OFF 1e-14

/* keeps: factors, those of the points before too, serve as long as corrections shrink by them. enough: what may be left to correct. */
CorrectorEnd corrector_run(CorrectorStep *correct, void *context, CorrectorReach reach, bool keeps, double enough);
