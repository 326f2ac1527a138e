/* krawczyk: see krawczyk.h. */
#include "watch/krawczyk.h"

#include <string.h>

struct Krawczyk {
  int32_t n;
  double *inverse;   /* C, by rows */
  double *work;      /* the matrix while it is inverted */
  Interval *deviate; /* I - C G */
};

Krawczyk *krawczyk_new(Heap *heap, int32_t n) {
  Krawczyk *krawczyk = heap_alloc(heap, sizeof *krawczyk);
  size_t entries = (size_t)n * (size_t)n;
  *krawczyk = (Krawczyk){.n = n, .deviate = heap_array(heap, entries, sizeof(Interval))};
  heap_numbers(heap, entries, &krawczyk->inverse, &krawczyk->work);
  return krawczyk;
}

static void swap_rows(double *matrix, int32_t n, int32_t i, int32_t k) {
  for (int32_t j = 0; j < n && i != k; j++) {
    double swap = matrix[i * n + j];
    matrix[i * n + j] = matrix[k * n + j];
    matrix[k * n + j] = swap;
  }
}

/* row i -= factor * row k. */
static void subtract_row(double *matrix, int32_t n, int32_t i, int32_t k, double factor) {
  for (int32_t j = 0; j < n; j++) matrix[i * n + j] -= factor * matrix[k * n + j];
}

/* Gauss and Jordan, rows exchanged. */
static bool invert(int32_t n, double *matrix, double *inverse) {
  memset(inverse, 0, (size_t)n * (size_t)n * sizeof *inverse);
  for (int32_t i = 0; i < n; i++) inverse[i * n + i] = 1;
  for (int32_t k = 0; k < n; k++) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabs(matrix[i * n + k]) > fabs(matrix[pivot * n + k])) pivot = i;
    double value = matrix[pivot * n + k];
    if (value == 0 || !isfinite(value)) return false;
    swap_rows(matrix, n, k, pivot);
    swap_rows(inverse, n, k, pivot);
    for (int32_t j = 0; j < n; j++) matrix[k * n + j] /= value, inverse[k * n + j] /= value;
    for (int32_t i = 0; i < n; i++) {
      double factor = matrix[i * n + k];
      if (i == k || factor == 0) continue;
      subtract_row(matrix, n, i, k, factor);
      subtract_row(inverse, n, i, k, factor);
    }
  }
  return true;
}

bool krawczyk_set_jacobian(Krawczyk *krawczyk, const Interval *jacobian, bool inverts) {
  int32_t n = krawczyk->n;
  for (int32_t e = 0; e < n * n; e++)
    if (!interval_is_bounded(jacobian[e])) return false;
  for (int32_t e = 0; e < n * n && inverts; e++) krawczyk->work[e] = interval_middle(jacobian[e]);
  if (inverts && !invert(n, krawczyk->work, krawczyk->inverse)) return false;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) krawczyk->deviate[i * n + j] = interval_point(i == j);
  for (int32_t k = 0; k < n; k++) {
    for (int32_t j = 0; j < n; j++) {
      Interval entry = jacobian[k * n + j];
      if (entry.low == 0 && entry.high == 0) continue;
      for (int32_t i = 0; i < n; i++) {
        Interval *to = &krawczyk->deviate[i * n + j];
        *to = interval_subtract(*to, interval_scale(krawczyk->inverse[i * n + k], entry));
      }
    }
  }
  return true;
}

void krawczyk_step(const Krawczyk *krawczyk, const Interval *g, Interval *step) {
  int32_t n = krawczyk->n;
  for (int32_t i = 0; i < n; i++) {
    Interval sum = {0, 0};
    for (int32_t k = 0; k < n; k++) sum = interval_subtract(sum, interval_scale(krawczyk->inverse[i * n + k], g[k]));
    step[i] = sum;
  }
}

void krawczyk_image(const Krawczyk *krawczyk, const Interval *g, const Interval *box, Interval *image) {
  int32_t n = krawczyk->n;
  krawczyk_step(krawczyk, g, image);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++)
      image[i] = interval_add(image[i], interval_multiply(krawczyk->deviate[i * n + j], box[j]));
}

bool krawczyk_proves(const Krawczyk *krawczyk, const Interval *box, const Interval *image) {
  for (int32_t i = 0; i < krawczyk->n; i++)
    if (!(box[i].low < image[i].low && image[i].high < box[i].high)) return false;
  return true;
}

/* w = -C g + (I - C G) w: in the norm with the sizes of the box as weights, where I - C G contracts. */
bool krawczyk_solve(const Krawczyk *krawczyk, const Interval *box, const Interval *g, Interval *w) {
  int32_t n = krawczyk->n;
  double contraction = 0, rest = 0;
  krawczyk_step(krawczyk, g, w);
  for (int32_t i = 0; i < n; i++) {
    double row = 0, moved = 0, weight = box[i].high - box[i].low;
    for (int32_t j = 0; j < n; j++) {
      double size = interval_size(krawczyk->deviate[i * n + j]);
      row += size * (box[j].high - box[j].low);
      moved += size * interval_size(w[j]);
    }
    contraction = fmax(contraction, row / weight);
    rest = fmax(rest, moved / weight);
  }
  double slack = 1 + 8 * DBL_EPSILON * (n + 1); /* round-off of the sums above */
  if (!(contraction * slack < 1)) return false;
  for (int32_t i = 0; i < n; i++) {
    double radius = (box[i].high - box[i].low) * rest * slack / (1 - contraction * slack) * slack;
    w[i] = interval_add(w[i], (Interval){-radius, radius});
  }
  return true;
}
