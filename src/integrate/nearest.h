/* nearest: output points of systems without a state-space form. What a dense output gives satisfies the rows only as
 * well as it interpolates; the point nearest to it where all rows hold is found by Newton's method with corrections of
 * least norm, in which states weigh heavily and columns that the rows determine lightly. */
#pragma once

#include "integrate/integrator.h"

typedef struct Nearest Nearest;

/* For a system whose links stay as they are. Lives in the heap. O(nonzeros). */
Nearest *nearest_new(Heap *heap, const System *system);

/* Nothing of the points so far counts for those to come, the order of pivots neither. */
void nearest_forget(Nearest *nearest);

/* Moves y to the nearest point; y stays as it is where that fails. */
void nearest_move(Nearest *nearest, double t, double *y);

/* The same with states that stay where they are: at an event, where only modes have changed. Rows that hold
 * states alone are left as they are. */
void nearest_move_others(Nearest *nearest, double t, double *y);

/* How far a state would have to move for the rows to hold, relative to its size, and which: with all others where they are best. */
double nearest_missed(Nearest *nearest, double t, const double *y, int32_t *column);
