/* contract: what a method that integrates a system (segment/system.h) does. Every method is one const struct Integrator. Methods never count evaluations: the system
 * does. Exported solvers carry it as it stands. */
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
  bool fixed_step;           /* erk, radau: every step is max_step, whatever its error; to measure orders */
  const double
      *unread; /* nobody looks inside of steps that end by this time; may change between steps. NULL: of none */
} IntegratorOptions;

typedef enum StepStatus {
  STEP_OK = 0,
  STEP_TOO_SMALL,  /* step size fell to round-off; error test or convergence failed repeatedly */
  STEP_SINGULAR,   /* the iteration matrix is singular */
  STEP_EVALUATION, /* the system answered EVAL_STOP, or EVAL_DOMAIN down to the smallest step */
} StepStatus;

typedef struct IntegratorStatistics {
  uint64_t steps, rejected_error, rejected_convergence;
  uint64_t factorizations; /* of one iteration matrix; Radau's real and complex ones together count once */
  int order;               /* of the last step */
  double step;             /* size of the last accepted step */
  double next;             /* size that its error asks for next; 0: not known */

  /* Explicit methods: step times the dominant eigenvalue has been above the stability bound for so many steps that an
   * implicit method is cheaper. */
  bool stiff;
} IntegratorStatistics;

/* A step of a collocation method from t to t + h with its stages, and what solves their linear equations (stages.h). */
typedef struct StepStages {
  struct Stages *linear;
  const struct RadauCoefficients *method;
  double t, h;
  double *const *values; /* all columns, per stage */
} StepStages;

/* One method. `self` is made by create, lives in the heap given there, and is never freed singly. */
typedef struct Integrator {
  const char *name;        /* as on the command line */
  const char *description; /* one line */
  bool explicit_form;      /* uses `complete` (state-space form) rather than residual and jacobian */
  bool is_one_step; /* a one-step method: a step can be repeated with a shorter length, since there is no history */
  bool removes_superfluous; /* takes a system without superfluous differentiations, with links instead */

  /* Of so many steps one is looked at inside (segment/defect.h), of systems whose rows are smooth by construction and of others: looks take a few hundredths of
   * the work of steps, or an eighth. */
  int look_every, look_every_rough;

  void *(*create)(Heap *heap, const System *system, const IntegratorOptions *options);

  /* (Re)start at t from a consistent y; after an event too. direction: t_end tells where the run goes. */
  void (*start)(void *self, double t, const double *y, double t_end);

  /* After start: the solution is likely smooth over a step of this size, which is tried first by methods of one step. */
  void (*suggest)(void *self, double step);

  /* Goes back to the beginning of the last step, of which a part of this size, or all of it, is tried next. false: it is to be started there again. Not after start or switch_states. */
  bool (*repeat)(void *self, double step);

  /* One accepted step, not beyond t_stop (lands exactly on it when it gets there). */
  StepStatus (*step)(void *self, double t_stop);

  /* Dense output of the last step; valid until the next call of step, start or switch_states. */
  SegmentMethods segment;

  /* Time reached, and y there (all columns). Valid until the next call of step, start or switch_states. */
  double (*time)(const void *self);
  const double *(*values)(const void *self);

  /* Is the last step, which was taken as if nobody looked inside (IntegratorOptions.unread), not as good inside as at its end? Where
   * conditions look there, it is then taken again. */
  bool (*is_coarse)(void *self);

  /* The links of the system have changed at the present time, and y (all columns, projected to round-off) with
   * them: go on without a restart, with step size and history kept as far as the method can. */
  void (*switch_states)(void *self, const double *y);

  /* The stages of the last step, for variations to share. false: it has none, or no more. Until the next call of step, start or switch_states. */
  bool (*stages)(void *self, StepStages *out);

  void (*statistics)(const void *self, IntegratorStatistics *out);
} Integrator;

/* A step below this one does not get ahead: it is round-off of the time, or, next to time 0, of round-off of what is left. */
static inline double integrator_least_step(double t, double t_stop) {
  return DBL_EPSILON * (10 * fabs(t) + DBL_EPSILON * (t_stop - t));
}

/* What methods do that have nothing to suggest, to repeat, no coarse steps or no stages. */
void integrator_suggest_nothing(void *self, double step);
bool integrator_repeat_nothing(void *self, double step);
bool integrator_is_never_coarse(void *self);
bool integrator_has_no_stages(void *self, StepStages *out);

/* Rates of all columns at y: those that are columns, and 0 as a guess of the others. */
void integrator_rates(const System *system, const double *y, double *rate);
