/* integrator: the contract between a system to integrate (segment/system.h) and the methods that integrate it.
 *
 * A step returns a segment (segment/segment.h). Every method is one const struct Integrator. Methods never count evaluations: the system does.
 */
#pragma once

#include "base/heap.h"
#include "segment/segment.h"
#include "segment/system.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct IntegratorOptions {
  double relative_tolerance;
  double absolute_tolerance; /* times nominal */
  double initial_step;       /* 0: chosen */
  double max_step;           /* 0: none */
  int min_order, max_order;  /* 0: the method's own */
  bool has_kinks;            /* how far the end of a step is from its prediction will be asked for */
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

  /* Explicit methods: step times the dominant eigenvalue has been above the stability bound for so many steps that an
   * implicit method is cheaper. */
  bool stiff;
} IntegratorStatistics;

/* A step from t to t + h with its stages, and what solves their linear equations (stages.h). */
typedef struct StepStages {
  struct Stages *linear;
  const struct RadauCoefficients *method;
  double t, h;
  double *const *values; /* all columns, per stage */
} StepStages;

/* A step from t to t + h of an explicit method. */
typedef struct ExplicitStages {
  const struct ErkTableau *tableau;
  double t, h;
  double *const *values; /* all columns, per stage, and behind these at the end */
} ExplicitStages;

/* What the defect test (segment/defect.h) needs to know of a step's polynomials. */
typedef struct StepShape {
  int degree;    /* 0: there is no step yet */
  double part;   /* where the defect is large, between points of the method */
  double defect; /* of a smooth solution with the error that the method found: the largest, as an error in tolerances */
} StepShape;

/* One method. `self` is made by create, lives in the heap given there, and is never freed singly. */
typedef struct Integrator {
  const char *name;         /* as on the command line */
  const char *description;  /* one line */
  bool explicit_form;       /* uses `complete` (state-space form) rather than residual and jacobian */
  bool removes_superfluous; /* takes a system without superfluous differentiations, with links instead */

  /* Of so many steps one is looked at inside (segment/defect.h): the look then takes a few hundredths of their work. */
  int look_every;

  void *(*create)(Heap *heap, const System *system, const IntegratorOptions *options);

  /* (Re)start at t from a consistent y; after an event too. direction: t_end tells where the run goes. */
  void (*start)(void *self, double t, const double *y, double t_end);

  /* After start: the solution is likely smooth over a step of this size, which is tried first. NULL: the method begins small, as
   * its order does. */
  void (*suggest)(void *self, double step);

  /* Goes back to the beginning of the last step, of which a part of this size, or all of it, is tried next. NULL, false: it is to be
   * started there again. Not behind start or switch_states. */
  bool (*repeat)(void *self, double step);

  /* One accepted step, not beyond t_stop (lands exactly on it when it gets there). */
  StepStatus (*step)(void *self, double t_stop);

  /* Time reached, and y there (all columns). Valid until the next call of step, start or switch_states. */
  double (*time)(const void *self);
  const double *(*values)(const void *self);

  /* Dense output inside the last step, of the method's continuous order: the states within y (all columns are
   * written; columns that are not states are only as good as the method makes them: good guesses for `complete`).
   * Valid until the next call of step, start or switch_states. */
  void (*interpolate)(void *self, double t, double *y);

  /* Is the last step, which was taken as if nobody looked inside (IntegratorOptions.unread), not as good inside as at its end? Where
   * conditions look there, it is then taken again. NULL: no step is taken so where there are conditions. */
  bool (*is_coarse)(void *self);

  /* How far the states at the end of the last step are from their prediction, over what the method lets pass in equal steps. Beyond 1 its error is
   * well within the tolerance only if the solution is smooth, not over a kink. NULL: the estimate of the error is no less anyhow. */
  double (*departure)(void *self);

  /* The same as interpolate of these columns alone; others in y stay as they are. */
  void (*interpolate_some)(void *self, double t, const uint32_t *columns, uint32_t count, double *y);

  /* What the polynomials of the last step are: those that `interpolate` gives. It may evaluate the system, as `interpolate` does. */
  StepShape (*shape)(void *self);

  /* The links of the system have changed at the present time, and y (all columns, projected to round-off) with
   * them: go on without a restart, with step size and history kept as far as the method can. */
  void (*switch_states)(void *self, const double *y);

  /* The last step as a collocation method, for variations to share its factors. NULL, false: it is none, or has them no
   * more. Until the next call of step, start or switch_states. */
  bool (*stages)(void *self, StepStages *out);

  /* The last step of an explicit method. NULL, false: it is none. Until the next call of step, start or switch_states. */
  bool (*explicit_stages)(void *self, ExplicitStages *out);

  void (*statistics)(const void *self, IntegratorStatistics *out);
} Integrator;

/* A step below this one does not get ahead: it is round-off of the time, or, next to time 0, of round-off of what is left. */
static inline double integrator_least_step(double t, double t_stop) {
  return DBL_EPSILON * (10 * fabs(t) + DBL_EPSILON * (t_stop - t));
}

#define SOLVER(id) extern const Integrator integrator_##id;
#include "integrate/solvers.def"

/* The solver that leaves the choice of the integrator to the run. */
#define SOLVER_AUTO "auto"

/* Command-line names of the solvers, SOLVER_AUTO first; NULL behind the last. */
extern const char *const solver_names[];

/* All columns at a time of the last step. */
void integrator_values_at(const Integrator *integrator, void *self, double t, int32_t columns, double *y);

/* The segment of the last step, which began at t0. false: there is no step yet. Until the next call of step, start or switch_states. */
bool integrator_segment(const Integrator *integrator, void *self, double t0, Segment *segment);

/* In the order of the table; NULL behind the last. */
const Integrator *integrator_at(uint32_t index);

/* By command-line name; NULL if this build has none. */
const Integrator *integrator_find(const char *name);
