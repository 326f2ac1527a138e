/* bernstein: see bernstein.h. */
#include "core/bernstein.h"

#include <string.h>

/* Newton's divided differences, in place. */
static void divide_differences(int count, const double *part, double *value) {
  for (int k = 1; k < count; k++)
    for (int i = count - 1; i >= k; i--) value[i] = (value[i] - value[i - 1]) / (part[i] - part[i - k]);
}

/* From Newton's form, by Horner's scheme: b starts as the last difference, and each step computes b (x - part) + difference,
 * which has one degree more. Because 1 = (1 - x) + x, a polynomial of degree k times (x - a) has the coefficients (i/(k+1)) (1
 * - a) b[i-1] - ((k+1-i)/(k+1)) a b[i]. These are sums of terms of similar size, since 0 <= a <= 1. */
static void expand(int count, const double *part, const double *difference, double *b) {
  b[0] = difference[count - 1];
  for (int k = 0; k < count - 1; k++) {
    double a = part[count - 2 - k], add = difference[count - 2 - k], before = 0;
    for (int i = 0; i <= k + 1; i++) {
      double upper = (double)i / (k + 1), own = i <= k ? b[i] : 0;
      b[i] = add + upper * (1 - a) * before - (1 - upper) * a * own;
      before = own;
    }
  }
}

void bernstein_from_values(int count, const double *part, double *value) {
  double difference[BERNSTEIN_MOST] = {0}, first = value[0], last = value[count - 1];
  for (int i = 0; i < count; i++)
    difference[i] = value[i] - first; /* so that round-off is relative to the change, not to the
                                                                     * value */
  divide_differences(count, part, difference);
  expand(count, part, difference, value);
  for (int i = 1; i < count; i++) value[i] += first;
  value[0] = first;
  value[count - 1] = last;
}

void bernstein_keep_before(int count, double *b, double part) {
  for (int k = 1; k < count; k++)
    for (int i = count - 1; i >= k; i--) b[i] = (1 - part) * b[i - 1] + part * b[i];
}

void bernstein_keep_behind(int count, double *b, double part) {
  for (int k = 1; k < count; k++)
    for (int i = 0; i < count - k; i++) b[i] = (1 - part) * b[i] + part * b[i + 1];
}

double bernstein_value(int count, const double *b, double part) {
  double rest[BERNSTEIN_MOST];
  memcpy(rest, b, (size_t)count * sizeof *b);
  bernstein_keep_behind(count, rest, part);
  return rest[0];
}

double bernstein_slope(int count, const double *b, double part) {
  double change[BERNSTEIN_MOST] = {0};
  for (int i = 0; i + 1 < count; i++) change[i] = b[i + 1] - b[i];
  return count < 2 ? 0 : (count - 1) * bernstein_value(count - 1, change, part);
}
