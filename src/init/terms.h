/* terms: what a row adds up. A residual is round-off only beside the sizes of its terms. The matrix times the sizes of the columns is
 * no measure of them where an iteration ran away: |cos(x) * x| is large at x = 1e12, but sin(x) is not. */
#pragma once

#include "init/system.h"

#include <float.h>
#include <math.h>

/* A column is beyond any plausible size when it is this much larger than its nominal value and start value. Up to there a scaled residual
 * of 1e-10 is small beside terms of the size of nominal. */
static const double TERMS_ASTRAY = 1e6;

/* Is a value that began at `start` beyond any plausible size? */
static inline bool terms_is_astray(double nominal, double start, double value) {
  return !(fabs(value) <= TERMS_ASTRAY * (nominal + fabs(start)));
}

/* Per row: the sum of the sizes of its terms at the point, those of sums within products included; NAN where a term has no value. Makes
 * code for it. */
void terms_sizes(Heap *heap, Model *model, const Layout *layout, const Expr *rows, uint32_t count, const Point *point,
                 double *sizes);

/* A quotient whose divisor is nothing but errors. */
typedef struct Quotient {
  Expr node; /* EXPR_NONE: there is none */
  uint32_t row;
  double *y; /* the columns there */
} Quotient;

/* The quotient that a row has at the point and whose divisor is a value which is not larger than `error` times the sizes of its terms, though what it divides is
 * larger: the quotient could as well be infinite. EXPR_NONE: there is none. Makes code for it. */
Expr terms_lost_divisor(Heap *heap, Model *model, const Layout *layout, Expr row, const Point *point, double error);

/* Residual of a solution over the sizes of a row's terms; over what round-off in units of nominal would make of it, where the
 * terms vanish. */
static const double TERMS_CONSISTENT = 1e-10, TERMS_VANISHED = 1e-12;

/* What measures the residual of a row: sums of |d row / d column| times |column| and times nominal, the largest |column| / nominal. */
typedef struct RowSize {
  double terms, nominal, largest;
  double most, least; /* the largest and the smallest of |d row / d column| * (|column| + nominal) that are not 0 */
  bool is_astray;     /* it is not linear in a column that ran away: |d row / d column| * |column| measures no term */
} RowSize;

static inline void row_size_add(RowSize *size, double entry, double value, double nominal) {
  size->terms += fabs(entry * value);
  size->nominal += fabs(entry) * nominal;
  size->largest = fmax(size->largest, fabs(value) / nominal);
  double term = fabs(entry) * (fabs(value) + nominal);
  size->most = fmax(size->most, term);
  if (term > 0 && !(size->least > 0 && size->least <= term)) size->least = term;
}

/* Next to a pole, the ratio of a row's terms is that of a divisor's terms to the divisor. May that be an error of this part? */
static inline bool row_may_be_pole(const RowSize *size, double error) { return size->least <= 10 * error * size->most; }

/* The residual over what counts as round-off: the row holds up to 1. */
static inline double row_excess(double residual, const RowSize *size) {
  double vanished = TERMS_VANISHED * size->nominal / fmax(1, size->largest);
  return fabs(residual) / fmax(fmax(TERMS_CONSISTENT * size->terms, vanished), 2 * DBL_EPSILON);
}
