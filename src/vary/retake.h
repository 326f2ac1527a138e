/* retake: steps that were taken before, taken again: their sizes and methods are known, the columns at the stages are wanted. */
#pragma once

#include "integrate/erk_coefficients.h"
#include "integrate/stages.h"

typedef struct Retake Retake;

/* Lives in the heap. tolerance: of the run. */
Retake *retake_new(Heap *heap, const System *system);

/* A step of one of both methods, and the columns at its stages, one behind another; the last are those at its end. */
typedef struct TakenStep {
  const RadauCoefficients *method; /* NULL: the other */
  const ErkTableau *tableau;
  double t, h;
  double *values;
} TakenStep;

/* How many vectors of columns a step has. */
int taken_points(const TakenStep *step);

/* Finds the values of the step behind `before`, which is of the same method, with the present links of the system. false: they are not
 * found. */
bool retake_step(Retake *retake, const TakenStep *before, const TakenStep *step);
