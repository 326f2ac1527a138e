/* outline: see outline.h. */
#include "code/outline.h"

/* Newton's divided differences, in place. */
static void divide_differences(int count, const double *part, double *value) {
  for (int k = 1; k < count; k++)
    for (int i = count - 1; i >= k; i--) value[i] = (value[i] - value[i - 1]) / (part[i] - part[i - k]);
}

/* From Newton's form to powers, in place. */
static void expand_powers(int count, const double *part, double *value) {
  for (int k = count - 2; k >= 0; k--)
    for (int i = k; i < count - 1; i++) value[i] -= part[k] * value[i + 1];
}

/* Powers over binomial coefficients are the differences of Bernstein's coefficients at the first of them: these are added up. */
static void add_differences(int count, double *value) {
  int degree = count - 1;
  double binomial = 1;
  for (int k = 1; k <= degree; k++) {
    binomial *= (double)(degree - k + 1) / k;
    value[k] /= binomial;
  }
  for (int k = degree - 1; k >= 0; k--)
    for (int i = k + 1; i <= degree; i++) value[i] += value[i - 1];
}

void outline_make(int count, const double *part, double *value) {
  divide_differences(count, part, value);
  expand_powers(count, part, value);
  add_differences(count, value);
}
