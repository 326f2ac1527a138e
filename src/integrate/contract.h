/* contract: the functions of an integration method for a system (segment/system.h). Every method is one const struct Integrator.
 * Methods never count evaluations: the system does. Exported solvers contain this file unchanged. */
#pragma once

#include "base/heap.h"
#include "segment/shape.h"
#include "segment/system.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct IntegratorOptions {
  double relative_tolerance;
  double absolute_tolerance; /* times nominal */
  double max_step;           /* 0: none */
  int min_order, max_order;  /* 0: the method's own */
  bool fixed_step;           /* erk, radau: every step is max_step, regardless of its error; to measure orders */
  const double *
      unread; /* steps that end before this time are not read inside; may change between steps. NULL: all may be read */
} IntegratorOptions;

typedef enum StepStatus {
  STEP_OK = 0,
  STEP_TOO_SMALL,  /* step size fell to round-off; error test or convergence failed repeatedly */
  STEP_SINGULAR,   /* the iteration matrix is singular */
  STEP_EVALUATION, /* the system returned EVAL_STOP, or EVAL_DOMAIN down to the smallest step */
} StepStatus;

typedef struct IntegratorStatistics {
  uint64_t steps, rejected_error, rejected_convergence;
  uint64_t
      factorizations; /* factorizations of one iteration matrix; Radau's real and complex ones together count as one */
  int order;          /* order of the last step */
  double step;        /* size of the last accepted step */
  double next;        /* the size that its error suggests for the next step; 0: unknown */

  /* For explicit methods: step times the dominant eigenvalue has been above the stability bound for so long that an
   * implicit method is cheaper. */
  bool stiff;
} IntegratorStatistics;

/* A step of a collocation method from t to t + h with its stages, and the solver of their linear equations (stages.h). */
typedef struct StepStages {
  struct Stages *linear;
  const struct RadauCoefficients *method;
  double t, h;
  double *const *values; /* all columns, per stage */
} StepStages;

/* One method. `create` makes `self`, which lives in the heap given there and is never freed by itself. */
typedef struct Integrator {
  const char *name;        /* as on the command line */
  const char *description; /* one line */
  bool explicit_form;      /* uses `complete` (state-space form) rather than residual and jacobian */
  bool is_one_step; /* a one-step method: a step can be repeated with a shorter length, since there is no history */
  bool removes_superfluous; /* integrates a system without superfluous differentiations, with links instead */

  /* One step in this many is examined inside (segment/defect.h), in systems whose rows are smooth by construction and in
   * others. The examinations cost a few hundredths of the work of steps, or an eighth. */
  int look_every, look_every_rough;

  void *(*create)(Heap *heap, const System *system, const IntegratorOptions *options);

  /* Starts at t from a consistent y, also after an event. t_end gives the direction. */
  void (*start)(void *self, double t, const double *y, double t_end);

  /* After start: the solution is probably smooth over a step of this size. One-step methods try it first. */
  void (*suggest)(void *self, double step);

  /* Goes back to the beginning of the last step. The next step has this size: a part of the last one, or all of it. false: the
   * method must be started there again. Not allowed after start or switch_states. */
  bool (*repeat)(void *self, double step);

  /* Takes one accepted step, not beyond t_stop; a step that reaches t_stop ends exactly there. */
  StepStatus (*step)(void *self, double t_stop);

  /* Dense output of the last step; valid until the next call of step, start or switch_states. */
  SegmentMethods segment;

  /* The time reached, and y there (all columns). Valid until the next call of step, start or switch_states. */
  double (*time)(const void *self);
  const double *(*values)(const void *self);

  /* The last step was taken without dense output (IntegratorOptions.unread). Is the step less accurate inside than at its
   * end? If so, the step is repeated when conditions need values inside it. */
  bool (*is_coarse)(void *self);

  /* The links of the system have changed at the present time, and y with them (all columns, projected to round-off). Continues
   * without a restart; keeps step size and history as far as the method can. */
  void (*switch_states)(void *self, const double *y);

  /* The stages of the last step, which variations share. false: there are none, or no longer. Valid until the next call of step,
   * start or switch_states. */
  bool (*stages)(void *self, StepStages *out);

  void (*statistics)(const void *self, IntegratorStatistics *out);
} Integrator;

/* A smaller step does not advance: it is round-off of the time or, near time 0, of the remaining time. */
static inline double integrator_least_step(double t, double t_stop) {
  return DBL_EPSILON * (10 * fabs(t) + DBL_EPSILON * (t_stop - t));
}

/* Used by methods that cannot suggest or repeat, or have no coarse steps or no stages. */
void integrator_suggest_nothing(void *self, double step);
bool integrator_repeat_nothing(void *self, double step);
bool integrator_is_never_coarse(void *self);
bool integrator_has_no_stages(void *self, StepStages *out);

/* Rates of all columns at y: the rates that are columns, and 0 as a guess for the others. */
void integrator_rates(const System *system, const double *y, double *rate);
