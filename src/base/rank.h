/* rank: the rank of a dense matrix whose entries have errors. */
#pragma once

#include <stdint.h>

/* The rank of a dense n x n matrix, by elimination with complete pivoting, in place. An entry is a difference of terms; it counts
 * as zero if it is at most `lost` times their size. At first the terms have the given sizes, and an entry is exact relative to its
 * size. So a small number that is not a difference, such as a capacitance next to a 1, is not lost. `absorbed`, if not NULL, has
 * the sizes of the terms of an entry that round-off removed; the elimination adds its own. If such terms remain in the rows after
 * the last pivot, the rank may be larger. O(n^3). */
int32_t linear_rank(double *a, double *size, double *absorbed, int32_t n, double lost);
