/* view: a reduction method's choice of rows, columns and links, as the system that integrators see. */
#ifndef DAEDAL_SOLVE_VIEW_H
#define DAEDAL_SOLVE_VIEW_H

#include "base/linear.h"
#include "code/switches.h"
#include "reduce/dummy.h"
#include "reduce/statespace.h"
#include "solve/integrator.h"

typedef struct View {
  System system;
  Evaluator *evaluator;
  Dummy *dummy;      /* NULL where the states are not chosen */
  StateSpace *space; /* NULL where there is no state-space form */
  Switches *switches; /* NULL without relations that make events */
  /* workspace of rates_jacobian */
  double *values;
  int32_t *place, *pattern_start, *pattern_row;
  double *pattern_value;
  Linear *linear;
} View;

/* The index-1 system with dummy derivatives: every row and column of the array, links from the chosen states. */
View *view_dummy(Heap *heap, Evaluator *evaluator, Dummy *dummy, StateSpace *space);

/* The model as it is (--method none): an array without differentiation; every derivative is a link. column_index: per
 * column, see System. */
View *view_plain(Heap *heap, Evaluator *evaluator, const int32_t *column_index);

/* Takes over the dummies chosen last. */
void view_update_links(View *view);

#endif
