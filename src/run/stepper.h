/* stepper: advances one solution step by step: an integrator, events located in its steps, the choice of states, the watch
 * for singular points.
 *
 * A step ends where the integrator ends it, or at the first event in it. The caller then reads values, within the step by
 * dense output, and lets the stepper continue: at an event by stepper_settle, otherwise by stepper_prepare. */
#pragma once

#include "watch/certificate.h"
#include "watch/turning.h"

struct EventRecord;

typedef struct StepperOptions {
  double start, stop, tolerance, max_step;
  const Integrator *integrator; /* NULL: chosen and changed automatically */
  bool is_converted;            /* equations were rewritten: they may become invalid at some time */
  bool lists_few;               /* only the first LISTED events of the run are listed */
  uint32_t listed;              /* number of events listed before this stepper */
  void (*on_event)(void *context, const struct EventRecord *event); /* called after every event; NULL: none */
  void *context;
} StepperOptions;

typedef struct PivotRecord {
  double time;
  uint32_t out, in; /* columns */
} PivotRecord;
typedef VEC(PivotRecord) PivotVec;

/* The cause of an event. */
typedef enum EventCause {
  EVENT_CONDITION, /* a mode */
  EVENT_TIME,      /* a sample, a delay or an input */
  EVENT_START,
  EVENT_STRUCTURE, /* the equations have changed */
  EVENT_FOLD,      /* the branch of the solution ends */
  EVENT_CALLER,    /* the caller has set values */
  EVENT_END,       /* terminal() */
} EventCause;

/* An event, and the value that its mode has from then on. Without a mode the values mean nothing. */
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
  uint32_t removed;            /* superfluous differentiations that were removed from the integrated system */
  double largest_defect;       /* largest one of an accepted step, in tolerances */
  uint64_t looks;              /* steps that were examined inside for it */
  double time;                 /* reached */
  const TurningPoint *turning; /* the singular Jacobian of a block that ended the run; NULL: none */
  CertificateTotals certificate;
  PivotVec pivots;
  EventVec passed;      /* all events that the run passed, or only the first LISTED of them */
  TimeSpanVec unproven; /* the first spans of time for which there is no proof that no event was missed */
} StepperStatistics;

/* Adds the work of an earlier stepper of the same run; the lists stay as they are. */
void stepper_statistics_add(StepperStatistics *statistics, const StepperStatistics *before);

typedef struct Stepper Stepper;

/* structure: the structure of the view's array; NULL if there is none. watched: NULL if nothing is watched. Errors and warnings go
 * to diags. Lives in the heap. */
Stepper *stepper_new(Heap *heap, View *view, const Structure *structure, const TurningPlan *watched,
                     const StepperOptions *options, Diags *diags);

/* Begins at a consistent point; may be called again. false: an error is in diags. */
bool stepper_start(Stepper *stepper, double t, const double *y);

/* Call this after stepper_start. Handles the event that relations cause if they change right after the start; *any says
 * whether there is such an event. Returns false if an error is in diags. */
bool stepper_leave_start(Stepper *stepper, bool *any);

/* One step, not beyond the stop time. If the view has a sensitivity, its variations are integrated over the step, too. false: an
 * error is in diags. */
bool stepper_step(Stepper *stepper);

/* Later steps end at this time at the latest; INFINITY: only at the stop time. */
void stepper_limit(Stepper *stepper, double limit);

/* Values inside a step will be read only in later steps that end after this time; -INFINITY, the default: in any step. */
void stepper_expect(Stepper *stepper, double time);

/* The time reached, and all columns at this time; at an event, the columns before the event. */
double stepper_time(const Stepper *stepper);
const double *stepper_values(const Stepper *stepper);

/* All columns at a time within the last step, with the rows solved. false: they cannot be solved. */
bool stepper_interpolate(Stepper *stepper, double t, double *y);

/* Call this if the rows cannot be solved within the last step. Is there a fold that the solution can pass (segment/fold.h)? If
 * so, the step is undone, and the next step ends at the fold. */
bool stepper_passed_fold(Stepper *stepper);

/* Like stepper_start, but continues the iteration of an event at t. */
bool stepper_resume(Stepper *stepper, double t, const double *y);

/* Did the last call fail because the equations take another structure at the event? Then no error was reported, and the values are
 * those before the event. */
bool stepper_restructured(const Stepper *stepper);

/* Has the model requested the end of the run? */
bool stepper_terminated(const Stepper *stepper);

/* Did the last step end at an event? If so, stepper_settle finds the modes and columns after the event, and restarts from
 * them; it returns false if an error is in diags. */
bool stepper_at_event(const Stepper *stepper);
bool stepper_settle(Stepper *stepper);

/* Handles terminal() at the end of the run, once. *any: something may happen. false: an error is in diags. */
bool stepper_end(Stepper *stepper, bool *any);

/* Are there assertions outside of whens? */
bool stepper_has_assertions(const Stepper *stepper);
/* The time since which an assertion has failed, which may still pass; INFINITY: none fails. */
double stepper_failed_since(const Stepper *stepper);
/* Reports that failed assertion as an error; false if there is one. */
bool stepper_report_failure(Stepper *stepper);
/* Checks the assertions at (t, y), the columns at a time of the last step. false: one fails, and is in diags. */
bool stepper_watch(Stepper *stepper, double t, const double *y);
/* Checks the assertions at the end of the last step; `solved` is room for the columns. */
bool stepper_watch_end(Stepper *stepper, double *solved);

/* Prepares the next step: exchanges states and changes the method if that is better. false: an error is in diags. */
bool stepper_prepare(Stepper *stepper, double t);

/* The time at which the last step began. */
double stepper_begin(const Stepper *stepper);

/* Restarts at a time within the last step, with all columns there. false: an error is in diags. */
bool stepper_go_back(Stepper *stepper, double t, const double *y);

/* Treats values changed by the caller as an event at the time reached: inputs, and the columns marked in `held` (NULL: none). Like
 * stepper_settle. */
bool stepper_disturb(Stepper *stepper, const uint8_t *held, const double *values);

/* Saves the whole state: time, columns, values of parameters and modes, choice of states. Lives in the heap. The run restarts where
 * it is saved, so that it and every run restored there continue with the same numbers, bit for bit. NULL: an error is in diags. */
typedef struct StepperState StepperState;
StepperState *stepper_save(Stepper *stepper, Heap *heap);
bool stepper_restore(Stepper *stepper, const StepperState *state);

/* Write and read the state as bytes between two steps, for another program. Writing does not affect the run. The reading run
 * restarts there, so both agree within the tolerance. false: the bytes belong to another model, or an error is in diags. */
void stepper_write(Stepper *stepper, Transfer *transfer);
bool stepper_read(Stepper *stepper, Transfer *transfer);

/* At the end of a run: reports the conditions whose hysteresis exceeds what the tolerance requires. */
void stepper_warn_widened(Stepper *stepper);

/* Reports why the equations could not be solved at t; returns false. */
bool stepper_fail(Stepper *stepper, StepStatus status, double t);

StepperStatistics stepper_statistics(const Stepper *stepper);

/* Adds the equations of a block and the variables they determine to a message: all of a small block, the first of a large one. */
void report_block(Diags *diags, Diag *diag, Evaluator *evaluator, const Structure *structure, int32_t block);
