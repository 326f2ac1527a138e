/* heap: see heap.h. Blocks and deferred releases hang in one doubly linked ring, so that freeing
 * one block early and freeing all at the end need no other bookkeeping. */
#include "base/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct Block Block;
struct Block {
  Block *next, *previous;
  size_t size;
  void (*release)(void *object); /* set in a deferred release, whose payload is the object pointer */
};

/* The payload follows the header at the strictest alignment. */
enum { HEADER = (sizeof(Block) + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t) };

struct Heap {
  HeapHook hook;
  Block ring;
  size_t bytes;
  jmp_buf *catch_point;
};

static void *resize_default(void *context, void *pointer, size_t size) {
  (void)context;
  if (size == 0) {
    free(pointer);
    return NULL;
  }
  return realloc(pointer, size);
}

Heap *heap_new(const HeapHook *hook) {
  HeapHook chosen = hook ? *hook : (HeapHook){resize_default, NULL};
  Heap *heap = chosen.resize(chosen.context, NULL, sizeof *heap);
  if (!heap) return NULL;
  memset(heap, 0, sizeof *heap);
  heap->hook = chosen;
  heap->ring.next = heap->ring.previous = &heap->ring;
  return heap;
}

const HeapHook *heap_hook(const Heap *heap) { return &heap->hook; }
size_t heap_bytes(const Heap *heap) { return heap->bytes; }

static void *payload(Block *block) { return (char *)block + HEADER; }
static Block *header(void *pointer) { return (Block *)(void *)((char *)pointer - HEADER); }

static void unlink_block(Block *block) {
  block->previous->next = block->next;
  block->next->previous = block->previous;
}

static void link_block(Heap *heap, Block *block) {
  block->previous = heap->ring.previous;
  block->next = &heap->ring;
  heap->ring.previous->next = block;
  heap->ring.previous = block;
}

_Noreturn void heap_fail(Heap *heap) {
  if (!heap->catch_point) abort(); /* a missing HEAP_TRY is a bug in daedal, not a condition */
  longjmp(*heap->catch_point, 1);
}

jmp_buf *heap_set_catch(Heap *heap, jmp_buf *point) {
  jmp_buf *before = heap->catch_point;
  heap->catch_point = point;
  return before;
}

void *heap_resize(Heap *heap, void *pointer, size_t size) {
  if (size > PTRDIFF_MAX - HEADER) heap_fail(heap);
  Block *old = pointer ? header(pointer) : NULL;
  size_t before = old ? old->size : 0;
  if (old) unlink_block(old);
  Block *block = heap->hook.resize(heap->hook.context, old, HEADER + size);
  if (!block) {
    if (old) link_block(heap, old);
    heap_fail(heap);
  }
  if (!old) block->release = NULL;
  block->size = size;
  link_block(heap, block);
  heap->bytes += old ? size - before : HEADER + size;
  return payload(block);
}

void *heap_alloc(Heap *heap, size_t size) { return memset(heap_resize(heap, NULL, size), 0, size); }

void *heap_array(Heap *heap, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) heap_fail(heap);
  return heap_alloc(heap, count * size);
}

static void free_block(Heap *heap, Block *block) {
  if (block->release) block->release(*(void **)payload(block));
  heap->bytes -= HEADER + block->size;
  unlink_block(block);
  heap->hook.resize(heap->hook.context, block, 0);
}

void heap_free(Heap *heap, void *pointer) {
  if (pointer) free_block(heap, header(pointer));
}

void *heap_defer(Heap *heap, void (*release)(void *object), void *object) {
  jmp_buf *outer = heap->catch_point;
  jmp_buf here;
  if (!HEAP_TRY(heap, here)) { /* the object is not in the ring yet: release it, then go on failing */
    heap->catch_point = outer;
    release(object);
    heap_fail(heap);
  }
  void **slot = heap_alloc(heap, sizeof *slot);
  heap->catch_point = outer;
  *slot = object;
  header(slot)->release = release;
  return slot;
}

void heap_release(Heap *heap, void *ticket) { heap_free(heap, ticket); }

void heap_destroy(Heap *heap) {
  if (!heap) return;
  while (heap->ring.previous != &heap->ring) free_block(heap, heap->ring.previous);
  heap->hook.resize(heap->hook.context, heap, 0);
}
