/* stepper: one solution, advanced step by step: an integrator, events located in its steps, the choice of states, the watch for
 * singular points.
 *
 * A step ends where the integrator ends it or at the first event in it. The caller then looks at values, in between by dense
 * output, and tells the stepper to go on: at an event by stepper_settle, otherwise by stepper_prepare.
 */
#pragma once

#include "watch/certificate.h"
#include "watch/turning.h"

struct EventRecord;

typedef struct StepperOptions {
  double start, stop, tolerance, max_step;
  const Integrator *integrator; /* NULL: chosen and changed automatically */
  bool is_converted;            /* equations were rewritten: they may lose their sense at some time */
  bool lists_few;               /* the first LISTED events of the run alone are listed */
  uint32_t listed;              /* those before this stepper */
  void (*on_event)(void *context, const struct EventRecord *event); /* behind every event; NULL: nobody asks */
  void *context;
} StepperOptions;

typedef struct PivotRecord {
  double time;
  uint32_t out, in; /* columns */
} PivotRecord;
typedef VEC(PivotRecord) PivotVec;

/* What makes an event. */
typedef enum EventCause {
  EVENT_CONDITION, /* a mode */
  EVENT_TIME,      /* a sample, a delay or an input */
  EVENT_START,
  EVENT_STRUCTURE, /* the equations have become others */
  EVENT_FOLD,      /* the branch of the solution ends */
  EVENT_CALLER,    /* values were set */
  EVENT_END,       /* terminal() */
} EventCause;

/* An event, and the value that the mode which made it, if one did, has from then on. Without a mode the values say nothing. */
typedef struct EventRecord {
  double time;
  EventCause cause;
  uint32_t mode;
  double value, before; /* before the event */
} EventRecord;
typedef VEC(EventRecord) EventVec;

typedef struct StepperStatistics {
  const char *solver, *solver_reason;
  uint64_t steps, rejected, factorizations, events /* of states */, time_events, iterations; /* of events */
  uint32_t removed;            /* superfluous differentiations that the system integrated does without */
  double largest_defect;       /* of a step that was accepted, in tolerances */
  uint64_t looks;              /* steps that were looked at inside for it */
  double time;                 /* reached */
  const TurningPoint *turning; /* where the Jacobian of a block is singular, which ended the run; NULL: nowhere */
  CertificateTotals certificate;
  PivotVec pivots;
  EventVec passed;      /* all events that the run got beyond, or the first of them */
  TimeSpanVec unproven; /* the first spans of time on which it is not proven that no event was missed */
} StepperStatistics;

/* Adds the work of an earlier stepper of the same run; the lists stay as they are. */
void stepper_statistics_add(StepperStatistics *statistics, const StepperStatistics *before);

typedef struct Stepper Stepper;

/* structure: of the view's array; NULL where there is none. watched: NULL for nothing. Errors and warnings go to diags. Lives in
 * the heap. */
Stepper *stepper_new(Heap *heap, View *view, const Structure *structure, const TurningPlan *watched,
                     const StepperOptions *options, Diags *diags);

/* Begins at a consistent point, the first time and again. false: an error is in diags. */
bool stepper_start(Stepper *stepper, double t, const double *y);

/* Behind stepper_start: the event right after the start, of relations that do not stay as they are there. *any: there is one.
 * false: an error is in diags. */
bool stepper_leave_start(Stepper *stepper, bool *any);

/* One step, not beyond the stop time, with the variations of the view's sensitivity over it. false: an error is in diags. */
bool stepper_step(Stepper *stepper);

/* Steps to come end at this time at the latest; INFINITY: only at the stop time. */
void stepper_limit(Stepper *stepper, double limit);

/* Of steps to come, only those that end beyond this time will be looked at inside; -INFINITY, as at first: all may be. */
void stepper_expect(Stepper *stepper, double time);

/* Time reached, and all columns there; at an event those before it. */
double stepper_time(const Stepper *stepper);
const double *stepper_values(const Stepper *stepper);

/* All columns at a time within the last step, the rows solved. false: they cannot be. */
bool stepper_interpolate(Stepper *stepper, double t, double *y);

/* Where the rows cannot be solved within the last step: is there a fold that leads on (solve/fold.h)? Then the step is undone, and the next
 * one ends there. */
bool stepper_passed_fold(Stepper *stepper);

/* As stepper_start, in the midst of an event at t: its iteration goes on. */
bool stepper_resume(Stepper *stepper, double t, const double *y);

/* Did the last call fail since the equations take another structure at the event? Then no error was given, and the values are
 * those before the event. */
bool stepper_restructured(const Stepper *stepper);

/* Has the model asked for the end of the run? */
bool stepper_terminated(const Stepper *stepper);

/* Did the last step end at an event? Then stepper_settle finds the modes and columns behind it, and starts again there.
 * false: an error is in diags. */
bool stepper_at_event(const Stepper *stepper);
bool stepper_settle(Stepper *stepper);

/* Where the run ends: what happens at terminal(), once. *any: something may. false: an error is in diags. */
bool stepper_end(Stepper *stepper, bool *any);

/* Are there assertions outside of whens? */
bool stepper_has_assertions(const Stepper *stepper);
/* Looks at them at (t, y), the columns at a time of the last step. false: one does not hold, and is in diags. */
bool stepper_watch(Stepper *stepper, double t, const double *y);
/* The same at the end of the last step; `solved` is room for the columns. */
bool stepper_watch_end(Stepper *stepper, double *solved);

/* Makes ready for the next step: exchanges states and changes the method where that is better. false: an error is in
 * diags. */
bool stepper_prepare(Stepper *stepper, double t);

/* Where the last step began. */
double stepper_begin(const Stepper *stepper);

/* Begins anew at a time within the last step, with all columns there. false: an error is in diags. */
bool stepper_go_back(Stepper *stepper, double t, const double *y);

/* Takes what was given other values from outside as an event at the time reached: inputs, and the columns with a
 * mark in `held` (NULL: none). As stepper_settle. */
bool stepper_disturb(Stepper *stepper, const uint8_t *held, const double *values);

/* The whole state: time, columns, values of parameters and modes, choice of states. Lives in the heap. A save is a place where the run
 * begins anew, so that it and every run restored there go on alike, bit for bit. NULL: an error is in diags. */
typedef struct StepperState StepperState;
StepperState *stepper_save(Stepper *stepper, Heap *heap);
bool stepper_restore(Stepper *stepper, const StepperState *state);

/* The same as bytes, for another program, in a place between two steps; the run that is written goes on as if nobody had asked. That
 * which reads begins anew there, so both are the same within the tolerance. false: the bytes are those of another model, or an error
 * is in diags. */
void stepper_write(Stepper *stepper, Transfer *transfer);
bool stepper_read(Stepper *stepper, Transfer *transfer);

/* At the end of a run: says which conditions have a hysteresis beyond what the tolerance asks for. */
void stepper_warn_widened(Stepper *stepper);

/* Says why the equations could not be solved at t; returns false. */
bool stepper_fail(Stepper *stepper, StepStatus status, double t);

StepperStatistics stepper_statistics(const Stepper *stepper);

/* Adds the equations of a block and what they determine to a message: all of a small one, the first of a large one. */
void report_block(Diags *diags, Diag *diag, Evaluator *evaluator, const Structure *structure, int32_t block);
