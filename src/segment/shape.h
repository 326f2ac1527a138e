/* shape: properties of the polynomials of a method's last step, and their evaluation. Exported solvers contain this
 * file unchanged. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The form of the polynomials of a step. */
typedef struct StepShape {
  int degree;  /* less than BERNSTEIN_MOST; 0 before the first step */
  double part; /* part of the step: a place between the method's points at which the defect is large */
  /* the largest defect that a smooth solution can have with the error that the method found, in tolerances, if it exceeds
   * DEFECT_HARMLESS */
  double defect;
} StepShape;

/* The source of the columns: the step of a method. */
typedef struct SegmentMethods {
  /* Evaluates these columns at a time of the step, with the method's continuous order; NULL: the first `count`. Other entries of y
   * stay unchanged. Columns that are not states are only as accurate as the method makes them: good guesses for `complete`. */
  void (*interpolate)(void *self, double t, const uint32_t *columns, uint32_t count, double *y);
  StepShape (*shape)(void *self); /* it may evaluate the system, as `interpolate` does */
  bool is_explicit;               /* for columns that are not states `interpolate` gives only guesses */
  bool is_costly;                 /* `interpolate` evaluates the system when it is first called */
  /* steps may be long: a column may make a whole oscillation in one, and the polynomial may overshoot early in it */
  bool is_collocation;
} SegmentMethods;
