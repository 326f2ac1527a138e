/* finite: see finite.h. */
#include "base/finite.h"

#include "base/pairs.h"

/* There are several partial sums, so that no addition waits for another. */
static double sum_of(const double *values, uint32_t count) {
  const Pair *pair = (const Pair *)(const void *)values, *end = pair + count / 16 * 8;
  Pair a = {0, 0}, b = a, c = a, d = a;
  for (; pair < end; pair += 8) {
    a += pair[0] + pair[1];
    b += pair[2] + pair[3];
    c += pair[4] + pair[5];
    d += pair[6] + pair[7];
  }
  Pair sum = a + b + c + d;
  double total = sum[0] + sum[1];
  for (uint32_t i = count / 16 * 16; i < count; i++) total += values[i];
  return total;
}

bool many_finite(const double *values, uint32_t count) {
  return isfinite(sum_of(values, count)) || each_finite(values, count);
}
