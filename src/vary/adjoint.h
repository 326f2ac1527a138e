/* adjoint: the gradient of one number of a run with respect to any number of parameters and start values, for about the cost of two
 * sensitivities. The number is the last value of a column, or its integral.
 *
 * Sensitivities are propagated by linear maps: one for each step, and several for each event (sensitivity.h). During a run the
 * adjoint records the data of these maps. After the run it goes back from the end to the start. The variations of columns and
 * discrete values enter the number with weights. The adjoint applies the transposes of the maps to these weights, and collects
 * the weights of the parameters. The result equals that of forward sensitivities except for round-off and the errors of iterations.
 *
 * Memory: for each step the columns at its stages. If these exceed the limit, steps between checkpoints are forgotten, and
 * recomputed from there when the adjoint needs them. */
#pragma once

#include "vary/sensitivity_plan.h"
#include "view/view.h"

typedef struct Adjoint Adjoint;

/* The number whose gradient is computed: the value at the end, or the integral over the run, of a column or of a
 * discrete leaf (column MAP_NONE). */
typedef struct Functional {
  uint32_t column, leaf;
  double sign;
  bool is_integral;
} Functional;

/* The result. */
typedef struct Gradient {
  const char *functional; /* as it was requested */
  double value;
  const SensitivityPlan *plan; /* with the targets */
  double *by;                  /* per target: the derivative */
} Gradient;

/* Lives in the heap. Errors go to diags. memory: bytes for stages. */
Adjoint *adjoint_new(Heap *heap, const SensitivityPlan *plan, View *view, const Functional *functional, size_t memory,
                     Diags *diags);

/* The variations at the start in the direction of the next target: columns, then discrete leaves, pre() of these, parameters of the
 * plan. */
void adjoint_note_start(Adjoint *adjoint, const double *values, const double *pre, const double *parameters);

/* A step that was accepted. */
void adjoint_note_step(Adjoint *adjoint, const StepStages *step);

/* The number of recorded maps; the second function returns to that number, for an event that is handled again. */
uint32_t adjoint_noted(const Adjoint *adjoint);
void adjoint_forget(Adjoint *adjoint, uint32_t noted);

/* An event begins at y, and ends: the integrand may have jumped. */
void adjoint_note_begin(Adjoint *adjoint, const double *y);
void adjoint_note_end(Adjoint *adjoint, const double *y);

/* Values of the derivatives of roots with respect to columns and to leaves, of the derivatives of rows, and of the rates of all
 * columns. The maps below use the last of them. */
void adjoint_keep_roots(Adjoint *adjoint, const double *columns, const double *leaves);
void adjoint_keep_rates(Adjoint *adjoint, const double *entries, const double *rows, const double *rates);

/* Records the maps of an event (sensitivity_events.c). */
void adjoint_note_time(Adjoint *adjoint, uint32_t mode,
                       double rate); /* the time of the event, from a root; MAP_NONE: it does not vary */
void adjoint_note_shift(Adjoint *adjoint, double sign); /* columns along their rates, times the variation of the time */
void adjoint_note_lefts(Adjoint *adjoint);              /* pre() of all */
void adjoint_note_complete(Adjoint *adjoint);           /* all columns from the states, with the time of the event */
void adjoint_note_steps(Adjoint *adjoint);              /* discrete values, and values that reinit sets, from roots */
void adjoint_note_reset(Adjoint *adjoint, uint32_t reset, uint32_t column,
                        double sign); /* a column from the value that reinit sets */

/* Called after each step on the way back: should the computation stop? */
typedef bool AdjointStop(void *context);

/* The number, at the end y of the run, and its derivatives with respect to all targets, in the heap. false: an error is in diags,
 * or `stop` returned true. */
bool adjoint_finish(Adjoint *adjoint, const double *y, AdjointStop *stop, void *context, Gradient *gradient);
