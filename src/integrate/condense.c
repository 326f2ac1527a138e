/* condense: see condense.h. Sparse elimination in the order of least fill (Markowitz). The order is decided once for a
 * choice of states and replayed on the values by lists of places. The pivot of an assignment is not changed by earlier pivots,
 * so it is always 1 or -1. Other pivots are chosen by the values of one Jacobian, and are used for later Jacobians as long as no
 * multiplier becomes too large. */
#include "integrate/condense.h"

#include "base/vec.h"
#include "core/constants.h"

#include <math.h>
#include <string.h>

/* An entry of a pivot's column: its row, the place of its value, its term, and its largest allowed size as a multiplier. */
typedef struct PivotEntry {
  int32_t row, place, term;
  double limit;
} PivotEntry;

/* factor times an entry of a vector */
typedef struct WeightedEntry {
  int32_t index;
  double factor;
} WeightedEntry;

/* The terms up to `end` are subtracted from a row. */
typedef struct RowTerms {
  int32_t row;
  uint32_t end;
} RowTerms;

/* A remaining entry of a row: its column and the place of its value. */
typedef struct RowEntry {
  int32_t column, place;
} RowEntry;

typedef VEC(RowEntry) RowEntryVec;

typedef struct Pivot {
  int32_t row, column, place;
  bool is_constant;
  double reciprocal;
  uint32_t lower_end, upper_begin, upper_end;
} Pivot;

struct Condense {
  Heap *heap;
  const System *system;

  VEC(Pivot) pivots;
  /* The columns and rows of the pivots when they are eliminated, and their effect on vectors. */
  VEC(PivotEntry) lower;   /* the entries of the pivots' columns */
  VEC(WeightedEntry) down; /* the terms that the pivots' rows subtract from the rows of these entries, row by row */
  VEC(RowTerms) taking;    /* which of these terms belong to a row; a row comes after the rows whose terms it gets */
  IntVec upper;            /* the places of the entries of the pivots' rows */
  VEC(WeightedEntry) up;   /* terms that the columns of these entries add to the pivots' columns */
  /* For each pivot, and each pair of an entry in its column and an entry in its row: the place that changes. */
  IntVec target;

  JacobianPattern left;
  int32_t *kept;           /* [left.rows] rows of the system */
  IntVec left_row, source; /* row and place of each remaining value, by columns */
  int32_t *left_start;     /* [columns + 1]; a further element is used while it is built */
  VEC(double) values;      /* by place */
  double *left_values;

  /* The matrix while the order is decided. NULL: the system is too large. */
  RowEntryVec *entries_of; /* per row */
  IntVec *rows_of;         /* per column: the rows of its remaining entries */
  int32_t *term_count;     /* per row: number of terms, later their beginning */
  double *size;            /* sizes of the entries of a column */
  bool *row_done, *column_done, *fixed;
  int32_t *pivot_row; /* per column, unless it is stale */
  bool *is_stale;
  bool *changed;     /* entries of the system that a pivot has changed */
  double *row_scale; /* reciprocals of the largest entries of rows */
};

Condense *condense_new(Heap *heap, const System *system) {
  Condense *condense = heap_alloc(heap, sizeof *condense);
  size_t columns = (size_t)system->columns, rows = (size_t)system->rows;
  condense->heap = heap;
  condense->system = system;
  condense->kept = heap_array(heap, rows, sizeof(int32_t));
  if (rows > LARGE_ROWS || !system->constant) return condense;
  condense->left_start = heap_array(heap, columns + 2, sizeof(int32_t));
  condense->column_done = heap_array(heap, columns, sizeof(bool));
  condense->row_done = heap_array(heap, rows, sizeof(bool));
  condense->entries_of = heap_array(heap, rows, sizeof(RowEntryVec));
  condense->rows_of = heap_array(heap, columns, sizeof(IntVec));
  condense->term_count = heap_array(heap, rows, sizeof(int32_t));
  condense->size = heap_array(heap, rows, sizeof(double));
  condense->fixed = heap_array(heap, columns, sizeof(bool));
  condense->pivot_row = heap_array(heap, columns, sizeof(int32_t));
  condense->is_stale = heap_array(heap, columns, sizeof(bool));
  condense->changed = heap_array(heap, (size_t)system->column_start[columns], sizeof(bool));
  condense->row_scale = heap_array(heap, rows, sizeof(double));
  return condense;
}

