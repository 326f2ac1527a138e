/* nonlinear: f(x) = 0, for at least as many unknowns as equations: the one solver of initial systems, steady states, points of the
 * derivative array and event systems.
 *
 * Newton's method. If there are more unknowns than equations, or if columns of the Jacobian are dependent, the correction of least
 * weighted norm is used (Estévez Schwarz 2010, Theorem 4.3). A correction that goes too far is damped. If that is not enough, the
 * equations are required to hold less exactly, which turns it towards the steepest descent (Levenberg, Marquardt). A point at which
 * a function is undefined is not an error: the step is shortened. Distances are in units of nominal times weight. A weight says how
 * easily an unknown moves; 0 holds it. */
#pragma once

#include "base/heap.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct NonlinearProblem {
  void *context;
  int32_t rows, columns;                   /* equations, unknowns */
  const int32_t *column_start, *row_index; /* pattern of the Jacobian, by columns */
  const double *nominal;                   /* per unknown */

  /* The functions at x, and the entries of the Jacobian. false: one of them is undefined or not finite there. */
  bool (*residual)(void *context, const double *x, double *r);
  bool (*jacobian)(void *context, const double *x, double *entries);

  /* If steps that reduce the residuals fail, try steps that reduce the next correction (Deuflhard's NLEQ-ERR). These find more
   * solutions, but also wrong ones with huge unknowns, at singular points. So they are not used for start values: a
   * singular point must be refused as a start. */
  bool by_corrections;

  /* The problem's own test of a solution x with residuals r; NULL: there is none. */
  bool (*confirm)(void *context, const double *x, const double *r);
} NonlinearProblem;

/* How a solution was found: the highest rung of the ladder that was needed. */
typedef enum NonlinearRung {
#define RUNG(name, words) RUNG_##name,
#include "nonlinear/rungs.def"
} NonlinearRung;

/* In words. */
const char *nonlinear_rung_words(NonlinearRung rung);

/* Why a search ended. */
typedef enum NonlinearEnd {
  NONLINEAR_CONVERGED,
  NONLINEAR_UNDEFINED, /* the functions are undefined where it began */
  NONLINEAR_SINGULAR, /* no step is left, and the Jacobian has dependent columns: `vanishing` is the unknown with the largest
                       * entry in the null vector */
  NONLINEAR_INCONSISTENT, /* no step is left, and the Jacobian is regular or has too few columns: `worst` cannot be satisfied near
                           * x */
  NONLINEAR_SLOW, /* the limit of iterations was reached */
} NonlinearEnd;

typedef struct NonlinearResult {
  bool solved;
  bool defined;    /* the functions are defined at the end */
  bool linear;     /* the first step solved them: nothing is nearer */
  double residual; /* largest scaled residual: |f| over the largest |df/dx| * (nominal + |x|) */
  uint32_t iterations;
  NonlinearEnd end;
  NonlinearRung rung;
  uint32_t worst;     /* the equation with the largest residual */
  uint32_t vanishing; /* for NONLINEAR_SINGULAR: an unknown that moves along the null vector */
} NonlinearResult;

typedef struct Nonlinear Nonlinear;

/* The problem must outlive the solver. All unknowns have weight 1. Lives in the heap. */
Nonlinear *nonlinear_new(Heap *heap, const NonlinearProblem *problem);

/* Weight per unknown. */
void nonlinear_set_weights(Nonlinear *nonlinear, const double *weights);

/* Short steps: each moves an unknown by no more than part of its size. They leave flat places, and find solutions near by. */
void nonlinear_set_careful(Nonlinear *nonlinear, bool careful);

/* Solves from x, in place; after a failure x is where the equations are best satisfied. */
NonlinearResult nonlinear_solve(Nonlinear *nonlinear, double *x);

/* Newton's method alone, from a point near a solution: the ladder could lead to other solutions. */
NonlinearResult nonlinear_correct(Nonlinear *nonlinear, double *x);

/* Solves by continuation in the guess: the residual at the guess is removed gradually (Newton homotopy), by nonlinear_trace. */
NonlinearResult nonlinear_continue(Nonlinear *nonlinear, double *x);

/* Follows the solutions from x, which is one, until the unknown `column` has the value `goal`. A step continues in the direction of
 * the last one as far as the linear model allows. Then corrections of least norm lead back onto the solutions, so turning points
 * are passed (Allgower, Georg, Introduction to Numerical Continuation Methods, chapter 3). */
NonlinearResult nonlinear_trace(Nonlinear *nonlinear, int32_t column, double goal, double *x);

/* Moves a solution x along the solutions to a local minimum of its distance to `origin`. Where a square matrix is regular, x stays. */
void nonlinear_approach(Nonlinear *nonlinear, const double *origin, double *x, NonlinearResult *result);

/* Largest scaled residual at x; HUGE_VAL if a function is undefined. *worst: its equation. */
double nonlinear_residual(Nonlinear *nonlinear, const double *x, uint32_t *worst);

/* After nonlinear_residual or a solution: the functions, their scales relative to the sizes of the unknowns, the entries of the
 * Jacobian. */
const double *nonlinear_rows(const Nonlinear *nonlinear);
const double *nonlinear_scale(const Nonlinear *nonlinear);
const double *nonlinear_entries(const Nonlinear *nonlinear);
