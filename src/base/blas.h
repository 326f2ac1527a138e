/* blas: prepares the linear algebra library before its first call. Some libraries wait forever if no memory is available for
 * their buffer. */
#pragma once

#include "base/heap.h"

/* Allocates and frees as much memory as the library's buffer takes, so that the heap refuses instead of the library. */
void blas_expect_room(Heap *heap);
