/* curve: see curve.h. */
#include "external/curve.h"

#include <math.h>
#include <string.h>

/* ---- slopes of cubic pieces ---- */

double curve_akima_share(const double *d, bool is_modified) {
  double before = fabs(d[-1] - d[-2]), behind = fabs(d[1] - d[0]);
  if (is_modified) {
    before += fabs(d[-1] + d[-2]) / 2;
    behind += fabs(d[1] + d[0]) / 2;
  }
  return before + behind > 0 ? behind / (before + behind) : 0.5;
}

static double akima_slope(const double *d, bool is_modified) {
  double share = curve_akima_share(d, is_modified);
  return share * d[-1] + (1 - share) * d[0];
}

static double fritsch_butland_slope(double before, double behind, double left, double right) {
  if (before * behind <= 0) return 0;
  return 3 * (left + right) / ((left + 2 * right) / before + (2 * left + right) / behind);
}

static double steffen_slope(double before, double behind, double left, double right) {
  if (before * behind <= 0) return 0;
  double parabola = fabs(before * right + behind * left) / (left + right);
  return copysign(fmin(fmin(2 * fabs(before), 2 * fabs(behind)), parabola), before);
}

void curve_extend_steps(double *d, uint32_t pieces) {
  if (pieces < 2) {
    d[-2] = d[-1] = d[1] = d[2] = d[0];
    return;
  }
  d[-1] = 2 * d[0] - d[1];
  d[-2] = 2 * d[-1] - d[0];
  d[pieces] = 2 * d[pieces - 1] - d[pieces - 2];
  d[pieces + 1] = 2 * d[pieces] - d[pieces - 1];
}

/* Fills in the slopes at `count` strictly increasing points; `steps` is room for `count` + 3 numbers. */
static void fill_slopes(Smoothness smoothness, const double *x, const double *y, uint32_t count, double *steps,
                        double *slope) {
  double *d = steps + 2;
  for (uint32_t i = 0; i + 1 < count; i++) d[i] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
  if (count < 3) {
    for (uint32_t i = 0; i < count; i++) slope[i] = count == 2 ? d[0] : 0;
    return;
  }
  bool is_akima = smoothness == SMOOTH_AKIMA || smoothness == SMOOTH_MODIFIED_AKIMA;
  if (is_akima) curve_extend_steps(d, count - 1);
  for (uint32_t i = 0; i < count; i++) {
    if (is_akima) slope[i] = akima_slope(d + i, smoothness == SMOOTH_MODIFIED_AKIMA);
    else if (i == 0) slope[i] = d[0];
    else if (i == count - 1) slope[i] = d[i - 1];
    else if (smoothness == SMOOTH_STEFFEN) slope[i] = steffen_slope(d[i - 1], d[i], x[i] - x[i - 1], x[i + 1] - x[i]);
    else slope[i] = fritsch_butland_slope(d[i - 1], d[i], x[i] - x[i - 1], x[i + 1] - x[i]);
  }
}

bool curve_is_cubic(Smoothness smoothness) { return smoothness != SMOOTH_LINEAR && smoothness != SMOOTH_CONSTANT; }

void curve_fill_slopes(const Curve *curve, double *steps, double *slope) {
  const double *x = curve->x;
  for (uint32_t begin = 0, end; begin < curve->count; begin = end) {
    for (end = begin + 1; end < curve->count && x[end] > x[end - 1];) end++;
    fill_slopes(curve->smoothness, x + begin, curve->y + begin, end - begin, steps, slope + begin);
  }
}

/* ---- values ---- */

/* Derivatives of a cubic with these coefficients, at s. */
static void polynomial_derivatives(const double *coefficient, double s, uint32_t order, double *derivative) {
  double c[4];
  memcpy(c, coefficient, sizeof c);
  for (uint32_t k = 0; k <= order; k++) {
    derivative[k] = c[0] + s * (c[1] + s * (c[2] + s * c[3]));
    for (int i = 0; i < 3; i++) c[i] = (i + 1) * c[i + 1];
    c[3] = 0;
  }
}

