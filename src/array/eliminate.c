/* eliminate: see eliminate.h. Arithmetic modulo the Mersenne prime 2^61 - 1, where 2^61 = 1. */
#include "array/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 Wide;

static const uint64_t PRIME = ((uint64_t)1 << 61) - 1;

/* Largest numerator and denominator taken for real: a random residue has such a fraction with a chance of 2^-8 only, and the sum is
 * checked with them. */
static const uint64_t LARGEST = (uint64_t)1 << 26;

static uint64_t fold(Wide product) {
  uint64_t sum = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);
  return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t times(uint64_t a, uint64_t b) { return fold((Wide)a * b); }
static uint64_t minus(uint64_t a, uint64_t b) { return a >= b ? a - b : a + PRIME - b; }

static uint64_t inverse(uint64_t a) {
  uint64_t result = 1, exponent = PRIME - 2;
  for (; exponent; exponent >>= 1, a = times(a, a))
    if (exponent & 1) result = times(result, a);
  return result;
}

static uint64_t residue(double value) {
  int exponent;
  double mantissa = frexp(fabs(value), &exponent);
  uint64_t integer = (uint64_t)ldexp(mantissa, 53);
  int shift = ((exponent - 53) % 61 + 61) % 61;
  uint64_t result = times(integer, (uint64_t)1 << shift);
  return value < 0 && result ? PRIME - result : result;
}

/* a = numerator / denominator modulo the prime, both small. */
static bool reconstruct(uint64_t a, int64_t *numerator, int64_t *denominator) {
  int64_t r0 = (int64_t)PRIME, r1 = (int64_t)a, t0 = 0, t1 = 1;
  while (r1 > (int64_t)LARGEST) {
    int64_t quotient = r0 / r1, r2 = r0 - quotient * r1, t2 = t0 - quotient * t1;
    r0 = r1, r1 = r2, t0 = t1, t1 = t2;
  }
  if (t1 == 0 || llabs(t1) > (int64_t)LARGEST) return false;
  *numerator = t1 < 0 ? -r1 : r1;
  *denominator = llabs(t1);
  return true;
}

static int64_t divisor(int64_t a, int64_t b) {
  for (a = llabs(a), b = llabs(b); b;) {
    int64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

/* Reduced row echelon form modulo the prime; pivot[row] is the pivot's column, the rank is returned. */
static int32_t echelon(uint64_t *a, int32_t rows, int32_t columns, int32_t *pivot) {
  int32_t rank = 0;
  for (int32_t column = 0; column < columns && rank < rows; column++) {
    int32_t found = rank;
    while (found < rows && !a[found * columns + column]) found++;
    if (found == rows) continue;
    for (int32_t q = 0; q < columns; q++) {
      uint64_t kept = a[found * columns + q];
      a[found * columns + q] = a[rank * columns + q];
      a[rank * columns + q] = kept;
    }
    uint64_t head = inverse(a[rank * columns + column]);
    for (int32_t q = column; q < columns; q++) a[rank * columns + q] = times(a[rank * columns + q], head);
    for (int32_t p = 0; p < rows; p++) {
      uint64_t factor = a[p * columns + column];
      for (int32_t q = column; p != rank && factor && q < columns; q++)
        a[p * columns + q] = minus(a[p * columns + q], times(factor, a[rank * columns + q]));
    }
    pivot[rank++] = column;
  }
  return rank;
}

/* Integer factors of one dependence; false when they are not small. */
static bool read_factors(const uint64_t *a, int32_t columns, int32_t rank, const int32_t *pivot, int32_t free,
                         Arena *arena, ExactDependence *dependence) {
  int64_t *numerator = arena_array(arena, (size_t)rank + 1, sizeof *numerator);
  int64_t *denominator = arena_array(arena, (size_t)rank + 1, sizeof *denominator), common = 1, content = 0;
  dependence->line = arena_array(arena, (size_t)rank + 1, sizeof(int32_t));
  dependence->factor = arena_array(arena, (size_t)rank + 1, sizeof(double));
  for (int32_t p = 0; p < rank; p++) {
    uint64_t entry = a[p * columns + free];
    if (!entry) continue;
    int32_t k = dependence->count++;
    dependence->line[k] = pivot[p];
    if (!reconstruct(PRIME - entry, &numerator[k], &denominator[k])) return false;
    common = common / divisor(common, denominator[k]) * denominator[k];
    if (common > (int64_t)LARGEST) return false;
  }
  int32_t last = dependence->count++;
  dependence->line[last] = dependence->last = free;
  numerator[last] = denominator[last] = 1;
  for (int32_t k = 0; k < dependence->count; k++)
    content = divisor(content, numerator[k] * (common / denominator[k]));
  for (int32_t k = 0; k < dependence->count; k++)
    dependence->factor[k] = (double)(numerator[k] * (common / denominator[k]) / content);
  return true;
}

/* The sum in floating point: it must be round-off. */
static bool check(const double *matrix, int32_t rows, int32_t columns, const ExactDependence *dependence) {
  for (int32_t p = 0; p < rows; p++) {
    double sum = 0, size = 0;
    for (int32_t k = 0; k < dependence->count; k++) {
      double term = dependence->factor[k] * matrix[p * columns + dependence->line[k]];
      sum += term;
      size += fabs(term);
    }
    if (fabs(sum) > 1e-13 * size) return false;
  }
  return true;
}

int32_t eliminate_exactly(const double *matrix, int32_t rows, int32_t columns, Arena *arena,
                          ExactDependence **found) {
  Arena scratch = arena_make(arena->heap);
  uint64_t *a = arena_array(&scratch, (size_t)rows * (size_t)columns, sizeof *a);
  int32_t *pivot = arena_array(&scratch, (size_t)rows + 1, sizeof *pivot), count = 0;
  bool *is_pivot = arena_array(&scratch, (size_t)columns, sizeof *is_pivot);
  for (int32_t e = 0; e < rows * columns; e++) a[e] = residue(matrix[e]);
  int32_t rank = echelon(a, rows, columns, pivot);
  for (int32_t p = 0; p < rank; p++) is_pivot[pivot[p]] = true;
  *found = arena_array(arena, (size_t)(columns - rank), sizeof **found);
  for (int32_t q = 0; q < columns && count >= 0; q++) {
    if (is_pivot[q]) continue;
    ExactDependence *dependence = &(*found)[count];
    bool ok = read_factors(a, columns, rank, pivot, q, arena, dependence) &&
              check(matrix, rows, columns, dependence);
    count = ok ? count + 1 : -1;
  }
  arena_free(&scratch);
  return count;
}
