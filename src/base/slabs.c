/* slabs: see slabs.h. A small block comes from the list of freed blocks of its size, or from the rest of the last slab. A large
 * block is a separate slab. The size of a block, in units, is in front of it. */
#include "base/slabs.h"

#include "base/heap.h"

#include <stdint.h>
#include <string.h>

enum { UNIT = 16, SMALL = 64 }; /* the largest small block, in units */

typedef struct Slab Slab;
struct Slab {
  Slab *next, *previous;
  size_t size;
};

struct Slabs {
  Slab ring;
  HeapHook hook;
  size_t bytes;
  char *at, *end;         /* the rest of the last slab */
  void *freed[SMALL + 1]; /* by size: the last block that was freed, which begins with the address of the one before */
};

/* A block begins after its size, and after the head of its slab if it is large. */
enum { SLAB_HEAD = (sizeof(Slab) + UNIT - 1) / UNIT * UNIT };

static size_t units(size_t size) { return size ? (size + UNIT - 1) / UNIT : 1; }
static size_t *size_of(void *block) { return (size_t *)(void *)((char *)block - UNIT); }

static void *add_slab(Slabs *slabs, size_t size) {
  if (size > (size_t)PTRDIFF_MAX - SLAB_HEAD) return NULL;
  Slab *slab = slabs->hook.resize(slabs->hook.context, NULL, SLAB_HEAD + size);
  if (!slab) return NULL;
  *slab = (Slab){&slabs->ring, slabs->ring.previous, SLAB_HEAD + size};
  slabs->ring.previous->next = slab;
  slabs->ring.previous = slab;
  slabs->bytes += slab->size;
  return (char *)slab + SLAB_HEAD;
}

static void remove_slab(Slabs *slabs, Slab *slab) {
  slab->previous->next = slab->next;
  slab->next->previous = slab->previous;
  slabs->bytes -= slab->size;
  slabs->hook.resize(slabs->hook.context, slab, 0);
}

/* The first slab contains the struct itself. */
Slabs *slabs_new(const HeapHook *hook) {
  size_t own = units(sizeof(Slabs)) * UNIT;
  Slabs *slabs = hook->resize(hook->context, NULL, own + hook->slab_size);
  if (!slabs) return NULL;
  memset(slabs, 0, sizeof *slabs);
  slabs->hook = *hook;
  slabs->ring.next = slabs->ring.previous = &slabs->ring;
  slabs->bytes = own + hook->slab_size;
  slabs->at = (char *)slabs + own;
  slabs->end = (char *)slabs + slabs->bytes;
  return slabs;
}

void slabs_destroy(Slabs *slabs) {
  HeapHook hook = slabs->hook;
  while (slabs->ring.next != &slabs->ring) remove_slab(slabs, slabs->ring.next);
  hook.resize(hook.context, slabs, 0);
}

size_t slabs_bytes(const Slabs *slabs) { return slabs->bytes; }

static void *begin_block(char *at, size_t count) {
  *(size_t *)(void *)at = count;
  return at + UNIT;
}

/* The rest of the previous slab stays unused. */
static bool begin_slab(Slabs *slabs) {
  size_t size = slabs->hook.slab_size > (SMALL + 1) * UNIT ? slabs->hook.slab_size : (SMALL + 1) * UNIT;
  char *at = add_slab(slabs, size);
  if (!at) return false;
  slabs->at = at;
  slabs->end = at + size;
  return true;
}

static void *get_large(Slabs *slabs, size_t size) {
  char *at = size > (size_t)PTRDIFF_MAX - 2 * UNIT ? NULL : add_slab(slabs, (1 + units(size)) * UNIT);
  return at ? begin_block(at, units(size)) : NULL;
}

void *slabs_get(Slabs *slabs, size_t size) {
  size_t count = units(size), taken = (count + 1) * UNIT;
  if (size > SMALL * UNIT) return get_large(slabs, size);
  void *block = slabs->freed[count];
  if (block) return slabs->freed[count] = *(void **)block, block;
  if ((size_t)(slabs->end - slabs->at) < taken && !begin_slab(slabs)) return NULL;
  slabs->at += taken;
  return begin_block(slabs->at - taken, count);
}

void slabs_return(Slabs *slabs, void *block) {
  size_t count = *size_of(block);
  if (count > SMALL) {
    remove_slab(slabs, (Slab *)(void *)((char *)block - UNIT - SLAB_HEAD));
  } else {
    *(void **)block = slabs->freed[count];
    slabs->freed[count] = block;
  }
}

void *slabs_resize(Slabs *slabs, void *block, size_t size) {
  size_t before = block ? *size_of(block) : 0;
  if (block && size <= before * UNIT && before <= SMALL) return block;
  void *made = slabs_get(slabs, size);
  if (!made || !block) return made;
  memcpy(made, block, before * UNIT < size ? before * UNIT : size);
  slabs_return(slabs, block);
  return made;
}
