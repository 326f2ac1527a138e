/* retake: recomputes steps that were taken before: their sizes and methods are known, the columns at the stages are needed. */
#pragma once

#include "integrate/stages.h"

typedef struct Retake Retake;

/* Lives in the heap. */
Retake *retake_new(Heap *heap, const System *system);

/* A step, and the columns at its stages, one after another; the last are those at its end. */
typedef struct TakenStep {
  const RadauCoefficients *method;
  double t, h;
  double *values;
} TakenStep;

/* Finds the values of the step after `before` with the present links of the system. false: they are not
 * found. */
bool retake_step(Retake *retake, const TakenStep *before, const TakenStep *step);
