/* array_jump: jumps (core/jump.h) of the columns of an array. */
#pragma once

#include "code/evaluator.h"
#include "core/jump.h"

typedef struct ArrayJump ArrayJump;

/* For the array of the evaluator. Lives in the heap. O(entries of its Jacobian). */
ArrayJump *array_jump_new(Heap *heap, Evaluator *evaluator);

/* Forgets all earlier jumps. */
void array_jump_forget(ArrayJump *jump);

/* Is it certain that an event contradicts none of the differentiated rows, if all rows held at that point? The caller may have
 * changed parameters since the last event. */
bool array_jump_is_ruled_out(ArrayJump *jump);

/* Like jump_solve. */
bool array_jump_solve(ArrayJump *jump, double t, double *y, uint32_t *column);
