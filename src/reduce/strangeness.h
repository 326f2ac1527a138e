/* strangeness: the strangeness-free system by numerical ranks (Kunkel, Mehrmann 2003, section 2, Hypothesis 1), without any structure.
 *
 * The array is uniform: every equation is differentiated `level` = mu + 1 times. With x the columns below the first derivative
 * (of an unknown that occurs with order o: its derivatives 0 .. max(o, 1) - 1) and w the columns above, ranks of the Jacobian at a
 * consistent point give the number a of constraints on x alone: a = rank [F_x F_w] - rank F_w. mu is the first level at which
 * one more differentiation finds no more constraints.
 *
 * Invariant of a selection: rank-many rows of the array determine as many columns: a of x, and enough of w, x' among them. The
 * other columns of x are the states; the columns of w left over have no influence on x and are held.
 */
#ifndef DAEDAL_REDUCE_STRANGENESS_H
#define DAEDAL_REDUCE_STRANGENESS_H

#include "code/evaluator.h"

typedef struct Strangeness {
  Heap *heap;
  Arena *arena;
  Diags *diags;
  Problem problem;
  Array *array;
  Evaluator *evaluator;
  int32_t *first; /* per unknown: number of its columns in x */
  /* the characteristic values; x has `size` columns, u of which the equations leave free: they are held by equations added */
  int32_t mu, size, a, d, v, u;
  int32_t solved; /* columns of x that constraints determine, with the equations added */
  double *y;      /* the consistent point */
  /* the selection */
  int32_t *row; /* per row of the array: its number among the rows used, -1 if it follows from them */
  int32_t rows;
  bool *held; /* per column */
  int32_t *from, *to;
  int32_t links;
} Strangeness;

/* Finds the characteristic values, a consistent point from the start values (start: per variable of the model, NAN for the model's
 * own; NULL for none) and a selection there. false: an error is in diags. Lives in heap and arena. Dense: O((size * mu)^3). */
bool strangeness_build(Strangeness *strangeness, Model *model, const double *parameters, const double *start,
                       double t);

/* Puts the columns of w that x does not determine to the values of least norm; x stays as it is, and y where that fails. */
void strangeness_refresh(const Strangeness *strangeness, double t, double *y);

/* Selects anew at a consistent point. false: the ranks there are not those found at the beginning. */
bool strangeness_select(Strangeness *strangeness, double t, const double *y);

#endif
