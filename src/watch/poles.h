/* poles: divisions by zero within the last step. The points of a run on both sides of such a time have finite values, and nothing
 * else shows that the solution is undefined between them.
 *
 * The factors of all divisors and of all arguments of logarithms are watched, and cos(x) for tan(x) (ArrayCode.pole). A factor
 * counts as zero if it changes its sign, or if it is smaller than the tolerance times its values at times that are at most one
 * step earlier or later. A quotient whose dividend is also zero there has a value, and a branch that is not taken does not
 * count. */
#pragma once

#include "view/view.h"

typedef struct Poles Poles;

typedef struct Pole {
  double time;
  uint32_t number, equation; /* of the divisor, and of the equation */
  Expr divisor, node; /* the divisor that is zero, and the quotient, logarithm or tangent that becomes infinite */
} Pole;

/* For one run; NULL: there is nothing to watch, or nothing can be zero from `start` to `stop`. Lives in the heap. */
Poles *poles_new(Heap *heap, View *view, double start, double stop, double tolerance);

/* Call this where columns may have jumped. */
void poles_forget(Poles *poles);

/* Finds a pole within a step, up to `end`. Call it until it finds none; each divisor is found once. Costs one evaluation of the
 * divisors in most cases. */
bool poles_find(Poles *poles, const Segment *segment, ConstMoment begin, ConstMoment end, Pole *pole);

/* A state whose rate grows towards the pole like 1/(t - pole->time), or faster: its integral over the pole has no value, so that the
 * solution ends. The pole will then be found again. -1: there is none. */
int32_t poles_end_state(Poles *poles, const Segment *segment, const Pole *pole);
