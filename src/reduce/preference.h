/* preference: how strongly columns are preferred as states, by nominal values and stateSelect.
 *
 * A preference is the weight of an unknown as a dummy. If M may become singular for the preferred states, preferences are limited by a
 * bound: errors of the states reach the dummies through M^-1 N, which no error test of the states sees. */
#pragma once

#include "code/block_shape.h"
#include "core/dummy.h"

/* A larger weight means less preferred as a state: the nominal value of the unknown, times a factor by its stateSelect. */
double preference_weight(const Evaluator *evaluator, int32_t unknown);

/* Must the preferences of a block be bounded? Not if they are nearly equal, nor if every row that chooses dummies can be solved,
 * with constant entries, for columns that are not preferred: then the matrix is always regular. O(entries). */
bool preference_is_bounded(const Evaluator *evaluator, const BlockShape *shape);
