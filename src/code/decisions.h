/* decisions: the logic of a model made numeric (core/decide.h): the new values of discrete leaves at an event. The evaluator
 * holds the values; `decisions` evaluates the steps. */
#pragma once

#include "base/transfer.h"
#include "code/effects.h"
#include "code/evaluator.h"
#include "core/decide.h"
#include "core/failure.h"

/* What an assertion said when it began to fail, and the diagnostics' count at that time. */
typedef struct Assertion {
  const char *text;
  uint32_t said;
} Assertion;

typedef struct Decisions {
  Decide decide;
  const Logic *logic;
  Evaluator *evaluator;
  Workspace **levels, **idle_levels, *initial_steps, *lefts, *actions, *idle_actions;
  IndexVec dependents;  /* parameters bound to parameters that initial steps assign */
  bool *is_reported;    /* per action: a warning that was given */
  Assertion *assertion; /* per action */
  Failure *failure;     /* per action */
  bool *fails;          /* per action: an assertion that fails at the point checked last */
  uint32_t failures;    /* assertions that fail, but not yet for long enough */
  bool watches;         /* assertions outside of whens depend on columns or time: they must be checked in each step */
  Effects *effects;     /* calls that an event makes once */
  Span undefined_span;  /* place of the assignment whose value is not defined */
  Expr undefined_node;  /* the part without a value; EXPR_NONE: unknown */
  char undefined_reason[200];
} Decisions;

/* For the logic of the evaluator's code; NULL if it is empty. Lives in the heap. */
Decisions *decisions_new(Heap *heap, Evaluator *evaluator);

/* Sets the values before initialization: start values, initial() true. `starts` has start values that replace the
 * model's own, per variable; NULL and NAN: none. */
void decisions_start(Decisions *decisions, const double *starts);

/* Initialization is over: initial() becomes false, and pre() takes the values found. */
void decisions_started(Decisions *decisions);

/* Copies the values of the model's discrete variables, also to pre(); other discrete values follow when they are set. */
void decisions_adopt(Decisions *decisions, const double *discretes);

/* A run begins at t: samples are counted from there. false: the interval of a sample is not positive, which is an error in diags.
 */
bool decisions_run(Decisions *decisions, double t, Diags *diags);

/* Call this when everything has settled, at (t, y). Admits the first call that waits (effects.h); false: none does. */
bool decisions_admit(Decisions *decisions, double t, const double *y);

/* The number of events from `begin` to `stop` of the sample that has most events, and the start and interval of that
 * sample; 0: there is no sample. */
double decisions_expected(Decisions *decisions, double begin, double stop, double *start, double *interval);

/* Reports a step or reinit that has no value at t, and two reinits of one column. Returns false if anything was reported. */
bool decisions_defined(const Decisions *decisions, double t, DiagCode code, Diags *diags);

/* Saves in the heap how many events of each sample have passed, and restores these numbers, even for decisions that no run has
 * used yet. The values belong to the evaluator. */
uint64_t *decisions_save(const Decisions *decisions, Heap *heap);
void decisions_restore(Decisions *decisions, const uint64_t *saved);
void decisions_transfer(const Decisions *decisions, uint64_t *saved, Transfer *transfer);
