/* distribution: the distribution of a sampled parameter, given by the inverse of its distribution function. */
#pragma once

#include "base/diag.h"

enum { DISTRIBUTION_PARAMETERS = 3 };

typedef struct Distribution {
  const char *name; /* name of the variable */
  uint32_t kind;    /* a row of distributions.def */
  double parameter[DISTRIBUTION_PARAMETERS];
} Distribution;

/* Finds the kind of a distribution that already has its name and parameters. false: there is no such kind, or it has other
 * parameters; an error is in diags. */
bool distribution_find(Distribution *distribution, const char *kind, Diags *diags);

/* The quantile of u, in (0, 1): the value that is not exceeded with probability u. */
double distribution_quantile(const Distribution *distribution, double u);

/* The quantile of the standard normal distribution, to about 16 digits. */
double normal_quantile(double u);

/* The quantile of Student's distribution with that many degrees of freedom, for u > 0.5. */
double student_quantile(double freedom, double u);
