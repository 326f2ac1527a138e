/* row_size: when a residual counts as round-off. It is compared with the terms of its row. If these vanish, it is compared with the
 * effect of round-off in units of nominal. */
#pragma once

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* The largest residual of a solution: relative to the sizes of a row's terms or, if these vanish, relative to the effect of
 * round-off in units of nominal. */
static const double TERMS_CONSISTENT = 1e-10, TERMS_VANISHED = 1e-12;

/* The sizes that the residual of a row is compared with: sums of |d row / d column| times |column| and times nominal, and the
 * largest |column| / nominal. */
typedef struct RowSize {
  double terms, nominal, largest;
  double most, least; /* the largest and the smallest of |d row / d column| * (|column| + nominal) that are not 0 */
  /* it is not linear in a column that diverged: |d row / d column| * |column| is not the size of a term */
  bool is_astray;
} RowSize;

static inline void row_size_add(RowSize *size, double entry, double value, double nominal) {
  size->terms += fabs(entry * value);
  size->nominal += fabs(entry) * nominal;
  size->largest = fmax(size->largest, fabs(value) / nominal);
  double term = fabs(entry) * (fabs(value) + nominal);
  size->most = fmax(size->most, term);
  if (term > 0 && !(size->least > 0 && size->least <= term)) size->least = term;
}

/* Is the row so near to a pole that a relative error of this size matters? Near a pole, this is the ratio of a divisor's terms to
 * the divisor. If the divisor contains only parameters, it is the ratio of a column to its nominal value. */
static inline bool row_may_be_pole(const RowSize *size, double error) {
  return size->least <= 10 * error * size->most || 1 <= 10 * error * size->largest;
}

/* The residual relative to round-off: the row holds if this is at most 1. */
static inline double row_excess(double residual, const RowSize *size) {
  double vanished = TERMS_VANISHED * size->nominal / fmax(1, size->largest);
  return fabs(residual) / fmax(fmax(TERMS_CONSISTENT * size->terms, vanished), 2 * DBL_EPSILON);
}
