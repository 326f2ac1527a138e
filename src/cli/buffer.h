/* buffer: bytes that grow. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Starts as {0}. */
typedef struct Buffer {
  char *data; /* with a NUL after `count` once it has bytes */
  size_t count, capacity;
  bool is_short; /* memory ran out: nothing more is appended */
} Buffer;

/* False if there is no memory for them. */
bool buffer_append(Buffer *buffer, const void *bytes, size_t length);
bool buffer_text(Buffer *buffer, const char *text);
__attribute__((format(printf, 2, 3))) bool buffer_print(Buffer *buffer, const char *format, ...);

void buffer_free(Buffer *buffer);
