/* pool: a growing array in pieces of equal length. Elements have 32-bit positions.
 *
 * Invariant: a full piece never moves and is never written again. So another pool can begin with the same pieces (pool_over) and
 * copies only the list of them. Elements that are added together are contiguous: if the current piece has no room for them, a new
 * piece begins and the rest of the old one stays empty. */
#pragma once

#include "base/heap.h"

#include <stdint.h>

enum { POOL_SHIFT = 12, POOL_PIECE = 1 << POOL_SHIFT };

typedef struct Pool {
  void **piece;
  uint32_t pieces, places; /* pieces in use, and length of the list */
  uint32_t count;          /* the position after the last element */
  uint32_t room;           /* elements that the last piece has memory for */
  size_t size;             /* bytes of an element */
} Pool;

/* An empty pool of elements of this size. */
static inline Pool pool_make(size_t size) { return (Pool){.size = size}; }

/* A pool that begins with the elements of another one, which must outlive it and may itself grow. */
Pool pool_over(Heap *heap, const Pool *below);

/* The element of type T at a position: an lvalue. */
#define pool_at(T, pool, i) (((T *)(pool)->piece[(i) >> POOL_SHIFT])[(i) & (POOL_PIECE - 1)])

/* The slow path of pool_add: the last piece has no memory for the run. */
uint32_t pool_add_beyond(Heap *heap, Pool *pool, uint32_t length);

/* Appends a run of at least one element, not initialized, and returns its position. Elements of the last piece may move. */
static inline uint32_t pool_add(Heap *heap, Pool *pool, uint32_t length) {
  uint32_t used = pool->count - ((pool->pieces - 1) << POOL_SHIFT);
  if (!pool->pieces || length > pool->room || used > pool->room - length) return pool_add_beyond(heap, pool, length);
  pool->count += length;
  return pool->count - length;
}

/* Removes the last run, which has this position and length. */
void pool_take_back(Heap *heap, Pool *pool, uint32_t position, uint32_t length);
