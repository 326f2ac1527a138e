/* spread: numbers without a pattern, spread evenly over [0, 1). They are used as values that are unlikely in a model. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Number k: the fractional part of k times the golden ratio. */
static inline double spread_part(double k) {
  double turn = 0.6180339887498949 * k;
  return turn - floor(turn);
}

/* A pseudo-random number in [0, 1), always the same for the same number, so that a run does not depend on how it was started:
 * splitmix64 (Steele, Lea, Flood 2014), of the bits of the number. */
static inline double spread_random(double number) {
  uint64_t z;
  memcpy(&z, &number, sizeof z);
  z = (z + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
