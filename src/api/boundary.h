/* boundary: shared by the search for a solution of a boundary value problem and the search for the arcs of its
 * controls. */
#pragma once

#include "api/handles.h"

/* One way to solve a boundary value problem. */
typedef struct Attempt {
  uint32_t segments; /* one per arc, if the run has arcs */
  double smoothing;  /* smoothing cost of switched controls; 0: none */
  double held_end;   /* > 0: the run ends at this time, which is not optimized */
  BoundaryArcs arcs;
  const ArcOrder *order;    /* for the report, per arc and control; NULL: not known */
  uint32_t most_iterations; /* 0: the default of a fit */
  Examined examined;        /* quantities that the run with the solution evaluates */
  daedal_result *guess;     /* the run that provides guesses; NULL: the model does */
  daedal_result *before;    /* guesses are on the line through this run and `guess`; NULL: `guess` gives them */
  double lead;              /* distance beyond `guess`, relative to the distance of the two runs */
  Budget *budget;           /* shared by all attempts at one problem */
} Attempt;

/* Numbers of segments to try, one after another; 0 ends the list. */
extern const uint32_t boundary_segments[];

/* Makes the run with the values found; on failure its diagnostics say why. NULL when there is no memory even for the handle. */
daedal_result *boundary_shoot(daedal_model *model, const daedal_options *options, const Attempt *attempt);

/* Clears options that only the last run needs: its rows, where they go, and sensitivities. */
void boundary_forget_outputs(daedal_options *options);

bool result_is_ok(const daedal_result *result); /* false for NULL */

double result_last_time(const daedal_result *result);

/* The value of a signal at a time within the run, by linear interpolation between rows. */
double result_value_at(const daedal_result *result, uint32_t signal, double time);

/* Finds the sequence of arcs on which the switched controls of an optimal control are at a bound or singular, and makes the run
 * with it (arcs.c). A failed result names an arc that no such sequence joins. NULL: no sequence satisfies the necessary
 * conditions. */
daedal_result *arcs_simulate(daedal_model *model, const daedal_options *options, Budget *budget);
