/* state_form: the choice of states (dummy.h), and all other columns solved from them (statespace.h), even where a solution slides along
 * edges.
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "core/dummy.h"
#include "core/edges.h"
#include "core/statespace.h"

typedef struct StateForm {
  Heap *heap;
  Dummy *dummy;
  StateSpace *space;
  Edges *edges; /* NULL: nothing slides */
  int32_t columns;
  double *corners; /* all columns, for each corner of the edges along which the solution slides */
  int room;        /* for this many */
} StateForm;

/* Failures of state_form_exchange: the Jacobian of *block is singular for every choice; the rows cannot be solved at the end of
 * the step. */
enum { EXCHANGE_SINGULAR = -1, EXCHANGE_UNSOLVED = -2 };

/* A function that solves all columns that are not states. */
typedef EvalStatus StateFormSolve(StateForm *form, double t, double *y);

/* find solves from any guess. follow finds the solution nearest to the guess. rates does so only for the columns that rates need.
 * corner solves at a corner of the edges (edges_set_corner). pass solves at an event, after the jump: states that were suitable
 * for the old modes may not be suitable for the new ones. select only selects the states again. */
StateFormSolve state_form_find, state_form_follow, state_form_rates, state_form_corner, state_form_pass,
    state_form_select;

/* Makes the columns with larger `held` the states, if the rows allow it, and solves the others; false: that is impossible. */
bool state_form_hold(StateForm *form, double t, double *y, const uint8_t *held, int32_t *block);

/* Exchanges states for columns that are better at (t_ahead, ahead). Before that it solves the rows at (t, y) in the old choice, so that
 * the new states have the accuracy of the old ones. Returns the number of exchanges. */
int32_t state_form_exchange(StateForm *form, double t, double *y, double t_ahead, const double *ahead, int32_t *block);

/* Restores an earlier choice, and forgets everything about the points so far. */
void state_form_restore(StateForm *form, const int32_t *depth);
