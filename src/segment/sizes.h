/* sizes: absolute tolerances of states without a nominal value.
 *
 * The size of a state is its largest value so far, and at most 1, because the relative tolerance is enough for large values. A state that
 * should be zero contains the errors of other columns, and steps must not follow these. So its size is at least what its rate and
 * the sizes of other states cause within a step. Its absolute tolerance is at least the error that Newton's method leaves in the
 * columns coupled with it. If steps fail, all sizes are 1: the rate of a state may jump, and the shortest step must be within the
 * tolerance. While the solution slides, the rates of both sides cancel, and sizes are 1 as well. */
#pragma once

#include "base/heap.h"
#include "segment/system.h"

typedef struct Sizes Sizes;

/* The last step; at a start, its end is its beginning. `start` and `span` are the start time and the length of the run. */
typedef struct SizesStep {
  double begin, end, start, span, tolerance;
  bool is_sliding;
} SizesStep;

/* Per column of the system: is_sized if it has no nominal value, is_signed if min or max give it one sign. `size`
 * receives the sizes, `known` the largest values so far; both belong to the caller. Lives in the heap. */
Sizes *sizes_new(Heap *heap, const System *system, const bool *is_sized, const bool *is_signed, double *size,
                 double *known);

/* Call this at a start. */
void sizes_begin(Sizes *sizes);

/* The sizes after a step to y. Cost: O(columns), and now and then the Jacobian of the rates. */
void sizes_note(Sizes *sizes, const SizesStep *step, const double *y);

/* From now on all sizes are 1; false: they already were 1. */
bool sizes_widen(Sizes *sizes);
