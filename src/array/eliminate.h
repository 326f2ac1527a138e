/* eliminate: exact linear dependences of sparse vectors of numbers.
 *
 * A double is an integer times a power of two, so it has an exact image modulo a prime. The elimination runs there without any
 * round-off, and the result is converted back to fractions (rational reconstruction by Euclid's algorithm, Wang 1981). Kirchhoff's
 * laws without ground, redundant connections and integer combinations in general are found exactly, even in blocks of thousands of
 * equations. */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Lines: the rows or columns of a matrix. Line k has the entries start[k] .. start[k + 1] - 1, each at a different place. */
typedef struct SparseLines {
  int32_t lines, places;
  const int32_t *start, *place;
  const double *value;
} SparseLines;

/* One dependence: sum over k of factor[k] * line line[k] = 0, integer factors without common divisor. `last` is the
 * largest line, and the last in the list; the others are independent. */
typedef struct ExactDependence {
  int32_t count, last;
  int32_t *line;
  double *factor;
} ExactDependence;

typedef VEC(ExactDependence) ExactVec;

/* Appends a basis of the dependences, each line by the lines before it. false: factors are not fractions of moderate size, or the
 * elimination fills up. Owned by the arena, the list by its heap. O(lines^2 + operations), the latter bounded. */
bool eliminate_exactly(const SparseLines *lines, Arena *arena, ExactVec *found);
