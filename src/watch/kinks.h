/* kinks: where the solution bends within the last step although nothing happens there: at zeros of the arguments of abs, min, max and
 * semiLinear, and of relations within noEvent and smooth. The error of a step of Runge-Kutta across a kink may miss its
 * estimate, which compares two sums over the same stages, by any factor; a step that ends at the kink has none. Methods of many steps need
 * less care: their estimate is how far they are from their prediction, which knows nothing of the kink. Where it is a small part of that, as
 * in a step that was made much shorter than those before, the defect tells: such a step is looked at inside.
 *
 * Where kinks are many, as those of transistors, steps that end at each of them would be short: those of radau lead over them, and their
 * estimate keeps the tolerance asked for. So it is with conditions whose branches meet (array/meeting.h). */
#pragma once

#include "view/view.h"

typedef struct Kinks Kinks;

/* For a run of this tolerance; NULL: the equations have no kinks. Lives in the heap. The system of the view tells from now on of steps
 * over bends. */
Kinks *kinks_new(Heap *heap, View *view, double start, double tolerance);

/* Should such steps end at kinks? */
bool kinks_end_steps(const Kinks *kinks, const Segment *segment);

/* Is there a kink between two points, seen from them alone? */
bool kinks_pass(Kinks *kinks, ConstMoment begin, ConstMoment end);

/* Is a point at a kink, except for round-off? */
bool kinks_hold(Kinks *kinks, double t, const double *y);

/* Columns may have jumped. */
void kinks_forget(Kinks *kinks);

/* The first kink well inside the last step; INFINITY: there is none. */
double kinks_find(Kinks *kinks, const Segment *segment);
