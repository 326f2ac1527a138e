/* system: the equations of a run, as seen by the methods that integrate them and those that check their steps.
 *
 * A system is a view of the derivative array: `columns` unknowns y, `rows` algebraic equations G(t, y) = 0 and `links` pairs
 * y[from]' = y[to], with columns == rows + links. No other derivative occurs, so the present choice of states is data: a pivot
 * changes only the link lists. The states are the columns link_from[]. A column may be `to` of one link and `from` of another, but
 * of at most one each, and links never form a ring. */
#pragma once

#include "core/point.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct System {
  void *context;
  int32_t columns, rows, links;
  const int32_t *link_from, *link_to; /* may change between steps; the integrator is then told */

  /* The column that holds the time derivative of column i, whether i is a state or not; -1: there is none. It is fixed for the
   * system's life; for a state it is the link_to. It predicts the columns that `complete` solves for, so that its Newton
   * iteration starts close. NULL: nothing is known beyond the links. */
  const int32_t *successor;

  /* Pattern of dG/dy, compressed columns: column_start[columns + 1], row_index[nonzeros], rows ascending. */
  const int32_t *column_start, *row_index;

  /* Entries of dG/dy that are the same at all times and points [nonzeros]. NULL: none is known to be. */
  const bool *constant;

  /* Sizes of the columns: nominal, or 1; and the sizes of absolute tolerances, tolerance * size[i], which may change
   * from step to step. */
  const double *nominal, *size;

  /* Differentiation index of each column, 1 for states and index-1 unknowns, 2 or 3 if the view leaves a higher index (--method
   * none): step control divides the error of such a column by h^(index-1). NULL: all 1. */
  const int32_t *column_index;

  /* G(t, y) into residual[rows]. */
  EvalStatus (*residual)(void *context, double t, const double *y, double *residual);

  /* G at `count` points. NULL: the points are evaluated one after another. */
  EvalStatus (*residuals)(void *context, uint32_t count, const double *t, double *const *y, double *const *residual);

  /* dG/dy into values[nonzeros], in the order of the pattern. */
  EvalStatus (*jacobian)(void *context, double t, const double *y, double *values);

  /* Does a step from (t, y) to (t_end, end) pass an edge at which slopes of the equations change, without ending there? In such
   * a step the error of a method has a lower order. NULL: there is no such edge. */
  bool (*bends)(void *context, double t, const double *y, double t_end, const double *end);

  /* State-space form: given t, the states in y, and guesses in the other columns, solves G = 0 for all other columns, in place.
   * Finds the solution nearest to the guess, or returns EVAL_DOMAIN if that is too far off. NULL if this form does not exist.
   * Afterwards y[link_to] are the states' rates. */
  EvalStatus (*complete)(void *context, double t, double *y);

  /* Like `complete`, from a guess that is too far off for it: finds a solution, not always the nearest. NULL if `complete` is
   * NULL. */
  EvalStatus (*find)(void *context, double t, double *y);

  /* Like `complete`, but may leave out columns on which no rate depends. NULL: use `complete`. */
  EvalStatus (*rates)(void *context, double t, double *y);

  /* [columns] that `complete` finds without a guess; with `rates`, nothing reads them inside a step. NULL: none known. */
  const bool *given;

  /* [columns] that follow from others and on which no rate depends: they are no reason for small steps. NULL: none known. */
  const bool *spare;

  /* Algebraic columns that single equations give explicitly; each comes before the columns that its equation reads. And [rows]
   * the column that a row gives, or -1. The Jacobian shows which of them have no effect at a point, as in a branch that is not
   * taken. NULL: none known. */
  const int32_t *follower, *given_by;
  int32_t followers;

  /* [columns] that conditions read, that depend on time, and whose derivative is not a column. If the states are constant, the
   * ends of a step say nothing about these columns. NULL: there are none. */
  const bool *watched;

  /* d rates / d states, dense column-major links x links, at a point solved by `complete`; by the implicit function theorem. NULL
   * if `complete` is NULL. */
  EvalStatus (*rates_jacobian)(void *context, double t, const double *y, double *jacobian);
} System;

/* Moves the states of y along their rates in y for this time. Returns false, and moves nothing, if that would change them by more
 * than round-off. */
bool system_drift(const System *system, double by, double *y);
