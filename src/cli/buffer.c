/* buffer: see buffer.h. */
#include "cli/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool buffer_append(Buffer *buffer, const void *bytes, size_t length) {
  if (buffer->is_short) return false;
  if (buffer->capacity - buffer->count <= length) {
    size_t capacity = 2 * (buffer->count + length) + 64;
    char *larger = realloc(buffer->data, capacity);
    if (!larger) return !(buffer->is_short = true);
    buffer->data = larger;
    buffer->capacity = capacity;
  }
  memcpy(buffer->data + buffer->count, bytes, length);
  buffer->count += length;
  buffer->data[buffer->count] = '\0';
  return true;
}

bool buffer_text(Buffer *buffer, const char *text) { return buffer_append(buffer, text, strlen(text)); }

bool buffer_print(Buffer *buffer, const char *format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  return buffer_append(buffer, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void buffer_free(Buffer *buffer) {
  free(buffer->data);
  *buffer = (Buffer){0};
}
