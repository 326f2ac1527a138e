/* past: the delays of a run (core/delays.h): programs for their values and times, and rings that grow as a run needs them. */
#pragma once

#include "base/transfer.h"
#include "code/evaluator.h"
#include "core/delays.h"

/* The delays of the logic, with a program for the delayed values and one for the delay times, followed by the longest delay
 * times. Lives in the heap. */
Past *past_new(Heap *heap, const ArrayCode *code);

/* The entry of a delay in the table of all delays. first_point: how many numbers the points of earlier pipes take. */
Delay past_delay(const ArrayCode *code, const LogicDelay *delay, int first_point);

/* The delays of the run, as this evaluator uses them: several evaluators may share one past. */
Delays *past_delays(const Evaluator *evaluator);

/* Like delays_guess, if there are delays. */
void past_guess(Evaluator *evaluator, double t, const double *y);

/* Like delays_read. */
void past_read(const Evaluator *evaluator, const Point *point);

/* The shortest delay by a fixed time, from the parameters: no step is longer. INFINITY: there is none. */
double past_shortest(Evaluator *evaluator);

/* Makes room for another piece. */
void past_reserve(Past *past);

/* Like delays_note, but makes room if there is none. */
void past_note(Evaluator *evaluator, double t, const double *y, bool is_kink);

/* Copies the whole past to the heap, and restores it. */
Past *past_save(const Past *past, Heap *heap);
void past_restore(Past *past, const Past *saved);

/* A copy that was saved, as bytes. */
void past_transfer(Past *saved, Transfer *transfer);
