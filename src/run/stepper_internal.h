/* stepper_internal: what the files of the stepper share. The reports are below the integrator and the choice of states, these
 * below events, and events below the steps. */
#pragma once

#include "core/constants.h"
#include "run/stepper.h"
#include "segment/defect.h"
#include "watch/kinks.h"
#include "watch/poles.h"
#include "watch/watcher.h"

/* The time between an event and the next one; 0: not known. */
typedef struct Stretch {
  double first;                 /* what its first step asked for */
  double lasted, lasted_before; /* the last one, and that before it */
} Stretch;

typedef struct Sizes Sizes; /* of absolute tolerances (stepper_sizes.c) */

struct Stepper {
  Heap *heap;
  View *view;
  const Structure *structure;
  StepperOptions options;
  Diags *diags;
  StepperStatistics statistics;
  Turning *turning;                 /* NULL: nothing to watch */
  Poles *poles;                     /* NULL: nothing to watch */
  Workspace *divisors;              /* of rewritten equations; NULL: none */
  double *divisor_before, *divisor; /* at both ends of the last step */
  TurningPoint turning_point;
  const Integrator *integrator;
  double changed; /* when a method that failed was last left for another, if it ever was */
  bool has_changed;
  const Integrator *waiting; /* the one to continue with after a slide or an instant; NULL: that in use */
  void *self, *ticket;       /* of the heap that the integrator lives in; NULL: there is none yet */
  double *y, *ahead, *begin; /* begin: where the last step began */
  double before;             /* where the last step began */
  bool is_started; /* nothing has happened since it began at `begin`, whose columns the integrator may have corrected */
  bool terminated; /* the model asked for the end */
  bool watches;    /* assertions outside of whens are looked at after each step */
  bool at_event;   /* the last step ended at one, with the columns before it in y */
  EventCause cause; /* of it */
  uint32_t mode;    /* one that changes there */
  double limit;     /* where the caller wants a step to end; INFINITY: anywhere */
  double unread;    /* steps that end by then are not looked at inside */
  uint32_t near;    /* steps to come that conditions may look into, since one was near its edge */
  Watcher *watcher;
  Certificate *certificate; /* of the watcher */
  Kinks *kinks;             /* NULL: there are none */
  double t_kink, across; /* the kink that a step ends at, and the size of the step that went across; INFINITY: none */
  double t_doubt;        /* where a step that is taken again must end; INFINITY: anywhere */
  double t_timed;        /* the next event of time alone; INFINITY: none */
  uint32_t timed;        /* a mode that changes then */
  double t_event;        /* when it was; of the last event */
  Stretch *stretches;    /* per mode and truth of it: what followed its last events */
  Stretch *stretch;      /* of these the one since the last event; NULL: there was none */
  double t_stretch;      /* when that began */
  double t_expected;     /* a little after where the next event is expected; INFINITY: nothing is known of it */
  bool begins_stretch;   /* the next step is its first */
  int repairs;           /* of the choice of states since the last step that succeeded */
  uint64_t rejected;     /* steps that the integrator had rejected when the states were looked at last */
  int retakes;           /* of a step that ended at `disputed` */
  double disputed;       /* up to here steps are short */
  bool warned;           /* of a determinant */
  bool warned_fold;      /* of a fold */
  double t_instant;      /* a singular point ahead that is looked into from after it; -INFINITY: none */
  bool starts_singular;  /* at the start, or after an event, at turning_point */
  double value_before;   /* of the mode that makes the current event, before it */
  double t_passed;       /* right after the last one that was passed; -INFINITY: none was */
  bool is_folded;        /* the event is a fold, after which the columns are `beyond` */
  double *beyond;
  Moment recent,
      origin; /* earlier points of the branch that the solution is on: in its current states, and after the last event */
  uint32_t tiny;      /* steps in a row that hardly got ahead */
  double *low, *high; /* [columns] min and max of states; NULL: there are none */
  Sizes *sizes;
  Defect *defect;               /* NULL: the system has no state-space form */
  uint64_t look_factorizations; /* of blocks, for the defect: no part of the steps, as those of output points */
  Segment *segment;             /* of the last step */
  bool is_rough;                /* rows are not smooth by construction (ArrayCode) */
  uint64_t rejections;          /* of the integrator, up to the last step */
  double planned;               /* size of the next step when the last one was accepted */
  double t_rejected;            /* the farthest end of a step that was rejected */
};

static inline bool stepper_is_sliding(const Stepper *stepper) {
  return stepper->view->switches && stepper->view->switches->edges.now->slides > 0;
}

