/* large: factors of large sparse matrices without a library (large.h), column by column (Gilbert, Peierls 1988, Sparse partial
 * pivoting in time proportional to arithmetic operations). An elimination of only the pattern finds the order of the columns and
 * the preferred pivot of each: the one with the fewest entries (Markowitz 1957). This pivot is used unless another entry is much
 * larger. Real numbers are complex ones without an imaginary part. */
#include "large.h"

#include "vec.h"

#include <string.h>

/* A pivot of at least this fraction of the largest one is used if it keeps the factors sparse. */
static const double SMALLEST_PIVOT = 1e-3;

typedef struct Number {
  double re, im;
} Number;

/* The entries of a factor, in the order of its columns. */
typedef struct Factor {
  int32_t *start;
  IntVec index; /* rows of the lower one, positions of the upper one */
  VEC(Number) value;
} Factor;

struct Large {
  Heap *heap, *own; /* own: for the arrays of a pattern */
  void *ticket;
  bool complex_values;
  int32_t n;
  const int32_t *start, *row;
  int32_t *column, *wanted; /* per position: its column, and its preferred pivot row */
  int32_t *pivot, *place;   /* row per position, position per row; -1: not yet */
  int32_t *mark, *stack, *next, *reached;
  double *scale;
  Number *diagonal, *x;
  Factor lower, upper;
};

static Large *make(Heap *heap, bool complex_values) {
  Large *large = heap_alloc(heap, sizeof *large);
  large->heap = heap;
  large->complex_values = complex_values;
  return large;
}

/* ---- order ---- */

/* The pattern during its elimination: the remaining rows and columns. Lists may still contain eliminated ones. */
typedef struct Pattern {
  Heap *heap;
  IntVec *columns_of, *rows_of;
  int32_t *row_count, *column_count, *mark;
  bool *row_done, *column_done;
} Pattern;

static void add_entry(Pattern *pattern, int32_t row, int32_t column) {
  vec_push(pattern->heap, &pattern->columns_of[row], column);
  vec_push(pattern->heap, &pattern->rows_of[column], row);
  pattern->row_count[row]++;
  pattern->column_count[column]++;
}

static Pattern make_pattern(Heap *heap, const Large *large) {
  size_t n = (size_t)large->n;
  Pattern pattern = {heap, heap_array(heap, n, sizeof(IntVec)), heap_array(heap, n, sizeof(IntVec)), 0, 0, 0, 0, 0};
  pattern.row_count = heap_array(heap, n, sizeof(int32_t));
  pattern.column_count = heap_array(heap, n, sizeof(int32_t));
  pattern.mark = heap_array(heap, n, sizeof(int32_t));
  pattern.row_done = heap_array(heap, n, sizeof(bool));
  pattern.column_done = heap_array(heap, n, sizeof(bool));
  for (int32_t j = 0; j < large->n; j++) {
    pattern.mark[j] = -1;
    for (int32_t e = large->start[j]; e < large->start[j + 1]; e++) add_entry(&pattern, large->row[e], j);
  }
  return pattern;
}

static void drop_done(IntVec *list, const bool *done) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < list->count; k++)
    if (!done[list->data[k]]) list->data[kept++] = list->data[k];
  list->count = kept;
}

/* Eliminates the shortest column with its shortest row. false: a column is empty. */
static bool take_pivot(Pattern *pattern, int32_t n, int32_t *row, int32_t *column) {
  int32_t j = -1, r = -1;
  for (int32_t k = 0; k < n; k++)
    if (!pattern->column_done[k] && (j < 0 || pattern->column_count[k] < pattern->column_count[j])) j = k;
  IntVec *rows = &pattern->rows_of[j];
  drop_done(rows, pattern->row_done);
  for (uint32_t k = 0; k < rows->count; k++)
    if (r < 0 || pattern->row_count[rows->data[k]] < pattern->row_count[r]) r = rows->data[k];
  if (r < 0) return false;
  IntVec *columns = &pattern->columns_of[r];
  pattern->row_done[r] = pattern->column_done[j] = true;
  drop_done(columns, pattern->column_done);
  for (uint32_t k = 0; k < columns->count; k++) pattern->column_count[columns->data[k]]--;
  for (uint32_t k = 0; k < rows->count; k++) {
    int32_t i = rows->data[k];
    if (i == r) continue;
    pattern->row_count[i]--;
    for (uint32_t e = 0; e < pattern->columns_of[i].count; e++) pattern->mark[pattern->columns_of[i].data[e]] = i;
    for (uint32_t e = 0; e < columns->count; e++)
      if (pattern->mark[columns->data[e]] != i) add_entry(pattern, i, columns->data[e]);
    for (uint32_t e = 0; e < pattern->columns_of[i].count; e++) pattern->mark[pattern->columns_of[i].data[e]] = -1;
  }
  *row = r;
  *column = j;
  return true;
}

