/* boundary: what the search for the solution of a boundary value problem and the search for arcs of its controls share. */
#pragma once

#include "api/handles.h"

/* One way to solve a boundary value problem. */
typedef struct Attempt {
  uint32_t segments; /* as many as there are arcs, if there are any */
  double smoothing;  /* of switched controls; 0: none */
  double held_end;   /* > 0: the run ends at this time, and no better one is sought */
  BoundaryArcs arcs;
  const ArcOrder *order;    /* of the report: per arc and control; NULL: not known */
  uint32_t most_iterations; /* 0: those of a fit */
  Examined examined;        /* in the run with what was found */
  daedal_result *guess;     /* a run that guesses are taken from; NULL: those of the model */
  daedal_result *before;    /* with it, guesses are on the line through this run and `guess`; NULL: none */
  double lead;              /* how far beyond `guess`, over the distance of the two */
  Budget *budget;           /* that all attempts at one problem share */
} Attempt;

/* The numbers of segments that are tried one after another; 0 ends the list. */
extern const uint32_t boundary_segments[];

/* The run with the values found, or what failed. NULL when there is no memory even for the handle. */
daedal_result *boundary_shoot(daedal_model *model, const daedal_options *options, const Attempt *attempt);

/* Removes what only the last run needs: which rows it has, where they go, what is differentiated. */
void boundary_forget_outputs(daedal_options *options);

bool result_is_ok(const daedal_result *result); /* NULL is not */

double result_last_time(const daedal_result *result);

/* The value of a signal at a time within the run, between rows by a line. */
double result_value_at(const daedal_result *result, uint32_t signal, double time);

/* Finds the sequence of arcs on which the switched controls of an optimal control are at a bound or singular, and the run with it
 * (arcs.c). With errors: they name an arc that no such sequence joins. NULL: none satisfies the necessary conditions. */
daedal_result *arcs_simulate(daedal_model *model, const daedal_options *options, Budget *budget);
