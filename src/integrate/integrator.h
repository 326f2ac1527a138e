/* integrator: the contract between a system to integrate and the methods that integrate it.
 *
 * A system is a view of the derivative array: `columns` unknowns y, `rows` algebraic equations
 * G(t, y) = 0 and `links` pairs y[from]' = y[to], with columns == rows + links. No other derivative
 * occurs, so the present choice of states is data: a pivot changes the link lists and nothing else.
 * The states are the columns link_from[]. A column may be `to` of one link and `from` of another; it is `to` of
 * at most one link and `from` of at most one, and links never close a ring.
 *
 * Every method is one const struct Integrator. Methods never count evaluations: the system does.
 */
#pragma once

#include "base/heap.h"
#include "code/outline.h"
#include "code/point.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct System {
  void *context;
  int32_t columns, rows, links;
  const int32_t *link_from, *link_to; /* may change between steps; the integrator is then told */

  /* The column that holds the time derivative of column i whether i is a state or not, -1 where there is none;
   * fixed for the system's life, and link_to of a state is its successor. It predicts the columns that `complete`
   * solves for, so that its Newton iteration starts close. NULL: nothing is known beyond the links. */
  const int32_t *successor;

  /* Pattern of dG/dy, compressed columns: column_start[columns + 1], row_index[nonzeros], rows ascending. */
  const int32_t *column_start, *row_index;

  /* Entries of dG/dy that are the same at all times and points [nonzeros]. NULL: not known of any. */
  const bool *constant;

  /* Scales: absolute tolerance of column i is tolerance * nominal[i]. */
  const double *nominal;

  /* Differentiation index of each column, 1 for states and index-1 unknowns, 2 or 3 where the view leaves a
   * higher index (--method none): step control divides the error of such a column by h^(index-1). NULL: all 1. */
  const int32_t *column_index;

  /* G(t, y) into residual[rows]. */
  EvalStatus (*residual)(void *context, double t, const double *y, double *residual);

  /* The same at `count` points. NULL: one after the other. */
  EvalStatus (*residuals)(void *context, uint32_t count, const double *t, double *const *y, double *const *residual);

  /* dG/dy into values[nonzeros], in the order of the pattern. */
  EvalStatus (*jacobian)(void *context, double t, const double *y, double *values);

  /* Does a step from (t, y) to (t_end, end) lead over an edge where slopes of the equations change, and which does not end it? There a
   * method has not its order. NULL: there is no such edge. */
  bool (*bends)(void *context, double t, const double *y, double t_end, const double *end);

  /* State-space form: given t and the states within y (and y's other columns as a guess), solves G = 0 for all
   * other columns, in place: for the solution next to the guess, or EVAL_DOMAIN if it is too far off. NULL where this form
   * does not exist. After it, y[link_to] are the states' rates. */
  EvalStatus (*complete)(void *context, double t, double *y);

  /* As `complete`, from a guess that is too far off for it: finds a solution, not always the next. NULL where `complete` is. */
  EvalStatus (*find)(void *context, double t, double *y);

  /* As `complete`, but may leave columns on which no rate depends. NULL: `complete` serves. */
  EvalStatus (*rates)(void *context, double t, double *y);
  bool wants_stages; /* somebody looks at all columns at the stages of explicit methods: there `complete` is called */

  /* [columns] that `complete` finds without a guess; with `rates`, nothing looks at them inside a step. NULL: not known of any. */
  const bool *given;

  /* [columns] that follow from others and on which no rate depends: no reason for small steps. NULL: not known of any. */
  const bool *spare;

  /* [columns] that conditions read, whose derivative is no column and that follow time: steps have to be short enough that they are followed, also where the states
   * rest. NULL: there are none. */
  const bool *watched;

  /* d rates / d states, dense column-major links x links, at a point closed by `complete`; by the implicit function
   * theorem. NULL where `complete` is. */
  EvalStatus (*rates_jacobian)(void *context, double t, const double *y, double *jacobian);
} System;

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

/* Of its size: what a step may miss of a column that conditions read and no state follows. */
#define LARGEST_MISS 0.05

/* States rest that are off by less than this part of the tolerance: steps grow until they are not. */
#define RESTING 1e-3

/* Of the span: algebraic columns that depart from their prediction over a shorter step have jumped, as equations may have it,
 * and a step is accepted. */
#define SHORTEST_FOLLOWED 1e-10

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

/* Points of the last step, ascending from its beginning to its end, at which the columns are known: those that `rates` leaves as they
 * are, at its ends only. */
typedef struct StepPoints {
  int count;                           /* at most OUTLINE_LIMIT */
  double part[OUTLINE_LIMIT];          /* of the step; the first is 0, the last is 1 */
  const double *values[OUTLINE_LIMIT]; /* all columns */
} StepPoints;

/* One method. `self` is made by create, lives in the heap given there, and is never freed singly. */
typedef struct Integrator {
  const char *name;         /* as on the command line */
  const char *description;  /* one line */
  bool explicit_form;       /* uses `complete` (state-space form) rather than residual and jacobian */
  bool removes_superfluous; /* takes a system without superfluous differentiations, with links instead */

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

  /* What the last step knows of its inside without further evaluations. NULL: interpolating costs none. Until the next call of step,
   * start or switch_states. */
  void (*points)(void *self, StepPoints *out);

  /* Points inside of the last step at which the columns are known about as well, but that `interpolate` does not go through: they tell
   * how good it is. NULL: there are none. Until the next call of step, start or switch_states. */
  void (*points_beside)(void *self, StepPoints *out);

  /* The same as interpolate of these columns alone; others in y stay as they are. NULL: it would cost as much. */
  void (*interpolate_some)(void *self, double t, const uint32_t *columns, uint32_t count, double *y);

  /* The degree of the polynomial that interpolated columns follow along the last step, from its beginning to its end: of columns that are
   * no states or, of_states, of all. 0: they follow none. NULL: so it is always. */
  int (*degree)(const void *self, bool of_states);

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

/* In the order of the table; NULL behind the last. */
const Integrator *integrator_at(uint32_t index);

/* By command-line name; NULL if this build has none. */
const Integrator *integrator_find(const char *name);