/* ---- deciding ---- */

/* The place of an entry; -1: there is none. O(entries of the row). */
static int32_t condense_place(const Condense *condense, int32_t row, int32_t column) {
  const RowEntryVec *entries = &condense->entries_of[row];
  for (uint32_t k = 0; k < entries->count; k++)
    if (entries->data[k].column == column) return entries->data[k].place;
  return -1;
}

static void condense_add_entry(Condense *condense, int32_t row, int32_t column, int32_t place) {
  vec_push(condense->heap, &condense->entries_of[row], (RowEntry){column, place});
  vec_push(condense->heap, &condense->rows_of[column], row);
}

static void condense_set_values(Condense *condense, const double *jacobian) {
  condense->values.count = 0;
  for (int32_t k = 0; k < condense->system->column_start[condense->system->columns]; k++)
    vec_push(condense->heap, &condense->values, jacobian[k]);
}

static void condense_scale_rows(Condense *condense, const double *jacobian) {
  const System *system = condense->system;
  double *scale = condense->row_scale;
  memset(scale, 0, (size_t)system->rows * sizeof *scale);
  for (int32_t k = 0; k < system->column_start[system->columns]; k++)
    scale[system->row_index[k]] = fmax(scale[system->row_index[k]], fabs(jacobian[k]));
  for (int32_t r = 0; r < system->rows; r++) scale[r] = 1 / scale[r];
}

static double condense_limit(const Condense *condense, const Pivot *pivot, int32_t row) {
  return pivot->is_constant ? INFINITY : condense->row_scale[pivot->row] / (NEGLIGIBLE * condense->row_scale[row]);
}

/* Starts with the system's pattern. States, rates and columns of higher index stay; others may be eliminated. */
static void condense_begin(Condense *condense, const double *jacobian) {
  const System *system = condense->system;
  condense->target.count = 0;
  memset(condense->row_done, 0, (size_t)system->rows * sizeof(bool));
  memset(condense->column_done, 0, (size_t)system->columns * sizeof(bool));
  memset(condense->is_stale, true, (size_t)system->columns * sizeof(bool));
  memset(condense->changed, 0, (size_t)system->column_start[system->columns] * sizeof(bool));
  for (int32_t r = 0; r < system->rows; r++) condense->entries_of[r].count = 0;
  for (int32_t c = 0; c < system->columns; c++) {
    condense->rows_of[c].count = 0;
    condense->fixed[c] = system->column_index && system->column_index[c] > 1;
  }
  for (int32_t l = 0; l < system->links; l++)
    condense->fixed[system->link_from[l]] = condense->fixed[system->link_to[l]] = true;
  condense_set_values(condense, jacobian);
  condense_scale_rows(condense, jacobian);
  for (int32_t c = 0; c < system->columns; c++)
    for (int32_t k = system->column_start[c]; k < system->column_start[c + 1]; k++)
      condense_add_entry(condense, system->row_index[k], c, k);
}

static int32_t condense_cost(const Condense *condense, int32_t row, int32_t column) {
  return (int32_t)((condense->entries_of[row].count - 1) * (condense->rows_of[column].count - 1));
}

static bool condense_may_cost(const Condense *condense, int32_t cost) {
  int64_t entries = condense->system->column_start[condense->system->columns];
  return (int64_t)condense->target.count + cost <= SELDOM * entries;
}

static void condense_change(Condense *condense, int32_t row, int32_t column, double change) {
  int32_t place = condense_place(condense, row, column);
  if (place < 0) {
    place = (int32_t)condense->values.count;
    vec_push(condense->heap, &condense->values, 0);
    condense_add_entry(condense, row, column, place);
  }
  condense->values.data[place] += change;
  vec_push(condense->heap, &condense->target, place);
  if (place < condense->system->column_start[condense->system->columns]) condense->changed[place] = true;
}

/* Columns with entries in this row may have other pivots now. */
static void condense_forget_pivots(Condense *condense, int32_t row) {
  const RowEntryVec *entries = &condense->entries_of[row];
  for (uint32_t k = 0; k < entries->count; k++) condense->is_stale[entries->data[k].column] = true;
}

static void condense_remove_row(IntVec *rows, int32_t row) {
  int32_t *end = rows->data + rows->count--, *at = rows->data;
  while (*at != row) at++;
  memmove(at, at + 1, (size_t)(end - at - 1) * sizeof *at);
}

