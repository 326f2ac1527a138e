/* transfer: values as bytes, and back. The same calls write and read, so everything is read as it was written. The
 * program that reads is the one that wrote, on a machine of the same kind.
 *
 * The bytes may come from a stranger, so any number may be wrong: indices, counts and flags are checked as they are
 * read, and one that does not fit breaks the transfer. */
#pragma once

#include "base/vec.h"

#include <stdbool.h>

typedef struct Transfer {
  Heap *heap;
  TextVec bytes;
  size_t at; /* how many of them are read */
  bool reads;
  bool is_broken; /* what is read does not fit, or more than 2 GiB are written */
} Transfer;

/* `count` values of that size. Values that cannot be read stay unchanged. */
void transfer_array(Transfer *transfer, void *values, size_t count, size_t size);

/* How many values follow; those written have `count`. */
uint32_t transfer_count(Transfer *transfer, uint32_t count, size_t size);

/* Indices, each below the limit. */
void transfer_indices(Transfer *transfer, uint32_t *values, size_t count, uint32_t limit);

void transfer_flags(Transfer *transfer, bool *values, size_t count);

/* Reading fails unless this holds. */
void transfer_require(Transfer *transfer, bool holds);

/* A value that must be the same when it comes in. */
void transfer_same(Transfer *transfer, double value);

#define transfer_value(transfer, value) transfer_array((transfer), (value), 1, sizeof *(value))

/* All elements of a vector. */
#define transfer_vector(transfer, vector_heap, v)                                                                    \
  do {                                                                                                               \
    uint32_t count_in = transfer_count((transfer), (v)->count, sizeof *(v)->data);                                   \
    (v)->count = 0;                                                                                                  \
    if (count_in) transfer_array((transfer), vec_extend((vector_heap), (v), count_in), count_in, sizeof *(v)->data); \
  } while (0)
