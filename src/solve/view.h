/* view: a reduction method's choice of rows, columns and links, as the system that integrators see. */
#ifndef DAEDAL_SOLVE_VIEW_H
#define DAEDAL_SOLVE_VIEW_H

#include "base/linear.h"
#include "code/switches.h"
#include "reduce/reduction.h"
#include "reduce/strangeness.h"
#include "solve/integrator.h"
#include "solve/nearest.h"

struct View;

/* All columns at a time. */
typedef struct Moment {
  double t, *y;
} Moment;

typedef struct ConstMoment {
  double t;
  const double *y;
} ConstMoment;

/* A choice of states made by numerical ranks, and how it moves. */
typedef struct Selector {
  /* Exchanges states for columns that depend on them strongly at the point `ahead`; only the links change.
   * Without `sure` it looks closely only where the rates ask for it. Before an exchange the rows are solved
   * at `now`, so that the new states have the accuracy of the old ones. Returns the number of exchanges,
   * which are left in *list until the next call; -1: the rows do not determine the columns. */
  int32_t (*exchange)(struct View *view, Moment now, ConstMoment ahead, bool sure, const Exchange **list);

  /* Selects rows and columns anew at the consistent y, whose columns of no influence it sets. false: nothing
   * changed, or the ranks are no longer those of the start. true: the system has changed, and the integrator
   * must be made anew. */
  bool (*reselect)(struct View *view, double t, double *y);

  /* Decides the ranks anew at y, where modes have changed. false: they are not those of the start. */
  bool (*same_ranks)(struct View *view, double t, double *y);
} Selector;

typedef struct View {
  System system; /* every row: the one that has a state-space form */
  System lean;   /* without superfluous differentiations; rows 0 where there are none */
  Program *lean_rows;
  Jacobian *lean_jacobian;
  Evaluator *evaluator;
  Dummy *dummy;       /* NULL where the states are not chosen */
  StateSpace *space;  /* NULL where there is no state-space form */
  Nearest *nearest;   /* then this solves the rows at a point between steps */
  Switches *switches; /* NULL without relations that make events */
  /* Where numerical ranks choose the states (view_strangeness); NULL elsewhere. */
  const struct Selector *selector;
  /* the array of the model, for the check of its constraints; its columns are found among those of the
   * view */
  Evaluator *original;
  Switches *original_switches; /* NULL where the evaluators share their modes */
  uint64_t factorizations;     /* of the view itself */
  const uint32_t *source;      /* per column of it; MAP_NONE: not in the view */
  const int8_t *sign;
  /* Choice of states and state-space form of that array, which a system integrated as it is settles by at an
   * event: hidden constraints that it does not hold must hold where it starts again. NULL where the
   * evaluators do not share their modes. */
  Dummy *original_dummy;
  StateSpace *original_space;
  double *original_y;
  /* workspace of rates_jacobian */
  double *values;
  int32_t *place, *pattern_start, *pattern_row;
  double *pattern_value;
  Linear *linear;
} View;

/* The index-1 system with dummy derivatives: every row and column of the array, links from the chosen
 * states. */
View *view_dummy(Heap *heap, Evaluator *evaluator, Dummy *dummy, StateSpace *space);

/* A system integrated as it is: every tie to the next column is a link (tie NULL: all columns are tied).
 * column_index: per column, see System. */
View *view_plain(Heap *heap, Evaluator *evaluator, const uint8_t *tie, const int32_t *column_index);

/* The view of a reduced system, with the array of the model that it comes from. */
View *view_reduced(Heap *heap, const Reduction *reduction);

/* Solves the rows at a point whose states are right: for the columns that are no states, or (without a
 * state-space form) for the nearest point where they hold. */
EvalStatus view_solve(View *view, double t, double *y);

/* The same at an event, where only the modes have changed: states stay as they are. */
EvalStatus view_settle(View *view, double t, double *y);

/* The strangeness-free system selected at the consistent y. */
View *view_strangeness(Heap *heap, Strangeness *strangeness, const Modes *modes, const double *y);

/* Factorizations done so far to solve the rows or to look at the choice of states. */
uint64_t view_factorizations(const View *view);

/* The system that a method integrates: the lean one where there is one and the method takes it. */
const System *view_system(const View *view, const Integrator *integrator);

/* Takes over the dummies chosen last. */
void view_update_links(View *view);

#endif
