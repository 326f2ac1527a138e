/* decisions: the logic of a model made numeric: what the discrete leaves become at an event. The values are the evaluator's;
 * here is what evaluates the steps, and when samples are due. */
#pragma once

#include "base/transfer.h"
#include "code/evaluator.h"
#include "external/external.h"

typedef struct Decisions {
  const Logic *logic;
  Evaluator *evaluator;
  Workspace **levels, **idle_levels, *initial_steps, *lefts, *actions, *idle_actions;
  IndexVec dependents;      /* parameters bound to those that initial steps assign */
  double *values;           /* of a level, or of the actions */
  double *start, *interval; /* per sample */
  uint64_t *count;          /* per sample: how many are over */
  uint32_t *column;         /* per action that is a reinit: what it sets, and with which sign */
  int8_t *sign;
  bool fires;         /* there are whens */
  bool *is_reported;  /* per action: a warning that was given */
  bool watches;       /* assertions outside of whens look at columns or time: they are to be looked at in each step */
  bool samples_wait;  /* those that are due come behind the event of now, at the same time */
  bool is_starting;   /* the event of the start is under way: actions of initial sections count */
  bool retracted;     /* a branch that fired in this iteration no longer does; set only */
  bool latches;       /* a branch that fires does so until the iteration ends, whatever follows from it */
  bool matter;        /* something that rows depend on has changed since this was false */
  bool is_stale;      /* rows were solved with other values of pre() than those of now */
  ExternalSeed seed;  /* of random numbers when the iteration began: it draws the same ones until it ends */
  ExternalSeed drawn; /* after the last round that drew */
  const LogicStep *undefined; /* one whose value was not defined at the last evaluation; NULL: all were */
  Expr undefined_node;        /* what in it, and why; EXPR_NONE: not known */
  char undefined_reason[200];
  const LogicAction *refused, *rival; /* reinit without a value, or with another one than its rival has; NULL: none */
} Decisions;

/* For the logic of the evaluator's code; NULL if it is empty. Lives in the heap. */
Decisions *decisions_new(Heap *heap, Evaluator *evaluator);

/* The values before initialization: start values, initial() true. `starts` has those that replace the model's own, per
 * variable; NULL and NAN: none. */
void decisions_start(Decisions *decisions, const double *starts);

/* Draws the random numbers of an initialization of the same logic in another array. */
void decisions_draw_as(Decisions *decisions, const Decisions *before);

/* Initialization is over: initial() is false, and pre() is what was found. */
void decisions_started(Decisions *decisions);

/* Takes over the values of the model's discrete variables, as pre() too; what else is discrete follows when it is set. */
void decisions_adopt(Decisions *decisions, const double *discretes);

/* A run begins at t: samples are counted from there. false: the interval of one is not positive, which is an error in diags. */
bool decisions_run(Decisions *decisions, double t, Diags *diags);

/* Begins an event at (t, y): pre() is what the values are, and samples that are due are true. */
void decisions_begin(Decisions *decisions, double t, const double *y);

/* Evaluates all steps at (t, y); returns how many leaves changed. */
uint32_t decisions_set(Decisions *decisions, double t, const double *y);

/* Ends an iteration at (t, y): pre() takes the values over. true if some differ: another one is needed. */
bool decisions_accept(Decisions *decisions, double t, const double *y);

/* Ends an event at (t, y): samples are false, and so is what follows from them. */
void decisions_end(Decisions *decisions, double t, const double *y);

/* How many events the sample with most of them has from `begin` to `stop`, and its start and interval; 0: there is none. */
double decisions_expected(Decisions *decisions, double begin, double stop, double *start, double *interval);

/* Is a sample due at t? */
bool decisions_are_due(const Decisions *decisions, double t);

/* The first time behind t at which a sample is due; INFINITY: none is. */
double decisions_next_time(const Decisions *decisions, double t);

/* Reports the step or the reinit that has no value at t, or two reinit of one column. false: there is one. */
bool decisions_defined(const Decisions *decisions, double t, DiagCode code, Diags *diags);

/* A hash of the values that all steps and actions have at (t, y); none of them is set. */
uint64_t decisions_hash(Decisions *decisions, double t, const double *y);

/* Evaluates the actions at (t, y). Then, of each: does it fire, and what is its value, NAN where not defined? */
void decisions_act(Decisions *decisions, double t, const double *y);
bool decisions_fires(const Decisions *decisions, uint32_t action);
double decisions_value(const Decisions *decisions, uint32_t action);

/* Puts the values of the reinit that fire into y and marks their columns, 2. */
void decisions_reinit(Decisions *decisions, double *y, uint8_t *held);

/* How many samples are over, in the heap; and back to there, also in decisions that no run has begun with. The
 * values are the evaluator's. */
uint64_t *decisions_save(const Decisions *decisions, Heap *heap);
void decisions_restore(Decisions *decisions, const uint64_t *saved);
void decisions_transfer(const Decisions *decisions, uint64_t *saved, Transfer *transfer);
