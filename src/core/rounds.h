/* rounds: how long an iteration over discrete values may take. A chain of n conditions that follow from each other changes one of them a
 * round, so the number of rounds is bounded by the number of values; an iteration that comes back to where it was never ends, and is
 * left as soon as that is seen. Exported solvers carry it as it stands. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Rounds {
  uint32_t few;  /* so many are free; then values that come back end the iteration */
  uint32_t done; /* so far */
  uint64_t kept; /* a hash of the values after some round */
} Rounds;

/* FNV-1a. */
uint64_t rounds_hash(const double *values, size_t count);

/* May another round begin? `values` are all that an iteration changes. */
bool rounds_go_on(Rounds *rounds, const double *values, size_t count);
