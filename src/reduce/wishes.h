/* wishes: how much columns are wanted as states, by nominal values and stateSelect.
 *
 * A wish is a weight of an unknown as a dummy. Where M may become singular for the states that are wished for, wishes go no further than
 * to a bound: the errors of the states reach the dummies by M^-1 N, which no error test of the states sees. */
#pragma once

#include "code/block_shape.h"
#include "core/dummy.h"

/* How late an unknown is to be a state: its nominal value, times a factor by its stateSelect. */
double wishes_weight(const Evaluator *evaluator, int32_t unknown);

/* Are the wishes of a block to be bounded? Not where they are about the same, nor where every row that dummies are chosen by can be solved for what
 * is not wished for with entries that never change: whatever the columns, the matrix is then regular. O(entries). */
bool wishes_are_bounded(const Evaluator *evaluator, const BlockShape *shape);
