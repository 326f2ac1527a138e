/* parts: the parts of a model that hide constraints, and in each the variables of the highest index. These amplify the errors
 * of all other variables most, and none of their initial values is free. The model is taken as written. */
#pragma once

#include "array/array.h"

typedef struct HiddenPart {
  int32_t index;               /* index of the part by itself: 2 or more */
  IndexVec variables, highest; /* unknowns of the model: all in the part; those of highest index in it */
} HiddenPart;
typedef VEC(HiddenPart) HiddenParts;

/* Empty if no constraint is hidden. Owned by the heap. About linear in the size of the model. */
HiddenParts parts_find(Model *model, Heap *heap);
