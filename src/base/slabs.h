/* slabs: large pieces of memory that are cut into blocks, for heaps that make and free many small blocks.
 *
 * Invariant: everything is in slabs that the hook gave, and slabs_destroy returns all of them, whether or not their blocks were
 * freed. */
#pragma once

#include <stddef.h>

struct HeapHook;
typedef struct Slabs Slabs;

/* Slabs of at least hook->slab_size bytes. NULL: the hook refuses. */
Slabs *slabs_new(const struct HeapHook *hook);
void slabs_destroy(Slabs *slabs);

/* Blocks, aligned for any type. NULL: the hook refuses. slabs_resize is like realloc. */
void *slabs_get(Slabs *slabs, size_t size);
void *slabs_resize(Slabs *slabs, void *block, size_t size);
void slabs_return(Slabs *slabs, void *block);

/* Bytes that the hook gave. */
size_t slabs_bytes(const Slabs *slabs);
