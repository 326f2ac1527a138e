/* decide: the values of discrete variables at events. What follows from what is sorted into levels of steps; a branch of a when fires where its condition
 * becomes true. Programs of the host evaluate the steps; here is what becomes of their values, when samples are due, and what reinit asks for.
 *
 * All memory is the host's. Exported solvers carry this as it stands. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A discrete value that changes at events. */
typedef struct DecideStep {
  int leaf;          /* that it determines */
  int fires;         /* says whether a branch of a when does */
  int is_parameter;  /* the leaf is that of a parameter instead */
  int reads_columns; /* its value depends on columns, which are known to round-off only */
} DecideStep;

typedef struct DecideAction {
  int column, sign; /* of reinit: the column that it sets; -1: it sets none */
  int is_initial;   /* of an initial section: it counts at the start only */
} DecideAction;

/* What the host evaluates: steps of a level, initial steps, pre() of continuous variables; start and interval of each sample; of each action whether it
 * fires, and its value. */
typedef enum DecideProgram { DECIDE_LEVEL, DECIDE_INITIAL, DECIDE_LEFTS, DECIDE_SAMPLES, DECIDE_ACTIONS } DecideProgram;

typedef struct DecidePlan {
  int leaves, all; /* discrete values in front of the modes, and with them */
  int initial;     /* leaf that is true at the start */
  int levels, initial_steps, lefts, samples, actions;
  const int *level_start; /* [levels + 1] */
  const DecideStep *step, *initial_step;
  const int *left, *sample; /* leaves */
  const DecideAction *action;
  const unsigned char *matters; /* per leaf: what of it rows depend on, MATTERS_... */
  const unsigned char *is_real; /* per leaf: it is a Real variable */
} DecidePlan;

typedef struct DecideHost {
  void (*evaluate)(void *host, DecideProgram program, int level, double t, const double *y, double *out);

  /* The next three may be 0. Steps begin to be evaluated, or all of them have been: random numbers are drawn again. */
  void (*draw)(void *host, bool begins);

  /* Sets a parameter, and those bound to it. Returns whether its value is another one. */
  bool (*set_parameter)(void *host, int parameter, double value);

  /* Tells of a step without a value: output k of a program at (t, y). */
  void (*undefined)(void *host, DecideProgram program, int level, int k, double t, const double *y);
} DecideHost;

typedef struct Decide {
  DecidePlan plan;
  const DecideHost *methods;
  void *host;
  double *discretes, *pre;
  /* what changes along a run */
  double *start, *interval; /* per sample */
  uint64_t *count;          /* per sample: how many are over */
  /* what changes in an event */
  bool samples_wait;           /* those that are due come after the current event, at the same time */
  bool is_starting;            /* the event of the start is under way: actions of initial sections count */
  bool retracted;              /* a branch that fired in this iteration no longer does; set only */
  bool latches;                /* a branch that fires does so until the iteration ends, whatever follows from it */
  bool matter;                 /* something that rows depend on has changed since this was false */
  bool is_stale;               /* rows were solved with other values of pre() than the current ones */
  const DecideStep *undefined; /* one whose value was not defined at the last evaluation; 0: all were */
  int refused, rival;          /* reinit without a value, or with another one than its rival has; -1: none */
  double *values;              /* scratch: of a level, of the actions */
} Decide;

/* ---- samples ---- */

/* Samples are counted from t on, by the current parameters. Returns the first whose start is not defined or whose interval is not positive; -1: there is none. */
int decide_begin_samples(Decide *decide, double t, const double *y);

/* The first time after t at which a sample is due; HUGE_VAL: none is. Is one due at t? */
double decide_next_time(const Decide *decide, double t);
bool decide_are_due(const Decide *decide, double t);

/* ---- events ---- */

/* pre() takes the current values. */
void decide_copy_pre(Decide *decide);

/* Begins an event at (t, y): pre() is what the values are, and samples that are due are true. */
void decide_begin(Decide *decide, double t, const double *y);

/* Evaluates all steps at (t, y); returns how many leaves changed. */
int decide_set(Decide *decide, double t, const double *y);

/* Ends an iteration at (t, y): pre() takes the values over. true if some differ: another one is needed. */
bool decide_accept(Decide *decide, double t, const double *y);

/* Ends an event at (t, y): samples are false, and so is what follows from them. */
void decide_end(Decide *decide, double t, const double *y);

/* A hash of the values that all steps and actions have at (t, y), after another one; none of them is set. */
uint64_t decide_hash(Decide *decide, uint64_t hash, double t, const double *y);

/* ---- actions ---- */

/* Evaluates the actions at (t, y). Then, of each: does it fire, and what is its value, NAN where not defined? */
void decide_act(Decide *decide, double t, const double *y);
bool decide_fires(const Decide *decide, int action);
double decide_value(const Decide *decide, int action);

/* Puts the values of the reinit that fire into y and marks their columns, 2. */
void decide_reinit(Decide *decide, double *y, unsigned char *held);
