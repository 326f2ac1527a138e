/* run: the loop around a stepper: output points, events in the result, constraint check. A whole run is one advance to the stop
 * time; a caller that steps makes many.
 *
 * Invariant: output points cost no steps. At an output point only the states are interpolated. All other columns are solved from
 * the rows again, so that every constraint holds there to round-off. */
#pragma once

#include "result/record.h"
#include "run/constraints.h"
#include "run/stepper.h"

/* The absolute tolerance of an unknown of the model. */
typedef struct AbsoluteTolerance {
  uint32_t unknown;
  double value;
} AbsoluteTolerance;

typedef struct RunOptions {
  double start, stop, tolerance, interval, max_step;
  uint32_t intervals;
  const double *times; /* the output points in order, time_count of them; NULL: `intervals` of length `interval` */
  uint32_t time_count;
  double constraint_tolerance; /* above this the run fails, if the method enforces every level */
  bool enforces_constraints;
  bool no_event_rows;                                          /* events leave no rows */
  const Integrator *integrator;                                /* NULL: chosen and changed automatically */
  bool (*on_step)(void *context, double time, uint64_t steps); /* return true to stop the run */
  bool (*on_event)(void *context, const EventRecord *event); /* called after every event; return true to stop the run */
  void *context;
  const AbsoluteTolerance *absolute; /* for some unknowns; the others have the tolerance times their nominal value */
  uint32_t absolute_count;
} RunOptions;

typedef struct RunStatistics {
  StepperStatistics stepper;
  double residual_evaluations, output_evaluations, jacobian_evaluations; /* one unit is an evaluation of all rows */
  double constraint_residual, constraint_time;
  uint32_t constraint_row;        /* row of the model's array; MAP_NONE: no constraint */
  Evaluator *constraint_array;    /* the array that this row belongs to */
  uint32_t replans;               /* number of changes of the structure */
  const Constraints *constraints; /* residuals by level during the run */
  bool stopped;                   /* the callback stopped the run */
} RunStatistics;

/* The part that does not depend on the values of a run. */
typedef struct RunPlan {
  const Structure *structure; /* structure of the view's array; NULL if there is none */
  const TurningPlan *watched; /* NULL: nothing */
  const TurningPlan *outside; /* blocks of the model's array, if the view's array has none to watch; NULL: not used */
  const Structure *own;       /* the structure to which the blocks in `outside` belong */
  const ConstraintPlan *constraints;
  bool is_converted; /* equations were rewritten */
} RunPlan;

/* One integration, in one system or in several one after another. */
typedef struct RunLoop RunLoop;

typedef enum RunStatus {
  RUN_DONE,         /* the requested time was reached, or the model or the callback ended the run */
  RUN_FAILED,       /* an error is in diags; the rows so far are in the recorder */
  RUN_RESTRUCTURED, /* at an event the equations take another structure: see run_event */
} RunStatus;

/* Rows go to the recorder (NULL: nowhere). options and statistics must outlive it. Lives in the heap. */
RunLoop *run_new(Heap *heap, const RunOptions *options, Recorder *recorder, RunStatistics *statistics, Diags *diags);

/* Begins in a system at the consistent (t, y). resumes: continues an event at which the structure has changed. */
RunStatus run_begin(RunLoop *run, View *view, const RunPlan *plan, double t, const double *y, bool resumes);

/* Continues to the time `until`; with `once`, by at most one step of the integrator. */
RunStatus run_advance(RunLoop *run, double until, bool once);

/* Brings the statistics up to date. */
void run_collect(RunLoop *run);

/* Ends the loop: brings the statistics up to date and checks the constraints. RUN_FAILED if they were violated. */
RunStatus run_end(RunLoop *run);

/* Has the run come to its stop time, or has the model or the callback ended it? */
bool run_is_over(const RunLoop *run);

/* The time reached, and all columns there, after an event. Valid until the next call. */
double run_time(const RunLoop *run);
const double *run_values(const RunLoop *run);

/* All columns at a time within the last step. false: it is outside, or the rows cannot be solved there. */
bool run_interpolate(RunLoop *run, double t, double *y);

/* Treats values changed by the caller as an event at the time reached: inputs, and the columns marked in `held` (NULL: none). */
RunStatus run_disturb(RunLoop *run, const uint8_t *held, const double *values);

/* Saves the whole state in the heap, including the system, and restores it. NULL, false: an error is in diags. */
typedef struct RunState RunState;
RunState *run_save(RunLoop *run, Heap *heap);
bool run_restore(RunLoop *run, const RunState *state);

/* Begins in a system with the state of another loop that has the same kind of system. */
bool run_adopt(RunLoop *run, View *view, const RunPlan *plan, const RunState *state);

/* Write and read the state as bytes (stepper.h). It is written after a step, in on_step. It is read into a loop that has begun in
 * the same kind of system; that loop continues from there. The caller owns its rows. */
void run_write(RunLoop *run, Transfer *transfer);
bool run_read(RunLoop *run, Transfer *transfer);

/* After a change of the structure: the columns of the last system before the event. */
double run_event(const RunLoop *run, const double **y);
