/* signs: the signs of the determinants of the model's own blocks, during runs of systems that do not have such blocks themselves
 * (ggl, overdetermined, none). If a determinant is zero, the equations do not determine the solution, and such a system may step
 * over it. */
#pragma once

#include "view/view.h"
#include "watch/determinants.h"

typedef struct SignChange {
  double time; /* approximate */
  int32_t block;
} SignChange;

typedef struct Signs Signs;

/* Lives in the heap. */
Signs *signs_new(Heap *heap, View *view, const DeterminantPlan *plan);

/* Evaluates the determinants at t, the end of a step, from the columns of the model's array. Returns true if a determinant
 * was zero since the evaluations before, whether its sign changed or not. Costs one factorization per block. */
bool signs_look(Signs *signs, double t, const double *y, SignChange *change);
