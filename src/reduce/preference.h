/* preference: how strongly columns are preferred as states, by nominal values and stateSelect.
 *
 * A preference is the weight of an unknown as a dummy. If M may become singular for the preferred states, preferences are limited by a
 * bound: errors of the states reach the dummies through M^-1 N, which no error test of the states sees. */
#pragma once

#include "code/block_shape.h"
#include "core/dummy.h"

/* The preferences of a block: a column with a larger number is less preferred as a state. true: the weight of a column is its
 * preference times its allowed error, which changes during a run. false: the preferences are the weights; they are nominal
 * values of about the same size. Preferences by stateSelect are bounded, unless the matrix is regular in any case. It is if
 * every row that chooses dummies can be solved, with constant entries, for columns that are not preferred. O(entries). */
bool preference_of_block(const Evaluator *evaluator, const BlockShape *shape, double *preference);

/* The columns of variables with the stateSelect `always`, then those with `prefer`. */
IndexVec preference_columns(Heap *heap, const Array *array);
