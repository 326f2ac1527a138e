/* fail_alloc: a heap hook for tests that counts live blocks and refuses one chosen allocation.
 *
 *   FAIL_ALLOC_EACH(fail) { run(&fail.hook); assert_int_equal(fail.live, 0); }
 *
 * runs the body once without a refusal. Then it runs the body once for each allocation of that first run (in the quick tier for
 * some hundred of them), and refuses this allocation (fail.refuse says which, from 1). The body must release everything; `live`
 * counts the blocks that it did not. */
#ifndef DAEDAL_TESTS_FAIL_ALLOC_H
#define DAEDAL_TESTS_FAIL_ALLOC_H

#include "base/heap.h"
#include "tier.h"

#include <stdlib.h>

enum { FAIL_ALLOC_SAMPLE = 200, FAIL_ALLOC_SANITIZED_SAMPLE = 50 };

typedef struct FailAlloc {
  HeapHook hook;  /* to give to heap_new or to the public interface */
  size_t refuse;  /* the allocation to refuse, from 1; 0: none */
  size_t count;   /* allocations and growths requested in this run */
  size_t refused; /* number of refused allocations */
  size_t live;    /* blocks handed out and not freed */
  size_t total;   /* allocations of the first run */
  size_t stride;  /* from one refused allocation to the next */
} FailAlloc;

static inline void *fail_alloc_resize(void *context, void *pointer, size_t size) {
  FailAlloc *fail = context;
  if (size == 0) {
    if (pointer) fail->live--;
    free(pointer);
    return NULL;
  }
  if (++fail->count == fail->refuse) {
    fail->refused++;
    return NULL;
  }
  void *block = realloc(pointer, size);
  if (block && !pointer) fail->live++;
  return block;
}

/* Points the hook at this run; false after every allocation of the first run has been refused once. */
static inline bool fail_alloc_begin(FailAlloc *fail) {
  fail->hook = (HeapHook){.resize = fail_alloc_resize, .context = fail};
  return fail->refuse <= fail->total;
}

static inline void fail_alloc_end(FailAlloc *fail) {
  if (fail->refuse == 0) {
    fail->total = fail->count;
    fail->stride = tier_stride(fail->total / FAIL_ALLOC_SAMPLE + 1, fail->total / FAIL_ALLOC_SANITIZED_SAMPLE + 1);
  }
  fail->refuse += fail->refuse ? fail->stride : 1;
  fail->count = fail->refused = fail->live = 0;
}

#define FAIL_ALLOC_EACH(fail) for (FailAlloc fail = {0}; fail_alloc_begin(&(fail)); fail_alloc_end(&(fail)))

#endif
