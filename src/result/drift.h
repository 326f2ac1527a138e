/* drift: how a quantity that should stay constant changes during a run: not at all, linearly or quadratically in time, as in
 * Mattsson and Söderlind 1991, Tables 1 and 2. */
#pragma once

#include "base/vec.h"

typedef enum DriftKind { DRIFT_NONE, DRIFT_LINEAR, DRIFT_QUADRATIC } DriftKind;

typedef struct Drift {
  DriftKind kind;
  double first;   /* value at the start */
  double change;  /* last value less the first */
  double largest; /* the largest deviation from the first value */
} Drift;

/* Fits c0 + c1 t + c2 t^2 by least squares and names the term that moves the value most over the run, unless it is
 * negligible. If a value is not finite, the drift is unknown. O(count). */
Drift drift_of(const double *times, const double *values, size_t count);

const char *drift_name(DriftKind kind); /* "none", "linear", "quadratic" */
