/* kink_modes: kinks that cause events. If an equation is differentiated once, a kink in it makes algebraic variables jump, and a
 * step may pass over it. If it is differentiated twice, its first derivative, a constraint on velocities, jumps. Only an event can
 * distribute that jump over the masses (view/model_jump.h). In such equations max(a, b) becomes if a >= b then a else b, and similarly
 * for min, abs and semiLinear. noEvent is removed. smooth(p, e) is removed if it does not promise that the derivative which jumps
 * is continuous. Only conditions within them whose branches meet smoothly (joint.h) stay without events.
 *
 * In all other equations, an if-expression without events gets events if it certainly jumps at an edge that depends only on states
 * and time. The solution may slide along such an edge, and steps must not pass over it.
 *
 * A solution that is differentiated with respect to parameters needs more. If the equations jump without an event, the derivatives
 * of the solution also jump, because the time of the jump varies. So the jump becomes an event, at which derivatives are corrected
 * (vary/sensitivity.h). A kink in an equation that is differentiated once becomes an event for the same reason. Conditions whose
 * branches meet make no events, and neither do conditions that only guard a root or a logarithm against undefined arguments. */
#pragma once

#include "array/array.h"

/* Rewrites in place the residuals of a problem for all modes, before its modes are extracted. Structural analysis says how often an
 * equation is differentiated, in the mode with the most differentiations. If that analysis is wrong, request all equations.
 * structure: the structure of the problem, which stays the same; NULL: unknown. varies: its solution will be differentiated with
 * respect to parameters. O(size of the equations) in each mode tried. */
void kink_modes_open(Problem *problem, const Structure *structure, bool all, bool varies, Arena *arena);

/* An equation that has a kink without an event, at which these differentiations make velocities jump; MAP_NONE: there is none. */
uint32_t kink_modes_left(const Problem *problem, const int32_t *c);
