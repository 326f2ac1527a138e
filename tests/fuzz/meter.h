/* meter: the allocator of the fuzz targets. It counts live blocks, which is a leak check on every input at no cost, refuses one
 * chosen allocation, and refuses beyond a limit, so that a short text that asks for a huge array is no finding. */
#ifndef DAEDAL_FUZZ_METER_H
#define DAEDAL_FUZZ_METER_H

#include "daedal.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { METER_LIMIT = 128 << 20 };

typedef struct Meter {
  size_t live, bytes;   /* blocks and bytes handed out */
  size_t count, refuse; /* allocations so far, and the one to refuse (0: none) */
  bool refused;         /* one was refused, for either reason */
} Meter;

static inline void *meter_resize(void *context, void *pointer, size_t size) {
  Meter *meter = context;
  size_t before = pointer ? malloc_usable_size(pointer) : 0;
  if (size == 0) {
    meter->live -= pointer != NULL;
    meter->bytes -= before;
    free(pointer);
    return NULL;
  }
  bool refuse = ++meter->count == meter->refuse || meter->bytes - before + size > METER_LIMIT;
  void *block = refuse ? NULL : realloc(pointer, size);
  if (!block) {
    meter->refused = true;
    return NULL;
  }
  meter->live += pointer == NULL;
  meter->bytes += malloc_usable_size(block) - before;
  return block;
}

/* Ends the process in a way that libFuzzer keeps the input. */
static inline void finding(const char *what, const char *text) {
  fprintf(stderr, "finding: %s\n%s\n", what, text ? text : "");
  __builtin_trap();
}

#endif
