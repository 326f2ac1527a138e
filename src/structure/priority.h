/* priority: a queue that returns the smallest key first (binary heap). Keys are whole values, so equal ones are indistinguishable
 * and the order of insertion never shows in a result. */
#pragma once

#include "base/vec.h"

typedef VEC(uint64_t) Priority;

/* Adds a key; memory comes from the heap. O(log count). */
void priority_push(Heap *heap, Priority *queue, uint64_t key);

/* Removes and returns the smallest key; the queue must not be empty. O(log count). */
uint64_t priority_pop(Priority *queue);
