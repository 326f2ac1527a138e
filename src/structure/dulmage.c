/* dulmage: see dulmage.h (Dulmage, Mendelsohn 1958; Pothen, Fan 1990). The same code finds both parts: the under-determined part is
 * the over-determined part of the transposed pattern. "Rows" here are the side with too many members.
 *
 * The rows on alternating paths from an unmatched row e have exactly one column fewer than there are rows. Every smaller set of
 * them has enough columns: a set without e is matched, and a set with e that is closed under alternating paths contains all of
 * them. So each unmatched row gives a minimal culprit. */
#include "structure/dulmage.h"

#include <stdlib.h>

/* The number of times that the entries of a component may be scanned in search of its smallest culprit. */
enum { CULPRIT_EFFORT = 64 };

typedef struct DulmagePart {
  Arena *arena;
  Pattern pattern, transposed;
  const int32_t *column_of_row, *row_of_column;
  uint8_t *row_kind, *column_kind;
  DulmageKind kind;
  int32_t *component_of_row, *component_of_column;
  int32_t *stamp; /* per row: the last search that reached it */
  int32_t *queue; /* rows of the current search */
  int32_t n_searches, n_queue;
  int64_t effort; /* entries scanned by searches */
} DulmagePart;

static void part_mark(DulmagePart *part, int32_t row) {
  if (part->row_kind[row] == part->kind) return;
  part->row_kind[row] = (uint8_t)part->kind;
  part->queue[part->n_queue++] = row;
}

/* Marks everything on alternating paths from the unmatched rows. */
static void part_find(DulmagePart *part) {
  part->n_queue = 0;
  for (int32_t i = 0; i < part->pattern.n_rows; i++)
    if (part->column_of_row[i] == STRUCTURE_NONE) part_mark(part, i);
  for (int32_t q = 0; q < part->n_queue; q++) {
    int32_t i = part->queue[q];
    for (int32_t e = part->pattern.row_start[i]; e < part->pattern.row_start[i + 1]; e++) {
      int32_t j = part->pattern.column[e];
      part->column_kind[j] = (uint8_t)part->kind;
      part_mark(part, part->row_of_column[j]);
    }
  }
}

/* ---- connected components ---- */

/* Lists the members of every component, ascending; start has n_components + 1 places. */
static int32_t *list_members(Arena *arena, const int32_t *component_of, int32_t n, int32_t n_components,
                             int32_t *start) {
  for (int32_t v = 0; v < n; v++)
    if (component_of[v] != STRUCTURE_NONE) start[component_of[v]]++;
  for (int32_t c = 0; c < n_components; c++) start[c + 1] += start[c];
  int32_t *member = index_zeros(arena, start[n_components]);
  for (int32_t v = n - 1; v >= 0; v--)
    if (component_of[v] != STRUCTURE_NONE) member[--start[component_of[v]]] = v;
  return member;
}

/* ---- culprits ---- */

/* Collects the rows on alternating paths from an unmatched row; false when there are more than `limit`. */
static bool search(DulmagePart *part, int32_t source, int32_t limit) {
  part->n_searches++;
  part->queue[0] = source;
  part->stamp[source] = part->n_searches;
  part->n_queue = 1;
  for (int32_t q = 0; q < part->n_queue; q++) {
    int32_t i = part->queue[q];
    part->effort++;
    for (int32_t e = part->pattern.row_start[i]; e < part->pattern.row_start[i + 1]; e++) {
      int32_t k = part->row_of_column[part->pattern.column[e]];
      part->effort++;
      if (part->stamp[k] == part->n_searches) continue;
      if (part->n_queue == limit) return false;
      part->stamp[k] = part->n_searches;
      part->queue[part->n_queue++] = k;
    }
  }
  return true;
}

static int64_t component_effort(const DulmagePart *part, const DulmageSet *all) {
  int64_t entries = all->n_rows;
  for (int32_t r = 0; r < all->n_rows; r++)
    entries += part->pattern.row_start[all->rows[r] + 1] - part->pattern.row_start[all->rows[r]];
  return entries;
}

/* The unmatched row with the smallest culprit. Trying all of them with growing limits costs little more than finding the smallest
 * one, even if the others are large. */
static int32_t smallest_source(DulmagePart *part, const int32_t *sources, int32_t n_sources, const DulmageSet *all) {
  int32_t best = sources[0];
  int64_t allowed = part->effort + CULPRIT_EFFORT * component_effort(part, all);
  for (int32_t limit = 1, found = 0; n_sources > 1 && !found && limit / 2 < all->n_rows; limit *= 2) {
    int32_t bound = limit;
    for (int32_t s = 0; s < n_sources && bound > 0; s++) {
      if (part->effort > allowed) return best;
      if (!search(part, sources[s], bound)) continue;
      best = sources[s];
      bound = part->n_queue - 1;
      found = 1;
    }
  }
  return best;
}

