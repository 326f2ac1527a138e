/* pattern: see pattern.h. */
#include "structure/pattern.h"

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
  /* start[j + 1] runs through column j while it is filled, and ends as its end. */
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
