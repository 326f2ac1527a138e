/* steady: a point at which nothing changes: the equations as written hold with every derivative zero, at a fixed time.
 * Differentiated rows of the array then hold by themselves. */
#pragma once

#include "view/view.h"

typedef struct SteadySystem SteadySystem;

/* The equations of the view's array with all derivatives zero. Lives in the heap. */
SteadySystem *steady_new(Heap *heap, View *view, double t);

/* Newton's method with steps as short as the residual requires, and with steps of Levenberg and Marquardt if the Jacobian is
 * singular. y: all columns, in place; derivatives become zero. false: it found no steady state, and y is unchanged. */
bool steady_newton(SteadySystem *steady, double *y, uint32_t *iterations);

/* Continuation from a problem that y solves: the residual there goes to zero step by step. */
bool steady_continue(SteadySystem *steady, double *y, uint32_t *iterations);

/* The largest residual at y with all derivatives zero, scaled by the change that one iteration would make; INFINITY if it is
 * undefined. */
double steady_residual(SteadySystem *steady, const double *y);

/* Is the Jacobian regular at y? If it is singular, there are other steady states arbitrarily near. */
bool steady_is_isolated(SteadySystem *steady, const double *y);
