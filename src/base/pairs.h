/* pairs: two numbers at a time, as every machine with doubles in vector registers can. */
#pragma once

#include <stdint.h>

typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));

/* The same where it stands at a multiple of its size. */
typedef double AlignedPair __attribute__((vector_size(16), may_alias));

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
  for (; i < count; i++) to[i] += from[i] * factor;
}
