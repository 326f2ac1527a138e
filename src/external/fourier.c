/* fourier: the discrete Fourier transform of real samples, by the self-sorting algorithm of Stockham with any factors (see C. Van
 * Loan, Computational Frameworks for the Fast Fourier Transform, SIAM 1992, section 1.7). Its cost is n times the sum of the prime
 * factors of n. */
#include "external/functions.h"

#include <math.h>

typedef struct Complex {
  double re, im;
} Complex;

static uint32_t smallest_factor(uint32_t n) {
  for (uint32_t p = 2; (uint64_t)p * p <= n; p++)
    if (n % p == 0) return p;
  return n;
}

/* The powers of exp(-2*pi*i/n). */
static Complex *unit_roots(Arena *arena, uint32_t n) {
  const double turn = -2 * acos(-1.0);
  Complex *root = arena_array(arena, n, sizeof *root);
  for (uint32_t k = 0; k < n; k++) root[k] = (Complex){cos(turn * k / n), sin(turn * k / n)};
  return root;
}

/* One pass: transforms of length `factor`, over elements that are length/factor blocks of `stride` numbers apart. */
static void pass(const Complex *in, Complex *out, const Complex *root, uint32_t n, uint32_t stride, uint32_t factor) {
  uint32_t blocks = n / stride / factor;
  for (uint32_t i = 0; i < blocks * stride; i++) {
    uint32_t block = i / stride, place = i % stride;
    for (uint32_t k = 0; k < factor; k++) {
      Complex sum = {0, 0};
      for (uint32_t j = 0; j < factor; j++) {
        uint64_t power = (uint64_t)j * k % factor * (n / factor) + (uint64_t)block * k * stride;
        Complex w = root[power % n], x = in[place + stride * (block + blocks * j)];
        sum.re += w.re * x.re - w.im * x.im;
        sum.im += w.re * x.im + w.im * x.re;
      }
      out[place + stride * (factor * block + k)] = sum;
    }
  }
}

static const Complex *transform(Arena *arena, const double *samples, uint32_t n) {
  const Complex *root = unit_roots(arena, n);
  Complex *now = arena_array(arena, n, sizeof *now), *next = arena_array(arena, n, sizeof *next);
  for (uint32_t i = 0; i < n; i++) now[i] = (Complex){samples[i], 0};
  for (uint32_t stride = 1, factor; stride < n; stride *= factor) {
    factor = smallest_factor(n / stride);
    pass(now, next, root, n, stride, factor);
    Complex *swap = now;
    now = next;
    next = swap;
  }
  return now;
}

/* Amplitudes and phases of cosines for n samples. Amplitudes are divided by n/2 + 1, as in the Modelica Standard Library. The
 * status is 0; 1 if n is odd; 2 if the workspace, which is not needed here, does not have the size that the library requires. */
bool external_real_fourier(ExternalCall *call) {
  const ExternalValue *samples = &call->arguments[0], *work = &call->arguments[2];
  uint32_t n = samples->count, lines = n / 2 + 1;
  if (n == 0 || n % 2) return external_give(call, 1);
  if (work->count != 3 * n + 2 * lines) return external_give(call, 2);
  if (call->arguments[4].count < lines || call->arguments[5].count < lines)
    return external_fail(call, "%u amplitudes and phases are needed", lines);
  const Complex *line = transform(call->arena, samples->numbers, n);
  for (uint32_t k = 0; k < lines; k++) {
    call->arguments[4].numbers[k] = hypot(line[k].re, line[k].im) / lines;
    call->arguments[5].numbers[k] = atan2(line[k].im, line[k].re);
  }
  return external_give(call, 0);
}
