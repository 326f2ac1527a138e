/* decisions: the logic of a model made numeric (core/decide.h): what the discrete leaves become at an event. The values are the evaluator's;
 * here is what evaluates the steps. */
#pragma once

#include "base/transfer.h"
#include "code/evaluator.h"
#include "core/decide.h"
#include "external/external.h"

typedef struct Decisions {
  Decide decide;
  const Logic *logic;
  Evaluator *evaluator;
  Workspace **levels, **idle_levels, *initial_steps, *lefts, *actions, *idle_actions;
  IndexVec dependents; /* parameters bound to those that initial steps assign */
  bool *is_reported;   /* per action: a warning that was given */
  bool watches;        /* assertions outside of whens look at columns or time: they are to be looked at in each step */
  ExternalSeed seed;   /* of random numbers when the iteration began: it draws the same ones until it ends */
  ExternalSeed drawn;  /* after the last round that drew */
  Span undefined_span; /* of the assignment whose value is not defined */
  Expr undefined_node; /* what in it has no value, and why; EXPR_NONE: not known */
  char undefined_reason[200];
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

/* Ends an event at (t, y): samples are false, and so is what follows from them. */
void decisions_end(Decisions *decisions, double t, const double *y);

/* How many events the sample with most of them has from `begin` to `stop`, and its start and interval; 0: there is none. */
double decisions_expected(Decisions *decisions, double begin, double stop, double *start, double *interval);

/* Reports the step or the reinit that has no value at t, or two reinit of one column. false: there is one. */
bool decisions_defined(const Decisions *decisions, double t, DiagCode code, Diags *diags);

/* How many samples are over, in the heap; and back to there, also in decisions that no run has begun with. The
 * values are the evaluator's. */
uint64_t *decisions_save(const Decisions *decisions, Heap *heap);
void decisions_restore(Decisions *decisions, const uint64_t *saved);
void decisions_transfer(const Decisions *decisions, uint64_t *saved, Transfer *transfer);
