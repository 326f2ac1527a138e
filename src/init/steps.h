/* steps: solves the initial system step by step, one unit after the other, in the order that its structure gives. Units are
 * explicit assignments, linear subproblems, and nonlinear subproblems that are as small as possible.
 *
 * Invariant: when a unit is solved, everything it uses from earlier units is final. With STEPS_KEEP, every column that no
 * row determines holds its start value. With STEPS_NEAREST, a unit first tries to keep its given start values, then moves
 * them as little as possible. With the stages of the derivative array as units this is the procedure of Estévez Schwarz
 * 2010, Theorem 4.3, for any system: the constraints first, then one hidden level after another. */
#pragma once

#include "init/enclose.h"
#include "init/order.h"
#include "nonlinear/nonlinear.h"

typedef enum StepsMode {
  STEPS_KEEP,     /* start values that no row needs are held */
  STEPS_NEAREST,  /* start values that must change move to the nearest consistent values */
  STEPS_CONTINUE, /* the same, with continuation in the guesses if Newton's method fails */
} StepsMode;

typedef struct StepsResult {
  bool solved;
  bool conflict; /* fixed values contradict each other: `column` is one that the others determine */
  uint32_t column;
  double wanted;       /* the value that the others require; NAN if none fits */
  IndexVec rows;       /* the rows that failed, with y at their starting point; owned by the heap */
  double disagreement; /* for a conflict: the largest residual, not scaled */
  uint32_t row;        /* and its row */
  uint32_t iterations;
  NonlinearRung rung; /* the highest rung that a part needed */
  Proof proof;        /* proof that the rows that failed have no solution in a box */
} StepsResult;

/* A unit as it was solved: rows, and the columns that were free, each with its weight (patch.h). */
typedef struct StepsUnit {
  uint32_t rows, columns;
  bool is_nearest; /* the solution nearest to the start values was requested */
} StepsUnit;

/* The units of a run in their order, with their rows and columns one after another. In the heap of the system. */
typedef struct StepsTrace {
  VEC(StepsUnit) units;
  IndexVec rows, columns;
  VEC(double) weights;
} StepsTrace;

/* Solves for y (per column of the system; start values on input). tolerance: how far redundant fixed values may disagree. */
StepsResult steps_run(InitialSystem *system, const InitialColumn *columns, const Order *order, StepsMode mode, double t,
                      double tolerance, double *y);

/* Which given start values may move; fixed ones never do. */
typedef enum StepsMove {
  MOVE_OTHERS,      /* only columns that need not be kept: undifferentiated variables, highest derivatives */
  MOVE_STATES_LAST, /* all columns, but only moves of columns that can be kept have a cost */
  MOVE_ALIKE,       /* all columns; all given start values have equal weight */
  MOVE_EQUALLY,     /* all columns; all have equal weight, given or not */
  STEPS_MOVES
} StepsMove;

/* The weight with which a column moves (patch.h): from its start value and stateSelect. */
double steps_weight(const InitialSystem *system, const InitialColumn *columns, uint32_t column, StepsMove move);

/* Did a given start value move by more than its size? Then another solution may be nearer. */
bool steps_is_far(const InitialColumn *column, double nominal, double value);

/* Did a start value that can be kept move by more than differences between the weights explain? */
bool steps_gave_way(const InitialColumn *column, double nominal, double value);

/* The square of a column's contribution to the distance from the start values. */
double steps_distance(const InitialColumn *column, double nominal, double value);
