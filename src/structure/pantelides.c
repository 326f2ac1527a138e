/* pantelides: see pantelides.h.
 *
 * The algorithm of Pantelides takes one unmatched equation at a time, differentiates the equations on its alternating paths
 * once, and tries again. All equations that the unmatched equations reach must be differentiated, so this can be done at once.
 * Proof: let c* be valid, c* >= c, and T the reached equations with c* = c. The d of every matched column of a reached equation
 * outside T is raised. So T must be matched to those of its present columns that no path from outside T enters. There are
 * too few such columns unless T is empty. Repeated single steps are the stages of a shortest path search in which an entry
 * has the length d - c - sigma, its slack. */
#include "structure/pantelides.h"
#include "structure/priority.h"

typedef struct OffsetSearch {
  Heap *heap;
  const Incidence *incidence;
  Pantelides *result;
  int32_t *distance; /* per equation: differentiations of the free equations before it is reached */
  int32_t *touched;  /* equations with a distance */
  int32_t *ready;    /* stack: equations at the current distance */
  Priority later;    /* distance << 32 | equation */
  int32_t n_touched, n_ready;
  int32_t best; /* distance of the nearest unmatched variable */
} OffsetSearch;

static void search_reach(OffsetSearch *search, int32_t row, int32_t distance, int32_t present) {
  int32_t before = search->distance[row];
  if (before != STRUCTURE_NONE && before <= distance) return;
  if (before == STRUCTURE_NONE) search->touched[search->n_touched++] = row;
  search->distance[row] = distance;
  if (distance == present) search->ready[search->n_ready++] = row;
  else priority_push(search->heap, &search->later, (uint64_t)distance << 32 | (uint32_t)row);
}

static void search_expand(OffsetSearch *search, int32_t row) {
  const Incidence *incidence = search->incidence;
  const Pantelides *result = search->result;
  int32_t present = search->distance[row];
  for (int32_t e = incidence->row_start[row]; e < incidence->row_start[row + 1]; e++) {
    int32_t j = incidence->column[e];
    int32_t distance = present + result->d[j] - result->c[row] - incidence->order[e];
    if (distance >= search->best) continue;
    int32_t next = result->matching.row_of_column[j];
    if (next == STRUCTURE_NONE) search->best = distance;
    else search_reach(search, next, distance, present);
  }
}

/* The next equation to expand, nearest first; STRUCTURE_NONE when all equations nearer than `best` are done. */
static int32_t search_next(OffsetSearch *search) {
  if (search->n_ready > 0) return search->ready[--search->n_ready];
  while (search->later.count > 0) {
    uint64_t key = priority_pop(&search->later);
    int32_t distance = (int32_t)(key >> 32), row = (int32_t)(key & UINT32_MAX);
    if (distance >= search->best) return STRUCTURE_NONE;
    if (search->distance[row] == distance) return row;
  }
  return STRUCTURE_NONE;
}

/* Differentiates every reached equation as often as possible without making a slack negative. */
static void search_raise(OffsetSearch *search) {
  Pantelides *result = search->result;
  for (int32_t t = 0; t < search->n_touched; t++) {
    int32_t i = search->touched[t], raise = search->best - search->distance[i];
    search->distance[i] = STRUCTURE_NONE;
    if (raise <= 0) continue;
    result->c[i] += raise;
    if (result->matching.column_of_row[i] != STRUCTURE_NONE) result->d[result->matching.column_of_row[i]] += raise;
  }
}

static void search_run(OffsetSearch *search, const int32_t *free_rows, int32_t n_free) {
  search->n_touched = search->n_ready = 0;
  search->later.count = 0;
  search->best = INT32_MAX;
  for (int32_t f = 0; f < n_free; f++) search_reach(search, free_rows[f], 0, 0);
  for (int32_t row; (row = search_next(search)) != STRUCTURE_NONE;) search_expand(search, row);
  search_raise(search);
}

static int32_t unmatched_rows(const Matching *matching, int32_t n, int32_t *rows) {
  int32_t count = 0;
  for (int32_t i = 0; i < n; i++)
    if (matching->column_of_row[i] == STRUCTURE_NONE) rows[count++] = i;
  return count;
}

/* Differentiates until every equation is matched; a perfect matching that ignores orders must exist. */
static void differentiate(Arena *arena, const Incidence *incidence, Pantelides *result) {
  int32_t n = incidence->n_equations;
  Arena scratch = arena_make(arena->heap);
  OffsetSearch search = {.heap = arena->heap, .incidence = incidence, .result = result};
  search.distance = index_nones(&scratch, n);
  search.touched = index_zeros(&scratch, n);
  search.ready = index_zeros(&scratch, n);
  Pattern pattern = incidence_pattern(incidence);
  Matcher matcher = matcher_make(&scratch, &pattern, &result->matching);
  matcher.order = incidence->order;
  matcher.c = result->c;
  matcher.d = result->d;
  int32_t *rows = index_zeros(&scratch, n), count = unmatched_rows(&result->matching, n, rows);
  while (result->matching.size < n) {
    search_run(&search, rows, count);
    matcher_grow(&matcher, rows, count, false);
    int32_t left = 0;
    for (int32_t f = 0; f < count; f++)
      if (result->matching.column_of_row[rows[f]] == STRUCTURE_NONE) rows[left++] = rows[f];
    count = left;
  }
  vec_free(arena->heap, &search.later);
  arena_free(&scratch);
}

static void highest_orders(const Incidence *incidence, int32_t *d) {
  int32_t n_entries = incidence->row_start[incidence->n_equations];
  for (int32_t e = 0; e < n_entries; e++)
    if (d[incidence->column[e]] < incidence->order[e]) d[incidence->column[e]] = incidence->order[e];
}

/* The matching of the undifferentiated problem decides whether differentiating can end; if the highest
 * derivatives can be matched at once, it need not be computed. */
Pantelides pantelides_run(Arena *arena, const Incidence *incidence) {
  Pantelides result = {.c = index_zeros(arena, incidence->n_equations),
                       .d = index_zeros(arena, incidence->n_variables)};
  Pattern pattern = incidence_pattern(incidence);
  highest_orders(incidence, result.d);
  if (incidence->n_equations == incidence->n_variables) {
    Arena scratch = arena_make(arena->heap);
    Pattern tight = incidence_tight(&scratch, incidence, result.c, result.d);
    result.matching = matching_maximum(arena, &tight);
    arena_free(&scratch);
    result.ok = result.matching.size == incidence->n_equations;
    if (result.ok) return result;
  }
  Matching whole = matching_maximum(arena, &pattern);
  result.ok = whole.size == incidence->n_equations && whole.size == incidence->n_variables;
  if (result.ok) differentiate(arena, incidence, &result);
  else result = (Pantelides){.matching = whole};
  return result;
}
