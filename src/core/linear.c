/* linear: see linear.h. */
#include "core/linear.h"

#include <math.h>

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

void lu_solve_transposed(int n, const double *a, const int *pivot, double *b) {
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < k; i++) b[k] -= a[i + k * n] * b[i];
    b[k] /= a[k + k * n];
  }
  for (int k = n - 1; k >= 0; k--)
    for (int i = k + 1; i < n; i++) b[k] -= a[i + k * n] * b[i];
  for (int k = n - 1; k >= 0; k--)
    if (pivot[k] != k) swap(&b[k], &b[pivot[k]]);
}

double lu_determinant(int n, const double *a, const int *pivot) {
  double determinant = 1;
  for (int k = 0; k < n; k++) determinant *= pivot[k] != k ? -a[k + k * n] : a[k + k * n];
  return determinant;
}

/* x + iy becomes (x + iy) / (c + id). */
static void divide(double *x, double *y, double c, double d) {
  double size = c * c + d * d, real = (*x * c + *y * d) / size;
  *y = (*y * c - *x * d) / size;
  *x = real;
}

/* a + ib is the matrix. */
int complex_factor(int n, double *a, double *b, int *pivot) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (hypot(a[i + k * n], b[i + k * n]) > hypot(a[best + k * n], b[best + k * n])) best = i;
    pivot[k] = best;
    double c = a[best + k * n], d = b[best + k * n];
    if ((c == 0 && d == 0) || !isfinite(c) || !isfinite(d)) return 1;
    for (int j = 0; j < n && best != k; j++) {
      swap(&a[k + j * n], &a[best + j * n]);
      swap(&b[k + j * n], &b[best + j * n]);
    }
    for (int i = k + 1; i < n; i++) divide(&a[i + k * n], &b[i + k * n], c, d);
    for (int j = k + 1; j < n; j++) {
      double real = a[k + j * n], imaginary = b[k + j * n];
      if (real == 0 && imaginary == 0) continue;
      for (int i = k + 1; i < n; i++) {
        a[i + j * n] -= a[i + k * n] * real - b[i + k * n] * imaginary;
        b[i + j * n] -= a[i + k * n] * imaginary + b[i + k * n] * real;
      }
    }
  }
  return 0;
}

void complex_solve(int n, const double *a, const double *b, const int *pivot, double *x, double *y) {
  for (int k = 0; k < n; k++) {
    if (pivot[k] == k) continue;
    swap(&x[k], &x[pivot[k]]);
    swap(&y[k], &y[pivot[k]]);
  }
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      x[i] -= a[i + k * n] * x[k] - b[i + k * n] * y[k];
      y[i] -= a[i + k * n] * y[k] + b[i + k * n] * x[k];
    }
  for (int k = n - 1; k >= 0; k--) {
    divide(&x[k], &y[k], a[k + k * n], b[k + k * n]);
    for (int i = 0; i < k; i++) {
      x[i] -= a[i + k * n] * x[k] - b[i + k * n] * y[k];
      y[i] -= a[i + k * n] * y[k] + b[i + k * n] * x[k];
    }
  }
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

int select_columns(int rows, int columns, double *a, int *order) {
  double first = 0;
  for (int j = 0; j < columns; j++) order[j] = j;
  for (int k = 0; k < rows; k++) {
    double largest = -1;
    int best = k;
    for (int j = k; j < columns; j++) {
      double size = dot(rows, a + order[j] * rows, a + order[j] * rows);
      if (!(size > largest * (1 + 1e-12))) continue;
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
