/* rank_jump: the same as jump.h for an array without structural offsets, by ranks.
 *
 * What columns jump by and the impulses of the unknowns themselves solve one linear system, which need not be square: all rows of the array in
 * the new modes; and each equation integrated over the instant, once and more often, up to its highest derivative. Integrated once, a derivative
 * is the jump of the one below it, and an unknown its impulse. Integrated again, a derivative is the jump of the one two below, and a
 * first derivative the impulse: these say that nothing that is differentiated has an impulse, and no position jumps. */
#pragma once

#include "reduce/strangeness.h"

typedef struct RankJump RankJump;

/* For the array of `strangeness`. Lives in the heap. */
RankJump *rank_jump_new(Heap *heap, const Strangeness *strangeness);

/* All columns after an event at t, in place, as far as they are determined. false: the equations do not determine the jump of *column;
 * y stays as it is. O(columns^3). */
bool rank_jump_solve(RankJump *jump, double t, double *y, uint32_t *column);
