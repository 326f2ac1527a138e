/* corrector: see corrector.h. */
#include "core/corrector.h"

enum {
  LIMIT = 30
}; /* at a multiple root, corrections shrink by a half to two thirds (Deuflhard, Newton Methods for Nonlinear Problems, 2.1) */

/* At a double root, round-off in a residual makes errors of this size in a column. */
static const double ROUND_OFF = 1.5e-8;

/* Factors are renewed if corrections shrink by less than this. The matrix changes with the point by about as much as the point
 * moves. */
static const double STALE = 0.1;

/* The largest ratio of two corrections that the theorem allows. With it, the remaining error is the last correction. */
static const double CONTRACTION = 0.5;

/* The largest ratio of the next correction to the square of this one, with new factors at each point. It is the ratio of second
 * to first derivatives, where each column is measured in units of its typical size. */
static const double CURVED = 100;

Corrector corrector_make(CorrectorReach reach, bool keeps, double enough) {
  return (Corrector){.enough = enough,
                     .slowest = reach == REACH_NEXT ? CONTRACTION : HUGE_VAL,
                     .stale = keeps ? STALE : 0,
                     .ratio = CONTRACTION,
                     .last = HUGE_VAL,
                     .noise = ROUND_OFF,
                     .curved = CURVED,
                     .limit = LIMIT};
}

/* Estimates the error that a correction leaves. With factors of its own point, the next correction is quadratic in it. Corrections
 * that do not shrink are round-off, but the first one may be expected to be followed by larger ones. */
static double left_behind(double size, double ratio, bool is_first, double curved) {
  double left = ratio < 1 ? size * ratio / (1 - ratio) : is_first ? HUGE_VAL : size;
  return is_first || ratio <= STALE ? fmin(left, curved * size * size) : left;
}

Corrector corrector_with_factors(double enough, double slowest, double ratio, int limit) {
  return (Corrector){
      .enough = enough, .slowest = slowest, .stale = HUGE_VAL, .ratio = ratio, .last = HUGE_VAL, .limit = limit};
}

CorrectorEnd corrector_iterate(Corrector *corrector, CorrectorStep *correct, void *context) {
  double expected = corrector->ratio;
  bool is_kept = isinf(corrector->stale), renew = corrector->stale == 0;
  bool is_own = false; /* the factors were made at a point of this run */
  for (corrector->count = 0; corrector->count < corrector->limit;) {
    bool is_first = isinf(corrector->last);
    double size = correct(context, &renew), ratio = is_first ? 0 : size / corrector->last;
    if (++corrector->count == 2) corrector->ratio = ratio;
    corrector->last = size;
    is_own |= renew;
    if (!isfinite(size) && (renew || is_kept)) return CORRECTOR_UNDEFINED;
    if (ratio > CONTRACTION && is_own && size <= corrector->noise) return CORRECTOR_CONVERGED;
    if (ratio > corrector->slowest && (renew || is_kept) && size > CORRECTOR_ROUND_OFF) return CORRECTOR_SLOW;
    if (left_behind(size, is_first ? expected : ratio, is_first, renew ? corrector->curved : HUGE_VAL) <=
        corrector->enough)
      return CORRECTOR_CONVERGED;
    bool is_slow = ratio > corrector->stale || (renew && size > corrector->stale), was_renewed = renew;
    renew = corrector->stale == 0 || is_slow || !isfinite(size);
    /* The failure of old factors does not mean that new ones fail, but old factors may have moved the point away from
     * the solution nearest to the guess. */
    bool tells = isfinite(size) && (!isinf(corrector->slowest) || was_renewed || !renew);
    if (!tells) corrector->last = HUGE_VAL;
  }
  return CORRECTOR_SLOW;
}

CorrectorEnd corrector_run(CorrectorStep *correct, void *context, CorrectorReach reach, bool keeps, double enough) {
  Corrector corrector = corrector_make(reach, keeps, enough);
  return corrector_iterate(&corrector, correct, context);
}
