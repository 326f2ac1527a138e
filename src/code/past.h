/* past: what delays look back at, and what pipes contain. The values delayed are kept as pieces of polynomials, one for each
 * step, and each delay reads the piece that is its time ago into the discrete leaves that stand for it. A pipe reads its
 * profile instead (profile.h), which grows by a piece a step.
 *
 * Where a value jumped or had a kink, a delay by a fixed time does so again that much later: such a break is known in advance,
 * and until the event that passes it the delay stays on its near side. */
#pragma once

#include "base/transfer.h"
#include "code/evaluator.h"
#include "core/piece.h"

/* The delays of the logic: programs for their values, and for their times followed by the longest ones. Lives in the heap. */
Past *past_new(Heap *heap, const ArrayCode *code);

/* Delays are what their values are at (t, y), as they are before and at the start. */
void past_guess(Evaluator *evaluator, double t, const double *y);

/* A run begins at (t, y). */
void past_begin(Evaluator *evaluator, double t, const double *y);

/* Reads all delays for the point (t, y). Does nothing before the run has begun. */
void past_read(const Evaluator *evaluator, const Point *point);

/* A delay whose time at the last reading is below zero or above the longest one, or fixed at zero, which leaves an algebraic
 * loop that nobody has looked for; a pipe whose initial points do not ascend from 0 to 1, or through which the contents have
 * moved as a whole in one step. MAP_NONE: there is none. */
uint32_t past_fault(const Past *past);

/* The time of a delay at the last reading. */
double past_time(const Past *past, uint32_t delay);

/* The shortest delay by a fixed time, which the parameters give: no step is longer. INFINITY: there is none. */
double past_shortest(Evaluator *evaluator);

/* The longest step from (t, y) that needs no value of its own; for a pipe, as long as the flow is as fast as there. */
double past_longest_step(Evaluator *evaluator, double t, const double *y);

/* By which part of a pipe the contents have moved at most since the step began. */
double past_moved(Evaluator *evaluator, double t, const double *y);

/* A part of a step, from `from` to `to`: the time of a node of its piece, the values there, and the piece of all nodes. Pieces of a step
 * from there that were added before are forgotten, and those that nothing behind `begin`, where the step begins, looks back at. true: a break at its beginning turned
 * out to be none. */
double past_node_time(uint32_t node, double from, double to);
void past_sample(Evaluator *evaluator, uint32_t node, double t, const double *y);
bool past_add(Evaluator *evaluator, double begin, double from, double to);

/* Into how many parts the step is to be divided, each with a piece of its own, so that polynomials through the values sampled are
 * exact to the tolerance, as far as that can be. */
uint32_t past_parts(const Past *past, double tolerance);

/* The first time behind t at which a break is passed; INFINITY: none is. */
double past_next_time(const Past *past, double t);

/* Passes the breaks that are due at t. true: something that rows depend on jumps. */
bool past_pass(Evaluator *evaluator, double t, const double *y);

/* Ends an event at (t, y): notes what jumped. is_kink: what changes may do so in its derivatives. */
void past_note(Evaluator *evaluator, double t, const double *y, bool is_kink);

/* A copy of all that is known, in the heap; and back to it. */
Past *past_save(const Past *past, Heap *heap);
void past_restore(Past *past, const Past *saved);

/* A copy that was saved, as bytes. */
void past_transfer(Past *saved, Transfer *transfer);
