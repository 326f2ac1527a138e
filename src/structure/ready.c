/* ready: see ready.h. */
#include "structure/ready.h"

enum { BITS = 64, SHIFT = 6 };

Ready ready_make(Arena *arena, int32_t n) {
  Ready ready = {0};
  size_t words = (size_t)n;
  do {
    words = (words + BITS - 1) / BITS;
    ready.level[ready.levels++] = arena_array(arena, words, sizeof(uint64_t));
  } while (words > 1);
  return ready;
}

void ready_add(Ready *ready, int32_t number) {
  for (int l = 0; l < ready->levels; l++) {
    uint64_t *word = &ready->level[l][number >> SHIFT], before = *word;
    *word |= (uint64_t)1 << (number & (BITS - 1));
    if (before) return;
    number >>= SHIFT;
  }
}

int32_t ready_take(Ready *ready) {
  int32_t largest = 0;
  for (int l = ready->levels - 1; l >= 0; l--)
    largest = largest << SHIFT | (BITS - 1 - __builtin_clzll(ready->level[l][largest]));
  for (int32_t l = 0, at = largest; l < ready->levels; l++, at >>= SHIFT)
    if (ready->level[l][at >> SHIFT] &= ~((uint64_t)1 << (at & (BITS - 1)))) break;
  return largest;
}
