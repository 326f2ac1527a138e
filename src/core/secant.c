/* secant: see secant.h. */
#include "core/secant.h"

#include <math.h>

size_t secant_room(int32_t n, int32_t capacity) { return 2 * (size_t)n * (size_t)capacity; }

Secant secant_make(int32_t n, int32_t capacity, double *memory) {
  return (Secant){.n = n, .capacity = capacity, .update = memory, .direction = memory + (size_t)n * (size_t)capacity};
}

void secant_reset(Secant *secant) { secant->count = 0; }

/* Each pass adds one update and finds the factor of the next: vectors may be larger than the cache. */
void secant_apply(const Secant *secant, double *d) {
  int32_t n = secant->n;
  const double *u = secant->update, *s = secant->direction;
  double factor = 0;
  for (int32_t i = 0; i < n && secant->count; i++) factor += s[i] * d[i];
  for (int32_t k = 1; k < secant->count; k++, u += n) {
    double next = 0;
    s += n;
    for (int32_t i = 0; i < n; i++) {
      d[i] += u[i] * factor;
      next += s[i] * d[i];
    }
    factor = next;
  }
  for (int32_t i = 0; i < n && secant->count; i++) d[i] += u[i] * factor;
}

/* `shortest` is the smallest value allowed for 1 - s^T W next / s^T W s. */
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
  return learn(secant, step, next, weight, -HUGE_VAL);
}
