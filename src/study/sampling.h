/* sampling: points of the unit cube. Each coordinate depends only on seed, point and dimension, so it is the same in any order
 * and on any thread. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

typedef struct Sampling Sampling;

/* The names "sobol", "lhs" and "random"; NULL-terminated. */
extern const char *const sampling_names[];

/* The number of dimensions that sobol has direction numbers for. */
enum { SOBOL_DIMENSIONS = 21 };

/* `kind` is an index into sampling_names. Latin hypercubes are made for this number of points. */
Sampling *sampling_new(Arena *arena, uint32_t kind, uint32_t points, uint32_t dimensions, uint64_t seed);

/* The coordinate, in (0, 1). O(1); sobol O(32). */
double sampling_at(const Sampling *sampling, uint32_t point, uint32_t dimension);
