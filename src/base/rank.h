/* rank: of a dense matrix, with errors of its entries. */
#pragma once

#include <stdint.h>

/* The rank of a dense n x n matrix, by elimination with complete pivoting, in place: entries count as zero that are not larger than
 * `lost` times the size of what they are the difference of. At first these are the sizes given, to which the entries are exact. So
 * small numbers that are no difference, as capacitances beside ones, are not lost. `absorbed`, if not NULL: sizes of terms that an entry had
 * and that round-off took away; those that the elimination adds are added. Where such terms are left behind the rank, it may be larger. O(n^3). */
int32_t linear_rank(double *a, double *size, double *absorbed, int32_t n, double lost);
