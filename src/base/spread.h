/* spread: numbers without a pattern, spread evenly over [0, 1). They are used as values that are unlikely in a model. */
#pragma once

#include <math.h>

/* Number k: the fractional part of k times the golden ratio. */
static inline double spread_part(double k) {
  double turn = 0.6180339887498949 * k;
  return turn - floor(turn);
}
