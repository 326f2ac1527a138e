/* rank: see rank.h. */
#include "base/rank.h"

#include <math.h>

static void swap_numbers(double *a, double *b) {
  double kept = *a;
  *a = *b;
  *b = kept;
}

/* The largest entry from row and column k on that exceeds the errors of its terms; -1: all entries are errors. */
static int32_t find_pivot(const double *a, const double *size, int32_t n, int32_t k, double lost) {
  int32_t found = -1;
  for (int32_t p = k; p < n; p++)
    for (int32_t e = p * n + k; e < (p + 1) * n; e++)
      if (fabs(a[e]) > lost * size[e] && (found < 0 || fabs(a[e]) > fabs(a[found]))) found = e;
  return found;
}

static void swap_to(double *a, int32_t n, int32_t k, int32_t row, int32_t column) {
  for (int32_t q = 0; q < n; q++) swap_numbers(&a[k * n + q], &a[row * n + q]);
  for (int32_t p = 0; p < n; p++) swap_numbers(&a[p * n + k], &a[p * n + column]);
}

/* The absolute value of an entry; 0 if the entry does not exceed its errors. */
static double certain_value(const double *a, const double *size, int32_t e, double lost) {
  return fabs(a[e]) > lost * size[e] ? fabs(a[e]) : 0;
}

/* In a sum of two terms, the smaller one is lost if it is not much larger than the round-off of the other. Returns the size of
 * entry e if it is lost, otherwise 0. */
static double absorbed_term(double a, double b) {
  static const double ABSORBED = 1e-12;
  return fmin(a, b) <= ABSORBED * fmax(a, b) ? fmin(a, b) : 0;
}

/* The elimination of row p by row k loses terms: of row k, of the factor, and of the new sums. Adds them to the lost
 * terms of row p. */
static void absorb_row(double *absorbed, const double *a, const double *size, int32_t n, int32_t k, int32_t p,
                       double lost) {
  double pivot = fabs(a[k * n + k]), factor = certain_value(a, size, p * n + k, lost) / pivot;
  double of_factor = (absorbed[p * n + k] + factor * absorbed[k * n + k]) / pivot;
  for (int32_t q = k + 1; q < n; q++) {
    double above = certain_value(a, size, k * n + q, lost), here = certain_value(a, size, p * n + q, lost);
    absorbed[p * n + q] += factor * absorbed[k * n + q] + of_factor * above + absorbed_term(here, factor * above);
  }
}

int32_t linear_rank(double *a, double *size, double *absorbed, int32_t n, double lost) {
  for (int32_t k = 0; k < n; k++) {
    int32_t pivot = find_pivot(a, size, n, k, lost);
    if (pivot < 0) return k;
    swap_to(a, n, k, pivot / n, pivot % n);
    swap_to(size, n, k, pivot / n, pivot % n);
    if (absorbed) swap_to(absorbed, n, k, pivot / n, pivot % n);
    for (int32_t p = k + 1; p < n; p++) {
      double factor = a[p * n + k] / a[k * n + k];
      if (absorbed) absorb_row(absorbed, a, size, n, k, p, lost);
      for (int32_t q = k; q < n && factor != 0; q++) {
        a[p * n + q] -= factor * a[k * n + q];
        size[p * n + q] += fabs(factor) * size[k * n + q];
      }
    }
  }
  return n;
}
