/* arena: see arena.h. */
#include "base/arena.h"

#include "base/format.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct ArenaChunk {
  struct ArenaChunk *previous;
  size_t size;
  max_align_t data[];
} ArenaChunk;

/* In a sanitizer build, unused memory is poisoned and a guard follows every object. */
#ifdef DAEDAL_SANITIZE
#include <sanitizer/asan_interface.h>
enum { GUARD = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
enum { GUARD = 0 };
#endif

/* One step of work clears this many bytes, apart from allocating them (heap.c). */
enum { WORK_BYTES = 32 };

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20, ALIGNMENT = sizeof(double) };
_Static_assert(_Alignof(double) <= ALIGNMENT && _Alignof(void *) <= ALIGNMENT,
               "no object needs a stricter alignment than pointers and doubles");

Arena arena_make(Heap *heap) { return (Arena){.heap = heap}; }

/* A fresh chunk with room for `need` bytes; chunks double up to a limit. */
static void add_chunk(Arena *arena, size_t need) {
  size_t room = arena->chunk ? arena->chunk->size * 2 : FIRST_CHUNK;
  if (room > LARGEST_CHUNK) room = LARGEST_CHUNK;
  if (room < need) room = need;
  if (room > SIZE_MAX - sizeof(ArenaChunk)) heap_fail(arena->heap);
  ArenaChunk *chunk = heap_resize(arena->heap, NULL, sizeof(ArenaChunk) + room);
  ASAN_POISON_MEMORY_REGION(chunk->data, room);
  chunk->previous = arena->chunk;
  chunk->size = room;
  arena->chunk = chunk;
  arena->used = 0;
}

void *arena_alloc(Arena *arena, size_t size) {
  size_t need = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GUARD;
  if (need < size) heap_fail(arena->heap);
  heap_work(arena->heap, 1 + size / WORK_BYTES);
  if (!arena->chunk || arena->chunk->size - arena->used < need) add_chunk(arena, need);
  void *object = (char *)arena->chunk->data + arena->used;
  arena->used += need;
  ASAN_UNPOISON_MEMORY_REGION(object, size);
  return memset(object, 0, size);
}

void *arena_array(Arena *arena, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) heap_fail(arena->heap);
  return arena_alloc(arena, count * size);
}

void *arena_copy_array(Arena *arena, const void *data, size_t count, size_t size) {
  void *copy = arena_array(arena, count, size);
  return count ? memcpy(copy, data, count * size) : copy;
}

char *arena_copy(Arena *arena, const char *text, size_t length) {
  char *copy = arena_alloc(arena, length + 1);
  if (length) memcpy(copy, text, length);
  return copy;
}

char *arena_vprintf(Arena *arena, const char *format, va_list list) {
  char most[256];
  va_list again;
  va_copy(again, list);
  int length = format_list(most, sizeof most, format, again);
  va_end(again);
  if (length < 0) heap_fail(arena->heap); /* beyond 2 GiB */
  heap_text(arena->heap, (uint64_t)length, (uint64_t)length);
  char *text = arena_alloc(arena, (size_t)length + 1);
  if ((size_t)length < sizeof most) return memcpy(text, most, (size_t)length);
  format_list(text, (size_t)length + 1, format, list);
  return text;
}

char *arena_printf(Arena *arena, const char *format, ...) {
  va_list list;
  va_start(list, format);
  char *text = arena_vprintf(arena, format, list);
  va_end(list);
  return text;
}

/* The length in bytes of the control character at `c` (U+0080 to U+009F included); 0 if it is not a control character. */
static size_t control_length(const unsigned char *c) {
  if (*c < 0x20 || *c == 0x7f) return 1;
  return c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f ? 2 : 0;
}

const char *arena_printable(Arena *arena, const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  while (*c && !control_length(c)) c++;
  if (!*c) return text;
  char *copy = arena_alloc(arena, 4 * strlen(text) + 1), *at = copy;
  for (c = (const unsigned char *)text; *c;) {
    size_t length = control_length(c);
    if (!length) *at++ = (char)*c++;
    else if (*c == '\n') at += sprintf(at, "\\n");
    else at += sprintf(at, "\\x%02x", c[length - 1]);
    c += length;
  }
  *at = '\0';
  return copy;
}

void arena_free(Arena *arena) {
  while (arena->chunk) {
    ArenaChunk *previous = arena->chunk->previous;
    heap_free(arena->heap, arena->chunk);
    arena->chunk = previous;
  }
  arena->used = 0;
}
