/* distribution: see distribution.h. */
#include "study/distribution.h"

#include "base/suggest.h"

#include <math.h>
#include <string.h>

static double polynomial(const double *coefficient, uint32_t count, double x) {
  double value = 0;
  for (uint32_t k = count; k-- > 0;) value = value * x + coefficient[k];
  return value;
}

/* Wichura (1988), algorithm AS 241. */
double normal_quantile(double u) {
  static const double central[2][8] = {
      {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
       4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
      {1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
       3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};
  static const double middle[2][8] = {
      {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
       1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
      {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
       1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
  static const double far[2][8] = {
      {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
       2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
      {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
       1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};
  double q = u - 0.5;
  if (fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q * polynomial(central[0], 8, r) / polynomial(central[1], 8, r);
  }
  double r = sqrt(-log(q < 0 ? u : 1 - u));
  const double(*table)[8] = r <= 5 ? middle : far;
  r -= r <= 5 ? 1.6 : 5;
  double value = polynomial(table[0], 8, r) / polynomial(table[1], 8, r);
  return q < 0 ? -value : value;
}

/* The probability that Student's distribution exceeds t, by Simpson's rule. */
static double student_tail(double freedom, double t) {
  enum { PANELS = 2000 };
  /* With t = sqrt(freedom) tan(a) the density becomes cos(a)^(freedom - 1), which is smooth everywhere. */
  double begin = atan(t / sqrt(freedom)), end = acos(-1.0) / 2, step = (end - begin) / PANELS, sum = 0;
  for (int k = 0; k <= PANELS; k++) {
    double weight = k == 0 || k == PANELS ? 1 : k % 2 ? 4 : 2;
    sum += weight * pow(cos(begin + k * step), freedom - 1);
  }
  return sum * step / 3 * exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(acos(-1.0));
}

/* Bisection between the quantile of the normal distribution and a point whose tail probability is small enough. */
double student_quantile(double freedom, double u) {
  double low = 0, high = 1;
  while (student_tail(freedom, high) > 1 - u) high *= 2;
  for (int k = 0; k < 60 && high - low > 1e-13 * high; k++) {
    double middle = (low + high) / 2;
    if (student_tail(freedom, middle) > 1 - u) low = middle;
    else high = middle;
  }
  return high;
}

static double triangular_quantile(double low, double mode, double high, double u) {
  double part = (mode - low) / (high - low);
  if (u < part) return low + sqrt(u * (high - low) * (mode - low));
  return high - sqrt((1 - u) * (high - low) * (high - mode));
}

enum {
#define DISTRIBUTION(name, count, usage, valid, quantile) KIND_##name,
#include "study/distributions.def"
#undef DISTRIBUTION
  KINDS
};

static const struct {
  const char *name, *usage;
  uint32_t parameters;
} kinds[] = {
#define DISTRIBUTION(name, count, usage, valid, quantile) [KIND_##name] = {#name, usage, count},
#include "study/distributions.def"
#undef DISTRIBUTION
};

static bool is_valid(const Distribution *distribution) {
  double a = distribution->parameter[0], b = distribution->parameter[1], c = distribution->parameter[2];
  (void)b, (void)c;
  switch (distribution->kind) {
#define DISTRIBUTION(name, count, usage, valid, quantile) \
  case KIND_##name:                                       \
    return valid;
#include "study/distributions.def"
#undef DISTRIBUTION
  }
  return false;
}

double distribution_quantile(const Distribution *distribution, double u) {
  double a = distribution->parameter[0], b = distribution->parameter[1], c = distribution->parameter[2];
  (void)b, (void)c;
  switch (distribution->kind) {
#define DISTRIBUTION(name, count, usage, valid, quantile) \
  case KIND_##name:                                       \
    return quantile;
#include "study/distributions.def"
#undef DISTRIBUTION
  }
  return NAN;
}

static bool refuse(const Distribution *distribution, const char *word, Diags *diags) {
  Suggestion best = {.word = word};
  Diag *diag = diag_error(diags, DIAG_USAGE, (Span){0},
                          "'%s', given for %s, is not a distribution with these parameters", word, distribution->name);
  for (uint32_t k = 0; k < KINDS; k++) suggest_offer(&best, kinds[k].name);
  for (uint32_t k = 0; k < KINDS; k++)
    if (!best.nearest || strcmp(best.nearest, kinds[k].name) == 0)
      diag_note(diags, diag, (Span){0}, "name=%s", kinds[k].usage);
  return false;
}

/* Parameters that the kind does not have must be 0. */
static bool has_parameters(const Distribution *distribution) {
  for (uint32_t k = 0; k < DISTRIBUTION_PARAMETERS; k++) {
    double value = distribution->parameter[k];
    if (!isfinite(value) || (k >= kinds[distribution->kind].parameters && value != 0)) return false;
  }
  return is_valid(distribution);
}

bool distribution_find(Distribution *distribution, const char *kind, Diags *diags) {
  for (distribution->kind = 0; distribution->kind < KINDS; distribution->kind++)
    if (strcmp(kind, kinds[distribution->kind].name) == 0)
      return has_parameters(distribution) || refuse(distribution, kind, diags);
  return refuse(distribution, kind, diags);
}
