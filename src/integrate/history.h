/* history: the polynomial through the past points of a multistep method, for every column, in modified divided differences.
 *
 * The formulas are those of the fixed-leading-coefficient form of BDF: Brenan, Campbell, Petzold, Numerical Solution of
 * Initial-Value Problems in Differential-Algebraic Equations, section 5.2. A step is planned, predicted, and then kept or dropped.
 * The differences change only if the step is kept, so a rejected step leaves nothing to undo. */
#pragma once

#include "base/heap.h"

#include <stdint.h>

enum { HISTORY_ORDER = 5, HISTORY_DIFFERENCES = HISTORY_ORDER + 2 };

typedef struct History {
  int32_t columns;
  double *difference[HISTORY_DIFFERENCES]; /* each [columns] */
  int used;                                /* all of them from here on are zero */
  int order;                               /* order of the last step kept */
  double step;                             /* its size */
  int equal;                               /* steps in a row with this size and order */
  double psi[HISTORY_ORDER + 2];           /* psi[i]: distance from the last point back to the point i + 1 before it */

  /* The planned step. */
  int planned_order, planned_equal;
  double planned_step;
  double planned_psi[HISTORY_ORDER + 2];
  double beta[HISTORY_ORDER + 1], gamma[HISTORY_ORDER + 1], sigma[HISTORY_ORDER + 1];
  double leading; /* y' = predicted rate + leading * (y - predicted) */
  double error;   /* the error of the step is this times (y - predicted) */
} History;

/* Makes room for all columns; history_begin must follow. */
History *history_new(Heap *heap, int32_t columns);

/* Begins with one point and a slope, as if a step of this size had ended there. O(columns). */
void history_begin(History *history, const double *y, const double *rate, double step);

/* Computes the coefficients of a step of this size and order; the order is at most one above that of the last step. */
void history_plan(History *history, int order, double step);

/* The value of the polynomial at the end of the planned step. O(columns * order). */
void history_predict(const History *history, double *y);

/* The slope of the prediction at its end, for `count` of the columns; other entries of `rate` stay unchanged. O(count *
 * order). */
void history_slopes(const History *history, const int32_t *columns, int32_t count, double *rate);

/* Accepts the planned step: predicted + change becomes the last point. O(columns * order). */
void history_keep(History *history, const double *change);

/* The value of the last step's polynomial at this distance from its end (negative: inside), for these columns; NULL: for the first
 * `count`. Other entries of y stay unchanged. O(count * order). */
void history_evaluate(const History *history, double distance, const uint32_t *columns, uint32_t count, double *y);

/* Shifts all points so that the last one is y: the shape of the past stays. O(columns). */
void history_move(History *history, const double *y);
