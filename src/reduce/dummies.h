/* dummies: which blocks of an array have a choice of dummy derivatives (core/dummy.h). */
#pragma once

#include "code/evaluator.h"
#include "core/dummy.h"

typedef struct DummyBlocks DummyBlocks;

/* The part that does not depend on values, for an array with the offsets of `structure`. Lives as long as the code. */
DummyBlocks *dummy_blocks(ArrayCode *code, const Structure *structure);

/* Does this block have a choice of states? */
bool dummy_blocks_choose(const DummyBlocks *blocks, int32_t block);

/* The choice of one run. Lives in the heap. */
Dummy *dummy_new(Heap *heap, Evaluator *evaluator, const DummyBlocks *blocks);

/* Appends a line for each matrix M of the present choice at a point: the number of columns and of candidates, the condition number
 * of the scaled matrix (NAN if it is large), and the dummies. */
void dummy_describe(Dummy *dummy, const Evaluator *evaluator, const DummyBlocks *blocks, double t, const double *y,
                    Arena *arena, TextVec *text);
