/* heap: see heap.h. Blocks are in one doubly linked ring and deferred releases in another, so freeing one early and freeing all at
 * the end need no other bookkeeping. There are two rings because a deferred release may still read blocks: all releases run before
 * the first block is freed. */
#include "base/heap.h"

#include "base/slabs.h"
#include "base/underflow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct HeapBlock HeapBlock;
struct HeapBlock {
  HeapBlock *next, *previous;
  size_t size;
  void (*release)(void *object); /* set in a deferred release, whose payload is the object pointer */
};

/* The payload follows the header at the strictest alignment. */
enum { ALIGNMENT = 16, HEADER = (sizeof(HeapBlock) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

struct Heap {
  HeapHead head;
  HeapHook hook;
  HeapBlock blocks, deferred;
  size_t bytes;
  Budget own;           /* unused in an inner heap */
  Heap *outer;          /* outer heap of an inner heap */
  Slabs *slabs;         /* NULL: each block comes from the hook. Otherwise only deferred releases are in a ring */
  jmp_buf *catch_point; /* NULL: the hook of the outer heap is used */
  struct HeapGuest *guests;
  size_t largest_seen; /* largest size that heap_expect has found room for */
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
  HeapHook chosen = hook ? *hook : (HeapHook){.resize = resize_default};
  if (!chosen.resize) chosen.resize = resize_default;
  Slabs *slabs = chosen.slab_size ? slabs_new(&chosen) : NULL;
  if (chosen.slab_size && !slabs) return NULL;
  Heap *heap = slabs ? slabs_get(slabs, sizeof *heap) : chosen.resize(chosen.context, NULL, sizeof *heap);
  if (!heap) return NULL;
  memset(heap, 0, sizeof *heap);
  heap->hook = chosen;
  heap->slabs = slabs;
  heap->own = budget_make(&chosen.limits);
  heap->head.budget = &heap->own;
  heap->blocks.next = heap->blocks.previous = &heap->blocks;
  heap->deferred.next = heap->deferred.previous = &heap->deferred;
  return heap;
}

const HeapHook *heap_hook(const Heap *heap) { return &heap->hook; }
size_t heap_bytes(const Heap *heap) { return heap->slabs ? slabs_bytes(heap->slabs) : heap->bytes; }
Budget *heap_budget(const Heap *heap) { return heap->head.budget; }

/* The point to which a refused allocation returns now; NULL: the call is not protected. */
static jmp_buf *catch_point(const Heap *heap) {
  while (!heap->catch_point && heap->outer) heap = heap->outer;
  return heap->catch_point;
}

/* Outside of a protected call nothing is refused, because no caller could handle it. */
static bool take(Heap *heap, BudgetKind kind, uint64_t more) {
  if (catch_point(heap)) return budget_take(heap->head.budget, kind, more);
  if (kind == BUDGET_MEMORY) heap->head.budget->used[kind] += more;
  return true;
}

void heap_work_beyond(Heap *heap, uint64_t steps) {
  if (!take(heap, BUDGET_WORK, steps)) heap_fail(heap);
}

/* One step of work formats, hashes and copies this many characters. */
enum { WORK_CHARACTERS = 2 };

void heap_text(Heap *heap, uint64_t length, uint64_t more) {
  heap_work(heap, (more + 1) / WORK_CHARACTERS);
  heap->head.budget->used[BUDGET_TEXT] = 0; /* counts this text only */
  if (!take(heap, BUDGET_TEXT, length)) heap_fail(heap);
}

static void *payload(HeapBlock *block) { return (char *)block + HEADER; }
static HeapBlock *header(void *pointer) { return (HeapBlock *)(void *)((char *)pointer - HEADER); }

static void unlink_block(HeapBlock *block) {
  block->previous->next = block->next;
  block->next->previous = block->previous;
}

static void link_block(HeapBlock *ring, HeapBlock *block) {
  block->previous = ring->previous;
  block->next = ring;
  ring->previous->next = block;
  ring->previous = block;
}

void heap_fail(Heap *heap) {
  jmp_buf *point = catch_point(heap);
  if (!point) abort(); /* a missing heap_protect is a bug in daedal */
  longjmp(*point, 1);
}

jmp_buf *heap_set_catch(Heap *heap, jmp_buf *point) {
  jmp_buf *before = heap->catch_point;
  heap->catch_point = point;
  return before;
}

bool heap_protect(Heap *heap, void (*work)(void *context), void *context) {
  jmp_buf point;
  jmp_buf *before = heap_set_catch(heap, &point);
  Underflow mode = underflow_mode();
  bool done = setjmp(point) == 0;
  if (!before) heap->head.budget->used[BUDGET_WORK] = 0;
  if (done) work(context);
  else underflow_restore(mode);
  heap_set_catch(heap, before);
  return done;
}

static void *resize_memory(Heap *heap, void *old, size_t size) {
  return heap->slabs ? slabs_resize(heap->slabs, old, size) : heap->hook.resize(heap->hook.context, old, size);
}

/* Allocates zeroed bytes. Memory that the C library has just got from the system is already zero and is not written. */
static void *get_zeroed(Heap *heap, size_t size) {
  if (heap->hook.resize == resize_default) return calloc(1, size);
  void *made = heap->hook.resize(heap->hook.context, NULL, size);
  return made ? memset(made, 0, size) : NULL;
}

/* Grows `old` (NULL: makes a block) and links it into the ring. NULL: refused; `old` is unchanged. */
static HeapBlock *resize_block(Heap *heap, HeapBlock *ring, HeapBlock *old, size_t size, bool zeroed) {
  if (size > (size_t)PTRDIFF_MAX - HEADER) return NULL;
  size_t before = old ? HEADER + old->size : 0, more = HEADER + size > before ? HEADER + size - before : 0;
  if (!take(heap, BUDGET_MEMORY, more)) return NULL;
  if (old) unlink_block(old);
  HeapBlock *block = zeroed ? get_zeroed(heap, HEADER + size) : resize_memory(heap, old, HEADER + size);
  if (!block) {
    if (old) link_block(ring, old);
    heap->head.budget->used[BUDGET_MEMORY] -= more;
    return NULL;
  }
  if (!old) block->release = NULL;
  block->size = size;
  link_block(ring, block);
  heap->bytes += HEADER + size - before;
  if (!more) heap->head.budget->used[BUDGET_MEMORY] -= before - (HEADER + size);
  return block;
}

void heap_number_arrays(Heap *heap, size_t count, double **const *arrays, size_t array_count) {
  for (size_t k = 0; k < array_count; k++) *arrays[k] = heap_array(heap, count, sizeof(double));
}

void *heap_copy(Heap *heap, const void *data, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) heap_fail(heap);
  void *copy = heap_resize(heap, NULL, count * size);
  return count ? memcpy(copy, data, count * size) : copy;
}

/* Allocating and freeing a block costs BLOCK_WORK steps of work. One step gets WORK_BYTES zeroed bytes from the system: a page
 * fault for 4096 bytes takes about a microsecond. */
enum { BLOCK_WORK = 16, WORK_BYTES = 16 };

static void *get_block(Heap *heap, void *pointer, size_t size, bool zeroed) {
  heap_work(heap, BLOCK_WORK + size / WORK_BYTES);
  HeapBlock *block = resize_block(heap, &heap->blocks, pointer ? header(pointer) : NULL, size, zeroed);
  if (!block) heap_fail(heap);
  return payload(block);
}

void *heap_resize(Heap *heap, void *pointer, size_t size) {
  if (!heap->slabs) return get_block(heap, pointer, size, false);
  void *made = slabs_resize(heap->slabs, pointer, size);
  if (!made) heap_fail(heap);
  return made;
}

void *heap_alloc(Heap *heap, size_t size) {
  if (!heap->slabs) return get_block(heap, NULL, size, true);
  void *made = slabs_get(heap->slabs, size);
  if (!made) heap_fail(heap);
  return memset(made, 0, size);
}

void *heap_array(Heap *heap, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) heap_fail(heap);
  return heap_alloc(heap, count * size);
}

