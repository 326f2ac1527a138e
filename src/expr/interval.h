/* interval: arithmetic with intervals. The result of an operation contains every value that the operation has on numbers of its
 * intervals, round-off included: bounds are moved outwards after each operation, and the rounding mode does not change. Where
 * an operator is not defined on all of its arguments, the result is the whole line. (Moore, Kearfott, Cloud 2009.)
 * Exported solvers contain this file unchanged. */
#pragma once

#include <float.h>
#include <math.h>
#include <stdbool.h>

typedef struct Interval {
  double low, high;
} Interval;

#define INTERVAL_LEAST (DBL_MIN * DBL_EPSILON) /* the least positive number */
#define INTERVAL_WHOLE ((Interval){-INFINITY, INFINITY})

static inline Interval interval_point(double x) { return isnan(x) ? INTERVAL_WHOLE : (Interval){x, x}; }

static inline bool interval_holds(Interval x, double value) { return x.low <= value && x.high >= value; }

static inline bool interval_is_bounded(Interval x) { return x.low > -INFINITY && x.high < INFINITY; }

static inline double interval_size(Interval x) { return fmax(-x.low, x.high); }

static inline double interval_middle(Interval x) { return 0.5 * x.low + 0.5 * x.high; }

static inline Interval interval_hull(Interval a, Interval b) {
  return (Interval){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* The intersection. It is not empty, because both intervals contain the same value. */
static inline Interval interval_meet(Interval a, Interval b) {
  return (Interval){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

/* Widens outwards by at least `units` times the spacing of numbers. A zero is exact unless something underflowed: see
 * interval_multiply. */
static inline Interval interval_widen(Interval x, double units) {
  double low = x.low - units * DBL_EPSILON * fabs(x.low), high = x.high + units * DBL_EPSILON * fabs(x.high);
  if (low != 0 && fabs(low) < DBL_MIN) low -= units * INTERVAL_LEAST;
  if (high != 0 && fabs(high) < DBL_MIN) high += units * INTERVAL_LEAST;
  return low <= high ? (Interval){low, high} : INTERVAL_WHOLE; /* the comparison is false if a bound is NAN */
}

static inline Interval interval_negate(Interval x) { return (Interval){-x.high, -x.low}; }

static inline Interval interval_add(Interval a, Interval b) {
  return interval_widen((Interval){a.low + b.low, a.high + b.high}, 1);
}

static inline Interval interval_subtract(Interval a, Interval b) {
  return interval_widen((Interval){a.low - b.high, a.high - b.low}, 1);
}

/* a times b, a finite. */
static inline Interval interval_scale(double a, Interval b) {
  if (a == 0) return (Interval){0, 0};
  Interval result = a > 0 ? (Interval){a * b.low, a * b.high} : (Interval){a * b.high, a * b.low};
  if (result.low == 0 && b.low != 0) result.low = -INTERVAL_LEAST;
  if (result.high == 0 && b.high != 0) result.high = INTERVAL_LEAST;
  return interval_widen(result, 1);
}

/* Zero times anything is zero; a product that underflows is not zero. */
static inline Interval interval_multiply(Interval a, Interval b) {
  if (a.low == a.high && isfinite(a.low)) return interval_scale(a.low, b);
  if (b.low == b.high && isfinite(b.low)) return interval_scale(b.low, a);
  double p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
  if (!(isfinite(p) && isfinite(q) && isfinite(r) && isfinite(s))) {
    if (isnan(p)) p = 0;
    if (isnan(q)) q = 0;
    if (isnan(r)) r = 0;
    if (isnan(s)) s = 0;
  }
  double low = p < q ? p : q, high = p < q ? q : p, less = r < s ? r : s, more = r < s ? s : r;
  low = low < less ? low : less;
  high = high > more ? high : more;
  if (fabs(low) < DBL_MIN && (a.low < 0 || b.low < 0)) low -= INTERVAL_LEAST;
  if (fabs(high) < DBL_MIN) high += INTERVAL_LEAST;
  return interval_widen((Interval){low, high}, 1);
}

/* a / b. */
Interval interval_divide(Interval a, Interval b);

/* x to the power n, n >= 0. */
Interval interval_power(Interval x, unsigned n);
