/* curve: a function of one variable through given points: piecewise constant, linear or cubic, continued beyond its ends. Tables in
 * one dimension and over time have one curve for each column. Its derivatives of all orders are exact.
 *
 * It is C99 that exported models contain (like jet.h, grid.h and lookup.h), and allocates nothing.
 *
 * Points do not decrease; two at the same place are a jump. Cubic pieces on both sides of a jump are independent of each other. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Modelica.Blocks.Types.Smoothness, .Extrapolation */
typedef enum Smoothness {
  SMOOTH_LINEAR = 1,
  SMOOTH_AKIMA, /* H. Akima, J. ACM 17 (1970) 589 */
  SMOOTH_CONSTANT,
  SMOOTH_FRITSCH_BUTLAND, /* SIAM J. Sci. Stat. Comput. 5 (1984) 300 */
  SMOOTH_STEFFEN,         /* Astron. Astrophys. 239 (1990) 443 */
  SMOOTH_MODIFIED_AKIMA,  /* flat parts stay flat if slopes are equal */
} Smoothness;

typedef enum Extrapolation {
  EXTRAPOLATE_HOLD = 1,
  EXTRAPOLATE_LINEAR,
  EXTRAPOLATE_PERIODIC,
  EXTRAPOLATE_NONE
} Extrapolation;

typedef struct Curve {
  Smoothness smoothness;
  Extrapolation extrapolation;
  uint32_t count; /* points, at least one */
  const double *x, *y;
  const double *slope; /* slope at each point, for cubic kinds; NULL for others */
} Curve;

/* Does the curve have slopes? */
bool curve_is_cubic(Smoothness smoothness);

/* Fills in the slopes of a cubic curve; `steps` is room for count + 3 numbers. O(count). */
void curve_fill_slopes(const Curve *curve, double *steps, double *slope);

/* The last of `count` ascending numbers at or before u (`before`: strictly before u); 0 if there is none. The search begins
 * where u would be if the numbers were equidistant. O(log count). */
uint32_t curve_find(const double *x, uint32_t count, double u, bool before);

/* Value and derivatives up to `order` at u; from_left: of the piece that ends at u, if there is one. false: u is outside of a
 * curve that is not to be extrapolated. */
bool curve_derivatives(const Curve *curve, double u, bool from_left, uint32_t order, double *derivative);

/* The weight of the piece before a point in its Akima slope; the rest is the weight of the piece after it. d[-2..1] are the slopes
 * of the two pieces before and the two after the point. */
double curve_akima_share(const double *d, bool is_modified);

/* Fills d[-2], d[-1], d[pieces], d[pieces + 1]: beyond the ends the slopes continue like those of a parabola. */
void curve_extend_steps(double *d, uint32_t pieces);
