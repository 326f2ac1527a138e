/* blas: see blas.h. */
#include "base/blas.h"

#include <stdatomic.h>

enum { BUFFER = 36 << 20 }; /* bytes: 32 MiB, and what goes with them */

void blas_expect_room(Heap *heap) {
  static atomic_bool is_known;
  if (atomic_load_explicit(&is_known, memory_order_relaxed)) return;
  heap_free(heap, heap_resize(heap, NULL, BUFFER)); /* not touched */
  atomic_store_explicit(&is_known, true, memory_order_relaxed);
}
