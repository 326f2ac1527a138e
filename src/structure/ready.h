/* ready: a set of numbers that gives back its largest one first.
 *
 * Invariant: a tree of bits. Bit k of level 0 is set if k is in the set; bit k of a higher level, if word k of the level below
 * it is not zero. The last level is one word. */
#pragma once

#include "base/arena.h"

#include <stdint.h>

enum { READY_LEVELS = 6 };

typedef struct Ready {
  uint64_t *level[READY_LEVELS];
  int levels;
} Ready;

/* An empty set of numbers from 0 to n - 1. Owned by the arena. O(n / 64). */
Ready ready_make(Arena *arena, int32_t n);

/* Adds a number. O(levels). */
void ready_add(Ready *ready, int32_t number);

/* Removes the largest number, and returns it. The set must not be empty. O(levels). */
int32_t ready_take(Ready *ready);
