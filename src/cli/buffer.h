/* buffer: an array of bytes that grows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Starts as {0}. */
typedef struct Buffer {
  char *data; /* NUL-terminated after `count`, unless it is empty */
  size_t count, capacity;
  bool is_short; /* memory ran out: nothing more is appended */
} Buffer;

/* false: no memory. */
bool buffer_append(Buffer *buffer, const void *bytes, size_t length);
bool buffer_text(Buffer *buffer, const char *text);
__attribute__((format(printf, 2, 3))) bool buffer_print(Buffer *buffer, const char *format, ...);

void buffer_free(Buffer *buffer);
