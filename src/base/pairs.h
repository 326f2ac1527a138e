/* pairs: computes with two doubles at a time, as vector registers of every machine allow. */
#pragma once

#include <stdint.h>

typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));

/* A pair that is aligned to its size. */
typedef double AlignedPair __attribute__((vector_size(16), may_alias));

/* The first, or the second, numbers of two pairs: transposes rows to columns. */
static inline Pair firsts(Pair a, Pair b) { return (Pair){a[0], b[0]}; }
static inline Pair seconds(Pair a, Pair b) { return (Pair){a[1], b[1]}; }

static inline Pair pair_at(const double *values) { return *(const Pair *)(const void *)values; }
static inline void set_pair(double *values, Pair pair) { *(Pair *)(void *)values = pair; }

/* to[i] += factor * from[i] for 0 <= i < count. */
static inline void add_multiple(double *to, const double *from, double factor, int32_t count) {
  const Pair pair = {factor, factor};
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Pair *target = (Pair *)(void *)(to + i);
    const Pair *source = (const Pair *)(const void *)(from + i);
    target[0] += source[0] * pair;
    target[1] += source[1] * pair;
  }
  if (count & 2) {
    *(Pair *)(void *)(to + i) += *(const Pair *)(const void *)(from + i) * pair;
    i += 2;
  }
  if (count & 1) to[i] += from[i] * factor;
}

/* Inlined for each number of pairs, so that their sums stay in registers. */
__attribute__((always_inline)) static inline void set_pairs(double *to, const double *const *from, const double *factor,
                                                            int vectors, int32_t i, int pairs) {
  Pair sum[4] = {{0}}, *target = (Pair *)(void *)(to + i);
  for (int k = 0; k < vectors; k++) {
    const Pair pair = {factor[k], factor[k]}, *source = (const Pair *)(const void *)(from[k] + i);
#pragma GCC unroll 4
    for (int p = 0; p < pairs; p++) sum[p] += source[p] * pair;
  }
#pragma GCC unroll 4
  for (int p = 0; p < pairs; p++) target[p] = sum[p];
}

/* to[i] = the sum of factor[k] * from[k][i] over k, added in the order of k, for 0 <= i < count. */
static inline void set_to_sum(double *to, const double *const *from, const double *factor, int vectors, int32_t count) {
  int32_t i = 0;
  for (; i + 8 <= count; i += 8) set_pairs(to, from, factor, vectors, i, 4);
  for (; i + 2 <= count; i += 2) set_pairs(to, from, factor, vectors, i, 1);
  if (i == count) return;
  to[i] = 0;
  for (int k = 0; k < vectors; k++) to[i] += from[k][i] * factor[k];
}