static inline double stepper_span(const Stepper *stepper) { return stepper->options.stop - stepper->options.start; }

/* The last step ends at an event. */
static inline void stepper_set_event(Stepper *stepper, double t, EventCause cause, uint32_t mode) {
  stepper->at_event = true;
  stepper->t_event = t;
  stepper->cause = cause;
  stepper->mode = mode;
}

/* ---- reports ---- */

/* The name under which the model knows a column: that of an alias v = der(x) if there is one. */
const char *stepper_known_name(const Stepper *stepper, uint32_t column);

/* Errors that end the run; all return false. With the equations and variables of its block: a singular point, and a block that is
 * singular for every choice of states. Of the current event: a condition that changes without getting ahead, one that changes
 * infinitely often before a time, and a jump that the equations do not determine. */
bool stepper_report_turning(Stepper *stepper);
bool stepper_report_astray(Stepper *stepper);
bool stepper_report_no_choice(Stepper *stepper, double t, int32_t block);
bool stepper_report_chatter(Stepper *stepper);

/* The condition is not defined at (t, y), after the last time at which it is. */
bool stepper_report_condition(Stepper *stepper, int mode, double t, double defined, const double *y);

bool stepper_report_accumulation(Stepper *stepper);
bool stepper_report_jump(Stepper *stepper);

/* A value that the caller has set cannot be, at t. */
bool stepper_report_lost(Stepper *stepper, double t, uint32_t column, double value);

/* Says of a determinant what is not certain, once a run. */
/* Rewritten equations divide by number k of their divisors, which passed zero before t. */
bool stepper_report_divisor(Stepper *stepper, double t, uint32_t k);

/* An equation is infinite within the last step. */
void stepper_warn_pole(Stepper *stepper, const Pole *pole);

void stepper_warn_turning(Stepper *stepper, const char *what);

/* Says that the condition of the current event gets hysteresis. */
void stepper_warn_hovering(Stepper *stepper);

/* Reports what has fired at t. false: the run fails. */
bool stepper_report_fired(Stepper *stepper, double t, const double *y);

/* ---- the integrator and the choice of states ---- */

/* The columns that the integrator has reached, those of branches as they were followed. */
void stepper_take_values(const Stepper *stepper, double *y);

/* The same, to stepper->y. */
void stepper_copy_values(Stepper *stepper);

/* The segment is that of the last step. */
void stepper_take_segment(Stepper *stepper);

/* The integrator begins at (t, y). */
void stepper_start_integrator(Stepper *stepper, double t, const double *y);

/* In place of the one before, if there was one. */
void stepper_create_integrator(Stepper *stepper, const Integrator *integrator);

/* Adds the work of the present integrator. */
void stepper_add_work(const Stepper *stepper, StepperStatistics *statistics);

/* Another integrator from (t, y) on. */
void stepper_change_integrator(Stepper *stepper, const Integrator *integrator, double t);

/* Leaves the explicit method for an implicit one when it says that the problem is stiff. */
void stepper_leave_if_stiff(Stepper *stepper);

/* The same from where the last step began. false: the method is asked for, or implicit. */
bool stepper_leave_explicit(Stepper *stepper);

/* After a step from t that failed: goes on with another method where the choice is free, and nothing shows that the solution
 * ends there. */
bool stepper_try_other(Stepper *stepper, double t);

/* Where steps of an implicit method have failed: all states get the size 1. false: they have it already. */
bool stepper_widen_sizes(Stepper *stepper);

/* The integrator to begin with. */
const Integrator *stepper_first_integrator(Stepper *stepper);

/* A branch, or the choice of states, begins. */
void stepper_begin_branch(Stepper *stepper, double t, const double *y);

/* The integrator starts again at (t, y), with a first step of this size; 0: one that it finds. */
void stepper_restart(Stepper *stepper, double t, const double *y, double step);

/* The same where a branch begins. */
void stepper_start_with(Stepper *stepper, double t, const double *y, double step);

/* The last step is taken again, at first with this size, which is not larger than it was. */
void stepper_repeat(Stepper *stepper, double step);

/* Looks at the choice of states: judged at `ahead`, changed at (t, stepper->y). */
int32_t stepper_exchange_states(Stepper *stepper, double t, ConstMoment ahead, bool sure, Exchanges *exchanges);

/* A new selection of rows and columns at stepper->y, and a new integrator for it. */
bool stepper_reselect(Stepper *stepper, double t);

/* Looks at the choice of states at the end of a step, closely if the step was rejected before. */
bool stepper_watch_choice(Stepper *stepper, double t);

