/* distribution: what a parameter of a sample is distributed as, by the inverse of its distribution function. */
#pragma once

#include "base/diag.h"

enum { DISTRIBUTION_PARAMETERS = 3 };

typedef struct Distribution {
  const char *name; /* of the variable */
  uint32_t kind;    /* a row of distributions.def */
  double parameter[DISTRIBUTION_PARAMETERS];
} Distribution;

/* Gives a distribution with a name and parameters its kind. false: there is no such kind, or it has other parameters; an error is in diags. */
bool distribution_find(Distribution *distribution, const char *kind, Diags *diags);

/* The value that a part u, in (0, 1), of the distribution lies below. */
double distribution_quantile(const Distribution *distribution, double u);

/* The same of the standard normal distribution, to about 16 digits. */
double normal_quantile(double u);

/* Student's distribution with that many degrees of freedom: the quantile of u > 0.5. */
double student_quantile(double freedom, double u);
