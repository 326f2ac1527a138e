/* transfer: converts values to bytes, and back. The same calls write and read, so everything is read as it was written. The same
 * program writes and reads, on a machine of the same kind.
 *
 * The bytes cannot be trusted, so any number may be wrong: indices, counts and flags are checked as they are read, and an
 * invalid one breaks the transfer. */
#pragma once

#include "base/vec.h"

#include <stdbool.h>

typedef struct Transfer {
  Heap *heap;
  TextVec bytes;
  size_t at; /* number of bytes read so far */
  bool reads;
  bool is_broken; /* invalid bytes were read, or more than 2 GiB written */
} Transfer;

/* Transfers `count` values of that size. Values that cannot be read stay unchanged. */
void transfer_array(Transfer *transfer, void *values, size_t count, size_t size);

/* Transfers the number of values that follow; writes `count`. */
uint32_t transfer_count(Transfer *transfer, uint32_t count, size_t size);

/* Transfers indices, each below the limit. */
void transfer_indices(Transfer *transfer, uint32_t *values, size_t count, uint32_t limit);

void transfer_flags(Transfer *transfer, bool *values, size_t count);

/* Reading fails unless this holds. */
void transfer_require(Transfer *transfer, bool holds);

/* Transfers a value that must be the same when it is read. */
void transfer_same(Transfer *transfer, double value);

#define transfer_value(transfer, value) transfer_array((transfer), (value), 1, sizeof *(value))

/* Transfers all elements of a vector. */
#define transfer_vector(transfer, vector_heap, v)                                                                    \
  do {                                                                                                               \
    uint32_t count_in = transfer_count((transfer), (v)->count, sizeof *(v)->data);                                   \
    (v)->count = 0;                                                                                                  \
    if (count_in) transfer_array((transfer), vec_extend((vector_heap), (v), count_in), count_in, sizeof *(v)->data); \
  } while (0)
