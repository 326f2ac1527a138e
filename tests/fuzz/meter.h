/* meter: the allocator of the fuzz targets. It counts live blocks, which checks every input for leaks at no cost. It refuses
 * one chosen allocation, and everything beyond a limit: a short text that requests a huge array is not a defect. Each block
 * lies between two fences, which are checked when it is freed. LAPACK and SuiteSparse are not instrumented, but if they write
 * outside of a block, they damage its fences. */
#ifndef DAEDAL_FUZZ_METER_H
#define DAEDAL_FUZZ_METER_H

#include "daedal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DAEDAL_SANITIZE
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif

enum { METER_LIMIT = 128 << 20, METER_FENCE = 32, METER_PATTERN = 0xa5 };

typedef struct Meter {
  _Atomic size_t live, bytes; /* blocks and bytes handed out */
  _Atomic size_t count;       /* allocations so far */
  size_t refuse;              /* the allocation to refuse (0: none) */
  _Atomic bool refused;       /* an allocation was refused, for either reason */
} Meter;

/* Ends the process so that libFuzzer keeps the input. */
static inline void finding(const char *what, const char *text) {
  fprintf(stderr, "finding: %s\n%s\n", what, text ? text : "");
  abort();
}

/* A block is a fence, which begins with the size, then the bytes that the caller sees, then another fence. */
static inline void meter_close(char *whole, size_t size) {
  memset(whole, METER_PATTERN, METER_FENCE);
  memcpy(whole, &size, sizeof size);
  memset(whole + METER_FENCE + size, METER_PATTERN, METER_FENCE);
  ASAN_POISON_MEMORY_REGION(whole, METER_FENCE);
  ASAN_POISON_MEMORY_REGION(whole + METER_FENCE + size, METER_FENCE);
}

static inline bool meter_is_pattern(const char *at, const char *end) {
  for (; at < end; at++)
    if ((unsigned char)*at != METER_PATTERN) return false;
  return true;
}

/* Checks the fences; returns the size between them. */
static inline size_t meter_open(char *whole) {
  size_t size;
  ASAN_UNPOISON_MEMORY_REGION(whole, METER_FENCE);
  memcpy(&size, whole, sizeof size);
  char *end = whole + METER_FENCE + size;
  ASAN_UNPOISON_MEMORY_REGION(whole, 2 * METER_FENCE + size); /* arenas poison memory that they have not given out */
  if (!meter_is_pattern(whole + sizeof size, whole + METER_FENCE) || !meter_is_pattern(end, end + METER_FENCE))
    finding("something was written beside a block", "");
  return size;
}

static inline void *meter_resize(void *context, void *pointer, size_t size) {
  Meter *meter = context;
  char *whole = pointer ? (char *)pointer - METER_FENCE : NULL;
  size_t before = whole ? meter_open(whole) : 0;
  if (size == 0) {
    meter->live -= pointer != NULL;
    meter->bytes -= before;
    free(whole);
    return NULL;
  }
  bool refuse = ++meter->count == meter->refuse || meter->bytes - before + size > METER_LIMIT;
  char *block = refuse ? NULL : realloc(whole, size + 2 * METER_FENCE);
  if (!block) {
    meter->refused = true;
    if (whole) meter_close(whole, before);
    return NULL;
  }
  meter->live += pointer == NULL;
  meter->bytes += size - before;
  meter_close(block, size);
  return block + METER_FENCE;
}

#endif