/* The piece between points i and i + 1, in u - x[i]. */
static void piece_coefficients(const Curve *curve, uint32_t i, double *c) {
  double width = curve->x[i + 1] - curve->x[i], rise = curve->y[i + 1] - curve->y[i];
  c[0] = curve->y[i];
  c[1] = c[2] = c[3] = 0;
  if (curve->smoothness == SMOOTH_CONSTANT || width <= 0) return;
  c[1] = rise / width;
  if (!curve->slope) return;
  double begin = curve->slope[i], end = curve->slope[i + 1], mean = c[1];
  c[1] = begin;
  c[2] = (3 * mean - 2 * begin - end) / width;
  c[3] = (begin + end - 2 * mean) / (width * width);
}

static bool is_behind(double x, double u, bool before) { return before ? x < u : x <= u; }

uint32_t curve_find(const double *x, uint32_t count, double u, bool before) {
  uint32_t low = 0, high = count; /* the result is at least low and less than high, or 0 */
  double part = (u - x[0]) / (x[count - 1] - x[0]);
  uint32_t guess = part > 0 ? (uint32_t)fmin(part * (count - 1), count - 1) : 0;
  for (uint32_t step = 1; guess > low && guess < high; step *= 2) {
    bool is_low = is_behind(x[guess], u, before);
    if (is_low) low = guess;
    else high = guess;
    guess = is_low ? guess + (step < high - guess ? step : high - guess)
                   : guess - (step < guess - low ? step : guess - low);
  }
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (is_behind(x[middle], u, before)) low = middle;
    else high = middle;
  }
  return low;
}

/* The slope of the curve at an end; `piece` is the piece that ends there. */
static double end_slope(const Curve *curve, uint32_t point, uint32_t piece) {
  double width = curve->x[piece + 1] - curve->x[piece];
  if (curve->slope) return curve->slope[point];
  return width > 0 ? (curve->y[piece + 1] - curve->y[piece]) / width : 0;
}

static bool extrapolate(const Curve *curve, uint32_t point, double u, uint32_t order, double *derivative) {
  double beyond = u - curve->x[point], c[4] = {curve->y[point]};
  if (curve->extrapolation == EXTRAPOLATE_NONE && beyond != 0) return false;
  if (curve->extrapolation == EXTRAPOLATE_LINEAR) c[1] = end_slope(curve, point, point ? point - 1 : 0);
  polynomial_derivatives(c, beyond, order, derivative);
  return true;
}

/* u moved by whole periods into the curve. */
static double into_period(const Curve *curve, double u, bool from_left) {
  double begin = curve->x[0], end = curve->x[curve->count - 1], period = end - begin;
  if (!(period > 0) || (u >= begin && u <= end && !(u == end && !from_left) && !(u == begin && from_left))) return u;
  double moved = u - period * floor((u - begin) / period);
  if (from_left && moved <= begin) moved += period;
  return moved >= end && !from_left ? begin : moved;
}

bool curve_derivatives(const Curve *curve, double u, bool from_left, uint32_t order, double *derivative) {
  uint32_t last = curve->count - 1;
  double c[4] = {curve->y[0]};
  if (last == 0) {
    polynomial_derivatives(c, 0, order, derivative);
    return true;
  }
  if (curve->extrapolation == EXTRAPOLATE_PERIODIC) u = into_period(curve, u, from_left);
  if (u < curve->x[0] || (from_left && u == curve->x[0])) return extrapolate(curve, 0, u, order, derivative);
  bool is_at_end = u == curve->x[last] && !from_left;
  bool jumps_at_end = curve->smoothness == SMOOTH_CONSTANT || curve->x[last] == curve->x[last - 1];
  if (u > curve->x[last] || (is_at_end && jumps_at_end)) return extrapolate(curve, last, u, order, derivative);
  uint32_t piece = curve_find(curve->x, last, u, from_left);
  piece_coefficients(curve, piece, c);
  polynomial_derivatives(c, u - curve->x[piece], order, derivative);
  return true;
}
