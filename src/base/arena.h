/* arena: many small objects that are freed together. Chunks come from a heap; single objects are never freed. A pass
 * that needs scratch memory makes an arena, and frees it when done. */
#pragma once

#include "base/heap.h"

#include <stdarg.h>

typedef struct Arena {
  Heap *heap;
  struct ArenaChunk *chunk;
  size_t used;
} Arena;

/* An empty arena; takes no memory yet. */
Arena arena_make(Heap *heap);

/* `size` zeroed bytes, aligned for pointers and doubles; O(size). */
void *arena_alloc(Arena *arena, size_t size);

/* Zeroed array; if the product overflows, the allocation is refused. */
void *arena_array(Arena *arena, size_t count, size_t size);

/* A copy of an array, in the arena. */
void *arena_copy_array(Arena *arena, const void *data, size_t count, size_t size);

/* A NUL-terminated copy of `length` bytes. */
char *arena_copy(Arena *arena, const char *text, size_t length);

/* printf into the arena; NUL-terminated, the text belongs to the arena. */
__attribute__((format(printf, 2, 3))) char *arena_printf(Arena *arena, const char *format, ...);
__attribute__((format(printf, 2, 0))) char *arena_vprintf(Arena *arena, const char *format, va_list list);

/* The text itself, or a copy with control characters as escapes (\n, \x1b) if it has any: one line, harmless to a
 * terminal. */
const char *arena_printable(Arena *arena, const char *text);

/* Frees every object; the arena is empty then and can be used again. */
void arena_free(Arena *arena);
