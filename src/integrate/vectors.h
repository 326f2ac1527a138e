/* vectors: the vectors of SUNDIALS, with their numbers in our heap, and its matrices.
 *
 * SUNDIALS does not check whether a copy could be made (N_VClone and SUNMatClone of 6.4 write into it). So a refused copy leaves
 * through heap_fail, and is never returned as NULL. */
#pragma once

#include "base/heap.h"

#include <nvector/nvector_serial.h>
#include <sunmatrix/sunmatrix_dense.h>

/* A vector of zeros; copies that SUNDIALS makes of it are in the same heap. N_VDestroy frees it. */
N_Vector vector_new(Heap *heap, sunindextype length, SUNContext context);

/* A square matrix, whose copies are never NULL, either. SUNMatDestroy frees it. */
SUNMatrix vector_matrix(Heap *heap, sunindextype size, SUNContext context);

/* The context of an integrator. Its small parts come from malloc, and SUNDIALS does not survive a refusal. So this function
 * first checks whether there is room. */
SUNContext vector_context(Heap *heap);

/* An error handler that ignores errors: the status of the call reports them. */
void vector_ignore(int code, const char *module, const char *function, char *message, void *self);
