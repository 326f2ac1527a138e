/* eliminate: see eliminate.h. Arithmetic modulo the Mersenne prime 2^61 - 1, where 2^61 = 1. */
#include "array/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 Wide;

static const uint64_t PRIME = ((uint64_t)1 << 61) - 1;

/* The largest numerator and denominator that are accepted: a random residue has such a fraction only with probability 2^-8,
 * and a check of the sum detects that. */
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

/* ---- elimination ---- */

/* The most multiplications. */
static const uint64_t MOST_WORK = 300000000;

/* An element of the field at a place of a vector, or at a basis vector. */
typedef struct FieldElement {
  int32_t at;
  uint64_t value;
} FieldElement;

typedef VEC(FieldElement) FieldElementVec;

/* A line after elimination by earlier vectors, scaled to 1 at its pivot: line = sum of used parts + scale * vector. */
typedef struct BasisVector {
  int32_t line, pivot;
  uint64_t inverse_scale;
  uint32_t first, end;           /* parts of the vector in `parts` */
  uint32_t first_used, end_used; /* multiples of other vectors in `used` */
} BasisVector;

typedef struct ModularElimination {
  Heap *heap;
  const SparseLines *lines;
  VEC(BasisVector) basis;
  FieldElementVec parts, used;
  uint64_t *values; /* the current line, by place */
  int32_t *touched; /* places where it may be nonzero */
  bool *is_touched;
  int32_t touched_count;
  int32_t *entries; /* per place: how many lines have it, so that pivots cause little fill */
  uint64_t work;
} ModularElimination;

static void touch(ModularElimination *elimination, int32_t place) {
  if (elimination->is_touched[place]) return;
  elimination->is_touched[place] = true;
  elimination->touched[elimination->touched_count++] = place;
}

static void load_line(ModularElimination *elimination, int32_t line) {
  const SparseLines *lines = elimination->lines;
  for (int32_t k = 0; k < elimination->touched_count; k++) {
    elimination->values[elimination->touched[k]] = 0;
    elimination->is_touched[elimination->touched[k]] = false;
  }
  elimination->touched_count = 0;
  for (int32_t e = lines->start[line]; e < lines->start[line + 1]; e++) {
    touch(elimination, lines->place[e]);
    elimination->values[lines->place[e]] = residue(lines->value[e]);
  }
}

/* Eliminates all pivots from the line. A vector is zero at the pivots of earlier vectors, so one pass is enough. */
static void reduce_line(ModularElimination *elimination) {
  for (uint32_t b = 0; b < elimination->basis.count; b++) {
    const BasisVector *vector = &elimination->basis.data[b];
    uint64_t factor = elimination->values[vector->pivot];
    if (!factor) continue;
    elimination->work += vector->end - vector->first;
    vec_push(elimination->heap, &elimination->used, (FieldElement){(int32_t)b, factor});
    for (uint32_t k = vector->first; k < vector->end; k++) {
      const FieldElement *part = &elimination->parts.data[k];
      touch(elimination, part->at);
      elimination->values[part->at] = minus(elimination->values[part->at], times(factor, part->value));
    }
  }
}

/* The place to pivot on: not zero, in few lines. -1: the line is zero. */
static int32_t choose_place(const ModularElimination *elimination) {
  int32_t best = -1;
  for (int32_t k = 0; k < elimination->touched_count; k++) {
    int32_t place = elimination->touched[k];
    if (!elimination->values[place]) continue;
    int32_t fewer = best < 0 ? -1 : elimination->entries[place] - elimination->entries[best];
    if (fewer < 0 || (fewer == 0 && place < best)) best = place;
  }
  return best;
}

static void add_vector(ModularElimination *elimination, int32_t line, int32_t pivot, uint32_t first_used) {
  BasisVector vector = {.line = line,
                        .pivot = pivot,
                        .inverse_scale = inverse(elimination->values[pivot]),
                        .first = elimination->parts.count,
                        .first_used = first_used,
                        .end_used = elimination->used.count};
  for (int32_t k = 0; k < elimination->touched_count; k++) {
    int32_t place = elimination->touched[k];
    if (!elimination->values[place]) continue;
    FieldElement part = {place, times(elimination->values[place], vector.inverse_scale)};
    vec_push(elimination->heap, &elimination->parts, part);
  }
  vector.end = elimination->parts.count;
  vec_push(elimination->heap, &elimination->basis, vector);
}

/* ---- from the field to numbers ---- */

