/* erk_coefficients: a pair of embedded explicit Runge-Kutta formulas with a continuous extension, as data. */
#pragma once

#include <stdbool.h>

/* The weight of stage `column` in the combination `row`; sorted by row. Zero weights are left out. */
typedef struct ErkTerm {
  int row, column;
  double weight;
} ErkTerm;

typedef struct ErkTableau {
  int order;            /* order of the solution */
  int error_order;      /* order of the error estimate: it shrinks as h^(error_order + 1) */
  int stages;           /* stage 0 is the old point; row number `stages` of `stage` gives the new point */
  int all_stages;       /* including the new point and the stages of the continuous extension after it */
  int error_rows;       /* 1, or 2: then err = e0^2 / sqrt(e0^2 + 0.01 e1^2) */
  bool error_needs_end; /* the error estimate uses the rates at the new point */
  int dense_terms;      /* rows of `dense`; the extension has degree dense_terms + 3 */
  const double *node;   /* [all_stages] */
  const ErkTerm *stage, *error, *dense;
  int stage_count, error_count, dense_count;
  double stability;    /* stability limits the step beyond this h |lambda| */
  double inner;        /* factor from the last term of the extension to its error inside a step; 0: unknown */
  double widest_gap;   /* the middle of the widest gap between the nodes */
  double defect_ratio; /* the largest defect divided by the error, see StepShape */
  double shrink, grow; /* limits of the change of the step */
  double memory;       /* weight of the last error in the step control, beta of the PI controller */
} ErkTableau;

extern const ErkTableau erk_order8; /* Dormand and Prince 8(5,3), extension of order 7 */
extern const ErkTableau erk_order5; /* Dormand and Prince 5(4), extension of order 4 */
