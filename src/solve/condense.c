/* condense: see condense.h. Sparse elimination in the order of least fill (Markowitz), decided once for a
 * choice of states and replayed on the values by lists of places. Invariant: a pivot's entry is never changed
 * by an earlier pivot, so it is 1 or -1 whatever the values are.
 */
#include "solve/condense.h"

#include "base/vec.h"

#include <string.h>

enum {
  ROWS_LIMIT = 250, /* above this a sparse factorization of the whole is as good */
  WORK_LIMIT = 10,  /* operations on a Jacobian at most, in units of its entries */
};

/* An entry of a row or a column: the other index, and where its value is. */
typedef struct JacobianEntry {
  int32_t index, place;
} JacobianEntry;

/* vector[target] += factor * vector[source] */
typedef struct Product {
  int32_t target, source;
  double factor;
} Product;

typedef struct Pivot {
  int32_t row, column, place;
  double sign;
  uint32_t lower_end, upper_end;
} Pivot;

struct Condense {
  Heap *heap;
  const System *system;

  VEC(Pivot) pivots;
  VEC(JacobianEntry) lower, upper; /* the pivots' columns and rows as they are when their turn comes */
  IntVec target;                   /* for each pivot, entry of its column, entry of its row: the place that changes */
  VEC(Product) down, up;           /* what condense_right and condense_expand do, in order */

  JacobianPattern left;
  int32_t *kept;           /* [left.rows] rows of the system */
  IntVec left_row, source; /* row and place of each value that is left, by columns */
  int32_t *left_start;     /* [columns + 1] */
  double *values, *left_values;
  int32_t places;

  /* The matrix while it is decided on. NULL: the system is too large. */
  int32_t *place;                    /* [rows * columns], -1: no entry */
  IntVec *columns_of, *rows_of;      /* entries, those taken out among them */
  int32_t *row_count, *column_count; /* entries left */
  bool *row_done, *column_done, *fixed;
  VEC(Pivot) candidates;
};

Condense *condense_new(Heap *heap, const System *system) {
  Condense *condense = heap_alloc(heap, sizeof *condense);
  size_t columns = (size_t)system->columns, rows = (size_t)system->rows;
  condense->heap = heap;
  condense->system = system;
  condense->kept = heap_array(heap, rows, sizeof(int32_t));
  if (rows > ROWS_LIMIT || !system->constant) return condense;
  condense->left_start = heap_array(heap, columns + 1, sizeof(int32_t));
  condense->column_done = heap_array(heap, columns, sizeof(bool));
  condense->row_done = heap_array(heap, rows, sizeof(bool));
  condense->place = heap_array(heap, rows * columns, sizeof(int32_t));
  condense->columns_of = heap_array(heap, rows, sizeof(IntVec));
  condense->rows_of = heap_array(heap, columns, sizeof(IntVec));
  condense->row_count = heap_array(heap, rows, sizeof(int32_t));
  condense->column_count = heap_array(heap, columns, sizeof(int32_t));
  condense->fixed = heap_array(heap, columns, sizeof(bool));
  return condense;
}

/* ---- deciding ---- */

static void condense_add_entry(Condense *condense, int32_t row, int32_t column, int32_t place) {
  condense->place[row * condense->system->columns + column] = place;
  vec_push(condense->heap, &condense->columns_of[row], column);
  vec_push(condense->heap, &condense->rows_of[column], row);
  condense->row_count[row]++;
  condense->column_count[column]++;
}

/* The system's pattern; states, rates and columns of higher index stay, other columns with 1 or -1 may go. */
static void condense_begin(Condense *condense, const double *jacobian) {
  const System *system = condense->system;
  condense->target.count = condense->candidates.count = 0;
  condense->places = system->column_start[system->columns];
  memset(condense->row_done, 0, (size_t)system->rows * sizeof(bool));
  memset(condense->column_done, 0, (size_t)system->columns * sizeof(bool));
  memset(condense->place, -1, (size_t)system->rows * (size_t)system->columns * sizeof(int32_t));
  for (int32_t r = 0; r < system->rows; r++) condense->columns_of[r].count = 0, condense->row_count[r] = 0;
  for (int32_t c = 0; c < system->columns; c++) {
    condense->rows_of[c].count = 0, condense->column_count[c] = 0;
    condense->fixed[c] = system->column_index && system->column_index[c] > 1;
  }
  for (int32_t l = 0; l < system->links; l++)
    condense->fixed[system->link_from[l]] = condense->fixed[system->link_to[l]] = true;
  for (int32_t c = 0; c < system->columns; c++)
    for (int32_t k = system->column_start[c]; k < system->column_start[c + 1]; k++) {
      condense_add_entry(condense, system->row_index[k], c, k);
      if (condense->fixed[c] || !system->constant[k]) continue;
      if (jacobian[k] != 1 && jacobian[k] != -1) continue;
      vec_push(condense->heap, &condense->candidates,
               (Pivot){.row = system->row_index[k], .column = c, .place = k, .sign = jacobian[k]});
    }
}

