/* nearest: output points of systems without a state-space form. Values of a dense output satisfy the rows only up to the error
 * of the interpolation. Newton's method with corrections of least norm finds the nearest point at which all rows hold. States
 * have a large weight in the norm, and columns that the rows determine a small one. */
#pragma once

#include "integrate/integrator.h"

typedef struct Nearest Nearest;

/* For a system whose links do not change. Lives in the heap. O(nonzeros). */
Nearest *nearest_new(Heap *heap, const System *system);

/* Forgets all history, including the pivot order. */
void nearest_forget(Nearest *nearest);

/* Moves y to the nearest point; y stays unchanged if that fails. */
void nearest_move(Nearest *nearest, double t, double *y);

/* Like nearest_move, with fixed states: at an event, where only modes have changed. Rows that contain only states are left out. */
void nearest_move_others(Nearest *nearest, double t, double *y);

/* The state that would have to move farthest so that the rows hold, and how far, relative to its size. All other columns are at
 * their best values. */
double nearest_missed(Nearest *nearest, double t, const double *y, int32_t *column);
