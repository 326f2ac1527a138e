/* lu: see lu.h. */
#include "core/lu.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* The most sweeps over all pairs of columns. Convergence is quadratic in the end: about ten are enough. */
enum { SWEEPS = 60 };

static void swap(double *a, double *b) {
  double kept = *a;
  *a = *b;
  *b = kept;
}

int lu_factor(int n, double *a, int *pivot) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i + k * n]) > fabs(a[best + k * n])) best = i;
    pivot[k] = best;
    double divisor = a[best + k * n];
    if (divisor == 0 || !isfinite(divisor)) return 1;
    for (int j = 0; j < n && best != k; j++) swap(&a[k + j * n], &a[best + j * n]);
    for (int i = k + 1; i < n; i++) a[i + k * n] /= divisor;
    for (int j = k + 1; j < n; j++) {
      double factor = a[k + j * n];
      for (int i = k + 1; i < n && factor != 0; i++) a[i + j * n] -= a[i + k * n] * factor;
    }
  }
  return 0;
}

void lu_solve(int n, const double *a, const int *pivot, double *b) {
  for (int k = 0; k < n; k++)
    if (pivot[k] != k) swap(&b[k], &b[pivot[k]]);
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) b[i] -= a[i + k * n] * b[k];
  for (int k = n - 1; k >= 0; k--) {
    b[k] /= a[k + k * n];
    for (int i = 0; i < k; i++) b[i] -= a[i + k * n] * b[k];
  }
}

double lu_determinant(int n, const double *a, const int *pivot) {
  double determinant = 1;
  for (int k = 0; k < n; k++) determinant *= pivot[k] != k ? -a[k + k * n] : a[k + k * n];
  return determinant;
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Squared remainders that differ by less than this fraction count as equal. Among equal ones the first is taken, so that neither
 * round-off nor a small motion decides. */
static const double AS_GOOD = 0.1;

int select_columns(int rows, int columns, double *a, int *order) {
  double first = 0;
  for (int j = 0; j < columns; j++) order[j] = j;
  for (int k = 0; k < rows; k++) {
    double largest = -1;
    int best = k;
    for (int j = k; j < columns; j++) {
      double size = dot(rows, a + order[j] * rows, a + order[j] * rows);
      if (!(size > largest * (1 + AS_GOOD))) continue;
      largest = size;
      best = j;
    }
    int kept = order[k];
    order[k] = order[best];
    order[best] = kept;
    if (!k) first = largest;
    if (!(largest > 1e-22 * first) || !isfinite(largest)) return 1;
    double *pivot = a + order[k] * rows, size = sqrt(largest);
    for (int i = 0; i < rows; i++) pivot[i] /= size;
    for (int j = k + 1; j < columns; j++) {
      double *other = a + order[j] * rows, part = dot(rows, pivot, other);
      for (int i = 0; i < rows; i++) other[i] -= part * pivot[i];
    }
  }
  return 0;
}

/* Rotates two columns so that they become orthogonal. Returns whether they already were orthogonal. */
static bool rotate(int rows, double *a, double *b) {
  double alpha = dot(rows, a, a), beta = dot(rows, b, b), gamma = dot(rows, a, b);
  if (fabs(gamma) <= DBL_EPSILON * sqrt(alpha) * sqrt(beta)) return true;
  double zeta = (beta - alpha) / (2 * gamma), tangent = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
  double cosine = 1 / sqrt(1 + tangent * tangent), sine = cosine * tangent;
  for (int i = 0; i < rows; i++) {
    double kept = a[i];
    a[i] = cosine * kept - sine * b[i];
    b[i] = sine * kept + cosine * b[i];
  }
  return false;
}

void singular_values(int rows, int columns, double *a, double *values) {
  bool is_done = false;
  for (int sweep = 0; sweep < SWEEPS && !is_done; sweep++) {
    is_done = true;
    for (int j = 0; j < columns; j++)
      for (int k = j + 1; k < columns; k++) is_done &= rotate(rows, a + j * rows, a + k * rows);
  }
  for (int j = 0; j < columns; j++) values[j] = sqrt(dot(rows, a + j * rows, a + j * rows));
}
