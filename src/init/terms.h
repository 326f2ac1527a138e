/* terms: the terms of a row. A residual is round-off only relative to the sizes of its terms. If an iteration diverged, the
 * matrix times the sizes of the columns does not give these sizes: |cos(x) * x| is large at x = 1e12, but sin(x) is not. */
#pragma once

#include "init/system.h"
#include "nonlinear/row_size.h"

/* A column is implausibly large when it exceeds its nominal value and start value by this factor. Below this factor, a scaled
 * residual of 1e-10 is small compared with terms of the size of nominal. */
static const double TERMS_ASTRAY = 1e6;

/* Is a value that began at `start` implausibly large? */
static inline bool terms_is_astray(double nominal, double start, double value) {
  return !(fabs(value) <= TERMS_ASTRAY * (nominal + fabs(start)));
}

/* Per row: the sum of the sizes of its terms at the point, including those of sums within products; NAN if a term is undefined.
 * Compiles the terms. */
void terms_sizes(Heap *heap, Model *model, const Layout *layout, const Expr *rows, uint32_t count, const Point *point,
                 double *sizes);

/* Errors of values that were found one after another: some units of round-off. Values that were found all at once are as accurate
 * as their rows. */
static const double STEPS_ERROR = 16 * DBL_EPSILON;

/* A quotient whose divisor consists only of errors. */
typedef struct Quotient {
  Expr node; /* EXPR_NONE: there is none */
  uint32_t row;
  double *y; /* the columns there */
} Quotient;

/* A quotient in a row whose divisor at the point is not larger than `error` times the sizes of its terms, so that the quotient
 * could as well be infinite. The dividend must be larger than that, or the divisor must never change. EXPR_NONE: there is none.
 * Compiles the terms. */
Expr terms_lost_divisor(Heap *heap, Model *model, const Layout *layout, Expr row, const Point *point, double error);
