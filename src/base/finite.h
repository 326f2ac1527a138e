/* finite: checks that all numbers of an array are finite. A few are checked inline, because most programs of a small model have so
 * few outputs that a call would cost more. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Checks a longer array. */
bool many_finite(const double *values, uint32_t count);

static inline bool each_finite(const double *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

/* A sum is finite only if every term is. But large finite terms may overflow it. */
static inline bool all_finite(const double *values, uint32_t count) {
  if (count >= 16) return many_finite(values, count);
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += values[i];
  return isfinite(sum) || each_finite(values, count);
}
