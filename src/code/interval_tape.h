/* interval_tape: programs as one list of lines that runs over an interval of time, with bounds in place of numbers.
 *
 * Each value is a motion: bounds of the value in the middle of the interval, bounds of its rate in the interval, and bounds of all
 * its values there. The bounds of all values come from the operator applied to all values, or from the middle and the rate
 * (mean-value form); the narrower ones are used. Only lines that lead to requested outputs are kept. Results of called functions,
 * inputs and delayed values have no bounds: values that depend on them are unknown. */
#pragma once

#include "code/evaluator.h"
#include "expr/interval.h"

typedef struct Motion {
  Interval middle, rate, all;
} Motion;

#define MOTION_UNKNOWN ((Motion){INTERVAL_WHOLE, INTERVAL_WHOLE, INTERVAL_WHOLE})

typedef struct IntervalTape IntervalTape;

/* An empty tape, for programs of the evaluator's code. */
IntervalTape *interval_tape_new(Heap *heap, const Evaluator *evaluator);

/* Adds the outputs of a program that are marked in `wanted` (NULL: all) and returns the number of this section. place[k]: where the
 * value of output k will be. O(lines of the program for each of its instances). */
uint32_t interval_tape_add(IntervalTape *tape, const Program *program, const bool *wanted, uint32_t *place);

/* Pushes the columns that a section reads. */
void interval_tape_reads(const IntervalTape *tape, uint32_t section, Heap *heap, IndexVec *columns);

/* Reads the current values that only events change. Have they changed since the last call? */
bool interval_tape_hold(IntervalTape *tape);

/* Sets the interval of time for the following runs. */
void interval_tape_set_stretch(IntervalTape *tape, double low, double high);

/* The place of a column. Its motion is set by the caller. */
uint32_t interval_tape_column(IntervalTape *tape, uint32_t column);

/* The motion at a place; valid until the next section is added. */
Motion *interval_tape_at(IntervalTape *tape, uint32_t place);

/* Runs a section. Without rates it computes only the bounds of all values, and leaves middle and rate unchanged. Returns the number
 * of its lines. */
uint32_t interval_tape_run(IntervalTape *tape, uint32_t section, bool with_rates);

/* Half of the interval, rounded up. */
double interval_tape_radius(const IntervalTape *tape);
