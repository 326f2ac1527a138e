/* kinks: places within the last step where the solution bends without an event: zeros of the arguments of abs, min, max and
 * semiLinear, and of relations within noEvent and smooth.
 *
 * A Runge-Kutta step estimates its error by comparing two sums over the same stages. Across a kink the error may exceed this
 * estimate by any factor; a step that ends at the kink has no such error. Multistep methods need less care: they estimate the error
 * by the difference from their prediction, which does not include the kink. If that estimate is a small part of the difference,
 * as in a step much shorter than those before, the defect shows the error, and the step is examined inside.
 *
 * If there are many kinks, as in circuits with transistors, steps that end at each of them would be short. Steps of radau pass over
 * them, and their estimate keeps the requested tolerance. The same holds for conditions whose branches meet (array/meeting.h). */
#pragma once

#include "segment/segment.h"
#include "segment/system.h"

typedef struct Kinks Kinks;

typedef struct KinksPlan {
  void *host;
  uint32_t count;
  bool are_few;
  /* Computes at a point the arguments, then their rates; with `sizes`, the sizes of the terms of each. Returns false if one
   * of the values is undefined. */
  bool (*evaluate)(void *host, bool sizes, double t, const double *y, double *out);
  /* All columns at a time of a step. */
  bool (*point)(void *host, const Segment *segment, double t, double *y);
} KinksPlan;

/* Watches kinks in a run with this tolerance. Lives in the heap. */
Kinks *kinks_new(Heap *heap, const KinksPlan *plan, const System *system, double start, double tolerance);

/* Should steps with this segment end at kinks? */
bool kinks_end_steps(const Kinks *kinks, const Segment *segment);

/* Is there a kink between two points, judged from these points alone? */
bool kinks_pass(Kinks *kinks, double t, const double *y, double t_end, const double *end);

/* Does the last step cross a kink, or come nearer to one than it is long? An implicit method may have used a matrix from the other
 * side of the kink. Its iteration then ends before the rows are solved. */
bool kinks_are_near(Kinks *kinks, const Segment *segment);

/* Is a point at a kink, except for round-off? */
bool kinks_hold(Kinks *kinks, double t, const double *y);

/* A point beside the kinks at y: moves each column by another amount, by `steps` units of round-off. */
void kinks_step_aside(const System *system, const double *y, int steps, double *beside);

/* Call this where columns may have jumped. */
void kinks_forget(Kinks *kinks);

/* Two times around a kink, as near as the search can tell them. */
typedef struct Kink {
  double low, high;
} Kink;

/* Finds the first kink well inside the last step. false: there is none. */
bool kinks_find(Kinks *kinks, const Segment *segment, Kink *kink);
