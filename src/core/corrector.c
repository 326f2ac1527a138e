/* corrector: see corrector.h. */
#include "core/corrector.h"

#include <math.h>

enum {
  LIMIT = 30
}; /* a flat root takes steps of a half to two thirds (Deuflhard, Newton Methods for Nonlinear Problems, 2.1) */

/* Corrections up to this that no longer shrink are round-off: so much of it in a residual makes in a column at a double root. */
static const double ROUND_OFF = 1.5e-8;

/* Factors that make corrections shrink less than this are not worth their corrections. A matrix changes with the point by about as much as that moves. */
static const double STALE = 0.1;

/* Ratio of two corrections that the theorem allows. */
static const double CONTRACTION = 0.5;

/* The next correction over the square of this one, both by factors of their points: second derivatives over first ones, in sizes of columns, at most. */
static const double CURVED = 100;

/* What a correction leaves: the next one by factors of its point is quadratic in it. */
static double left_behind(double size, double last, bool is_fresh) {
  double ratio = isinf(last) ? 1 : size / last, left = ratio < 1 ? size * ratio / (1 - ratio) : size;
  return is_fresh && (isinf(last) || ratio <= STALE) ? fmin(left, CURVED * size * size) : left;
}

CorrectorEnd corrector_run(CorrectorStep *correct, void *context, CorrectorReach reach, bool keeps, double enough) {
  double last = HUGE_VAL;
  bool renew = !keeps, is_own = false; /* is_own: the factors are of a point of this run */
  for (int k = 0; k < LIMIT; k++) {
    double size = correct(context, &renew), ratio = isinf(last) ? 0 : size / last;
    is_own |= renew;
    bool is_slow = ratio > STALE || (renew && size > STALE);
    if (!isfinite(size) && renew) return CORRECTOR_UNDEFINED;
    if (left_behind(size, last, renew) <= enough) return CORRECTOR_CONVERGED;
    if (ratio > CONTRACTION && is_own && size <= ROUND_OFF) return CORRECTOR_CONVERGED;
    if (ratio > CONTRACTION && renew && reach == REACH_NEXT) return CORRECTOR_SLOW;
    bool was_renewed = renew;
    renew = !keeps || is_slow || !isfinite(size);
    /* Stale factors tell nothing about new ones, but may have led away from the solution next to the guess. */
    bool tells = isfinite(size) && (reach == REACH_NEXT || was_renewed || !renew);
    last = tells ? size : HUGE_VAL;
  }
  return CORRECTOR_SLOW;
}