static void condense_remove_column(RowEntryVec *entries, int32_t column) {
  RowEntry *end = entries->data + entries->count--, *at = entries->data;
  while (at->column != column) at++;
  memmove(at, at + 1, (size_t)(end - at - 1) * sizeof *at);
}

static void condense_list_lower(Condense *condense, const Pivot *pivot) {
  for (uint32_t k = 0; k < condense->rows_of[pivot->column].count; k++) {
    int32_t r = condense->rows_of[pivot->column].data[k];
    int32_t place = condense_place(condense, r, pivot->column);
    condense->values.data[place] *= pivot->reciprocal;
    vec_push(condense->heap, &condense->lower, (PivotEntry){r, place, 0, condense_limit(condense, pivot, r)});
    condense_remove_column(&condense->entries_of[r], pivot->column);
  }
}

static void condense_list_upper(Condense *condense, const Pivot *pivot) {
  for (uint32_t k = 0; k < condense->entries_of[pivot->row].count; k++) {
    RowEntry entry = condense->entries_of[pivot->row].data[k];
    vec_push(condense->heap, &condense->upper, entry.place);
    vec_push(condense->heap, &condense->up, (WeightedEntry){entry.column, 0});
    condense_remove_row(&condense->rows_of[entry.column], pivot->row);
  }
}

static void condense_take_out(Condense *condense, Pivot pivot) {
  uint32_t lower = condense->lower.count, upper = condense->upper.count;
  condense->row_done[pivot.row] = condense->column_done[pivot.column] = true;
  condense_remove_column(&condense->entries_of[pivot.row], pivot.column);
  condense_remove_row(&condense->rows_of[pivot.column], pivot.row);
  pivot.reciprocal = 1 / condense->values.data[pivot.place];
  condense_list_lower(condense, &pivot);
  condense_list_upper(condense, &pivot);
  for (uint32_t a = lower; a < condense->lower.count; a++)
    for (uint32_t b = upper; b < condense->upper.count; b++) {
      const double *values = condense->values.data;
      double change = -values[condense->lower.data[a].place] * values[condense->upper.data[b]];
      condense_change(condense, condense->lower.data[a].row, condense->up.data[b].index, change);
    }
  condense_forget_pivots(condense, pivot.row);
  for (uint32_t a = lower; a < condense->lower.count; a++)
    condense_forget_pivots(condense, condense->lower.data[a].row);
  pivot.lower_end = condense->lower.count;
  pivot.upper_begin = upper;
  pivot.upper_end = condense->upper.count;
  vec_push(condense->heap, &condense->pivots, pivot);
}

/* Is the entry always 1 or -1? */
static bool condense_is_unit(const Condense *condense, int32_t place) {
  const System *system = condense->system;
  return place < system->column_start[system->columns] && system->constant[place] && !condense->changed[place] &&
         fabs(condense->values.data[place]) == 1;
}

/* The size of an entry, with its row scaled; an entry 1 or -1 always counts as large enough for a pivot. */
static double condense_size(const Condense *condense, int32_t row, int32_t column) {
  int32_t place = condense_place(condense, row, column);
  return condense_is_unit(condense, place) ? INFINITY : fabs(condense->values.data[place]) * condense->row_scale[row];
}

/* The shortest row among the units of a column or, if it has no unit, among its entries that are large enough; -1: there is
 * none. */
static int32_t condense_shortest_row(const Condense *condense, int32_t column) {
  const IntVec *rows = &condense->rows_of[column];
  const RowEntryVec *entries = condense->entries_of;
  double largest = 0, *size = condense->size;
  int32_t shortest = -1;
  for (uint32_t k = 0; k < rows->count; k++) {
    size[k] = condense_size(condense, rows->data[k], column);
    largest = fmax(largest, size[k]);
  }
  for (uint32_t k = 0; k < rows->count && largest > 0; k++) {
    int32_t r = rows->data[k];
    if (size[k] < GOOD_PART * largest) continue;
    if (shortest < 0 || entries[r].count < entries[shortest].count) shortest = r;
  }
  return shortest;
}

/* Would this pivot increase the number of entries? */
static bool condense_grows(const Condense *condense, const Pivot *pivot) {
  const IntVec *rows = &condense->rows_of[pivot->column];
  const RowEntryVec *entries = &condense->entries_of[pivot->row];
  uint32_t gone = rows->count + entries->count - 1, added = 0;
  for (uint32_t a = 0; a < rows->count; a++) {
    if (rows->data[a] == pivot->row) continue;
    for (uint32_t b = 0; b < entries->count; b++)
      added += condense_place(condense, rows->data[a], entries->data[b].column) < 0;
  }
  return added > gone;
}

