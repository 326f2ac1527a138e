/* condense: eliminates columns that are neither states nor rates from a linear system, once for each Jacobian.
 *
 * Their entries do not depend on the step size. So the work is shared by all matrices made from the same Jacobian, real and
 * complex, and by all their solves. A column with a constant entry 1 or -1 in a row is assigned by that row; it is eliminated
 * without division. Other columns are eliminated unless that increases the number of entries. The remaining system has the size
 * that substitution by hand would give: often the number of states. */
#pragma once

#include "base/pairs.h"
#include "segment/elimination.h"

typedef struct Condense Condense;

/* Makes room for any choice of states of the system; lives in the heap. condense_choose must follow. */
Condense *condense_new(Heap *heap, const System *system);

/* Decides which columns are eliminated with the system's present links, from one of its Jacobians; NULL eliminates nothing.
 * O(columns * rows); systems of more than LARGE_ROWS rows are left as they are. */
void condense_choose(Condense *condense, const double *jacobian);

/* The remaining system: its pattern (valid until the next choice) and, after condense_jacobian, its values in that order. */
const JacobianPattern *condense_pattern(const Condense *condense);
const double *condense_values(const Condense *condense);

/* Eliminates the rows of a Jacobian of the system. false: the choice does not suit it, and must be made again. */
bool condense_jacobian(Condense *condense, const double *jacobian);

/* The remaining rows of the system, ascending: as many as the pattern has. */
const int32_t *condense_rows(const Condense *condense);

/* Several right-hand sides at once, `lanes` of them (1, 4, 6 or 8): entry r of side i is [r * lanes + i]. Vectors of more than
 * one lane are aligned as a pair is. */

/* Eliminates the rows in right-hand sides, in place; the remaining rows then hold the right-hand sides of the remaining system. */
void condense_right(const Condense *condense, int lanes, double *residual);

/* Sets the eliminated columns in `change` so that J change + residual = 0 holds in their rows, too; `residual` is as condense_right
 * left it. */
void condense_expand(const Condense *condense, int lanes, double *residual, double *change);