static void set_pattern(Large *large, int32_t n, const int32_t *start, const int32_t *row) {
  void *ticket;
  heap_release(large->heap, large->ticket);
  Heap *heap = large->own = heap_within(large->heap, &large->ticket);
  int32_t **const indices[] = {&large->column,      &large->wanted,     &large->pivot, &large->place,
                               &large->mark,        &large->stack,      &large->next,  &large->reached,
                               &large->lower.start, &large->upper.start};
  large->n = n;
  large->start = start;
  large->row = row;
  for (size_t k = 0; k < sizeof indices / sizeof *indices; k++)
    *indices[k] = heap_array(heap, (size_t)n + 1, sizeof(int32_t));
  large->scale = heap_array(heap, (size_t)n, sizeof(double));
  large->diagonal = heap_array(heap, (size_t)n, sizeof(Number));
  large->x = heap_array(heap, (size_t)n, sizeof(Number));
  memset(&large->lower.index, 0, sizeof large->lower.index);
  memset(&large->upper.index, 0, sizeof large->upper.index);
  memset(&large->lower.value, 0, sizeof large->lower.value);
  memset(&large->upper.value, 0, sizeof large->upper.value);
  Pattern pattern = make_pattern(heap_within(heap, &ticket), large);
  for (int32_t k = 0; k < n; k++)
    if (!take_pivot(&pattern, n, &large->wanted[k], &large->column[k])) large->n = -1; /* singular for all values */
  heap_release(heap, ticket);
}

/* ---- factors ---- */

