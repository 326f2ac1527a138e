/* pattern: see pattern.h. */
#include "structure/pattern.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

Pattern incidence_pattern(const Incidence *incidence) {
  return (Pattern){.n_rows = incidence->n_equations,
                   .n_columns = incidence->n_variables,
                   .row_start = incidence->row_start,
                   .column = incidence->column};
}

int32_t *index_zeros(Arena *arena, int32_t count) { return arena_array(arena, (size_t)count, sizeof(int32_t)); }

int32_t *index_nones(Arena *arena, int32_t count) {
  int32_t *index = index_zeros(arena, count);
  memset(index, 0xff, (size_t)count * sizeof *index);
  return index;
}

static int index_compare(const void *left, const void *right) {
  int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  return (a > b) - (a < b);
}

void index_sort(int32_t *index, int32_t count) {
  if (count > 1) qsort(index, (size_t)count, sizeof *index, index_compare);
}

Pattern pattern_transpose(Arena *arena, const Pattern *pattern) {
  int32_t n_entries = pattern->row_start[pattern->n_rows];
  int32_t *start = index_zeros(arena, pattern->n_columns + 1);
  int32_t *row = index_zeros(arena, n_entries);
  for (int32_t e = 0; e < n_entries; e++) start[pattern->column[e] + 1]++;
  for (int32_t j = 0; j < pattern->n_columns; j++) start[j + 1] += start[j];
  /* While column j is filled, start[j + 1] is its next place; afterwards it is the end of the column. */
  for (int32_t j = pattern->n_columns; j > 0; j--) start[j] = start[j - 1];
  for (int32_t i = 0; i < pattern->n_rows; i++)
    for (int32_t e = pattern->row_start[i]; e < pattern->row_start[i + 1]; e++)
      row[start[pattern->column[e] + 1]++] = i;
  return (Pattern){.n_rows = pattern->n_columns, .n_columns = pattern->n_rows, .row_start = start, .column = row};
}

Pattern incidence_tight(Arena *arena, const Incidence *incidence, const int32_t *c, const int32_t *d) {
  int32_t *start = index_zeros(arena, incidence->n_equations + 1);
  int32_t *column = index_zeros(arena, incidence->row_start[incidence->n_equations]);
  int32_t count = 0;
  for (int32_t i = 0; i < incidence->n_equations; i++) {
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++)
      if (incidence->order[e] + c[i] == d[incidence->column[e]]) column[count++] = incidence->column[e];
    start[i + 1] = count;
  }
  return (Pattern){
      .n_rows = incidence->n_equations, .n_columns = incidence->n_variables, .row_start = start, .column = column};
}

/* ---- connected components ---- */

typedef struct Flood {
  const Pattern *pattern, *transposed;
  const bool *kept;
  int32_t *of_row, *of_column, *queue;
  int32_t count; /* length of the queue */
} Flood;

static void join_row(Flood *flood, int32_t row, int32_t component) {
  if (!flood->kept[row] || flood->of_row[row] != STRUCTURE_NONE) return;
  flood->of_row[row] = component;
  flood->queue[flood->count++] = row;
}

static void join_column(Flood *flood, int32_t column, int32_t component) {
  const Pattern *transposed = flood->transposed;
  if (flood->of_column[column] != STRUCTURE_NONE) return;
  flood->of_column[column] = component;
  for (int32_t e = transposed->row_start[column]; e < transposed->row_start[column + 1]; e++)
    join_row(flood, transposed->column[e], component);
}

int32_t pattern_components(const Pattern *pattern, const Pattern *transposed, const bool *kept, int32_t *queue,
                           int32_t *of_row, int32_t *of_column) {
  Flood flood = {pattern, transposed, kept, of_row, of_column, queue, 0};
  int32_t components = 0;
  for (int32_t i = 0; i < pattern->n_rows; i++) of_row[i] = STRUCTURE_NONE;
  for (int32_t j = 0; j < pattern->n_columns; j++) of_column[j] = STRUCTURE_NONE;
  for (int32_t root = 0; root < pattern->n_rows; root++) {
    int32_t next = flood.count;
    join_row(&flood, root, components);
    components += next < flood.count;
    for (; next < flood.count; next++)
      for (int32_t i = queue[next], e = pattern->row_start[i]; e < pattern->row_start[i + 1]; e++)
        join_column(&flood, pattern->column[e], components - 1);
  }
  return components;
}

/* ---- rows with a derivative that no other row contains ---- */

/* The only equation whose rows contain the highest derivative of variable j; STRUCTURE_NONE: there are several, or none is left. */
static int32_t owner_of(const Incidence *incidence, const Pattern *entries, const int32_t *row_of, const int32_t *level,
                        int32_t j) {
  int32_t highest = -1, owner = STRUCTURE_NONE;
  for (int32_t k = entries->row_start[j]; k < entries->row_start[j + 1]; k++) {
    int32_t e = entries->column[k], i = row_of[e], order = incidence->order[e] + level[i] - 1;
    if (!level[i] || order < highest) continue;
    owner = order > highest || owner == i ? i : STRUCTURE_NONE;
    highest = order;
  }
  return owner;
}

void incidence_peel(Arena *arena, const Incidence *incidence, int32_t *level) {
  int32_t n = incidence->n_equations, m = incidence->n_variables, count = incidence->row_start[n];
  int32_t *row_of = index_zeros(arena, count), *own = index_zeros(arena, count + 1);
  bool *waits = arena_array(arena, (size_t)m, sizeof *waits);
  IntVec queue = {0};
  for (int32_t i = 0; i < n; i++)
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) row_of[e] = i;
  for (int32_t e = 0; e <= count; e++) own[e] = e;
  Pattern by_entries = {.n_rows = count, .n_columns = m, .row_start = own, .column = incidence->column};
  Pattern entries = pattern_transpose(arena, &by_entries);
  for (int32_t j = m; j-- > 0;) {
    vec_push(arena->heap, &queue, j);
    waits[j] = true;
  }
  while (queue.count) {
    int32_t j = vec_pop(&queue), owner = owner_of(incidence, &entries, row_of, level, j);
    waits[j] = false;
    if (owner == STRUCTURE_NONE) continue;
    level[owner]--;
    for (int32_t e = incidence->row_start[owner]; e < incidence->row_start[owner + 1]; e++) {
      if (waits[incidence->column[e]]) continue;
      waits[incidence->column[e]] = true;
      vec_push(arena->heap, &queue, incidence->column[e]);
    }
  }
  vec_free(arena->heap, &queue);
}
