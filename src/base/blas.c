/* blas: see blas.h. */
#include "base/blas.h"

enum { BUFFER = 36 << 20 }; /* bytes: 32 MiB and some overhead */

void blas_expect_room(Heap *heap) { heap_expect(heap, BUFFER); }