static Number product(Number a, Number b) { return (Number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

static Number quotient(Number a, Number b) {
  double square = b.re * b.re + b.im * b.im;
  if (b.im == 0) return (Number){a.re / b.re, a.im / b.re};
  return (Number){(a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square};
}

static void subtract(Number *from, Number what) {
  from->re -= what.re;
  from->im -= what.im;
}

static double size_of(Number a) { return fabs(a.re) + fabs(a.im); }

static Number value_at(const Large *large, const double *values, int32_t e) {
  if (large->complex_values) return (Number){values[2 * e], values[2 * e + 1]};
  return (Number){values[e], 0};
}

/* Scales rows by their largest entry. false: a row is empty. */
static bool scale_rows(Large *large, const double *values) {
  for (int32_t i = 0; i < large->n; i++) large->scale[i] = 0;
  for (int32_t e = 0; e < large->start[large->n]; e++) {
    double size = size_of(value_at(large, values, e));
    if (!(size <= large->scale[large->row[e]])) large->scale[large->row[e]] = size;
  }
  for (int32_t i = 0; i < large->n; i++) {
    if (!(large->scale[i] > 0) || !isfinite(large->scale[i])) return false;
    large->scale[i] = 1 / large->scale[i];
  }
  return true;
}

/* The first entry that elimination with a row uses; 0 if the row is not yet a pivot row. */
static int32_t first_entry(const Large *large, int32_t row) {
  return large->place[row] < 0 ? 0 : large->lower.start[large->place[row]];
}

/* Adds the rows that elimination with this row changes, and last the row itself, to the list that ends at `top`; returns the
 * list's new
 * beginning. */
static int32_t reach(Large *large, int32_t from, int32_t stamp, int32_t top) {
  int32_t depth = 0, *stack = large->stack, *next = large->next;
  stack[0] = from;
  large->mark[from] = stamp;
  next[0] = first_entry(large, from);
  while (depth >= 0) {
    int32_t position = large->place[stack[depth]], child = -1;
    int32_t end = position < 0 ? 0 : large->lower.start[position + 1];
    while (next[depth] < end && child < 0) {
      int32_t row = large->lower.index.data[next[depth]++];
      if (large->mark[row] != stamp) child = row;
    }
    if (child < 0) {
      large->reached[--top] = stack[depth--];
      continue;
    }
    large->mark[child] = stamp;
    stack[++depth] = child;
    next[depth] = first_entry(large, child);
  }
  return top;
}

/* Eliminates a column by the columns before it, into `x`; returns the beginning of the list of its rows. */
static int32_t eliminate(Large *large, const double *values, int32_t column, int32_t stamp) {
  int32_t top = large->n;
  for (int32_t e = large->start[column]; e < large->start[column + 1]; e++)
    if (large->mark[large->row[e]] != stamp) top = reach(large, large->row[e], stamp, top);
  for (int32_t e = large->start[column]; e < large->start[column + 1]; e++) {
    Number value = value_at(large, values, e);
    double scale = large->scale[large->row[e]];
    large->x[large->row[e]] = (Number){value.re * scale, value.im * scale};
  }
  for (int32_t k = top; k < large->n; k++) {
    int32_t position = large->place[large->reached[k]];
    Number value = large->x[large->reached[k]];
    if (position < 0 || size_of(value) == 0) continue;
    for (int32_t e = large->lower.start[position]; e < large->lower.start[position + 1]; e++)
      subtract(&large->x[large->lower.index.data[e]], product(large->lower.value.data[e], value));
  }
  return top;
}

/* The row of the pivot; -1: there is none. */
static int32_t find_pivot(const Large *large, int32_t top, int32_t wanted) {
  double largest = 0;
  int32_t best = -1;
  for (int32_t k = top; k < large->n; k++) {
    int32_t row = large->reached[k];
    if (large->place[row] >= 0 || !(size_of(large->x[row]) > largest)) continue;
    largest = size_of(large->x[row]);
    best = row;
  }
  if (!isfinite(largest)) return -1;
  return large->place[wanted] < 0 && size_of(large->x[wanted]) > SMALLEST_PIVOT * largest ? wanted : best;
}

/* Moves the column that `x` holds into the factors, and clears it. */
static void keep_column(Large *large, int32_t position, int32_t top, int32_t pivot) {
  Number divisor = large->diagonal[position] = large->x[pivot];
  large->pivot[position] = pivot;
  for (int32_t k = top; k < large->n; k++) {
    int32_t row = large->reached[k];
    Number value = large->x[row];
    large->x[row] = (Number){0, 0};
    if (row == pivot || size_of(value) == 0) continue;
    bool is_upper = large->place[row] >= 0;
    Factor *factor = is_upper ? &large->upper : &large->lower;
    vec_push(large->own, &factor->index, is_upper ? large->place[row] : row);
    vec_push(large->own, &factor->value, is_upper ? value : quotient(value, divisor));
  }
  large->place[pivot] = position;
  large->lower.start[position + 1] = (int32_t)large->lower.index.count;
  large->upper.start[position + 1] = (int32_t)large->upper.index.count;
}

static bool factor(Large *large, const double *values) {
  int32_t n = large->n;
  if (n < 0 || !scale_rows(large, values)) return false;
  large->lower.index.count = large->lower.value.count = large->upper.index.count = large->upper.value.count = 0;
  memset(large->x, 0, (size_t)n * sizeof(Number));
  for (int32_t i = 0; i < n; i++) large->place[i] = large->mark[i] = -1;
  for (int32_t k = 0; k < n; k++) {
    int32_t top = eliminate(large, values, large->column[k], k), pivot = find_pivot(large, top, large->wanted[k]);
    if (pivot < 0) return false;
    keep_column(large, k, top, pivot);
  }
  return true;
}

/* ---- solving ---- */

static void solve(Large *large, double *b) {
  int32_t n = large->n, step = large->complex_values ? 2 : 1;
  Number *x = large->x;
  for (int32_t i = 0; i < n; i++)
    x[i] = (Number){b[step * i] * large->scale[i], step > 1 ? b[step * i + 1] * large->scale[i] : 0};
  for (int32_t k = 0; k < n; k++)
    for (int32_t e = large->lower.start[k]; e < large->lower.start[k + 1]; e++)
      subtract(&x[large->lower.index.data[e]], product(large->lower.value.data[e], x[large->pivot[k]]));
  for (int32_t k = n - 1; k >= 0; k--) {
    Number value = quotient(x[large->pivot[k]], large->diagonal[k]);
    int32_t column = large->column[k];
    b[step * column] = value.re;
    if (step > 1) b[step * column + 1] = value.im;
    for (int32_t e = large->upper.start[k]; e < large->upper.start[k + 1]; e++)
      subtract(&x[large->pivot[large->upper.index.data[e]]], product(large->upper.value.data[e], value));
  }
}

/* ---- determinant ---- */

static double determinant(const Large *large, double *logarithm) {
  int32_t *next = large->next;
  double sign = 1;
  for (int32_t k = 0; k < large->n; k++) next[large->column[k]] = large->pivot[k];
  for (int32_t k = 0; k < large->n; k++) {
    multiply_determinant(large->diagonal[k].re / large->scale[large->pivot[k]], &sign, logarithm);
    for (; next[k] != k; sign = -sign) {
      int32_t other = next[k];
      next[k] = next[other];
      next[other] = other;
    }
  }
  return sign;
}

static double least_pivot(const Large *large) {
  double least = INFINITY;
  for (int32_t k = 0; k < large->n; k++) least = fmin(least, fabs(large->diagonal[k].re));
  return least;
}

const LargeSparse large_plain = {make, set_pattern, factor, solve, determinant, least_pivot};
