/* meeting: if-expressions whose branches have equal values and equal slopes where their condition changes, like those of a
 * transistor at the edges of its regions. A step across such an edge is accepted if its error allows. If there are many edges, that
 * costs less than ending the step at each by an event. */
#pragma once

#include "array/modes.h"

/* If there are at most this many conditions, or kinks, steps end at them, which is exact. If there are more, steps pass over
 * them, and their error estimate accounts for that. */
enum { FEW_BENDS = 12 };

/* If there are many modes whose branches meet in this way, puts their relations back into the equations, in noEvent. This is
 * done in all equations that contain such a mode, if none of them is differentiated according to `c`. Their modes are still
 * watched, marked in modes->meets. The branches are compared at random points of the edge (Schwartz, Zippel). O(size of the
 * equations) for each mode in them. */
void meeting_release(Modes *modes, Problem *problem, const int32_t *c);