/* The candidate that adds least, NULL when none is worth it; one whose place was taken away (-1) is none. */
static Pivot *condense_best(Condense *condense) {
  Pivot *best = NULL;
  int32_t least = INT32_MAX;
  for (uint32_t k = 0; k < condense->candidates.count; k++) {
    Pivot *pivot = &condense->candidates.data[k];
    if (pivot->place < 0 || condense->row_done[pivot->row] || condense->column_done[pivot->column]) continue;
    int32_t cost = (condense->row_count[pivot->row] - 1) * (condense->column_count[pivot->column] - 1);
    if (cost >= least) continue;
    least = cost;
    best = pivot;
  }
  int64_t entries = condense->system->column_start[condense->system->columns];
  return (int64_t)condense->target.count + least <= WORK_LIMIT * entries ? best : NULL;
}

static void condense_change(Condense *condense, int32_t row, int32_t column) {
  int32_t place = condense->place[row * condense->system->columns + column];
  if (place < 0) condense_add_entry(condense, row, column, place = condense->places++);
  vec_push(condense->heap, &condense->target, place);
  for (uint32_t k = 0; k < condense->candidates.count; k++)
    if (condense->candidates.data[k].place == place) condense->candidates.data[k].place = -1;
}

static void condense_take_out(Condense *condense, Pivot pivot) {
  int32_t columns = condense->system->columns;
  uint32_t lower = condense->lower.count, upper = condense->upper.count;
  condense->row_done[pivot.row] = condense->column_done[pivot.column] = true;
  for (uint32_t k = 0; k < condense->rows_of[pivot.column].count; k++) {
    int32_t r = condense->rows_of[pivot.column].data[k];
    if (condense->row_done[r]) continue;
    vec_push(condense->heap, &condense->lower, (JacobianEntry){r, condense->place[r * columns + pivot.column]});
    condense->row_count[r]--;
  }
  for (uint32_t k = 0; k < condense->columns_of[pivot.row].count; k++) {
    int32_t c = condense->columns_of[pivot.row].data[k];
    if (condense->column_done[c]) continue;
    vec_push(condense->heap, &condense->upper, (JacobianEntry){c, condense->place[pivot.row * columns + c]});
    condense->column_count[c]--;
  }
  for (uint32_t a = lower; a < condense->lower.count; a++)
    for (uint32_t b = upper; b < condense->upper.count; b++)
      condense_change(condense, condense->lower.data[a].index, condense->upper.data[b].index);
  pivot.lower_end = condense->lower.count;
  pivot.upper_end = condense->upper.count;
  vec_push(condense->heap, &condense->pivots, pivot);
}

/* ---- what is left ---- */

static void condense_build_pattern(Condense *condense) {
  const System *system = condense->system;
  int32_t kept = 0;
  for (int32_t r = 0; r < system->rows; r++)
    if (!condense->row_done[r]) condense->kept[kept++] = r;
  condense->left_row.count = condense->source.count = 0;
  for (int32_t c = 0; c < system->columns; c++) {
    condense->left_start[c] = (int32_t)condense->source.count;
    if (condense->column_done[c]) continue;
    for (int32_t r = 0; r < kept; r++) {
      int32_t place = condense->place[condense->kept[r] * system->columns + c];
      if (place < 0) continue;
      vec_push(condense->heap, &condense->left_row, r);
      vec_push(condense->heap, &condense->source, place);
    }
  }
  condense->left_start[system->columns] = (int32_t)condense->source.count;
  condense->left = (JacobianPattern){kept, condense->left_start, condense->left_row.data, condense->column_done};
}

/* Gives the pattern's arrays a value each; `values` holds the places. */
static void condense_make_room(Condense *condense) {
  size_t left = (size_t)condense->left.column_start[condense->system->columns];
  condense->left_values = heap_resize(condense->heap, condense->left_values, left * sizeof(double));
  if (!condense->pivots.count) return;
  condense->values = heap_resize(condense->heap, condense->values, (size_t)condense->places * sizeof(double));
}

static void condense_list_products(Condense *condense) {
  uint32_t a = 0;
  for (uint32_t p = 0; p < condense->pivots.count; p++)
    for (; a < condense->pivots.data[p].lower_end; a++)
      vec_push(condense->heap, &condense->down,
               (Product){condense->lower.data[a].index, condense->pivots.data[p].row, 0});
  for (uint32_t p = condense->pivots.count; p-- > 0;) {
    const Pivot *pivot = &condense->pivots.data[p];
    for (uint32_t b = p ? pivot[-1].upper_end : 0; b < pivot->upper_end; b++)
      vec_push(condense->heap, &condense->up, (Product){pivot->column, condense->upper.data[b].index, 0});
  }
}

