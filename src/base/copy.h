/* copy: copies arrays of numbers, and swaps arrays. Inlined, since most arrays of a small model are too short to be worth a
 * call. */
#pragma once

#include <stddef.h>
#include <string.h>

/* The arrays do not overlap; empty ones may be NULL. */
__attribute__((always_inline)) static inline void copy_numbers(double *to, const double *from, size_t count) {
  switch (count) {
  case 8: to[7] = from[7]; /* fall through */
  case 7: to[6] = from[6]; /* fall through */
  case 6: to[5] = from[5]; /* fall through */
  case 5: to[4] = from[4]; /* fall through */
  case 4: to[3] = from[3]; /* fall through */
  case 3: to[2] = from[2]; /* fall through */
  case 2: to[1] = from[1]; /* fall through */
  case 1: to[0] = from[0]; /* fall through */
  case 0: return;
  default: memcpy(to, from, count * sizeof *to);
  }
}

/* Swaps two arrays by their pointers. */
static inline void swap_numbers(double **a, double **b) {
  double *swap = *a;
  *a = *b;
  *b = swap;
}
