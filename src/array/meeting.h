/* meeting: if-expressions whose branches meet where their condition changes, and their slopes too, as those of a transistor do at the edges
 * of its regions. A step that leads over such an edge is judged by its error. Where there are many, each costs less so than
 * an event that ends the step. */
#pragma once

#include "array/modes.h"

/* So few conditions, or kinks, end steps, which is exact; more of them are led over, where the error of a step tells of them. */
enum { FEW_BENDS = 12 };

/* Puts the relations of modes back into the equations, in noEvent, where there are many whose branches meet so: in all equations that
 * hold the mode, none of which is differentiated, by `c`. Their modes stay to be watched, with a mark in modes->meets.
 * The branches are compared at random points of the edge (Schwartz, Zippel). O(size of the equations) a mode in each. */
void meeting_release(Modes *modes, Problem *problem, const int32_t *c);