void condense_choose(Condense *condense, const double *jacobian) {
  const System *system = condense->system;
  condense->pivots.count = condense->lower.count = condense->upper.count = 0;
  condense->down.count = condense->up.count = 0;
  condense->left = (JacobianPattern){system->rows, system->column_start, system->row_index, NULL};
  for (int32_t r = 0; r < system->rows; r++) condense->kept[r] = r;
  if (condense->place && jacobian) {
    condense_begin(condense, jacobian);
    for (const Pivot *pivot; (pivot = condense_best(condense)) != NULL;) condense_take_out(condense, *pivot);
    if (condense->pivots.count) condense_build_pattern(condense);
    condense_list_products(condense);
  }
  condense_make_room(condense);
}

const JacobianPattern *condense_pattern(const Condense *condense) { return &condense->left; }
const double *condense_values(const Condense *condense) { return condense->left_values; }

/* ---- values ---- */

/* The factors of the lists: multipliers of rows, and the rows themselves from the last pivot to the first. */
static void condense_set_factors(Condense *condense) {
  const double *values = condense->values;
  for (uint32_t a = 0; a < condense->lower.count; a++)
    condense->down.data[a].factor = -values[condense->lower.data[a].place];
  uint32_t next = 0;
  for (uint32_t p = condense->pivots.count; p-- > 0;) {
    const Pivot *pivot = &condense->pivots.data[p];
    for (uint32_t b = p ? pivot[-1].upper_end : 0; b < pivot->upper_end; b++)
      condense->up.data[next++].factor = -pivot->sign * values[condense->upper.data[b].place];
  }
}

void condense_jacobian(Condense *condense, const double *jacobian) {
  double *values = condense->values;
  if (!condense->pivots.count) {
    memcpy(condense->left_values, jacobian,
           (size_t)condense->left.column_start[condense->system->columns] * sizeof(double));
    return;
  }
  int32_t original = condense->system->column_start[condense->system->columns];
  memcpy(values, jacobian, (size_t)original * sizeof(double));
  memset(values + original, 0, (size_t)(condense->places - original) * sizeof(double));
  const int32_t *target = condense->target.data;
  uint32_t a = 0, first = 0;
  for (uint32_t p = 0; p < condense->pivots.count; p++) {
    const Pivot *pivot = &condense->pivots.data[p];
    for (; a < pivot->lower_end; a++) {
      double factor = values[condense->lower.data[a].place] *= pivot->sign;
      for (uint32_t b = first; b < pivot->upper_end; b++)
        values[*target++] -= factor * values[condense->upper.data[b].place];
    }
    first = pivot->upper_end;
  }
  condense_set_factors(condense);
  for (uint32_t k = 0; k < condense->source.count; k++) condense->left_values[k] = values[condense->source.data[k]];
}

const int32_t *condense_rows(const Condense *condense) { return condense->kept; }

static inline void apply_pairs(const Product *product, uint32_t count, double *vector, int pairs) {
  for (const Product *end = product + count; product < end; product++) {
    Pair *target = (Pair *)(void *)vector + product->target * pairs, factor = {product->factor, product->factor};
    const Pair *source = (const Pair *)(const void *)vector + product->source * pairs;
#pragma GCC unroll 4
    for (int i = 0; i < pairs; i++) target[i] += factor * source[i];
  }
}

static void condense_apply(const Product *product, uint32_t count, int lanes, double *vector) {
  switch (lanes) {
  case 4: apply_pairs(product, count, vector, 2); return;
  case 6: apply_pairs(product, count, vector, 3); return;
  case 8: apply_pairs(product, count, vector, 4); return;
  default:
    for (const Product *end = product + count; product < end; product++)
      vector[product->target] += product->factor * vector[product->source];
  }
}

void condense_right(const Condense *condense, int lanes, double *residual) {
  condense_apply(condense->down.data, condense->down.count, lanes, residual);
}

void condense_expand(const Condense *condense, int lanes, const double *residual, double *change) {
  for (uint32_t p = 0; p < condense->pivots.count; p++) {
    const Pivot *pivot = &condense->pivots.data[p];
    const double *from = residual + pivot->row * lanes;
    double *to = change + pivot->column * lanes;
    for (int i = 0; i < lanes; i++) to[i] = -pivot->sign * from[i];
  }
  condense_apply(condense->up.data, condense->up.count, lanes, change);
}
