/* priority: see priority.h. */
#include "structure/priority.h"

void priority_push(Heap *heap, Priority *queue, uint64_t key) {
  vec_push(heap, queue, key);
  uint32_t at = queue->count - 1;
  while (at > 0 && queue->data[(at - 1) / 2] > key) {
    queue->data[at] = queue->data[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  queue->data[at] = key;
}

uint64_t priority_pop(Priority *queue) {
  uint64_t smallest = queue->data[0], last = vec_pop(queue);
  uint32_t at = 0;
  for (uint32_t child; (child = 2 * at + 1) < queue->count; at = child) {
    if (child + 1 < queue->count && queue->data[child + 1] < queue->data[child]) child++;
    if (queue->data[child] >= last) break;
    queue->data[at] = queue->data[child];
  }
  if (queue->count) queue->data[at] = last;
  return smallest;
}
