/* pool: see pool.h. */
#include "base/pool.h"

static void push_piece(Heap *heap, Pool *pool, void *piece) {
  if (pool->pieces == pool->places) {
    pool->places = pool->places ? 2 * pool->places : 1;
    pool->piece = heap_resize(heap, pool->piece, pool->places * sizeof *pool->piece);
  }
  pool->piece[pool->pieces++] = piece;
}

/* Adds a run that is longer than a piece as a separate block, which counts as full pieces. */
static void push_block(Heap *heap, Pool *pool, uint32_t length) {
  char *block = heap_resize(heap, NULL, length * pool->size);
  for (uint32_t begin = 0; begin < length; begin += POOL_PIECE) push_piece(heap, pool, block + begin * pool->size);
  pool->room = POOL_PIECE;
}

/* Doubles the last piece until it has room for this many elements. A new piece begins with a sixteenth of all elements, so those of
 * large pools do not grow. */
static void grow_piece(Heap *heap, Pool *pool, uint32_t length) {
  uint32_t least = pool->count / 16, room = pool->room > least ? pool->room : least;
  if (room < 8) room = 8;
  while (room < length) room *= 2;
  if (room > POOL_PIECE) room = POOL_PIECE;
  void **last = &pool->piece[pool->pieces - 1];
  *last = heap_resize(heap, *last, room * pool->size);
  pool->room = room;
}

uint32_t pool_add_beyond(Heap *heap, Pool *pool, uint32_t length) {
  if (length > INT32_MAX - POOL_PIECE || pool->count > UINT32_MAX - POOL_PIECE - length) heap_fail(heap);
  uint32_t used = pool->count - ((pool->pieces ? pool->pieces - 1 : 0) << POOL_SHIFT);
  if (!pool->pieces || used + length > POOL_PIECE) {
    pool->count = pool->pieces << POOL_SHIFT;
    if (length > POOL_PIECE) {
      uint32_t first = pool->count;
      push_block(heap, pool, length);
      pool->count = pool->pieces << POOL_SHIFT;
      return first;
    }
    push_piece(heap, pool, NULL);
    pool->room = used = 0;
  }
  if (used + length > pool->room) grow_piece(heap, pool, used + length);
  pool->count += length;
  return pool->count - length;
}

void pool_take_back(Heap *heap, Pool *pool, uint32_t position, uint32_t length) {
  pool->count = position;
  if (length <= POOL_PIECE) return;
  pool->pieces = position >> POOL_SHIFT;
  heap_free(heap, pool->piece[pool->pieces]);
}

Pool pool_over(Heap *heap, const Pool *below) {
  Pool pool = *below;
  if (!pool.pieces) return pool_make(below->size);
  uint32_t last = pool.pieces - 1, used = pool.count - (last << POOL_SHIFT);
  pool.places = pool.pieces;
  pool.piece = heap_copy(heap, below->piece, below->pieces, sizeof *below->piece);
  if (used == POOL_PIECE) return pool;
  pool.piece[last] = heap_copy(heap, below->piece[last], used, below->size);
  pool.room = used;
  return pool;
}
