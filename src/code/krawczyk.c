/* krawczyk: see krawczyk.h. */
#include "code/krawczyk.h"

#include "core/lu.h"

struct Krawczyk {
  int32_t n;
  double *inverse; /* C, by rows */
  double *factors, *column;
  int *pivot;
  Interval *deviate; /* I - C G */
};

Krawczyk *krawczyk_new(Heap *heap, int32_t n) {
  Krawczyk *krawczyk = heap_alloc(heap, sizeof *krawczyk);
  size_t entries = (size_t)n * (size_t)n;
  *krawczyk = (Krawczyk){.n = n, .deviate = heap_array(heap, entries, sizeof(Interval))};
  heap_numbers(heap, entries, &krawczyk->inverse, &krawczyk->factors);
  krawczyk->column = heap_array(heap, (size_t)n, sizeof(double));
  krawczyk->pivot = heap_array(heap, (size_t)n, sizeof(int));
  return krawczyk;
}

/* C as the inverse of the middle. */
static bool invert(Krawczyk *krawczyk, const Interval *jacobian) {
  int32_t n = krawczyk->n;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) krawczyk->factors[i + j * n] = interval_middle(jacobian[i * n + j]);
  if (lu_factor(n, krawczyk->factors, krawczyk->pivot)) return false;
  for (int32_t j = 0; j < n; j++) {
    for (int32_t i = 0; i < n; i++) krawczyk->column[i] = i == j;
    lu_solve(n, krawczyk->factors, krawczyk->pivot, krawczyk->column);
    for (int32_t i = 0; i < n; i++) krawczyk->inverse[i * n + j] = krawczyk->column[i];
  }
  return true;
}

bool krawczyk_set_jacobian(Krawczyk *krawczyk, const Interval *jacobian, bool inverts) {
  int32_t n = krawczyk->n;
  for (int32_t e = 0; e < n * n; e++)
    if (!interval_is_bounded(jacobian[e])) return false;
  if (inverts && !invert(krawczyk, jacobian)) return false;
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

/* Bounds for the solution of w = -C g + (I - C G) w, by the contraction of I - C G in the norm with the sizes of the box as
 * weights. */
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
