/* signs: of the determinants of the model's own blocks, along runs of systems that have no such blocks themselves (ggl, overdetermined, none).
 * Where one is zero, the equations do not determine the solution, and such a system may step over it. */
#pragma once

#include "view/view.h"
#include "watch/determinants.h"

typedef struct SignChange {
  double time; /* about */
  int32_t block;
} SignChange;

typedef struct Signs Signs;

/* Lives in the heap. */
Signs *signs_new(Heap *heap, View *view, const DeterminantPlan *plan);

/* Looks at the columns of the model's array at t, the end of a step. true: a determinant was zero since the looks before, with another sign after it or with the same. One factorization a block. */
bool signs_look(Signs *signs, double t, const double *y, SignChange *change);
