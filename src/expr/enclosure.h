/* enclosure: bounds of an expression over an interval of time, with all other values constant. A search for roots in time that
 * uses them misses none, even if roots are very close. Bounds are rounded outwards; an operator without a rule has
 * none. Exported solvers contain this file unchanged; expr/enclosure_plan.h makes the steps. */
#pragma once

#include "expr/interval.h"

#include <stdint.h>

/* A step applies an operator to the results of earlier steps, whose numbers are at `child`, or reads the leaf with this index. */
typedef struct EnclosureStep {
  int op;
  uint32_t count, child, index;
  double constant; /* the value of a constant; the constant term of a sum */
} EnclosureStep;

/* The last step is the expression. */
typedef struct Enclosure {
  uint32_t count;
  const EnclosureStep *step;
  const uint32_t *child;
  const double *coefficient; /* coefficients at the same places; for sums only */
} Enclosure;

/* The values of the leaves other than time; a variable may have any value. */
typedef struct HeldValues {
  const double *parameters, *discretes, *pre;
} HeldValues;

/* Bounds over the given times, at these values; the whole line if the expression is not defined. `room` has an element for each
 * step. */
Interval enclosure_bounds(const Enclosure *enclosure, Interval time, HeldValues held, Interval *room);

/* The value at one time; NAN if not defined. The expression has no variables. */
double enclosure_value(const Enclosure *enclosure, double time, HeldValues held, Interval *room);

/* The number of discrete values on which the expression depends. The second function stores them, and returns whether they are
 * unchanged. */
uint32_t enclosure_discretes(const Enclosure *enclosure);
bool enclosure_hold(const Enclosure *enclosure, HeldValues held, double *kept);
