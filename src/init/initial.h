/* initial: consistent initial values. All rows of the derivative array hold at the start, with fixed start values as given
 * and the initial equations; what is left free keeps its start value where that is consistent, and moves to the nearest
 * consistent value in the scaled norm where it is not (minimum-norm corrections: Estévez Schwarz 2010, Theorem 4.3).
 *
 * First the cheap way: the states hold their start values and the state-space form gives the rest. If that moves nothing the
 * user gave, it is the answer. Otherwise Gauss-Newton with minimum-norm corrections on all rows at once. */
#ifndef DAEDAL_INIT_INITIAL_H
#define DAEDAL_INIT_INITIAL_H

#include "reduce/dummy.h"
#include "reduce/statespace.h"

/* How the initial value of a column was found. */
typedef enum Origin {
  ORIGIN_COMPUTED, /* no start value was given */
  ORIGIN_FIXED,    /* fixed = true */
  ORIGIN_KEPT,     /* the start value given is consistent */
  ORIGIN_MOVED,    /* the start value given was only a guess */
} Origin;

typedef struct InitialColumn {
  Origin origin;
  bool given;     /* a start value was given by the model or the user */
  bool fixed;
  double start;   /* the start value or the default 0 */
  uint32_t named; /* variable of the model that gave it (an alias may) */
} InitialColumn;

typedef struct Initial {
  InitialColumn *column; /* per column of the array */
  uint8_t *held;         /* per column: 2 fixed, 1 a start value worth keeping, 0 neither */
  double *y;
  double residual;       /* largest scaled residual reached */
  uint32_t iterations;
  uint32_t fixed, free;  /* fixed columns; degrees of freedom that the model leaves open */
} Initial;

/* Start values per variable of the model that replace the model's own (NAN: none). */
typedef struct StartValues {
  const double *start;
} StartValues;

/* Solves for y at t0. false: an error is in diags (DIAG_INIT), naming the equations that conflict. The result
 * lives in the heap. */
bool initial_solve(Heap *heap, Evaluator *evaluator, const Structure *structure, Dummy *dummy, StateSpace *space,
                   const StartValues *starts, double t0, Initial *initial, Diags *diags);

#endif
