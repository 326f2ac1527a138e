/* steps: the steps of a run, from where one begins to the first event in it.
 *
 * A step is not longer than the delays that it reads. Inside, it violates the equations by no more than its error explains
 * (segment/defect.h). It ends at the first kink (segment/kinks.h) or event (watch/watcher.h) in it. A step that fails one of these
 * conditions is repeated with a shorter length; then the integrator is at the beginning of the step again.
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "core/delays.h"
#include "core/stretch.h"
#include "integrate/contract.h"
#include "segment/defect.h"
#include "segment/fold.h"
#include "segment/kinks.h"
#include "segment/sizes.h"
#include "watch/watcher.h"

/* What a saved run must know. */
typedef struct StepsNow {
  double before;         /* time at the beginning of the last step */
  double t_kink, across; /* the kink at which a step ends, and the size of the step across it; HUGE_VAL: none */
  double t_fold;         /* where the branch of the solution may end; HUGE_VAL: nowhere */
  double t_doubt;        /* where a repeated step must end; HUGE_VAL: anywhere */
  double t_timed;        /* the next event that depends only on time; HUGE_VAL: none */
  int timed;             /* a mode that changes then; -1: none */
} StepsNow;

typedef struct StepsHost {
  /* Solves the rows from any guess. */
  bool (*find)(void *host, double t, double *y);

  /* All columns at a time of a step, with the rows solved. false: they cannot be solved. */
  bool (*point)(void *host, const Segment *segment, double t, double *y);

  /* The integrator starts anew at (t, y), where a branch of the solution may begin. NULL: the host does not follow it. */
  void (*starts)(void *host, double t, const double *y);

  /* Keeps the conditions at (t, y), where a step begins or delays have changed, as the last known ones. */
  void (*begin_conditions)(void *host, double t, const double *y);

  /* The first event after t that depends only on time; `until` is the last time of interest. */
  double (*next_time)(void *host, double t, double until, int *mode);

  /* Makes room for the past of another step. NULL: there is only the room that was given. */
  void (*reserve_past)(void *host);

  /* May the last step be used? If not, the host has repeated it. */
  bool (*accepts)(void *host);

  /* What is known about the inside of the last step. */
  StepInside (*inside)(const void *host);

  /* Events may lie inside the last step. Was that step repeated to make its inside more accurate? */
  bool (*reads_again)(void *host);
} StepsHost;

/* How the last step ends. */
typedef struct StepEnd {
  double t;      /* its end, or the event in it */
  bool is_event; /* an event of states, or a solution leaves an edge along which it slid */
  int mode;      /* mode that changes there, or whose condition is undefined; -1: none */
  bool
      is_undefined; /* a condition is undefined at its end although its value matters there, and also at the ends of shorter
                     * steps */
} StepEnd;

typedef struct Steps {
  const StepsHost *methods;
  void *host;
  StepsNow *now;
  const System *system;
  double start, stop, tolerance; /* of the run */
  const Integrator *integrator;
  void *self;        /* the integrator's memory; NULL: none */
  double *y, *ahead; /* scratch, all columns; at an event, its columns are in y */
  double *begin;     /* columns at the beginning of the last step */
  Segment *segment;  /* segment of the last step */
  Watcher *watcher;
  Sizes *sizes;
  Kinks *kinks; /* NULL: there are none */
  Heap *heap;   /* for the search for a fold */
  const FoldMethods
      *folds; /* NULL: the equations have no corners at which the solution may fold, or a fold cannot be passed */
  bool keeps_branch;     /* folds or singular points need earlier points */
  Moment recent, origin; /* if so, two earlier points of the present branch, at a distance from each other */
  double *beyond;        /* columns after a fold */
  Defect *defect;        /* NULL: the system has no state-space form */
  DefectLooks looks;
  Stretches stretches;
  int taken_again; /* number of steps that were repeated up to a possible event */
  Edges *edges;    /* NULL: there are no conditions */
  Delays *delays;  /* NULL: there are none */
} Steps;

/* Forgets all steps. */
void steps_forget(Steps *steps);

/* ---- around steps ---- */

/* Starts the integrator at (t, y), with a first step of this size; 0: it finds one. */
void steps_start(Steps *steps, double t, const double *y, double step);

/* Starts the integrator on the branch that the solution has followed so far. */
void steps_restart(Steps *steps, double t, const double *y, double step);

/* The branch of the solution begins at (t, y). Steps started by steps_start do this. */
void steps_begin_branch(Steps *steps, double t, const double *y);

/* Repeats the last step, first with this size, which is not larger than before. */
void steps_repeat(Steps *steps, double step);

/* Starts the integrator after an event of a mode (-1: no mode). */
void steps_pass_event(Steps *steps, double t, const double *y, int mode);

/* Updates the sizes of states without a nominal value, with the columns y at t. */
void steps_note_sizes(Steps *steps, double t, const double *y);

/* The length of the run. */
double steps_span(const Steps *steps);

/* Returns the end for a time that equals the end up to round-off: no step fits between them. */
double steps_snap(const Steps *steps, double t);

/* Finds the next event after t that depends only on time. */
void steps_plan_timed(Steps *steps, double t, double until);

/* ---- folds ---- */

/* The solution may end in the last step, of this size, or soon after it, at the time `expected` (NAN: unknown). Does it end at a
 * corner, where it folds (segment/fold.h)? Then the columns before the fold are in steps->y, those after it in steps->beyond. */
bool steps_pass_fold(Steps *steps, double step, double expected, Fold *fold);

/* Call this after steps_begin, with the columns of the solution in steps->begin. Does its branch end there? If not, the point is kept
 * for later searches. */
bool steps_begin_at_fold(Steps *steps, Fold *fold);

/* ---- a step ---- */

/* Begins a step where the integrator is: after a kink, the step has the size from before it. */
void steps_begin(Steps *steps);

/* The time at which the step must end, at `stop` at the latest. */
double steps_end(const Steps *steps, double stop);

/* Takes the step, up to `stop`. */
StepStatus steps_step(Steps *steps, double stop);

/* Makes the segment describe the last step, or the point that the integrator has reached. */
void steps_take_segment(Steps *steps);
void steps_rest_segment(Steps *steps);

/* Solves the rows at the beginning of the last step, because implicit methods solve algebraic columns only as accurately as their
 * states need. false: they cannot be solved, and are unchanged. */
bool steps_solve_begin(Steps *steps);

/* Do the polynomials of the last step violate the rows by more than its error explains? Then it is repeated from a consistent point,
 * with a part of its length. *found: the largest defect seen, -1 if it was not examined. */
bool steps_miss_rows(Steps *steps, double *found);

/* Ends the last step at the first event of states in it, whose columns are then in steps->y, or repeats it: up to a kink or a possible
 * event, or for a reason of the host. A step at whose end a condition is undefined is repeated with half its length; if it is too short
 * for that, it is undone, and the columns at its end are in steps->ahead. */
StepEnd steps_find_end(Steps *steps);

/* After steps of an implicit method have failed: gives all states the size 1. false: the states have this size already, or the
 * method is explicit. */
bool steps_widen_sizes(Steps *steps);

/* Was the step repeated? */
static inline bool steps_are_repeated(const Steps *steps) {
  return steps->integrator->time(steps->self) == steps->now->before;
}

/* Keeps what delays will read of the last step, which ends at (end, y). Returns false if there is no room. */
bool steps_keep_past(Steps *steps, double end, const double *y);

/* After a step without an event: a mode whose events accumulate, and whose next one was lost; -1: none. */
int steps_lost_event(const Steps *steps);
