/* heap: all memory of one handle (a model, a run), released at once.
 *
 * Invariant: an allocation never returns NULL. When the hook refuses, control returns to the heap_protect of the nearest public
 * entry point, which reports a status. So code that allocates needs no failure paths, and nothing can leak. Objects of other
 * libraries (KLU, SUNDIALS) join through heap_defer. Callers never hold a resource that is not in a heap. */
#pragma once

#include "base/budget.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

/* All memory comes from this hook: realloc with a context. It returns NULL to refuse. Size 0 frees and returns NULL. A heap
 * made from the hook has a budget with these limits. It asks for each block or, with `slab_size`, for slabs of at least this
 * many bytes, which are cut into blocks (slabs.h); then memory has no limit. */
typedef struct HeapHook {
  void *(*resize)(void *context, void *pointer, size_t size);
  void *context;
  BudgetLimits limits;
  size_t slab_size;
} HeapHook;

typedef struct Heap Heap;

/* A new heap; a NULL hook means the C library's. Returns NULL when there is no memory even for this. */
Heap *heap_new(const HeapHook *hook);

/* An inner heap, for objects that may be released earlier: by heap_release(outer, *ticket), or at the latest with the outer heap.
 * If it refuses an allocation, control returns to the catch point of the outer heap. */
Heap *heap_within(Heap *outer, void **ticket);

/* Runs deferred releases (last first), then frees every block and the heap itself. NULL is allowed. */
void heap_destroy(Heap *heap);

/* The hook of a heap, to make another heap like it. */
const HeapHook *heap_hook(const Heap *heap);

/* The budget of the handle: inner heaps share that of the outermost. */
Budget *heap_budget(const Heap *heap);

/* Every heap begins with this struct. Work is counted everywhere, so counting must not need a call. */
typedef struct HeapHead {
  Budget *budget; /* shared with the outermost heap */
} HeapHead;

/* The slow path of heap_work, at the limit. */
void heap_work_beyond(Heap *heap, uint64_t steps);

/* Counts work that is about to be done. Beyond the limit, it ends the call as a refused allocation does. */
static inline void heap_work(Heap *heap, uint64_t steps) {
  Budget *budget = ((HeapHead *)(void *)heap)->budget;
  if (steps <= budget->most[BUDGET_WORK] - budget->used[BUDGET_WORK]) budget->used[BUDGET_WORK] += steps;
  else heap_work_beyond(heap, steps);
}

/* Announces a text of `length` characters; the last `more` of them are made now and also count as work. Beyond the
 * limit, it ends the call as a refused allocation does. */
void heap_text(Heap *heap, uint64_t length, uint64_t more);

/* `size` zeroed bytes, aligned for any type. Size 0 gives a valid unique pointer. */
void *heap_alloc(Heap *heap, size_t size);

/* Zeroed array; an overflowing product counts as refused. */
void *heap_array(Heap *heap, size_t count, size_t size);

/* Sets each of the pointers, given by address, to a zeroed array of `count` numbers. */
#define heap_numbers(heap, count, ...)                                 \
  heap_number_arrays((heap), (count), (double **const[]){__VA_ARGS__}, \
                     sizeof(double **const[]){__VA_ARGS__} / sizeof(double **))
void heap_number_arrays(Heap *heap, size_t count, double **const *arrays, size_t array_count);

/* A copy of an array, in the heap. */
void *heap_copy(Heap *heap, const void *data, size_t count, size_t size);

/* Like realloc: new bytes are not zeroed. `pointer` may be NULL. */
void *heap_resize(Heap *heap, void *pointer, size_t size);

/* Checks that this much memory is available, for a library that cannot handle a refusal: allocates it once and frees it. */
void heap_expect(Heap *heap, size_t size);

/* Frees one block early. NULL is allowed. */
void heap_free(Heap *heap, void *pointer);

/* Frees several blocks. */
#define heap_free_all(heap, ...) \
  heap_free_list((heap), (void *const[]){__VA_ARGS__}, sizeof(void *const[]){__VA_ARGS__} / sizeof(void *))
void heap_free_list(Heap *heap, void *const *pointers, size_t count);

/* Registers release(object) for heap_destroy; returns a ticket for heap_release. If there is no memory for the
 * ticket, the object is released at once and the allocation counts as refused. */
void *heap_defer(Heap *heap, void (*release)(void *object), void *object);

/* Runs one deferred release now and forgets it. NULL is allowed. */
void heap_release(Heap *heap, void *ticket);

/* An object that a caller keeps with the heap under its own key; NULL until it is set. The object must be in the heap. */
void *heap_guest(const Heap *heap, const void *key);
void heap_set_guest(Heap *heap, const void *key, void *guest);

/* Gives the inner heap the objects that callers keep with the outer heap now (heap_guest). */
void heap_share_guests(Heap *inner, const Heap *outer);

/* Bytes held now, headers included. */
size_t heap_bytes(const Heap *heap);

/* Returns control to the current heap_protect, as a refused allocation does. */
__attribute__((noreturn)) void heap_fail(Heap *heap);

/* Sets where a refused allocation returns to (NULL: nowhere), and returns the previous value. */
jmp_buf *heap_set_catch(Heap *heap, jmp_buf *point);

/* Runs work(context) and returns true. false: an allocation of the heap was refused, which ended the work. Calls nest: afterwards
 * refusals go to the outer call again. The outermost call starts the count of work at zero. */
bool heap_protect(Heap *heap, void (*work)(void *context), void *context);

/* jmp_buf point; if (HEAP_TRY(heap, point)) { ...work... } else { ...out of memory... }, for tests that destroy the heap in the
 * same function. Locals that are changed inside and read after a failure must be volatile. */
#define HEAP_TRY(heap, point) (heap_set_catch((heap), &(point)), setjmp(point) == 0)