/* The row of a column's pivot, searched again only if its entries have changed; -1: none is large enough. */
static int32_t condense_pivot_row(Condense *condense, int32_t column) {
  if (condense->is_stale[column]) condense->pivot_row[column] = condense_shortest_row(condense, column);
  condense->is_stale[column] = false;
  return condense->pivot_row[column];
}

/* The next pivot: the one with the least fill. If there are several, one in the shortest column, because it changes the
 * fewest rows. false: no pivot is worth it. Columns without a pivot stay. */
static bool condense_find_pivot(Condense *condense, Pivot *pivot) {
  int32_t least = INT32_MAX;
  uint32_t shortest = UINT32_MAX;
  for (int32_t c = 0; c < condense->system->columns; c++) {
    if (condense->fixed[c] || condense->column_done[c]) continue;
    int32_t r = condense_pivot_row(condense, c);
    condense->fixed[c] = r < 0;
    if (r < 0) continue;
    int32_t cost = condense_cost(condense, r, c);
    uint32_t length = condense->rows_of[c].count;
    if (cost > least || (cost == least && length >= shortest)) continue;
    least = cost;
    shortest = length;
    *pivot = (Pivot){.row = r, .column = c};
  }
  if (least == INT32_MAX || !condense_may_cost(condense, least)) return false;
  pivot->place = condense_place(condense, pivot->row, pivot->column);
  pivot->is_constant = condense_is_unit(condense, pivot->place);
  return true;
}

/* Eliminates columns: assignments always, others unless that increases the number of entries. */
static void condense_take_all(Condense *condense) {
  for (Pivot pivot; condense_find_pivot(condense, &pivot);) {
    if (!pivot.is_constant && condense_grows(condense, &pivot)) condense->fixed[pivot.column] = true;
    else condense_take_out(condense, pivot);
  }
}

/* ---- terms of rows ---- */

/* Assigns places to the terms of a row; *next is the first free place, and becomes their beginning. */
static void condense_place_terms(Condense *condense, int32_t row, int32_t *next) {
  int32_t begin = *next;
  *next += condense->term_count[row];
  condense->term_count[row] = begin;
  if (*next > begin) vec_push(condense->heap, &condense->taking, (RowTerms){row, (uint32_t)*next});
}

/* Sorts terms by their target rows, each in the order of the pivots: sums in registers are faster than sums in memory. */
static void condense_sort_terms(Condense *condense) {
  int32_t next = 0, *count = condense->term_count;
  memset(count, 0, (size_t)condense->system->rows * sizeof *count);
  for (uint32_t k = 0; k < condense->lower.count; k++) count[condense->lower.data[k].row]++;
  for (uint32_t p = 0; p < condense->pivots.count; p++)
    condense_place_terms(condense, condense->pivots.data[p].row, &next);
  for (int32_t r = 0; r < condense->left.rows; r++) condense_place_terms(condense, condense->kept[r], &next);
  for (uint32_t k = 0; k < condense->lower.count; k++) vec_push(condense->heap, &condense->down, (WeightedEntry){0});
  uint32_t k = 0;
  for (uint32_t p = 0; p < condense->pivots.count; p++)
    for (; k < condense->pivots.data[p].lower_end; k++) {
      PivotEntry *multiplier = &condense->lower.data[k];
      multiplier->term = count[multiplier->row]++;
      condense->down.data[multiplier->term].index = condense->pivots.data[p].row;
    }
}

/* ---- what remains ---- */

static void condense_build_pattern(Condense *condense) {
  const System *system = condense->system;
  int32_t kept = 0, *start = condense->left_start;
  memset(start, 0, ((size_t)system->columns + 2) * sizeof *start);
  condense->left_row.count = condense->source.count = 0;
  for (int32_t r = 0; r < system->rows; r++) {
    const RowEntryVec *entries = &condense->entries_of[r];
    if (condense->row_done[r]) continue;
    condense->kept[kept++] = r;
    for (uint32_t k = 0; k < entries->count; k++) {
      start[entries->data[k].column + 2]++;
      vec_push(condense->heap, &condense->left_row, 0);
      vec_push(condense->heap, &condense->source, 0);
    }
  }
  for (int32_t c = 0; c < system->columns; c++) start[c + 2] += start[c + 1];
  for (int32_t r = 0; r < kept; r++) {
    const RowEntryVec *entries = &condense->entries_of[condense->kept[r]];
    for (uint32_t k = 0; k < entries->count; k++) {
      int32_t at = start[entries->data[k].column + 1]++;
      condense->left_row.data[at] = r;
      condense->source.data[at] = entries->data[k].place;
    }
  }
  condense->left = (JacobianPattern){kept, condense->left_start, condense->left_row.data, condense->column_done};
}

