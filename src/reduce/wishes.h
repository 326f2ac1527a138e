/* wishes: how much columns are wanted as states, by nominal values and stateSelect.
 *
 * A wish is a weight of an unknown as a dummy. If M may become singular for the preferred states, preferences are
 * limited by a bound: errors of the states reach the dummies through M^-1 N, which no error test of the states sees. */
#pragma once

#include "code/block_matrix.h"

/* How late an unknown is to be a state: its nominal value, times a factor by its stateSelect. */
double wishes_weight(const Evaluator *evaluator, int32_t unknown);

/* Must the wishes of a block be bounded? Not if they are nearly equal, nor if every row that chooses dummies can be
 * solved, with constant entries, for columns that are not wished for: then the matrix is always regular. O(entries). */
bool wishes_are_bounded(const Evaluator *evaluator, const BlockShape *shape);

/* The weights of such a block at a point, per block column. */
void wishes_bound(const Evaluator *evaluator, const BlockShape *shape, const double *wish, const double *y,
                  double *weight);
