/* drift: see drift.h. The fit uses the orthogonal polynomials 1, s - m1, ... built on the sample times, so
 * that it is well conditioned for any spacing. */
#include "result/drift.h"

#include <math.h>

/* A trend counts if it moves the value by more than SIGNIFICANT standard deviations of the oscillation around the trend. A
 * trend below ROUNDING times the size of the value does not count. */
static const double SIGNIFICANT = 4, ROUNDING = 4e-15;

/* Moments over the samples with s = (t - t0) / (t1 - t0). */
typedef struct Fit {
  double c1, c2, deviation;
} Fit;

static Fit fit_parabola(const double *times, const double *values, size_t count) {
  double span = times[count - 1] - times[0], n = (double)count;
  double m1 = 0, mean = 0;
  for (size_t k = 0; k < count; k++) m1 += (times[k] - times[0]) / span / n, mean += (values[k] - values[0]) / n;
  double p11 = 0, p12 = 0;
  for (size_t k = 0; k < count; k++) {
    double p1 = (times[k] - times[0]) / span - m1;
    p11 += p1 * p1, p12 += p1 * p1 * p1;
  }
  double shift = p12 / p11, p00 = p11 / n; /* p2 = p1^2 - shift p1 - p00 */
  double v1 = 0, v2 = 0, p22 = 0;
  for (size_t k = 0; k < count; k++) {
    double p1 = (times[k] - times[0]) / span - m1, p2 = p1 * p1 - shift * p1 - p00, v = values[k] - values[0] - mean;
    v1 += p1 * v, v2 += p2 * v, p22 += p2 * p2;
  }
  double a1 = v1 / p11, a2 = p22 > 0 ? v2 / p22 : 0, rest = 0;
  for (size_t k = 0; k < count; k++) {
    double p1 = (times[k] - times[0]) / span - m1, p2 = p1 * p1 - shift * p1 - p00;
    double r = values[k] - values[0] - mean - a1 * p1 - a2 * p2;
    rest += r * r / n;
  }
  /* back to powers of s: a1 p1 + a2 p2 = ... + (a1 - 2 m1 a2 - shift a2) s + a2 s^2 */
  return (Fit){a1 - (2 * m1 + shift) * a2, a2, sqrt(rest)};
}

Drift drift_of(const double *times, const double *values, size_t count) {
  Drift drift = {DRIFT_NONE, count ? values[0] : 0, 0, 0};
  if (count < 4 || !(times[count - 1] > times[0])) return drift;
  double size = 0;
  for (size_t k = 0; k < count; k++) {
    if (!isfinite(values[k])) return drift;
    double deviation = values[k] - values[0];
    if (fabs(deviation) > fabs(drift.largest)) drift.largest = deviation;
    size = fmax(size, fabs(values[k]));
  }
  drift.change = values[count - 1] - values[0];
  Fit fit = fit_parabola(times, values, count);
  double moved = fmax(fabs(fit.c1), fabs(fit.c2));
  if (fabs(fit.c1 + fit.c2) <= SIGNIFICANT * fit.deviation || moved <= ROUNDING * size) return drift;
  drift.kind = fabs(fit.c2) > fabs(fit.c1) ? DRIFT_QUADRATIC : DRIFT_LINEAR;
  return drift;
}

const char *drift_name(DriftKind kind) {
  static const char *const names[] = {
      [DRIFT_NONE] = "none", [DRIFT_LINEAR] = "linear", [DRIFT_QUADRATIC] = "quadratic"};
  return names[kind];
}