static void condense_make_room(Condense *condense) {
  size_t left = (size_t)condense->left.column_start[condense->system->columns];
  condense->left_values = heap_resize(condense->heap, condense->left_values, left * sizeof(double));
}

void condense_choose(Condense *condense, const double *jacobian) {
  const System *system = condense->system;
  condense->pivots.count = condense->lower.count = condense->upper.count = 0;
  condense->down.count = condense->taking.count = condense->up.count = 0;
  condense->left = (JacobianPattern){system->rows, system->column_start, system->row_index, NULL};
  for (int32_t r = 0; r < system->rows; r++) condense->kept[r] = r;
  if (condense->entries_of && jacobian) {
    condense_begin(condense, jacobian);
    condense_take_all(condense);
    if (condense->pivots.count) condense_build_pattern(condense);
    condense_sort_terms(condense);
  }
  condense_make_room(condense);
}

const JacobianPattern *condense_pattern(const Condense *condense) { return &condense->left; }
const double *condense_values(const Condense *condense) { return condense->left_values; }

/* ---- values ---- */

/* values[target] -= factor * values[source], for each of these places; no target is a source. */
static inline void subtract_row(double *values, const int32_t *target, const int32_t *source, uint32_t count,
                                double factor) {
  for (uint32_t k = 0; k < count; k++) values[target[k]] -= factor * values[source[k]];
}

/* Replays the elimination, and sets the factors of the terms; false: a multiplier is too large. */
static bool condense_eliminate(Condense *condense) {
  double *values = condense->values.data;
  const int32_t *target = condense->target.data;
  const PivotEntry *lower = condense->lower.data;
  WeightedEntry *down = condense->down.data;
  bool is_stable = true;
  for (Pivot *pivot = condense->pivots.data, *last = pivot + condense->pivots.count; pivot < last; pivot++) {
    const int32_t *row = condense->upper.data + pivot->upper_begin;
    uint32_t count = pivot->upper_end - pivot->upper_begin;
    WeightedEntry *up = condense->up.data + pivot->upper_begin;
    double reciprocal = pivot->reciprocal = 1 / values[pivot->place];
    for (const PivotEntry *end = condense->lower.data + pivot->lower_end; lower < end; lower++, target += count) {
      double factor = values[lower->place] * reciprocal;
      is_stable = is_stable && fabs(factor) <= lower->limit;
      down[lower->term].factor = -factor;
      subtract_row(values, target, row, count, factor);
    }
    for (uint32_t k = 0; k < count; k++) up[k].factor = -reciprocal * values[row[k]];
  }
  return is_stable;
}

/* Are the multipliers small enough with rows scaled by this Jacobian? Sizes may differ from those of the Jacobian with which
 * the pivots were chosen. */
static bool condense_stays_stable(Condense *condense, const double *jacobian) {
  bool is_stable = true;
  condense_scale_rows(condense, jacobian);
  PivotEntry *lower = condense->lower.data;
  for (const Pivot *pivot = condense->pivots.data, *last = pivot + condense->pivots.count; pivot < last; pivot++)
    for (const PivotEntry *end = condense->lower.data + pivot->lower_end; lower < end; lower++) {
      lower->limit = condense_limit(condense, pivot, lower->row);
      is_stable = is_stable && fabs(condense->down.data[lower->term].factor) <= lower->limit;
    }
  return is_stable;
}

bool condense_jacobian(Condense *condense, const double *jacobian) {
  size_t entries = (size_t)condense->system->column_start[condense->system->columns];
  if (!condense->pivots.count) {
    memcpy(condense->left_values, jacobian, entries * sizeof(double));
    return true;
  }
  memcpy(condense->values.data, jacobian, entries * sizeof(double));
  memset(condense->values.data + entries, 0, (condense->values.count - entries) * sizeof(double));
  bool is_stable = condense_eliminate(condense) || condense_stays_stable(condense, jacobian);
  for (uint32_t k = 0; k < condense->source.count; k++)
    condense->left_values[k] = condense->values.data[condense->source.data[k]];
  return is_stable;
}

