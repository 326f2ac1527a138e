/* vec: see vec.h. */
#include "base/vec.h"

void *vec_grow(Heap *heap, void *data, size_t size, uint32_t count, uint32_t *capacity, uint32_t more) {
  if (more <= *capacity - count) return data;
  if (more > INT32_MAX - count) heap_fail(heap);
  uint32_t need = count + more;
  uint32_t room = *capacity < 4 ? 8 : *capacity > INT32_MAX / 2 ? INT32_MAX : 2 * *capacity;
  if (room < need) room = need;
  data = heap_resize(heap, data, (size_t)room * size);
  *capacity = room;
  return data;
}

uint32_t search_last(const uint32_t *first, size_t stride, uint32_t count, uint32_t key) {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    const void *at = (const char *)first + stride * middle;
    if (*(const uint32_t *)at <= key) low = middle;
    else high = middle;
  }
  return low;
}
