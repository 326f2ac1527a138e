/* view: a reduction method's choice of rows, columns and links, as the system that integrators see. */
#ifndef DAEDAL_SOLVE_VIEW_H
#define DAEDAL_SOLVE_VIEW_H

#include "base/linear.h"
#include "code/switches.h"
#include "reduce/reduction.h"
#include "reduce/strangeness.h"
#include "solve/integrator.h"
#include "solve/nearest.h"

typedef struct View {
  System system; /* every row: the one that has a state-space form */
  System lean;   /* without superfluous differentiations; rows 0 where there are none */
  Program *lean_rows;
  Jacobian *lean_jacobian;
  Evaluator *evaluator;
  Dummy *dummy;      /* NULL where the states are not chosen */
  StateSpace *space; /* NULL where there is no state-space form */
  Nearest *nearest;  /* then this solves the rows at a point between steps */
  Switches *switches; /* NULL without relations that make events */
  /* Chooses rows and states anew at a consistent point, where numerical ranks decide on them; other states only, unless the present
   * choice failed. true: the system has changed, and the integrator must be made anew. NULL where there is no such choice. */
  bool (*reselect)(struct View *view, double t, double *y, bool failed);
  /* the array of the model, for the check of its constraints; its columns are found among those of the view */
  Evaluator *original;
  Switches *original_switches; /* NULL where the evaluators share their modes */
  const uint32_t *source;      /* per column of it; MAP_NONE: not in the view */
  const int8_t *sign;
  /* Choice of states and state-space form of that array, which a system integrated as it is settles by at an event: hidden
   * constraints that it does not hold must hold where it starts again. NULL where the evaluators do not share their modes. */
  Dummy *original_dummy;
  StateSpace *original_space;
  double *original_y;
  /* workspace of rates_jacobian */
  double *values;
  int32_t *place, *pattern_start, *pattern_row;
  double *pattern_value;
  Linear *linear;
} View;

/* The index-1 system with dummy derivatives: every row and column of the array, links from the chosen states. */
View *view_dummy(Heap *heap, Evaluator *evaluator, Dummy *dummy, StateSpace *space);

/* A system integrated as it is: every tie to the next column is a link (tie NULL: all columns are tied). column_index: per
 * column, see System. */
View *view_plain(Heap *heap, Evaluator *evaluator, const uint8_t *tie, const int32_t *column_index);

/* The view of a reduced system, with the array of the model that it comes from. */
View *view_reduced(Heap *heap, const Reduction *reduction);

/* Solves the rows at a point whose states are right: for the columns that are no states, or (without a state-space form) for the nearest
 * point where they hold. */
EvalStatus view_solve(View *view, double t, double *y);

/* The same at an event, where only the modes have changed: states stay as they are. */
EvalStatus view_settle(View *view, double t, double *y);

/* The strangeness-free system selected at the consistent y. */
View *view_strangeness(Heap *heap, Strangeness *strangeness, const double *y);

/* The system that a method integrates: the lean one where there is one and the method takes it. */
const System *view_system(const View *view, const Integrator *integrator);

/* Takes over the dummies chosen last. */
void view_update_links(View *view);

#endif
