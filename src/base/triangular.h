/* triangular: square matrices that are triangular after a permutation of rows and columns, like those of equations that give one
 * unknown after the other. Nothing is factored: a solve costs as many operations as there are entries. */
#pragma once

#include "base/heap.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Triangular Triangular;

/* Makes room for n equations with at most `nonzeros` entries. Lives in the heap. */
Triangular *triangular_new(Heap *heap, int32_t n, int32_t nonzeros);

/* Sets the pattern in compressed columns; number[k] is the index of entry k in the values. false: the matrix is not triangular.
 * O(nonzeros). */
bool triangular_set_pattern(Triangular *triangular, const int32_t *column_start, const int32_t *row_index,
                            const int32_t *number);

/* Sets the values. false: singular, or not a number. */
bool triangular_take(Triangular *triangular, const double *values);

/* Solve in place, with the matrix or with its transpose. */
void triangular_solve(const Triangular *triangular, double *b);
void triangular_solve_transposed(const Triangular *triangular, double *b);