/* After a step from t that failed: true if the run goes on with another choice. Dummies were looked at before the step. */
bool stepper_repair_choice(Stepper *stepper, double t);

/* ---- singular points ---- */

/* The equations hold in the current modes up to that point. */
static inline double stepper_modes_end(const Stepper *stepper) {
  return stepper->t_timed < stepper->options.stop ? stepper->t_timed : stepper->options.stop;
}

/* Has the last step, to t, got over the singular point at t_instant? */
bool stepper_is_behind_instant(const Stepper *stepper, double t);

/* Then: does the solution pass it (instant.h)? What is after it in the step is to be watched still. */
bool stepper_passes_instant(Stepper *stepper, double t);

/* Does a solution begin at the start of steps, which is singular? */
bool stepper_passes_start(Stepper *stepper);

/* After a step that failed, or at the start of steps: the run goes on after the singular point, with an event, where the solution does. */
bool stepper_leaps_instant(Stepper *stepper, double singular);

/* Does one solution alone cross a singular point, which solutions meet at a kink (instant_crosses)? Then the run goes on after it, with an event. */
bool stepper_crosses_instant(Stepper *stepper, double singular);

/* Would it? The states there may be rough. */
bool stepper_can_cross(Stepper *stepper, double singular);

/* How far before and after it. */
double stepper_crossing_gap(const Stepper *stepper, double singular);

/* Did the last step begin where the run, or its part after an event, begins? */
static inline bool stepper_is_first(const Stepper *stepper) {
  return stepper->before == stepper->options.start || stepper->before == stepper->t_event;
}

/* Is t so near to a singular point that was passed that rows cannot be solved there? */
static inline bool stepper_is_at_instant(const Stepper *stepper, double t) {
  double near = 2 * LOCATED * stepper_span(stepper);
  return stepper->is_folded || (t >= stepper->t_passed - near && t <= stepper->t_passed + near) ||
         (t >= stepper->t_instant - near && t <= stepper->t_instant + near);
}

/* The event at which the run goes on after a fold or an instant, with the columns `beyond`. */
void stepper_jump(Stepper *stepper, double t);

/* ---- events ---- */

/* A system without a structure cannot be watched: one with branches needs a plan for those that hold. */
bool stepper_start_is_regular(Stepper *stepper);

/* Tells of an event of the states. false: infinitely many follow, which ends the run. */
bool stepper_note_event(Stepper *stepper);

/* After a step without one: is none that had to come lost? If not, it is an error. */
bool stepper_misses_no_event(Stepper *stepper);

/* Keeps the step size that the first step after an event asks for. */
void stepper_keep_first_step(Stepper *stepper);

/* A time that is the end except for round-off is the end: no step leads from there to it. */
double stepper_snap(const Stepper *stepper, double t);

/* Finds the next event of time alone after t. */
void stepper_plan_timed(Stepper *stepper, double t);

/* The event at t_event has been settled, or not. */
bool stepper_finish_event(Stepper *stepper, bool settled);

/* Changes the integrator at t, with the columns in stepper->y, where the solution begins or ends to slide, or another one waits for its turn. */
void stepper_suit_integrator(Stepper *stepper, double t);

/* Ends the step at the first event in it, if there is one. is_quiet: it is sure that there is none of the states. */
bool stepper_find_event(Stepper *stepper, const WatchedStep *step, bool is_quiet);

/* ---- the defect ---- */

/* Solves the rows where the last step began: implicit methods solve for algebraic columns as far as their states ask for it. false: they cannot be solved,
 * and are as they were. */
bool stepper_solve_begin(Stepper *stepper);

void stepper_make_defect(Stepper *stepper);

/* ---- sizes ---- */

void stepper_make_sizes(Stepper *stepper);

/* At a start: what follows depends on what was seen so far, and on nothing else of before. */
void stepper_begin_sizes(Stepper *stepper);

/* The sizes of the states at the columns y at t, where no nominal value gives them. That of a state that has one sign, by its min or max, falls with it: its sign
 * would be lost in an absolute tolerance. */
void stepper_note_sizes(Stepper *stepper, double t, const double *y);

/* Do the polynomials of the last step, which has led to t, miss the rows by more than the error of the step explains? Then it is taken again, shorter, from a
 * consistent point. */
bool stepper_misses_rows(Stepper *stepper, double t);

/* ---- steps ---- */

/* Begins at a point, with the integrator of before if there was one. */
bool stepper_start_at(Stepper *stepper, double t, const double *y);
