/* corrector: see corrector.h. */
#include "core/corrector.h"

#include <math.h>

enum {
  LIMIT = 30
}; /* at a multiple root, corrections shrink by a half to two thirds (Deuflhard, Newton Methods for Nonlinear Problems, 2.1) */

/* Corrections up to this size that no longer shrink are round-off. At a double root, round-off in a residual makes errors of this
 * size in a column. */
static const double ROUND_OFF = 1.5e-8;

/* Factors are renewed if corrections shrink by less than this. The matrix changes with the point by about as much as the point
 * moves. */
static const double STALE = 0.1;

/* The largest ratio of two corrections that the theorem allows. */
static const double CONTRACTION = 0.5;

/* The largest ratio of the next correction to the square of this one, with new factors at each point. It is the ratio of second
 * to first derivatives, where each column is measured in units of its typical size. */
static const double CURVED = 100;

/* Estimates the error that a correction leaves: with factors of its own point, the next correction is quadratic in it. */
static double left_behind(double size, double last, bool is_fresh) {
  double ratio = isinf(last) ? 1 : size / last, left = ratio < 1 ? size * ratio / (1 - ratio) : size;
  return is_fresh && (isinf(last) || ratio <= STALE) ? fmin(left, CURVED * size * size) : left;
}

CorrectorEnd corrector_run(CorrectorStep *correct, void *context, CorrectorReach reach, bool keeps, double enough) {
  double last = HUGE_VAL;
  bool renew = !keeps, is_own = false; /* is_own: the factors were made at a point of this run */
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
    /* The failure of old factors does not mean that new ones fail, but old factors may have moved the point away from
     * the solution nearest to the guess. */
    bool tells = isfinite(size) && (reach == REACH_NEXT || was_renewed || !renew);
    last = tells ? size : HUGE_VAL;
  }
  return CORRECTOR_SLOW;
}