static DulmageSet culprit_of(DulmagePart *part, int32_t source) {
  search(part, source, INT32_MAX);
  int32_t *rows = index_zeros(part->arena, part->n_queue), *columns = index_zeros(part->arena, part->n_queue);
  int32_t n_columns = 0;
  for (int32_t q = 0; q < part->n_queue; q++) {
    rows[q] = part->queue[q];
    if (part->column_of_row[rows[q]] != STRUCTURE_NONE) columns[n_columns++] = part->column_of_row[rows[q]];
  }
  index_sort(rows, part->n_queue);
  index_sort(columns, n_columns);
  return (DulmageSet){.n_rows = part->n_queue, .n_columns = n_columns, .rows = rows, .columns = columns};
}

static void find_culprit(DulmagePart *part, DulmageComponent *component, int32_t *sources) {
  int32_t n_sources = 0;
  for (int32_t r = 0; r < component->all.n_rows; r++)
    if (part->column_of_row[component->all.rows[r]] == STRUCTURE_NONE) sources[n_sources++] = component->all.rows[r];
  component->excess = n_sources;
  component->culprit = culprit_of(part, smallest_source(part, sources, n_sources, &component->all));
}

static int component_compare(const void *left, const void *right) {
  const DulmageComponent *a = left, *b = right;
  if (a->culprit.n_rows != b->culprit.n_rows) return a->culprit.n_rows < b->culprit.n_rows ? -1 : 1;
  return (a->all.rows[0] > b->all.rows[0]) - (a->all.rows[0] < b->all.rows[0]);
}

static DulmageComponent *part_list(DulmagePart *part, Arena *scratch, int32_t n_components) {
  DulmageComponent *list = arena_array(part->arena, (size_t)n_components, sizeof *list);
  int32_t *row_start = index_zeros(scratch, n_components + 1), *column_start = index_zeros(scratch, n_components + 1);
  int32_t *rows = list_members(part->arena, part->component_of_row, part->pattern.n_rows, n_components, row_start);
  int32_t *columns =
      list_members(part->arena, part->component_of_column, part->pattern.n_columns, n_components, column_start);
  int32_t *sources = index_zeros(scratch, part->pattern.n_rows);
  for (int32_t c = 0; c < n_components; c++) {
    list[c].all = (DulmageSet){.n_rows = row_start[c + 1] - row_start[c],
                               .n_columns = column_start[c + 1] - column_start[c],
                               .rows = rows + row_start[c],
                               .columns = columns + column_start[c]};
    find_culprit(part, &list[c], sources);
  }
  if (n_components > 1) qsort(list, (size_t)n_components, sizeof *list, component_compare);
  return list;
}

static DulmageComponent *part_run(DulmagePart *part, int32_t *n_components) {
  Arena scratch = arena_make(part->arena->heap);
  part->queue = index_zeros(&scratch, part->pattern.n_rows);
  part->stamp = index_zeros(&scratch, part->pattern.n_rows);
  part->component_of_row = index_zeros(&scratch, part->pattern.n_rows);
  part->component_of_column = index_zeros(&scratch, part->pattern.n_columns);
  part_find(part);
  bool *kept = arena_array(&scratch, (size_t)part->pattern.n_rows, sizeof *kept);
  for (int32_t i = 0; i < part->pattern.n_rows; i++) kept[i] = part->row_kind[i] == part->kind;
  *n_components = pattern_components(&part->pattern, &part->transposed, kept, part->queue, part->component_of_row,
                                     part->component_of_column);
  DulmageComponent *list = part_list(part, &scratch, *n_components);
  arena_free(&scratch);
  return list;
}

static DulmageSet transpose_set(DulmageSet set) {
  return (DulmageSet){.n_rows = set.n_columns, .n_columns = set.n_rows, .rows = set.columns, .columns = set.rows};
}

Dulmage dulmage_find(Arena *arena, const Pattern *pattern, const Matching *matching) {
  Dulmage dulmage = {.row_kind = arena_array(arena, (size_t)pattern->n_rows, 1),
                     .column_kind = arena_array(arena, (size_t)pattern->n_columns, 1)};
  Arena scratch = arena_make(arena->heap);
  Pattern transposed = pattern_transpose(&scratch, pattern);
  DulmagePart over = {.arena = arena, .pattern = *pattern, .transposed = transposed, .kind = DULMAGE_OVER};
  over.column_of_row = matching->column_of_row;
  over.row_of_column = matching->row_of_column;
  over.row_kind = dulmage.row_kind;
  over.column_kind = dulmage.column_kind;
  dulmage.over = part_run(&over, &dulmage.n_over);
  DulmagePart under = {.arena = arena, .pattern = transposed, .transposed = *pattern, .kind = DULMAGE_UNDER};
  under.column_of_row = matching->row_of_column;
  under.row_of_column = matching->column_of_row;
  under.row_kind = dulmage.column_kind;
  under.column_kind = dulmage.row_kind;
  dulmage.under = part_run(&under, &dulmage.n_under);
  for (int32_t c = 0; c < dulmage.n_under; c++) {
    dulmage.under[c].all = transpose_set(dulmage.under[c].all);
    dulmage.under[c].culprit = transpose_set(dulmage.under[c].culprit);
  }
  arena_free(&scratch);
  return dulmage;
}
