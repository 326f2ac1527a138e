/* signature: the offsets of the signature method (Pryce 2001), a second opinion on those of Pantelides.
 *
 * Invariant: offsets are valid if c >= 0 and d_j - c_i >= sigma_ij everywhere, with equality on a transversal (complementary
 * slackness). The transversal then has the highest value. Among valid offsets there is a smallest pair, the canonical one.
 */
#ifndef DAEDAL_TESTS_SIGNATURE_H
#define DAEDAL_TESTS_SIGNATURE_H

#include "structure/structure.h"

#include <string.h>

typedef struct Offsets {
  bool ok; /* false: the transversal does not have the highest value, no offsets exist */
  int32_t *c, *d;
} Offsets;

typedef struct Iteration {
  const Incidence *incidence;
  const Matching *transversal;
  const int32_t *block_of_row;
  int32_t *c;
  int32_t *sigma; /* per equation: order on the transversal */
  int32_t *queue; /* ring of n + 1 places */
  bool *queued;
  int32_t head, tail;
  int64_t limit; /* a c beyond this grows forever */
} Iteration;

static inline void transversal_orders(const Incidence *incidence, const Matching *transversal, int32_t *sigma) {
  for (int32_t i = 0; i < incidence->n_equations; i++) {
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++)
      if (incidence->column[e] == transversal->column_of_row[i] && incidence->order[e] > sigma[i])
        sigma[i] = incidence->order[e];
  }
}

/* A smallest offset is the length of a simple path, which leaves each equation at most once. */
static inline int64_t largest_offset(const Incidence *incidence) {
  int64_t sum = 0;
  for (int32_t i = 0; i < incidence->n_equations; i++) {
    int32_t most = 0;
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++)
      if (incidence->order[e] > most) most = incidence->order[e];
    sum += most;
  }
  return sum < INT32_MAX ? sum : INT32_MAX;
}

static inline int32_t ring_after(const Iteration *it, int32_t place) {
  return place == it->incidence->n_equations ? 0 : place + 1;
}

static inline void enqueue(Iteration *it, int32_t row) {
  if (it->queued[row]) return;
  it->queued[row] = true;
  it->queue[it->tail] = row;
  it->tail = ring_after(it, it->tail);
}

/* Pryce 2001: d_j = max over i of sigma_ij + c_i, then c_i = d_j - sigma_ij on the transversal, until nothing changes. This is
 * the contribution of one equation to both steps. False when an offset grows beyond all bounds. */
static inline bool relax(Iteration *it, int32_t row) {
  const Incidence *incidence = it->incidence;
  for (int32_t e = incidence->row_start[row]; e < incidence->row_start[row + 1]; e++) {
    int32_t other = it->transversal->row_of_column[incidence->column[e]];
    int64_t least = (int64_t)it->c[row] + incidence->order[e] - it->sigma[other];
    if (least <= it->c[other]) continue;
    if (least > it->limit) return false;
    it->c[other] = (int32_t)least;
    if (it->block_of_row[other] == it->block_of_row[row]) enqueue(it, other);
  }
  return true;
}

static inline bool iterate_block(Iteration *it, const int32_t *rows, int32_t n_rows) {
  it->head = it->tail = 0;
  for (int32_t r = 0; r < n_rows; r++) enqueue(it, rows[r]);
  while (it->head != it->tail) {
    int32_t row = it->queue[it->head];
    it->head = ring_after(it, it->head);
    it->queued[row] = false;
    if (!relax(it, row)) return false;
  }
  return true;
}

/* The smallest canonical offsets for a perfect matching of the incidence. `coarse` has the blocks of the whole pattern with
 * that matching. Later blocks raise the offsets of earlier ones, never the reverse, so each block is iterated to its fixed
 * point once. Owned by the arena. O(entries) times at most the largest c gained within a block. */
static inline Offsets signature_offsets(Arena *arena, const Incidence *incidence, const Matching *transversal,
                                        const Blocks *coarse) {
  int32_t n = incidence->n_equations;
  Offsets offsets = {.ok = true, .c = index_zeros(arena, n), .d = index_zeros(arena, n)};
  Arena scratch = arena_make(arena->heap);
  Iteration it = {.incidence = incidence, .transversal = transversal, .block_of_row = coarse->block_of_row};
  it.c = offsets.c;
  it.sigma = index_zeros(&scratch, n);
  it.queue = index_zeros(&scratch, n + 1);
  it.queued = arena_array(&scratch, (size_t)n, sizeof *it.queued);
  it.limit = largest_offset(incidence);
  transversal_orders(incidence, transversal, it.sigma);
  for (int32_t b = coarse->n_blocks - 1; b >= 0 && offsets.ok; b--)
    offsets.ok = iterate_block(&it, coarse->row + coarse->start[b], coarse->start[b + 1] - coarse->start[b]);
  for (int32_t i = 0; i < n; i++) offsets.d[transversal->column_of_row[i]] = offsets.c[i] + it.sigma[i];
  arena_free(&scratch);
  return offsets;
}

/* True if the offsets are valid for the transversal. O(entries). */
static inline bool signature_slackness(const Incidence *incidence, const Matching *transversal, const int32_t *c,
                                       const int32_t *d) {
  for (int32_t i = 0; i < incidence->n_equations; i++) {
    bool tight = false;
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
      int32_t j = incidence->column[e], slack = d[j] - c[i] - incidence->order[e];
      if (slack < 0) return false;
      if (slack == 0 && transversal->column_of_row[i] == j) tight = true;
    }
    if (!tight || c[i] < 0) return false;
  }
  return true;
}

/* Does the signature method find the offsets of the structure? */
static inline bool signature_agrees(Arena *arena, const Incidence *incidence, const Structure *structure) {
  size_t bytes = (size_t)structure->n_equations * sizeof(int32_t);
  Offsets offsets = signature_offsets(arena, incidence, &structure->matching, &structure->coarse);
  return offsets.ok && memcmp(offsets.c, structure->c, bytes) == 0 && memcmp(offsets.d, structure->d, bytes) == 0 &&
         signature_slackness(incidence, &structure->matching, structure->c, structure->d);
}

#endif