static void free_block(Heap *heap, HeapBlock *block) {
  unlink_block(block);
  heap->bytes -= HEADER + block->size;
  heap->head.budget->used[BUDGET_MEMORY] -= HEADER + block->size;
  if (block->release) block->release(*(void **)payload(block));
  if (heap->slabs) slabs_return(heap->slabs, block);
  else heap->hook.resize(heap->hook.context, block, 0);
}

void heap_free(Heap *heap, void *pointer) {
  if (pointer && heap->slabs) slabs_return(heap->slabs, pointer);
  else if (pointer) free_block(heap, header(pointer));
}

void heap_free_list(Heap *heap, void *const *pointers, size_t count) {
  for (size_t k = 0; k < count; k++) heap_free(heap, pointers[k]);
}

void *heap_defer(Heap *heap, void (*release)(void *object), void *object) {
  HeapBlock *block = resize_block(heap, &heap->deferred, NULL, sizeof object, false);
  if (!block) { /* nobody else knows the object yet */
    release(object);
    heap_fail(heap);
  }
  block->release = release;
  return memcpy(payload(block), &object, sizeof object);
}

void heap_release(Heap *heap, void *ticket) {
  if (ticket) free_block(heap, header(ticket));
}

static void free_ring(Heap *heap, HeapBlock *ring) {
  while (ring->previous != ring) free_block(heap, ring->previous);
}

void heap_destroy(Heap *heap) {
  if (!heap) return;
  free_ring(heap, &heap->deferred);
  free_ring(heap, &heap->blocks);
  if (heap->slabs) slabs_destroy(heap->slabs);
  else heap->hook.resize(heap->hook.context, heap, 0);
}

static void destroy_object(void *heap) { heap_destroy(heap); }

void heap_expect(Heap *heap, size_t size) {
  if (size <= heap->largest_seen) return;
  HeapBlock *block =
      resize_block(heap, &heap->blocks, NULL, size, false); /* memory that is not touched costs no work */
  if (!block) heap_fail(heap);
  free_block(heap, block);
  heap->largest_seen = size;
}

Heap *heap_within(Heap *outer, void **ticket) {
  Heap *heap = heap_new(&outer->hook);
  if (!heap) heap_fail(outer);
  heap->head.budget = outer->head.budget;
  heap->largest_seen = outer->largest_seen;
  heap->outer = outer;
  *ticket = heap_defer(outer, destroy_object, heap);
  return heap;
}

/* ---- guests ---- */

typedef struct HeapGuest {
  const void *key;
  void *guest;
  struct HeapGuest *next;
} HeapGuest;

void *heap_guest(const Heap *heap, const void *key) {
  const HeapGuest *at = heap->guests;
  while (at && at->key != key) at = at->next;
  return at ? at->guest : NULL;
}

void heap_set_guest(Heap *heap, const void *key, void *guest) {
  HeapGuest *made = heap_alloc(heap, sizeof *made);
  *made = (HeapGuest){key, guest, heap->guests};
  heap->guests = made;
}

void heap_share_guests(Heap *inner, const Heap *outer) { inner->guests = outer->guests; }
