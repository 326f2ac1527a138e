/* vectors: the vectors of SUNDIALS, with their numbers in our heap, and its matrices.
 *
 * SUNDIALS does not look whether a copy could be made (N_VClone and SUNMatClone of 6.4 write into it). So a copy that is refused leaves through
 * heap_fail, and never comes back as NULL. */
#pragma once

#include "base/heap.h"

#include <nvector/nvector_serial.h>
#include <sunmatrix/sunmatrix_dense.h>

/* A vector of zeros; copies that SUNDIALS makes of it are in the same heap. N_VDestroy ends it. */
N_Vector vector_new(Heap *heap, sunindextype length, SUNContext context);

/* A square matrix, whose copies do not come back as NULL, either. SUNMatDestroy ends it. */
SUNMatrix vector_matrix(Heap *heap, sunindextype size, SUNContext context);

/* The context of an integrator. Its small parts come from malloc, whose refusal SUNDIALS does not outlive: asks first whether there is room. */
SUNContext vector_context(Heap *heap);

/* A handler of errors that leaves them to the status of the call. */
void vector_ignore(int code, const char *module, const char *function, char *message, void *self);
