/* array_jump: jumps (core/jump.h) of the columns of an array. */
#pragma once

#include "code/evaluator.h"
#include "core/jump.h"

typedef struct ArrayJump ArrayJump;

/* For the array of the evaluator. Lives in the heap. O(entries of its Jacobian). */
ArrayJump *array_jump_new(Heap *heap, Evaluator *evaluator);

/* Nothing of the jumps so far counts for those to come. */
void array_jump_forget(ArrayJump *jump);

/* Is it sure that an event at a point where all rows held contradicts none of those that are differentiated? Parameters may be others than at
 * the last one, if the caller has changed them. */
bool array_jump_is_ruled_out(ArrayJump *jump);

/* As jump_solve. */
bool array_jump_solve(ArrayJump *jump, double t, double *y, uint32_t *column);
