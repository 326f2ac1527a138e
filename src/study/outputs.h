/* outputs: the values that are kept of each run of a sweep.
 *
 * Their columns are named function(variable), variable@time, time(condition) or time(event); the column of a final value has the
 * variable's name. A condition of the model may be written with any names of its variables: they are replaced by the names that
 * alias elimination leaves.
 *
 * Invariant: outputs refer to signals by name. Signals are looked up in the result of each run, since plans for other structures
 * number them differently. */
#pragma once

#include "array/modes.h"
#include "daedal.h"
#include "result/signal_filter.h"
#include "result/trajectory.h"

typedef struct Output {
  const char *text;   /* the name of its column */
  const char *signal; /* or the condition of an event; NULL: any event */
  daedal_output_kind kind;
  double time; /* for DAEDAL_OUTPUT_AT */
} Output;
typedef VEC(Output) OutputVec;

/* Checks outputs and names them. NULL stands for the final values of all variables that are not parameters and match the filter
 * (NULL: all). false: an error is in diags. Texts live in the arena, the list in its heap. */
bool outputs_read(OutputVec *outputs, const daedal_output *given, uint32_t count, const Model *model,
                  const SignalFilter *filter, Arena *arena, Diags *diags);

/* Does the plan with these modes and derivatives (recorder.h) have a signal, or a condition, for every output? false: diags says
 * which are missing. Conditions are rewritten as the runs print them. */
bool outputs_fit(OutputVec *outputs, const Problem *problem, const Modes *modes, const uint32_t *orders, Arena *arena,
                 Diags *diags);

/* Adds the final values of variables that `model` has and `base` does not: variables that exist only in another structure. */
void outputs_extend(OutputVec *outputs, const Model *base, const Model *model, const SignalFilter *filter,
                    Arena *arena);

/* The times at which the outputs need rows, in addition to the start and the stop, ascending and each once; *all: at
 * all output points. */
double *outputs_times(const OutputVec *outputs, Arena *arena, uint32_t *count, bool *all);

/* The value of an output of a run of this problem; NaN if there is none. O(rows). */
double output_value(const Output *output, const Problem *problem, const Trajectory *trajectory,
                    const daedal_event *events, uint32_t event_count, Arena *arena);
