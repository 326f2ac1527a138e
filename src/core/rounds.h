/* rounds: the limit of an iteration over discrete values. A chain of n dependent conditions changes one of them in each
 * round, so the number of values bounds the number of rounds. An iteration that returns to earlier values never ends. It is
 * stopped as soon as values repeat. Exported solvers contain this file unchanged. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Rounds {
  uint32_t few;  /* the number of rounds without a check; after them, values that return end the iteration */
  uint32_t done; /* rounds so far */
  uint64_t kept; /* a hash of the values after some round */
} Rounds;

/* The FNV-1a hash of the values. */
uint64_t rounds_hash(const double *values, size_t count);

/* May another round begin? `values` are all values that the iteration changes. */
bool rounds_go_on(Rounds *rounds, const double *values, size_t count);
