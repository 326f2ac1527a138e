/* eliminate: exact linear dependences of the columns of a matrix of numbers.
 *
 * A double is an integer times a power of two, so it has an exact image modulo a prime; the elimination runs there without any
 * round-off, and the result is brought back to fractions (rational reconstruction by Euclid's algorithm, Wang 1981). Kirchhoff's laws
 * without ground, redundant connections, integer combinations in general come out as they are.
 */
#ifndef DAEDAL_ARRAY_ELIMINATE_H
#define DAEDAL_ARRAY_ELIMINATE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* One dependence: sum over k of factor[k] * column line[k] = 0, integer factors without common divisor. `last` is the largest
 * line, the others are pivots. */
typedef struct ExactDependence {
  int32_t count, last;
  int32_t *line;
  double *factor;
} ExactDependence;

/* Finds a basis of the dependences of `columns` columns (matrix by rows, rows x columns); returns their number, -1 if the
 * factors are no fractions of moderate size. *found is owned by the arena. O(rows * columns * rank). */
int32_t eliminate_exactly(const double *matrix, int32_t rows, int32_t columns, Arena *arena,
                          ExactDependence **found);

#endif
