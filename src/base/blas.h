/* blas: what the linear algebra library needs before its first call. Some wait for ever for a buffer that they are refused. */
#pragma once

#include "base/heap.h"

/* Asks for as much room as its buffer takes, and gives it back: the refusal is the heap's. */
void blas_expect_room(Heap *heap);
