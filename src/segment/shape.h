/* shape: what a method tells of the polynomials of its last step, and how they are evaluated. Exported solvers carry it as it stands. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the polynomials of a step are. */
typedef struct StepShape {
  int degree;  /* less than BERNSTEIN_MOST; 0 before the first step */
  double part; /* of the step: a place between the method's points at which the defect is large */
  double
      defect; /* of a smooth solution with the error that the method found: the largest, as an error in tolerances, where that is more than DEFECT_HARMLESS */
} StepShape;

/* Where the columns come from: the step of a method. */
typedef struct SegmentMethods {
  /* These columns at a time of the step, of the method's continuous order; NULL: the first `count`. Others in y stay as they are. Columns that are no states are only as good as the
   * method makes them: good guesses for `complete`. */
  void (*interpolate)(void *self, double t, const uint32_t *columns, uint32_t count, double *y);
  StepShape (*shape)(void *self); /* it may evaluate the system, as `interpolate` does */
  bool is_explicit;               /* of columns that are no states `interpolate` gives no more than guesses */
  bool is_costly;                 /* `interpolate` evaluates the system when it is first called */
  bool
      is_collocation; /* of a long step: a column may make a whole turn in it, and the polynomial overshoot early in it */
} SegmentMethods;