const int32_t *condense_rows(const Condense *condense) { return condense->kept; }

/* Entry `index` of vectors with this many pairs for each entry. */
static inline AlignedPair *pairs_at(double *vector, int32_t index, int pairs) {
  return (AlignedPair *)(void *)(vector + (size_t)(uint32_t)index * 2 * (size_t)pairs);
}

enum { PAIRS_MOST = 4 };

/* Inlined for each number of pairs, so that those of a row stay in registers. */
static inline __attribute__((always_inline)) void right_pairs(const Condense *condense, double *residual, int pairs) {
  const WeightedEntry *term = condense->down.data;
  for (const RowTerms *row = condense->taking.data, *last = row + condense->taking.count; row < last; row++) {
    AlignedPair sum[PAIRS_MOST], *to = pairs_at(residual, row->row, pairs);
#pragma GCC unroll 4
    for (int k = 0; k < pairs; k++) sum[k] = to[k];
    for (const WeightedEntry *end = condense->down.data + row->end; term < end; term++) {
      const AlignedPair factor = {term->factor, term->factor};
      const AlignedPair *source = pairs_at(residual, term->index, pairs);
#pragma GCC unroll 4
      for (int k = 0; k < pairs; k++) sum[k] += factor * source[k];
    }
#pragma GCC unroll 4
    for (int k = 0; k < pairs; k++) to[k] = sum[k];
  }
}

static void right_single(const Condense *condense, double *residual) {
  const WeightedEntry *term = condense->down.data;
  for (const RowTerms *row = condense->taking.data, *last = row + condense->taking.count; row < last; row++)
    for (const WeightedEntry *end = condense->down.data + row->end; term < end; term++)
      residual[row->row] += term->factor * residual[term->index];
}

void condense_right(const Condense *condense, int lanes, double *residual) {
  switch (lanes) {
  case 4: right_pairs(condense, residual, 2); return;
  case 6: right_pairs(condense, residual, 3); return;
  case 8: right_pairs(condense, residual, 4); return;
  default: right_single(condense, residual);
  }
}

static inline __attribute__((always_inline)) void expand_pairs(const Condense *condense, double *residual,
                                                               double *change, int pairs) {
  for (uint32_t p = condense->pivots.count; p-- > 0;) {
    const Pivot *pivot = &condense->pivots.data[p];
    const AlignedPair own = {-pivot->reciprocal, -pivot->reciprocal};
    const AlignedPair *right = pairs_at(residual, pivot->row, pairs);
    AlignedPair sum[PAIRS_MOST], *to = pairs_at(change, pivot->column, pairs);
#pragma GCC unroll 4
    for (int k = 0; k < pairs; k++) sum[k] = own * right[k];
    const WeightedEntry *term = condense->up.data + pivot->upper_begin, *end = condense->up.data + pivot->upper_end;
    for (; term < end; term++) {
      const AlignedPair factor = {term->factor, term->factor};
      const AlignedPair *source = pairs_at(change, term->index, pairs);
#pragma GCC unroll 4
      for (int k = 0; k < pairs; k++) sum[k] += factor * source[k];
    }
#pragma GCC unroll 4
    for (int k = 0; k < pairs; k++) to[k] = sum[k];
  }
}

static void expand_single(const Condense *condense, const double *residual, double *change) {
  for (uint32_t p = condense->pivots.count; p-- > 0;) {
    const Pivot *pivot = &condense->pivots.data[p];
    double sum = -pivot->reciprocal * residual[pivot->row];
    const WeightedEntry *term = condense->up.data + pivot->upper_begin, *end = condense->up.data + pivot->upper_end;
    for (; term < end; term++) sum += term->factor * change[term->index];
    change[pivot->column] = sum;
  }
}

void condense_expand(const Condense *condense, int lanes, double *residual, double *change) {
  switch (lanes) {
  case 4: expand_pairs(condense, residual, change, 2); return;
  case 6: expand_pairs(condense, residual, change, 3); return;
  case 8: expand_pairs(condense, residual, change, 4); return;
  default: expand_single(condense, residual, change);
  }
}
