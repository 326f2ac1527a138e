/* text: texts under construction, for the generators of fuzz inputs. */
#ifndef DAEDAL_FUZZ_TEXT_H
#define DAEDAL_FUZZ_TEXT_H

#include "generate.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SECTION = 6000 };

typedef struct Text {
  char data[SECTION];
  size_t length;
  bool full; /* something did not fit */
} Text;

#define PICK(random, list) ((list)[random_below(random, sizeof(list) / sizeof *(list))])

__attribute__((format(printf, 2, 3))) static inline void put(Text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof text->data - text->length;
  int length = vsnprintf(text->data + text->length, room, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= room) text->full = true;
  else text->length += (size_t)length;
}

/* Copies the text into the fuzzer's buffer; its length, or 0 if it does not fit. */
static inline size_t put_out(const Text *from, char *text, size_t limit) {
  if (from->full || from->length > limit) return 0;
  memcpy(text, from->data, from->length);
  return from->length;
}

typedef struct Span {
  size_t begin, end;
} Span;

/* Puts `with` in the place of the span; leaves the text unchanged if that is too long. */
static inline size_t replace(char *text, size_t size, size_t limit, Span span, const char *with, size_t length) {
  size_t rest = size - span.end;
  if (span.begin + length + rest > limit) return size;
  memmove(text + span.begin + length, text + span.end, rest);
  memcpy(text + span.begin, with, length);
  return span.begin + length + rest;
}

#endif
