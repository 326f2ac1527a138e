/* initial: see initial.h. Columns are matched to rows in the order of rising preference; columns that find no row are given.
 * Columns of equal preference are matched together, which is faster. */
#include "structure/initial.h"

#include <stdlib.h>

static int key_compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* The columns by rising preference, equal ones ascending. */
static int32_t *sort_columns(Arena *scratch, int32_t n, const int32_t *preference) {
  uint64_t *key = heap_array(scratch->heap, (size_t)n, sizeof *key);
  int32_t *sorted = index_zeros(scratch, n);
  for (int32_t j = 0; j < n; j++) key[j] = (uint64_t)((int64_t)preference[j] - INT32_MIN) << 32 | (uint32_t)j;
  if (n > 1) qsort(key, (size_t)n, sizeof *key, key_compare);
  for (int32_t j = 0; j < n; j++) sorted[j] = (int32_t)(key[j] & UINT32_MAX);
  heap_free(scratch->heap, key);
  return sorted;
}

/* The entries in columns of one preference. */
static Pattern restrict_columns(Arena *scratch, const Pattern *array, const int32_t *preference, int32_t only) {
  int32_t *start = index_zeros(scratch, array->n_rows + 1),
          *column = index_zeros(scratch, array->row_start[array->n_rows]);
  int32_t count = 0;
  for (int32_t i = 0; i < array->n_rows; i++) {
    for (int32_t e = array->row_start[i]; e < array->row_start[i + 1]; e++)
      if (preference[array->column[e]] == only) column[count++] = array->column[e];
    start[i + 1] = count;
  }
  return (Pattern){.n_rows = array->n_rows, .n_columns = array->n_columns, .row_start = start, .column = column};
}

static int32_t group_end(const int32_t *sorted, int32_t n, const int32_t *preference, int32_t begin) {
  int32_t end = begin;
  while (end < n && preference[sorted[end]] == preference[sorted[begin]]) end++;
  return end;
}

/* Matches the columns beyond those of the lowest preference. */
static void match_others(Arena *scratch, const Pattern *array, const int32_t *preference, Matching *matching) {
  int32_t n = array->n_columns, *sorted = sort_columns(scratch, n, preference);
  Pattern transposed = pattern_transpose(scratch, array);
  Matching turned = {
      .size = matching->size, .column_of_row = matching->row_of_column, .row_of_column = matching->column_of_row};
  Matcher matcher = matcher_make(scratch, &transposed, &turned);
  for (int32_t begin = group_end(sorted, n, preference, 0), end; begin < n && turned.size < array->n_rows;
       begin = end) {
    end = group_end(sorted, n, preference, begin);
    matcher_grow(&matcher, sorted + begin, end - begin, true);
  }
  matching->size = turned.size;
}

static void match_by_preference(Arena *arena, const Pattern *array, const int32_t *preference, Matching *matching) {
  int32_t lowest = preference[0];
  for (int32_t q = 1; q < array->n_columns; q++)
    if (preference[q] < lowest) lowest = preference[q];
  Arena scratch = arena_make(arena->heap);
  Pattern first = restrict_columns(&scratch, array, preference, lowest);
  *matching = matching_maximum(arena, &first);
  if (matching->size < array->n_rows) match_others(&scratch, array, preference, matching);
  arena_free(&scratch);
}

InitialChoice initial_choose(Arena *arena, const Pattern *array, const int32_t *preference) {
  InitialChoice choice = {.given = arena_array(arena, (size_t)array->n_columns, sizeof(bool))};
  if (array->n_columns > 0) match_by_preference(arena, array, preference, &choice.matching);
  else choice.matching = matching_empty(arena, array->n_rows, 0);
  choice.rows_matched = choice.matching.size == array->n_rows;
  for (int32_t j = 0; j < array->n_columns; j++) {
    choice.given[j] = choice.matching.row_of_column[j] == STRUCTURE_NONE;
    choice.n_given += choice.given[j];
  }
  return choice;
}

typedef struct ConflictSearch {
  const Pattern *array;
  const InitialChoice *choice;
  bool *row_seen, *column_seen;
  InitialConflict found;
} ConflictSearch;

static void clash_row(ConflictSearch *clash, int32_t row) {
  if (clash->row_seen[row]) return;
  clash->row_seen[row] = true;
  clash->found.rows[clash->found.n_rows++] = row;
}

static void clash_column(ConflictSearch *clash, int32_t column) {
  if (clash->column_seen[column]) return;
  clash->column_seen[column] = true;
  if (clash->choice->given[column]) clash->found.columns[clash->found.n_columns++] = column;
  else clash_row(clash, clash->choice->matching.row_of_column[column]);
}

static int32_t *sorted_copy(Arena *arena, const int32_t *index, int32_t count) {
  int32_t *copy = index_zeros(arena, count);
  for (int32_t n = 0; n < count; n++) copy[n] = index[n];
  index_sort(copy, count);
  return copy;
}

/* Alternating paths from the row that determines the column: each given column at the end of one could take its place in the
 * matching. */
InitialConflict initial_conflict(Arena *arena, const Pattern *array, const InitialChoice *choice, int32_t column) {
  Arena scratch = arena_make(arena->heap);
  ConflictSearch clash = {.array = array, .choice = choice};
  clash.row_seen = arena_array(&scratch, (size_t)array->n_rows, sizeof(bool));
  clash.column_seen = arena_array(&scratch, (size_t)array->n_columns, sizeof(bool));
  clash.found.rows = index_zeros(&scratch, array->n_rows);
  clash.found.columns = index_zeros(&scratch, array->n_columns);
  clash_column(&clash, column);
  for (int32_t r = 0; r < clash.found.n_rows; r++) {
    int32_t i = clash.found.rows[r];
    for (int32_t e = array->row_start[i]; e < array->row_start[i + 1]; e++) clash_column(&clash, array->column[e]);
  }
  InitialConflict conflict = clash.found;
  conflict.rows = sorted_copy(arena, clash.found.rows, conflict.n_rows);
  conflict.columns = sorted_copy(arena, clash.found.columns, conflict.n_columns);
  arena_free(&scratch);
  return conflict;
}
