/* decide: the values of discrete variables at events. The assignments, called steps, are sorted into levels by their dependencies.
 * A branch of a when fires when its condition becomes true. The host's programs evaluate the steps; this file stores their values,
 * knows when samples are due, and applies reinit.
 *
 * The host owns all memory. Exported solvers contain this file unchanged. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A discrete value that changes at events. */
typedef struct DecideStep {
  int leaf;          /* the leaf that it sets */
  int fires;         /* the value says whether a branch of a when fires */
  int is_parameter;  /* the leaf belongs to a parameter */
  int reads_columns; /* its value depends on columns, which are known to round-off only */
} DecideStep;

typedef enum DecideKind { DECIDE_REINIT, DECIDE_ASSERT, DECIDE_TERMINATE, DECIDE_CALL } DecideKind;

typedef struct DecideAction {
  DecideKind kind;
  int column, sign; /* for reinit: the column that it sets; -1: none */
  int is_initial;   /* belongs to an initial section: counts at the start only */
} DecideAction;

/* The programs of the host: the steps of a level, the initial steps, pre() of continuous variables, the start and interval of each
 * sample, and for each action whether it fires and its value. */
typedef enum DecideProgram { DECIDE_LEVEL, DECIDE_INITIAL, DECIDE_LEFTS, DECIDE_SAMPLES, DECIDE_ACTIONS } DecideProgram;

typedef struct DecidePlan {
  int leaves, all; /* the number of discrete values without modes, and with them */
  int initial;     /* leaf that is true at the start */
  int terminal;    /* leaf that is true at the end; -1: none */
  int levels, initial_steps, lefts, samples, actions;
  const int *level_start; /* [levels + 1] */
  const DecideStep *step, *initial_step;
  const int *left, *sample; /* leaves */
  const DecideAction *action;
  const unsigned char *matters; /* per leaf: how rows depend on it, MATTERS_... */
  const unsigned char *is_real; /* per leaf: it is a Real variable */
} DecidePlan;

typedef struct DecideHost {
  void (*evaluate)(void *host, DecideProgram program, int level, double t, const double *y, double *out);

  /* The next three functions may be 0. Sets a parameter, and those bound to it. Returns whether its value has changed. */
  bool (*set_parameter)(void *host, int parameter, double value);

  /* Reports a step without a value: output k of a program at (t, y). */
  void (*undefined)(void *host, DecideProgram program, int level, int k, double t, const double *y);

  /* pre() has new values, or an event begins: calls that were already made may be made again. */
  void (*forget_calls)(void *host, bool is_new_event);
} DecideHost;

typedef struct Decide {
  DecidePlan plan;
  const DecideHost *methods;
  void *host;
  double *discretes, *pre;
  /* changes during a run */
  double *start, *interval; /* per sample */
  uint64_t *count;          /* per sample: how many have passed */
  /* changes in an event */
  bool samples_wait; /* samples that are due wait until the current event is over; they follow at the same time */
  bool is_starting;  /* it is the event at the start: actions of initial sections count */
  bool
      retracted; /* a branch that fired in this iteration no longer fires; decide.c sets the flag, settle.c clears it */
  bool
      latches; /* a branch that fires keeps firing until the iteration ends, even if its effects make its condition false */
  bool matter;                 /* set when something that rows depend on changes; the caller clears it */
  bool is_stale;               /* rows were solved with other values of pre() than the current ones */
  const DecideStep *undefined; /* a step whose value was undefined at the last evaluation; 0: none */
  int refused,
      rival; /* a reinit without a value, or whose value differs from that of another reinit of the same column; -1: none */
  double *values; /* scratch for the values of a level or of the actions */
} Decide;

/* ---- samples ---- */

/* Starts counting samples at t, with the current parameters. Returns the first sample whose start is undefined or whose interval is
 * not positive; -1: none. */
int decide_begin_samples(Decide *decide, double t, const double *y);

/* The first time after t at which a sample is due; HUGE_VAL: none. The second function: is a sample due at t? */
double decide_next_time(const Decide *decide, double t);
bool decide_are_due(const Decide *decide, double t);

/* ---- events ---- */

/* Copies the current values to pre(). */
void decide_copy_pre(Decide *decide);

/* Begins an event at (t, y): copies the values to pre() and makes the samples that are due true. */
void decide_begin(Decide *decide, double t, const double *y);

/* Evaluates all steps at (t, y); returns how many leaves changed. */
int decide_set(Decide *decide, double t, const double *y);

/* Ends an iteration at (t, y): copies the values to pre(). Returns true if some differed: another iteration is needed. */
bool decide_accept(Decide *decide, double t, const double *y);

/* Ends an event at (t, y): makes the samples false, and updates values that depend on them. */
void decide_end(Decide *decide, double t, const double *y);

/* Is terminal() true, and do rows depend on it? */
bool decide_is_end(const Decide *decide);

/* Adds the values that all steps and actions have at (t, y) to a hash. The values are not set. */
uint64_t decide_hash(Decide *decide, uint64_t hash, double t, const double *y);

/* Evaluates all steps and actions at (t, y). The values are not set. */
void decide_look(Decide *decide, double t, const double *y);

/* ---- actions ---- */

/* Evaluates the actions at (t, y). The two functions after it return, for each action, whether it fires and its value (NAN
 * if undefined). */
void decide_act(Decide *decide, double t, const double *y);
bool decide_fires(const Decide *decide, int action);
double decide_value(const Decide *decide, int action);

/* Writes the values of the firing reinits into y, and sets held[column] to 2 for their columns. */
void decide_reinit(Decide *decide, double *y, unsigned char *held);
