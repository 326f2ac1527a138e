/* stepper_internal: shared by the files of the stepper. Their layers, from the bottom to the top: reports, integrator and
 * choice of states, events, steps. */
#pragma once

#include "core/constants.h"
#include "run/stepper.h"
#include "run/steps.h"
#include "watch/bends.h"
#include "watch/poles.h"

struct Stepper {
  Heap *heap;
  View *view;
  const Structure *structure;
  StepperOptions options;
  Diags *diags;
  StepperStatistics statistics;
  StepsNow now;
  Steps steps;
  Turning *turning;                 /* NULL: nothing to watch */
  Poles *poles;                     /* NULL: nothing to watch */
  Workspace *divisors;              /* divisors of rewritten equations; NULL: none */
  double *divisor_before, *divisor; /* values of `divisors` at both ends of the last step */
  TurningPoint turning_point;
  double changed; /* time at which a failed method was last replaced by another, if has_changed */
  bool has_changed;
  const Integrator *waiting; /* the method to continue with after a slide or an instant; NULL: the current one */
  void *ticket;              /* the integrator's heap; NULL: there is none yet */
  /* nothing has happened since the start at `begin`, whose columns the integrator may have corrected */
  bool is_started;
  bool terminated;  /* the model requested the end */
  bool watches;     /* assertions outside of whens are checked after each step */
  bool at_event;    /* the last step ended at an event, with the columns before it in steps.y */
  EventCause cause; /* cause of that event */
  uint32_t mode;    /* a mode that changes there */
  double limit;     /* the latest end of a step that the caller allows; INFINITY: anywhere */
  double unread;    /* steps that end before this time are not read inside */
  uint32_t near;    /* number of later steps that conditions may examine, because a condition was near its edge */
  Certificate *certificate; /* certificate of the watcher */
  double t_event;           /* time of the last event */
  int repairs;              /* repairs of the choice of states since the last successful step */
  uint64_t rejected;        /* number of rejected steps when the choice of states was last examined */
  int retakes;              /* how often a step that ended at `disputed` was repeated */
  double disputed;          /* steps are short up to this time */
  bool warned;              /* warned about a determinant */
  bool warned_fold;         /* warned about a fold */
  double t_instant;         /* a singular point ahead that will be examined after it is passed; -INFINITY: none */
  bool starts_singular;     /* the start, or the point after an event, is singular: see turning_point */
  double value_before;      /* value of the mode that causes the current event, before it */
  double t_passed;          /* right after the last instant that was passed; -INFINITY: none */
  bool is_folded;           /* the event is a fold or an instant, after which the columns are steps.beyond */
  uint32_t tiny;            /* number of steps in a row that hardly advanced */
  double *low, *high;       /* [columns] min and max of states; NULL: there are none */
  /* factorizations of blocks for the defect; like factorizations for output points they do not count as work of steps */
  uint64_t look_factorizations;
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

/* The name of a column in the model: that of an alias v = der(x) if there is one. */
const char *stepper_known_name(const Stepper *stepper, uint32_t column);

/* Errors that end the run; all return false. The first two name the equations and variables of a block: a singular point, and a
 * block that is singular for every choice of states. The others are about the current event: a condition that changes without
 * progress, one that changes infinitely often before a time, and a jump that the equations do not determine. */
bool stepper_report_turning(Stepper *stepper);
bool stepper_report_astray(Stepper *stepper);
bool stepper_report_no_choice(Stepper *stepper, double t, int32_t block);
bool stepper_report_chatter(Stepper *stepper);

/* The condition is undefined at (t, y), after the last time at which it was defined. */
bool stepper_report_condition(Stepper *stepper, int mode, double t, double defined, const double *y);

bool stepper_report_accumulation(Stepper *stepper);
bool stepper_report_jump(Stepper *stepper);

/* A value set by the caller is impossible at t. */
bool stepper_report_lost(Stepper *stepper, double t, uint32_t column, double value);

/* Warns about a determinant if nothing is certain, once per run. */
/* Rewritten equations divide by their k-th divisor, which passed zero before t. */
bool stepper_report_divisor(Stepper *stepper, double t, uint32_t k);

/* An equation is infinite within the last step. */
void stepper_warn_pole(Stepper *stepper, const Pole *pole);

/* The same, and with it the rate of a state. Returns false. */
bool stepper_report_pole(Stepper *stepper, const Pole *pole, uint32_t state);

void stepper_warn_turning(Stepper *stepper, const char *what);

/* Warns that the condition of the current event gets hysteresis. */
void stepper_warn_hovering(Stepper *stepper);

/* Reports the actions that fired at t. false: the run fails. An assertion may fail for a time that is zero except for errors. */
bool stepper_report_fired(Stepper *stepper, double t, const double *y);

/* ---- the integrator and the choice of states ---- */

/* The columns that the integrator has reached; columns of branches have the values that were followed. */
void stepper_take_values(const Stepper *stepper, double *y);
void stepper_take_branch(const Stepper *stepper, double *y); /* the branches alone */

/* Copies the columns that the integrator has reached to stepper->steps.y. */
void stepper_copy_values(Stepper *stepper);

/* Replaces the integrator, if there is one. */
void stepper_create_integrator(Stepper *stepper, const Integrator *integrator);

/* Adds the work of the current integrator. */
void stepper_add_work(const Stepper *stepper, StepperStatistics *statistics);

/* Continues with another integrator from (t, y). */
void stepper_change_integrator(Stepper *stepper, const Integrator *integrator, double t);

/* Replaces the explicit method by an implicit one when it reports that the problem is stiff. */
void stepper_leave_if_stiff(Stepper *stepper);

/* Replaces an explicit method by an implicit one, which starts at the beginning of the last step. false: the user chose the method,
 * or it is already implicit. */
bool stepper_leave_explicit(Stepper *stepper);

/* After a failed step from t: continues with another method if the choice is free and nothing shows that the solution ends
 * there. */
bool stepper_try_other(Stepper *stepper, double t);

/* The integrator with which a run begins. */
const Integrator *stepper_first_integrator(Stepper *stepper);

/* Examines the choice of states at `ahead`, and changes it at (t, stepper->steps.y). */
int32_t stepper_exchange_states(Stepper *stepper, double t, ConstMoment ahead, bool sure, Exchanges *exchanges);

/* Selects rows and columns again at stepper->steps.y, and makes a new integrator for them. */
bool stepper_reselect(Stepper *stepper, double t);

/* Examines the choice of states at the end of a step, more closely if the step was rejected before. */
bool stepper_watch_choice(Stepper *stepper, double t);

/* After a failed step from t: returns true if the run continues with another choice. The choice of dummies was examined
 * before the step. */
bool stepper_repair_choice(Stepper *stepper, double t);

/* ---- singular points ---- */

/* The time up to which the equations hold in the current modes. */
static inline double stepper_modes_end(const Stepper *stepper) {
  return stepper->now.t_timed < stepper->options.stop ? stepper->now.t_timed : stepper->options.stop;
}

/* Has the last step, to t, passed the singular point at t_instant? */
bool stepper_is_behind_instant(const Stepper *stepper, double t);

/* Call this if stepper_is_behind_instant is true. Does the solution pass the singular point (instant.h)? The part of the
 * step after that point must still be watched. */
bool stepper_passes_instant(Stepper *stepper, double t);

/* Does a solution begin at the singular start of the steps? */
bool stepper_passes_start(Stepper *stepper);

/* Does the solution continue from a singular point at which steps begin although the rank stays lost (VERDICT_RESTS)? */
bool stepper_rests(Stepper *stepper, double singular);

/* After a failed step, or at the start of steps: the run continues after the singular point, with an event, if the solution
 * does. */
bool stepper_leaps_instant(Stepper *stepper, double singular);

/* Solutions meet at a kink, at a singular point. Does exactly one cross it (instant_crosses)? Then the run continues after it, with
 * an event. */
bool stepper_crosses_instant(Stepper *stepper, double singular);

/* Does exactly one of the solutions cross the singular point? Makes no event. The states there may be rough. */
bool stepper_can_cross(Stepper *stepper, double singular);

/* The distance before and after it. */
double stepper_crossing_gap(const Stepper *stepper, double singular);

/* Did the last step begin at the start of the run, or at a restart after an event? */
static inline bool stepper_is_first(const Stepper *stepper) {
  return stepper->now.before == stepper->options.start || stepper->now.before == stepper->t_event;
}

/* Is t so close to a singular point that was passed that rows cannot be solved there? */
static inline bool stepper_is_at_instant(const Stepper *stepper, double t) {
  double near = 2 * LOCATED * stepper_span(stepper);
  return stepper->is_folded || (t >= stepper->t_passed - near && t <= stepper->t_passed + near) ||
         (t >= stepper->t_instant - near && t <= stepper->t_instant + near);
}

/* The event at which the run continues after a fold or an instant, with the columns steps.beyond. */
void stepper_jump(Stepper *stepper, double t);

/* ---- events ---- */

/* Is the start regular? This cannot be examined without a structure: a system of several branches needs a plan for the branches
 * that hold. */
bool stepper_start_is_regular(Stepper *stepper);

/* After a step without an event: was no expected event lost? A lost one is an error. */
bool stepper_misses_no_event(Stepper *stepper);

/* Finds the next event after t that depends only on time. */
void stepper_plan_timed(Stepper *stepper, double t);

/* Finishes the event at t_event, whether it was settled or not. */
bool stepper_finish_event(Stepper *stepper, bool settled);

/* Changes the integrator at t, with the columns in stepper->steps.y, if the solution begins or stops sliding, or if another
 * integrator is waiting. */
void stepper_suit_integrator(Stepper *stepper, double t);

/* The last step ends at the event that depends only on time; or at an event of states, whose columns are in stepper->steps.y. An
 * implicit method leaves an error in the rows, which is not a jump. */
void stepper_meet_time(Stepper *stepper);
void stepper_meet_states(Stepper *stepper, double t, int mode);

/* ---- the defect ---- */

void stepper_make_defect(Stepper *stepper);

/* ---- sizes ---- */

/* Updates the sizes of states without a nominal value, with the columns y at t. If min or max fixes the sign of a state, its
 * size falls with its value; otherwise the absolute tolerance would allow the other sign. */
void stepper_note_sizes(Stepper *stepper, double t, const double *y);

/* Do the polynomials of the last step, to t, violate the rows by more than the error of the step explains? Then it is taken again,
 * shorter, from a consistent point. */
bool stepper_misses_rows(Stepper *stepper, double t);

/* ---- steps ---- */

/* Begins at a point, with the previous integrator if there was one. */
bool stepper_start_at(Stepper *stepper, double t, const double *y);
