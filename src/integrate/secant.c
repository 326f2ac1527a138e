/* secant: see secant.h. */
#include "integrate/secant.h"

#include "base/pairs.h"
#include "core/constants.h"

#include <math.h>

Secant *secant_new(Heap *heap, int32_t n, int32_t capacity) {
  Secant *secant = heap_alloc(heap, sizeof *secant);
  secant->n = n;
  secant->capacity = capacity;
  heap_numbers(heap, (size_t)n * (size_t)capacity, &secant->update, &secant->direction);
  return secant;
}

void secant_reset(Secant *secant) { secant->count = 0; }

void secant_apply(const Secant *secant, double *d) {
  int32_t n = secant->n;
  const double *u = secant->update, *s = secant->direction;
  for (int32_t k = 0; k < secant->count; k++, u += n, s += n) add_multiple(d, u, sum_of_products(s, d, n), n);
}

/* `shortest` is the least that may be left of 1 - s^T W next / s^T W s. */
static bool learn(Secant *secant, const double *step, double *next, const double *weight, double shortest) {
  if (secant->count == secant->capacity) return false;
  size_t n = (size_t)secant->n, base = (size_t)secant->count * n;
  double *u = secant->update + base, *s = secant->direction + base, square = 0, product = 0;
  for (size_t i = 0; i < n; i++) {
    s[i] = weight[i] * weight[i] * step[i];
    square += s[i] * step[i];
    product += s[i] * next[i];
  }
  double left = 1 - product / square;
  if (!(left >= shortest) || left == 0 || !isfinite(left)) return false;
  for (size_t i = 0; i < n; i++) {
    next[i] /= left;
    u[i] = next[i];
    s[i] /= square;
  }
  secant->count++;
  return true;
}

bool secant_learn(Secant *secant, const double *step, double *next, const double *weight) {
  return learn(secant, step, next, weight, 0.5);
}

bool secant_learn_any(Secant *secant, const double *step, double *next, const double *weight) {
  return learn(secant, step, next, weight, -INFINITY);
}
