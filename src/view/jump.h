/* jump: what columns become at an event that changes constraints.
 *
 * With offsets c, d of the array, the columns of order below d are continuous unless the new modes contradict them. Where a row
 * of level c - 1 no longer holds, the columns of order d - 1 jump, and those of order d are impulses. The rows with c = 0,
 * integrated over the instant, say how the jump is shared: their leading coefficients, those of the columns of order d, times
 * the jumps of order d - 1 (for d = 0 the integrals of the impulses) give 0. So an ideal clutch conserves momentum, and
 * joined capacitors charge (Mehrmann and Wunderlich 2009; Benveniste, Caillaud and others 2020). */
#pragma once

#include "code/evaluator.h"

typedef struct Jump Jump;

/* For the array of the evaluator. Lives in the heap. O(entries of its Jacobian). */
Jump *jump_new(Heap *heap, Evaluator *evaluator);

/* Nothing of the jumps so far counts for those to come. */
void jump_forget(Jump *jump);

/* Is it sure that an event at a point where all rows held contradicts none of those that are differentiated? Parameters may be others than at
 * the last one, if the caller has changed them. */
bool jump_is_ruled_out(Jump *jump);

/* The columns of order d - 1 behind an event at t, in place. false: the equations do not determine the jump of *column, since
 * derivatives of lower orders would jump, or coefficients of derivatives change with it; y stays as it is. */
bool jump_solve(Jump *jump, double t, double *y, uint32_t *column);
