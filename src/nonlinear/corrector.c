/* corrector: see corrector.h. */
#include "nonlinear/corrector.h"

#include <math.h>

enum { LIMIT = 20 };

/* What may be left to correct: round-off of a column. */
static const double ENOUGH = 1e-14;

/* Corrections up to this that no longer shrink are round-off: so much of it in a residual makes in a column at a double root. */
static const double ROUND_OFF = 1.5e-8;

/* Factors that make corrections shrink less than this are not worth their corrections. */
static const double STALE = 0.1;

/* Ratio of two corrections that the theorem allows. */
static const double CONTRACTION = 0.5;

/* What the last correction leaves: the next one by factors of its point is quadratic in it. */
static double left_behind(double size, double ratio, bool is_fresh) {
  double left = ratio < 1 ? size * ratio / (1 - ratio) : size;
  return is_fresh ? fmin(left, size * size) : left;
}

CorrectorEnd corrector_run(CorrectorStep *correct, void *context, CorrectorReach reach, bool keeps) {
  double last = HUGE_VAL;
  bool renew = !keeps, is_own = renew; /* is_own: the factors are of a point of this run */
  for (int k = 0; k < LIMIT; k++) {
    double size = correct(context, renew), ratio = isinf(last) ? 0 : size / last;
    bool is_slow = ratio > STALE;
    if (!isfinite(size) && renew) return CORRECTOR_UNDEFINED;
    if (left_behind(size, isinf(last) ? 1 : ratio, renew) <= ENOUGH) return CORRECTOR_CONVERGED;
    if (ratio > CONTRACTION && is_own && size <= ROUND_OFF) return CORRECTOR_CONVERGED;
    if (ratio > CONTRACTION && is_own && reach == REACH_NEXT) return CORRECTOR_SLOW;
    renew = !keeps || is_slow || !isfinite(size);
    is_own |= renew;
    last = isfinite(size) ? size : HUGE_VAL;
  }
  return CORRECTOR_SLOW;
}
