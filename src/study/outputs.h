/* outputs: what is kept of each run of a sweep.
 *
 * The names of their columns are function(variable), variable@time, time(condition) or time(event); of a final value the variable alone.
 * A condition is one that the model writes, under any of the names of its variables: names are replaced by those that alias elimination leaves.
 *
 * Invariant: outputs name signals; they are looked up in the result of each run, since plans for other structures number them
 * otherwise. */
#pragma once

#include "array/modes.h"
#include "daedal.h"
#include "result/signal_filter.h"
#include "result/trajectory.h"

typedef struct Output {
  const char *text;   /* the name of its column */
  const char *signal; /* or the condition of an event; NULL: any event */
  daedal_output_kind kind;
  double time; /* of DAEDAL_OUTPUT_AT */
} Output;
typedef VEC(Output) OutputVec;

/* Checks outputs and gives them names. NULL stands for the final values of all variables that are not parameters and match the
 * filter (NULL: all). false: an error is in diags. Texts live in the arena, the list in its heap. */
bool outputs_read(OutputVec *outputs, const daedal_output *given, uint32_t count, const Model *model,
                  const SignalFilter *filter, Arena *arena, Diags *diags);

/* Has the plan with these modes and derivatives (recorder.h) a signal, or a condition, for every output? false: what it has not is in diags.
 * Conditions become those that its runs print. */
bool outputs_fit(OutputVec *outputs, const Problem *problem, const Modes *modes, const uint32_t *orders, Arena *arena,
                 Diags *diags);

/* Adds the final values that such a list has for `model` and not for `base`: of variables that only another structure has. */
void outputs_extend(OutputVec *outputs, const Model *base, const Model *model, const SignalFilter *filter,
                    Arena *arena);

/* Times at which the outputs need rows besides the start and the stop, ascending, each once; *all: at all output points. */
double *outputs_times(const OutputVec *outputs, Arena *arena, uint32_t *count, bool *all);

/* The value of an output of a run of this problem; NaN if there is none. O(rows). */
double output_value(const Output *output, const Problem *problem, const Trajectory *trajectory,
                    const daedal_event *events, uint32_t event_count, Arena *arena);
