/* sampling: see sampling.h. */
#include "study/sampling.h"

#include "base/map.h"

enum { SAMPLING_SOBOL, SAMPLING_LHS, SAMPLING_RANDOM, BITS = 32, MOST_DEGREE = 7 };

const char *const sampling_names[] = {
    [SAMPLING_SOBOL] = "sobol", [SAMPLING_LHS] = "lhs", [SAMPLING_RANDOM] = "random", NULL};

struct Sampling {
  uint32_t kind, points;
  uint64_t seed;
  uint32_t (*direction)[BITS]; /* for sobol, by dimension */
  uint32_t **stratum;          /* for lhs, by dimension and point */
};

/* Bits that depend on all three arguments and look random (the mixer of hash_mix, three times). */
static uint64_t random_bits(uint64_t seed, uint64_t a, uint64_t b) {
  return hash_mix(hash_mix(hash_mix(seed + 0x9e3779b97f4a7c15) + a) + b * 0xd1b54a32d192ed03);
}

static double in_unit(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

/* Primitive polynomials and first direction numbers of dimensions 2 and up: Joe and Kuo, SIAM J. Sci. Comput. 30 (2008),
 * 2635-2654. */
static const struct {
  uint32_t degree, coefficients, first[MOST_DEGREE];
} polynomials[SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

/* The recurrence of Bratley and Fox (1988), algorithm 659. */
static void fill_directions(uint32_t direction[BITS], uint32_t dimension) {
  if (dimension == 0) {
    for (uint32_t k = 0; k < BITS; k++) direction[k] = UINT32_C(1) << (BITS - 1 - k);
    return;
  }
  uint32_t degree = polynomials[dimension - 1].degree, coefficients = polynomials[dimension - 1].coefficients;
  for (uint32_t k = 0; k < BITS; k++) {
    if (k < degree) {
      direction[k] = polynomials[dimension - 1].first[k] << (BITS - 1 - k);
      continue;
    }
    direction[k] = direction[k - degree] ^ (direction[k - degree] >> degree);
    for (uint32_t j = 1; j < degree; j++)
      if (coefficients >> (degree - 1 - j) & 1) direction[k] ^= direction[k - j];
  }
}

/* A random permutation of the points (Fisher and Yates). */
static uint32_t *permutation(Arena *arena, uint32_t points, uint32_t dimension, uint64_t seed) {
  uint32_t *order = arena_array(arena, points, sizeof *order);
  for (uint32_t k = 0; k < points; k++) {
    uint32_t other = (uint32_t)(random_bits(seed, dimension, k) % (k + 1));
    order[k] = order[other];
    order[other] = k;
  }
  return order;
}

Sampling *sampling_new(Arena *arena, uint32_t kind, uint32_t points, uint32_t dimensions, uint64_t seed) {
  Sampling *sampling = arena_alloc(arena, sizeof *sampling);
  *sampling = (Sampling){.kind = kind, .points = points, .seed = seed};
  if (kind == SAMPLING_SOBOL) sampling->direction = arena_array(arena, dimensions, sizeof *sampling->direction);
  if (kind == SAMPLING_LHS) sampling->stratum = arena_array(arena, dimensions, sizeof *sampling->stratum);
  for (uint32_t d = 0; d < dimensions; d++) {
    if (kind == SAMPLING_SOBOL) fill_directions(sampling->direction[d], d);
    if (kind == SAMPLING_LHS) sampling->stratum[d] = permutation(arena, points, d, seed);
  }
  return sampling;
}

/* The point of the Gray code, moved by a random digital shift, which keeps the points evenly spread. */
static double sobol_at(const Sampling *sampling, uint32_t point, uint32_t dimension) {
  uint32_t gray = point ^ (point >> 1), bits = (uint32_t)(random_bits(sampling->seed, dimension, UINT64_MAX) >> 32);
  for (uint32_t k = 0; k < BITS; k++)
    if (gray >> k & 1) bits ^= sampling->direction[dimension][k];
  return (bits + 0.5) * 0x1p-32;
}

double sampling_at(const Sampling *sampling, uint32_t point, uint32_t dimension) {
  if (sampling->kind == SAMPLING_SOBOL) return sobol_at(sampling, point, dimension);
  double u = in_unit(random_bits(sampling->seed, point, dimension));
  if (sampling->kind == SAMPLING_RANDOM) return u;
  double inside = (sampling->stratum[dimension][point] + u) / sampling->points;
  return inside < 1 ? inside : 1 - 0x1p-53;
}
