/* rank_jump: like core/jump.h for an array without structural offsets, by ranks.
 *
 * The jumps of columns and the impulses of the unknowns solve one linear system, which need not be square. It has all rows
 * of the array in the new modes, and each equation integrated over the instant, once and more often, up to its highest
 * derivative. If an equation is integrated once, a derivative in it becomes the jump of the next lower derivative, and an
 * unknown becomes its impulse. If it is integrated again, a derivative becomes the jump of the derivative two orders lower,
 * and a first derivative becomes an impulse. So no differentiated variable has an impulse, and no position jumps. */
#pragma once

#include "reduce/strangeness.h"

typedef struct RankJump RankJump;

/* For the array of `strangeness`. Lives in the heap. */
RankJump *rank_jump_new(Heap *heap, const Strangeness *strangeness);

/* Computes all columns after an event at t, in place, as far as they are determined. false: the equations do not determine the jump
 * of *column, and y stays unchanged. O(columns^3). */
bool rank_jump_solve(RankJump *jump, double t, double *y, uint32_t *column);