/* Writes a sum of used parts as a sum of lines: factor[b] is the factor of the line of vector b. */
static void unfold(const ModularElimination *elimination, uint32_t first_used, uint64_t *factor) {
  uint32_t count = elimination->basis.count;
  memset(factor, 0, count * sizeof *factor);
  for (uint32_t k = first_used; k < elimination->used.count; k++)
    factor[elimination->used.data[k].at] = elimination->used.data[k].value;
  for (uint32_t b = count; b-- > 0;) {
    const BasisVector *vector = &elimination->basis.data[b];
    if (!factor[b]) continue;
    factor[b] = times(factor[b], vector->inverse_scale);
    for (uint32_t k = vector->first_used; k < vector->end_used; k++) {
      const FieldElement *part = &elimination->used.data[k];
      factor[part->at] = minus(factor[part->at], times(factor[b], part->value));
    }
  }
}

/* Integer factors of one dependence; false when they are not small. */
static bool read_factors(const ModularElimination *elimination, int32_t line, const uint64_t *factor, Arena *arena,
                         ExactDependence *dependence) {
  uint32_t most = elimination->basis.count + 1;
  int64_t *numerator = arena_array(arena, most, sizeof *numerator);
  int64_t *denominator = arena_array(arena, most, sizeof *denominator), common = 1, content = 0;
  dependence->line = arena_array(arena, most, sizeof(int32_t));
  dependence->factor = arena_array(arena, most, sizeof(double));
  for (uint32_t b = 0; b < elimination->basis.count; b++) {
    if (!factor[b]) continue;
    int32_t k = dependence->count++;
    dependence->line[k] = elimination->basis.data[b].line;
    if (!reconstruct(PRIME - factor[b], &numerator[k], &denominator[k])) return false;
    common = common / divisor(common, denominator[k]) * denominator[k];
    if (common > (int64_t)LARGEST) return false;
  }
  int32_t last = dependence->count++;
  dependence->line[last] = dependence->last = line;
  numerator[last] = denominator[last] = 1;
  for (int32_t k = 0; k < dependence->count; k++) content = divisor(content, numerator[k] * (common / denominator[k]));
  for (int32_t k = 0; k < dependence->count; k++)
    dependence->factor[k] = (double)(numerator[k] * (common / denominator[k]) / content);
  return true;
}

/* The sum in floating point: it must be round-off. `sum` and `size` are indexed by place; both are zero before and after the
 * call. */
static bool check(const SparseLines *lines, const ExactDependence *dependence, double *sum, double *size) {
  bool small = true;
  for (int pass = 0; pass < 2; pass++)
    for (int32_t k = 0; k < dependence->count; k++)
      for (int32_t e = lines->start[dependence->line[k]]; e < lines->start[dependence->line[k] + 1]; e++) {
        double term = dependence->factor[k] * lines->value[e];
        int32_t place = lines->place[e];
        if (pass) small = small && fabs(sum[place]) <= 1e-13 * size[place];
        else sum[place] += term, size[place] += fabs(term);
      }
  for (int32_t k = 0; k < dependence->count; k++)
    for (int32_t e = lines->start[dependence->line[k]]; e < lines->start[dependence->line[k] + 1]; e++)
      sum[lines->place[e]] = size[lines->place[e]] = 0;
  return small;
}

static ModularElimination elimination_make(const SparseLines *lines, Arena *scratch) {
  size_t places = (size_t)lines->places;
  ModularElimination elimination = {.heap = scratch->heap, .lines = lines};
  elimination.values = arena_array(scratch, places, sizeof(uint64_t));
  elimination.touched = arena_array(scratch, places, sizeof(int32_t));
  elimination.is_touched = arena_array(scratch, places, sizeof(bool));
  elimination.entries = arena_array(scratch, places, sizeof(int32_t));
  for (int32_t e = 0; e < lines->start[lines->lines]; e++) elimination.entries[lines->place[e]]++;
  return elimination;
}

bool eliminate_exactly(const SparseLines *lines, Arena *arena, ExactVec *found) {
  Arena scratch = arena_make(arena->heap);
  ModularElimination elimination = elimination_make(lines, &scratch);
  uint64_t *factor = arena_array(&scratch, (size_t)lines->lines, sizeof *factor);
  double *sum = arena_array(&scratch, (size_t)lines->places, sizeof *sum);
  double *size = arena_array(&scratch, (size_t)lines->places, sizeof *size);
  bool ok = true;
  for (int32_t line = 0; line < lines->lines && ok; line++) {
    uint32_t first_used = elimination.used.count;
    load_line(&elimination, line);
    reduce_line(&elimination);
    int32_t pivot = choose_place(&elimination);
    ok = elimination.work <= MOST_WORK;
    if (pivot >= 0) {
      add_vector(&elimination, line, pivot, first_used);
      continue;
    }
    ExactDependence dependence = {0};
    unfold(&elimination, first_used, factor);
    ok = ok && read_factors(&elimination, line, factor, arena, &dependence) && check(lines, &dependence, sum, size);
    if (ok) vec_push(arena->heap, found, dependence);
    elimination.used.count = first_used;
  }
  vec_free(scratch.heap, &elimination.basis, &elimination.parts, &elimination.used);
  arena_free(&scratch);
  return ok;
}
