/* blas: what the linear algebra library needs of us. Some wait for ever for a buffer that they are refused. */
#pragma once

#include "base/heap.h"

/* Asks for as much room as its buffer takes, and gives it back: the refusal is the heap's. */
void blas_expect_room(Heap *heap);

/* What BLAS and LAPACK call for an argument that they refuse: says nothing, in place of the library's own, which prints.
 * Who calls looks at info. (In the shared library the name is not exported: it would be that of the whole process.) */
void xerbla_(const char *routine, const int *argument, size_t length);
