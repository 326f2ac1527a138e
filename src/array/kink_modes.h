/* kink_modes: kinks that make events. Where an equation is differentiated once, a kink in it makes algebraic variables jump, and a step may
 * lead over it. Where it is differentiated twice, its first derivative, a constraint on velocities, jumps: what has inertia shares that jump,
 * which only an event does (solve/share.h). In such equations max(a, b) becomes if a >= b then a else b, and so do min, abs and
 * semiLinear; noEvent goes, and so does smooth(p, e) where a derivative jumps that it does not promise. Only conditions within them whose branches
 * meet smoothly (joint.h) stay without events.
 *
 * A solution that is differentiated by parameters needs more. Where the equations jump without an event, its derivatives jump with the time of
 * that: the jump becomes an event, at which they are followed (solve/sensitivity.h). So does a kink in an equation that is differentiated
 * once. Conditions whose branches meet stay, as those that only keep a root or a logarithm from being evaluated where it is not defined. */
#pragma once

#include "array/array.h"

/* Rewrites the residuals of a problem of all modes whose own modes have not been taken out yet, in place. Structure
 * says how often an equation is differentiated, in the mode with the most differentiations; where structure is
 * wrong, ask for all equations. structure: that of the problem, which stays the same; NULL: not known. varies: its
 * solution will be differentiated by parameters. O(size of the equations) in each mode tried. */
void kink_modes_open(Problem *problem, const Structure *structure, bool all, bool varies, Arena *arena);

/* An equation with a kink that makes no event though these differentiations make velocities jump there; MAP_NONE: there is none. */
uint32_t kink_modes_left(const Problem *problem, const int32_t *c);
