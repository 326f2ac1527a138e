/* op_math: the value functions of ops.def that <math.h> lacks, with the meaning Modelica gives them. Plain C99 that needs <math.h>
 * only, so that generated C code can contain the text of this file. */
#pragma once

#include <math.h>

/* a^n by repeated squaring: exact if the products are. */
static inline double op_power_integer(double a, unsigned n) {
  double result = 1;
  for (; n; n >>= 1, a *= a)
    if (n & 1) result *= a;
  return result;
}

/* a^b; small exponents that are integers or half-integers use multiplication and a root. */
static inline double op_power(double a, double b) {
  if (b == 2) return a * a;
  double size = fabs(b), whole = floor(size);
  if (size > 32 || (size != whole && size != whole + 0.5)) return pow(a, b);
  double power = op_power_integer(a, (unsigned)whole);
  if (size != whole) power *= sqrt(a);
  return b < 0 ? 1 / power : power;
}

static inline int op_power_defined(double a, double b) {
  return a > 0 || (b == floor(b) && (a != 0 || b >= 0)) || (a == 0 && b > 0);
}

static inline double op_sign(double a) { return (double)((a > 0) - (a < 0)); }
static inline double op_min(double a, double b) { return a <= b ? a : b; }
static inline double op_max(double a, double b) { return a >= b ? a : b; }
static inline double op_div(double a, double b) { return trunc(a / b); }
static inline double op_mod(double a, double b) { return a - floor(a / b) * b; }
static inline double op_rem(double a, double b) { return a - trunc(a / b) * b; }
