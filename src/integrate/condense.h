/* condense: columns that are no states and no rates, taken out of a linear system once for each Jacobian.
 *
 * Their entries do not meet a step size, so the work is shared by every matrix made from the same Jacobian, real and
 * complex, and all their solves. Columns with a constant entry 1 or -1 in a row, which is an assignment to them, go by
 * pivots that divide by nothing; others go unless what is left gets more entries by that. What is left has the size that a
 * person who substitutes by hand arrives at: often that of the states.
 */
#pragma once

#include "base/pairs.h"
#include "segment/elimination.h"

typedef struct Condense Condense;

/* Room for any choice of states of the system; lives in the heap. condense_choose must follow. */
Condense *condense_new(Heap *heap, const System *system);

/* Decides what is taken out with the system's present links, from a Jacobian of it; NULL takes nothing out.
 * O(columns * rows), and nothing is taken out of large systems. */
void condense_choose(Condense *condense, const double *jacobian);

/* What is left: its pattern (valid until the next choice) and, after condense_jacobian, its values in that order. */
const JacobianPattern *condense_pattern(const Condense *condense);
const double *condense_values(const Condense *condense);

/* Takes the rows out of a Jacobian of the system. false: the choice does not serve for it, and is to be made again. */
bool condense_jacobian(Condense *condense, const double *jacobian);

/* Rows of the system that are left, ascending: as many as the pattern has. */
const int32_t *condense_rows(const Condense *condense);

/* Several right-hand sides at once, `lanes` of them (1, 4, 6 or 8): entry r of side i is [r * lanes + i]. Vectors of more than
 * one lane are aligned as a pair is. */

/* Takes the rows out of right-hand sides, in place; the rows left are then those of what is left. */
void condense_right(const Condense *condense, int lanes, double *residual);

/* Sets the columns taken out within `change` such that J change + residual = 0 holds in their rows too;
 * `residual` as condense_right left it. */
void condense_expand(const Condense *condense, int lanes, double *residual, double *change);
