/* poles: where an equation divides by zero within the last step. Two points of a run stand on both sides of such a time, and each has its values: nothing else
 * tells that the solution is not defined in between.
 *
 * What is watched are the factors of what the equations divide by, or take the logarithm of, and cos(x) for tan(x) (ArrayCode.pole). One is zero where it changes its
 * sign, or where it is below the tolerance times what it is on both sides, a step apart at most. A quotient whose dividend is zero there too has a value, and a branch that is not taken
 * has no say. */
#pragma once

#include "view/view.h"

typedef struct Poles Poles;

typedef struct Pole {
  double time;
  uint32_t equation;
  Expr divisor, node; /* what is zero, and the quotient, logarithm or tangent that is infinite */
} Pole;

/* For a run; NULL: there is nothing to watch, or nothing that can be zero from `start` to `stop`. Lives in the heap. */
Poles *poles_new(Heap *heap, View *view, double start, double stop, double tolerance);

/* Columns may have jumped. */
void poles_forget(Poles *poles);

/* A pole within a step, which counts up to `end`; to be called until there is none left. Each divisor is found once. One evaluation of the divisors in most cases. */
bool poles_find(Poles *poles, const Segment *segment, ConstMoment begin, ConstMoment end, Pole *pole);
