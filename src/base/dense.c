/* dense: see dense.h. Gauss and Jordan. */
#include "base/dense.h"

#include <math.h>

static void swap_rows(double *a, double *b, int32_t columns) {
  for (int32_t j = 0; j < columns; j++) {
    double swap = a[j];
    a[j] = b[j];
    b[j] = swap;
  }
}

double dense_eliminate(double *matrix, int32_t n, int32_t columns) {
  double determinant = 1;
  for (int32_t k = 0; k < n; k++) {
    double *row = matrix + k * columns, *pivot = row;
    for (double *other = row + columns; other < matrix + n * columns; other += columns)
      if (fabs(other[k]) > fabs(pivot[k])) pivot = other;
    double value = pivot[k];
    if (value == 0 || !isfinite(value)) return 0;
    if (pivot != row) swap_rows(row, pivot, columns);
    determinant *= pivot != row ? -value : value;
    for (int32_t j = k; j < columns; j++) row[j] /= value;
    for (double *other = matrix; other < matrix + n * columns; other += columns) {
      double factor = other[k];
      for (int32_t j = k; j < columns && other != row && factor != 0; j++) other[j] -= factor * row[j];
    }
  }
  return determinant;
}
