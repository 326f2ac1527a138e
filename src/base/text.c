/* text: texts that grow, see vec.h. */
#include "base/format.h"
#include "base/vec.h"

#include <stdarg.h>
#include <string.h>

void text_append(Heap *heap, TextVec *text, const char *bytes, size_t length) {
  heap_text(heap, (uint64_t)text->count + length, length);
  if (length >= INT32_MAX) heap_fail(heap);
  vec_reserve(heap, text, (uint32_t)length + 1);
  if (length) memcpy(text->data + text->count, bytes, length);
  text->count += (uint32_t)length;
  text->data[text->count] = '\0';
}

void text_printf(Heap *heap, TextVec *text, const char *format, ...) {
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  size_t room = text->capacity - text->count; /* usually enough */
  int length = format_list(room ? text->data + text->count : NULL, room, format, list);
  va_end(list);
  if (length < 0) heap_fail(heap); /* beyond 2 GiB */
  heap_text(heap, (uint64_t)text->count + (uint64_t)length, (uint64_t)length);
  if ((size_t)length >= room) {
    vec_reserve(heap, text, (uint32_t)length + 1);
    format_list(text->data + text->count, (size_t)length + 1, format, again);
  }
  text->count += (uint32_t)length;
  va_end(again);
}

char *text_keep(Heap *heap, TextVec *text, Arena *arena) {
  char *kept = arena_copy(arena, text->data, text->count);
  vec_free(heap, text);
  return kept;
}

void text_quote(Heap *heap, TextVec *text, const char *string, char quote) {
  static const char plain[] = "\\\n\t\r\a\b\f\v", letters[] = "\\ntrabfv";
  text_append(heap, text, &quote, 1);
  for (const char *c = string; *c;) {
    size_t length = 0;
    while (c[length] && c[length] != quote && !strchr(plain, c[length])) length++;
    text_append(heap, text, c, length);
    c += length;
    if (!*c) break;
    const char *found = strchr(plain, *c);
    text_append(heap, text, (char[]){'\\', found ? letters[found - plain] : quote}, 2);
    c++;
  }
  text_append(heap, text, &quote, 1);
}
