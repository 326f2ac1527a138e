/* small: takes the place of large.c in models without large matrices. Nothing here is called. */
#include "large.h"

const LargeDense *const large_dense = 0;

Large *large_new(Heap *heap, bool complex_values) { return (void)heap, (void)complex_values, NULL; }
void large_set_pattern(Large *large, int32_t n, const int32_t *start, const int32_t *row) {
  (void)large, (void)n, (void)start, (void)row;
}
bool large_factor(Large *large, const double *values) { return (void)large, (void)values, false; }
void large_solve(Large *large, double *b) { (void)large, (void)b; }
double large_determinant(const Large *large, double *logarithm) { return (void)large, *logarithm = 0; }
double large_least_pivot(const Large *large) { return (void)large, 0; }
