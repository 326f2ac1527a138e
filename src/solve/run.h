/* run: the loop around a stepper: output points, events in the result, constraint check.
 *
 * Invariant: output points cost no steps. At an output point only the states are interpolated; all other columns are
 * solved from the rows again, so that every constraint holds there to round-off. */
#pragma once

#include "solve/constraints.h"
#include "solve/record.h"
#include "solve/stepper.h"

typedef struct RunOptions {
  double start, stop, tolerance, interval, max_step;
  uint32_t intervals;
  double constraint_tolerance; /* beyond it the run fails, if the method enforces every level */
  bool enforces_constraints;
  bool no_event_rows;                                          /* events leave no rows */
  const Integrator *integrator;                                /* NULL: chosen and changed automatically */
  bool (*on_step)(void *context, double time, uint64_t steps); /* true stops the run */
  void *context;
} RunOptions;

typedef struct RunStatistics {
  StepperStatistics stepper;
  double residual_evaluations, output_evaluations, jacobian_evaluations; /* in units of all rows */
  double constraint_residual, constraint_time;
  uint32_t constraint_row;        /* of the model's array; MAP_NONE: no constraint */
  Evaluator *constraint_array;    /* whose array that is */
  uint32_t replans;               /* changes of the structure */
  const Constraints *constraints; /* residuals by level along the run */
  bool stopped;                   /* by the callback */
} RunStatistics;

/* What does not depend on the values of a run. */
typedef struct RunPlan {
  const Structure *structure; /* of the view's array; NULL where there is none */
  const TurningPlan *watched; /* NULL: nothing */
  const ConstraintPlan *constraints;
} RunPlan;

/* One integration, in one system or in several behind each other. */
typedef struct RunLoop RunLoop;

typedef enum RunStatus {
  RUN_DONE,         /* to the end, or where the model or the callback asked for it */
  RUN_FAILED,       /* an error is in diags, and what was reached is in the recorder */
  RUN_RESTRUCTURED, /* at an event the equations take another structure: see run_event */
  RUN_MISLED,       /* a system made for all branches is singular where it starts; nothing was done */
} RunStatus;

/* Rows go to the recorder. options and statistics must outlive it. Lives in the heap. */
RunLoop *run_new(Heap *heap, const RunOptions *options, Recorder *recorder, RunStatistics *statistics, Diags *diags);

/* Integrates from the consistent (t, y) on. resumes: in the midst of an event at which the structure has changed. */
RunStatus run_integrate(RunLoop *run, View *view, const RunPlan *plan, double t, const double *y, bool resumes);

/* Where the structure changed: the columns of the last system before the event. */
double run_event(const RunLoop *run, const double **y);
