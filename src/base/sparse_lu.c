/* sparse_lu: see sparse_lu.h. Rows and columns are numbered in the order of their pivots. The factors are one array of values: rows
 * of U, each with its pivot first, then columns of L. Invariant: after pivots are chosen, the places of entries and the order of
 * operations never change; only the values do. */
#include "base/sparse_lu.h"

#include "base/pairs.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

/* A pivot is at least this fraction of the largest entry of its column. Pivots are chosen again when entries of L get this
 * large. */
static const double LEAST_PIVOT = 0.1, LARGEST_FACTOR = 1e3;

struct SparseLu {
  Heap *heap;
  bool complex_values, chosen;
  bool is_odd; /* parity of the permutations of rows and columns together */
  int32_t n;
  const int32_t *start, *row; /* pattern of the matrix */
  int32_t *pivot_row, *pivot_column;
  int32_t *place;         /* per entry of the matrix: the place of its value in the factors */
  double *scale;          /* per entry: the scale of its row */
  double *row_scale;      /* per pivot: the scale of its row */
  int32_t *upper, *lower; /* [n + 1] where rows of U and columns of L begin */
  IntVec index;           /* per place: column in U, row in L */
  IntVec target;          /* places that are updated, in the order of the operations */
  double *values, *right;
};

SparseLu *sparse_lu_new(Heap *heap, bool complex_values) {
  SparseLu *lu = heap_alloc(heap, sizeof *lu);
  lu->heap = heap;
  lu->complex_values = complex_values;
  return lu;
}

static void resize_numbers(Heap *heap, int32_t **numbers, size_t count) {
  *numbers = heap_resize(heap, *numbers, count * sizeof **numbers);
}

static void resize_values(Heap *heap, double **values, size_t count) {
  *values = heap_resize(heap, *values, count * sizeof **values);
}

void sparse_lu_set_pattern(SparseLu *lu, int32_t n, const int32_t *column_start, const int32_t *row_index) {
  size_t size = (size_t)n, entries = (size_t)column_start[n];
  lu->n = n;
  lu->start = column_start;
  lu->row = row_index;
  lu->chosen = false;
  resize_numbers(lu->heap, &lu->pivot_row, size);
  resize_numbers(lu->heap, &lu->pivot_column, size);
  resize_numbers(lu->heap, &lu->upper, size + 1);
  resize_numbers(lu->heap, &lu->lower, size + 1);
  resize_numbers(lu->heap, &lu->place, entries);
  resize_values(lu->heap, &lu->scale, entries);
  resize_values(lu->heap, &lu->row_scale, size);
  resize_values(lu->heap, &lu->right, 2 * size);
}

/* ---- choosing pivots ---- */

/* The matrix during elimination. The lists still contain eliminated rows and columns. */
typedef struct Choice {
  int32_t n;
  double *value;                           /* pairs, column-major */
  bool *filled;                            /* structural nonzeros, column-major */
  bool *seen;                              /* [2 n] workspace */
  int32_t *rows, *columns;                 /* [n n] the entries of each column and of each row */
  int32_t *rows_listed, *columns_listed;   /* [n] lengths of these lists */
  int32_t *row_count, *column_count;       /* [n] entries not yet eliminated */
  int32_t *row_position, *column_position; /* [n] number of the pivot; -1: not chosen yet */
} Choice;

static double entry_size(const double *value) { return fabs(value[0]) + fabs(value[1]); }

static void add_entry(Choice *choice, int32_t i, int32_t j) {
  int32_t n = choice->n;
  choice->filled[j * n + i] = true;
  choice->rows[j * n + choice->rows_listed[j]++] = i;
  choice->columns[i * n + choice->columns_listed[i]++] = j;
  choice->row_count[i]++;
  choice->column_count[j]++;
}

static Choice choice_make(const SparseLu *lu, const double *values, const double *row_scale) {
  size_t n = (size_t)lu->n;
  Choice choice = {.n = lu->n, .value = heap_array(lu->heap, 2 * n * n, sizeof(double))};
  choice.filled = heap_array(lu->heap, n * n + 2 * n, sizeof(bool));
  choice.seen = choice.filled + n * n;
  choice.rows = heap_array(lu->heap, 2 * n * n, sizeof(int32_t));
  choice.columns = choice.rows + n * n;
  int32_t *counts = choice.rows_listed = heap_array(lu->heap, 6 * n, sizeof(int32_t));
  choice.columns_listed = counts + n;
  choice.row_count = counts + 2 * n;
  choice.column_count = counts + 3 * n;
  choice.row_position = counts + 4 * n;
  choice.column_position = counts + 5 * n;
  for (int32_t j = 0; j < lu->n; j++) {
    choice.row_position[j] = choice.column_position[j] = -1;
    for (int32_t k = lu->start[j]; k < lu->start[j + 1]; k++) {
      int32_t i = lu->row[k], e = j * lu->n + i;
      add_entry(&choice, i, j);
      choice.value[2 * e] = row_scale[i] * (lu->complex_values ? values[2 * k] : values[k]);
      choice.value[2 * e + 1] = lu->complex_values ? row_scale[i] * values[2 * k + 1] : 0;
    }
  }
  return choice;
}

static void choice_free(Heap *heap, Choice *choice) {
  heap_free_all(heap, choice->value, choice->filled, choice->rows, choice->rows_listed);
}

/* Among the entries of a column that are large enough, the one in the shortest row; of two equal rows, the larger entry. */
static int32_t best_in_column(const Choice *choice, int32_t j) {
  const double *value = choice->value + 2 * (size_t)j * (size_t)choice->n;
  const int32_t *rows = choice->rows + (size_t)j * (size_t)choice->n;
  double largest = 0;
  int32_t best = -1;
  for (int32_t k = 0; k < choice->rows_listed[j]; k++)
    if (choice->row_position[rows[k]] < 0) largest = fmax(largest, entry_size(value + 2 * rows[k]));
  for (int32_t k = 0; k < choice->rows_listed[j]; k++) {
    int32_t i = rows[k];
    double size = entry_size(value + 2 * i);
    if (choice->row_position[i] >= 0 || !(size > 0) || size < LEAST_PIVOT * largest) continue;
    int32_t longer = best < 0 ? -1 : choice->row_count[i] - choice->row_count[best];
    if (longer < 0 || (longer == 0 && size > entry_size(value + 2 * best))) best = i;
  }
  return best;
}

/* The next pivot: among the shortest columns, the one with the least fill. false: there is none. */
static bool find_pivot(const Choice *choice, int32_t *row, int32_t *column) {
  int32_t shortest = INT32_MAX, least = INT32_MAX;
  for (int32_t j = 0; j < choice->n; j++)
    if (choice->column_position[j] < 0 && choice->column_count[j] < shortest) shortest = choice->column_count[j];
  for (int32_t j = 0; j < choice->n; j++) {
    if (choice->column_position[j] >= 0 || choice->column_count[j] != shortest) continue;
    int32_t i = best_in_column(choice, j);
    if (i < 0) return false;
    if (choice->row_count[i] >= least) continue;
    least = choice->row_count[i];
    *row = i;
    *column = j;
  }
  return least < INT32_MAX;
}

static void divide(const double *a, const double *b, double *out) {
  double square = b[0] * b[0] + b[1] * b[1];
  out[0] = (a[0] * b[0] + a[1] * b[1]) / square;
  out[1] = (a[1] * b[0] - a[0] * b[1]) / square;
}

/* Subtracts factor times the pivot's row from row `to`, in the remaining columns. */
static void subtract_row(Choice *choice, int32_t to, int32_t row, const double *factor) {
  int32_t n = choice->n;
  for (int32_t k = 0; k < choice->columns_listed[row]; k++) {
    int32_t j = choice->columns[row * n + k];
    if (choice->column_position[j] >= 0) continue;
    const double *a = choice->value + 2 * (j * n + row);
    double *b = choice->value + 2 * (j * n + to);
    if (!choice->filled[j * n + to]) add_entry(choice, to, j);
    b[0] -= factor[0] * a[0] - factor[1] * a[1];
    b[1] -= factor[0] * a[1] + factor[1] * a[0];
  }
}

/* Removes the pivot's row and column from the remaining matrix. */
static void take_pivot(Choice *choice, int32_t number, int32_t row, int32_t column) {
  int32_t n = choice->n;
  choice->row_position[row] = choice->column_position[column] = number;
  for (int32_t k = 0; k < choice->columns_listed[row]; k++) choice->column_count[choice->columns[row * n + k]]--;
  for (int32_t k = 0; k < choice->rows_listed[column]; k++) {
    int32_t i = choice->rows[column * n + k];
    double factor[2];
    choice->row_count[i]--;
    if (choice->row_position[i] >= 0) continue;
    divide(choice->value + 2 * (column * n + i), choice->value + 2 * (column * n + row), factor);
    subtract_row(choice, i, row, factor);
  }
}

/* ---- the list of operations ---- */

/* Assigns every entry of the factors its place: place[] by row and column in the order of pivots. */
static void place_entries(SparseLu *lu, const Choice *choice, int32_t *place) {
  int32_t n = lu->n;
  lu->index.count = 0;
  for (int32_t k = 0; k < n; k++) {
    lu->upper[k] = (int32_t)lu->index.count;
    for (int32_t j = k; j < n; j++) {
      if (!choice->filled[lu->pivot_column[j] * n + lu->pivot_row[k]]) continue;
      place[k * n + j] = (int32_t)lu->index.count;
      vec_push(lu->heap, &lu->index, j);
    }
  }
  lu->upper[n] = (int32_t)lu->index.count;
  for (int32_t k = 0; k < n; k++) {
    lu->lower[k] = (int32_t)lu->index.count;
    for (int32_t i = k + 1; i < n; i++) {
      if (!choice->filled[lu->pivot_column[k] * n + lu->pivot_row[i]]) continue;
      place[i * n + k] = (int32_t)lu->index.count;
      vec_push(lu->heap, &lu->index, i);
    }
  }
  lu->lower[n] = (int32_t)lu->index.count;
}

static void list_operations(SparseLu *lu, const int32_t *place) {
  lu->target.count = 0;
  for (int32_t k = 0; k < lu->n; k++)
    for (int32_t a = lu->lower[k]; a < lu->lower[k + 1]; a++)
      for (int32_t b = lu->upper[k] + 1; b < lu->upper[k + 1]; b++)
        vec_push(lu->heap, &lu->target, place[lu->index.data[a] * lu->n + lu->index.data[b]]);
}

/* Does the permutation consist of an odd number of exchanges? A cycle of m elements is m - 1 exchanges. */
static bool is_odd(const int32_t *permutation, int32_t n, bool *seen) {
  bool odd = false;
  for (int32_t k = 0; k < n; k++)
    for (int32_t next = k; !seen[next]; next = permutation[next]) {
      seen[next] = true;
      odd ^= permutation[next] != k;
    }
  return odd;
}

static void keep_choice(SparseLu *lu, const Choice *choice, const double *row_scale) {
  int32_t n = lu->n, *place = heap_array(lu->heap, (size_t)n * (size_t)n, sizeof *place);
  for (int32_t i = 0; i < n; i++) {
    lu->pivot_row[choice->row_position[i]] = i;
    lu->pivot_column[choice->column_position[i]] = i;
  }
  lu->is_odd = is_odd(choice->row_position, n, choice->seen) != is_odd(choice->column_position, n, choice->seen + n);
  place_entries(lu, choice, place);
  list_operations(lu, place);
  for (int32_t j = 0; j < n; j++)
    for (int32_t k = lu->start[j]; k < lu->start[j + 1]; k++) {
      lu->place[k] = place[choice->row_position[lu->row[k]] * n + choice->column_position[j]];
      lu->scale[k] = row_scale[lu->row[k]];
    }
  for (int32_t k = 0; k < n; k++) lu->row_scale[k] = row_scale[lu->pivot_row[k]];
  resize_values(lu->heap, &lu->values, (lu->complex_values ? 2 : 1) * (size_t)lu->index.count);
  heap_free(lu->heap, place);
}

/* Computes the reciprocals of the largest entries of rows; false: a row is zero or not finite. */
static bool find_scales(const SparseLu *lu, const double *values, double *row_scale) {
  for (int32_t k = 0; k < lu->start[lu->n]; k++) {
    double size = lu->complex_values ? entry_size(values + 2 * k) : fabs(values[k]);
    if (!(size <= row_scale[lu->row[k]])) row_scale[lu->row[k]] = size;
  }
  for (int32_t i = 0; i < lu->n; i++) {
    if (!(row_scale[i] > 0) || !isfinite(row_scale[i])) return false;
    row_scale[i] = 1 / row_scale[i];
  }
  return true;
}

static bool choose_pivots(SparseLu *lu, const double *values) {
  double *row_scale = heap_array(lu->heap, (size_t)lu->n, sizeof *row_scale);
  bool found = find_scales(lu, values, row_scale);
  if (found) {
    Choice choice = choice_make(lu, values, row_scale);
    int32_t row = 0, column = 0;
    for (int32_t k = 0; k < lu->n && found; k++) {
      found = find_pivot(&choice, &row, &column);
      if (found) take_pivot(&choice, k, row, column);
    }
    if (found) keep_choice(lu, &choice, row_scale);
    choice_free(lu->heap, &choice);
  }
  heap_free(lu->heap, row_scale);
  return lu->chosen = found;
}

/* ---- factors ---- */

/* The reciprocals of the pivots stay in their places. Returns the largest entry of L; NAN: a pivot is zero or not a number. */
static double factor_real(SparseLu *lu) {
  double *values = lu->values, largest = 0;
  const int32_t *target = lu->target.data;
  for (int32_t k = 0; k < lu->n; k++) {
    const double *row = values + lu->upper[k] + 1, *end = values + lu->upper[k + 1];
    double reciprocal = 1 / values[lu->upper[k]];
    if (!isfinite(reciprocal)) return NAN;
    values[lu->upper[k]] = reciprocal;
    for (int32_t a = lu->lower[k]; a < lu->lower[k + 1]; a++) {
      double factor = values[a] *= reciprocal;
      if (!(fabs(factor) <= largest)) largest = fabs(factor);
      for (const double *entry = row; entry < end; entry++) values[*target++] -= factor * *entry;
    }
  }
  return largest;
}

static Pair multiply(Pair a, Pair b) {
  Pair turned = {b[1], b[0]}, straight = {a[0], a[0]}, crossed = {-a[1], a[1]};
  return b * straight + turned * crossed;
}

static double factor_complex(SparseLu *lu) {
  Pair *values = (Pair *)(void *)lu->values;
  double largest = 0;
  const int32_t *target = lu->target.data;
  for (int32_t k = 0; k < lu->n; k++) {
    const Pair *row = values + lu->upper[k] + 1, *end = values + lu->upper[k + 1];
    Pair pivot = values[lu->upper[k]];
    double square = pivot[0] * pivot[0] + pivot[1] * pivot[1];
    Pair reciprocal = {pivot[0] / square, -pivot[1] / square};
    if (!isfinite(reciprocal[0]) || !isfinite(reciprocal[1])) return NAN;
    values[lu->upper[k]] = reciprocal;
    for (int32_t a = lu->lower[k]; a < lu->lower[k + 1]; a++) {
      Pair factor = values[a] = multiply(reciprocal, values[a]);
      double size = fabs(factor[0]) + fabs(factor[1]);
      if (!(size <= largest)) largest = size;
      for (const Pair *entry = row; entry < end; entry++) values[*target++] -= multiply(factor, *entry);
    }
  }
  return largest;
}

/* Scatters the values, with rows scaled. The returned sum shows whether all are finite. */
static double scatter(SparseLu *lu, const double *values) {
  double sum = 0;
  for (int32_t k = 0; k < lu->start[lu->n]; k++) sum += lu->values[lu->place[k]] = values[k] * lu->scale[k];
  return sum;
}

static double scatter_complex(SparseLu *lu, const double *values) {
  Pair *to = (Pair *)(void *)lu->values, sum = {0, 0};
  const Pair *from = (const Pair *)(const void *)values;
  for (int32_t k = 0; k < lu->start[lu->n]; k++) sum += to[lu->place[k]] = from[k] * lu->scale[k];
  return sum[0] + sum[1];
}

/* Factors with the present pivots; false: they no longer fit. */
static bool factor(SparseLu *lu, const double *values) {
  size_t width = lu->complex_values ? 2 : 1;
  memset(lu->values, 0, width * lu->index.count * sizeof(double));
  if (!isfinite(lu->complex_values ? scatter_complex(lu, values) : scatter(lu, values))) return false;
  return (lu->complex_values ? factor_complex(lu) : factor_real(lu)) <= LARGEST_FACTOR;
}

bool sparse_lu_factor(SparseLu *lu, const double *values) {
  if (lu->chosen && factor(lu, values)) return true;
  return choose_pivots(lu, values) && factor(lu, values);
}

/* ---- solving ---- */

static void solve_real(const SparseLu *lu, double *b) {
  double *x = lu->right;
  const double *values = lu->values;
  const int32_t *index = lu->index.data;
  for (int32_t k = 0; k < lu->n; k++) x[k] = b[lu->pivot_row[k]] * lu->row_scale[k];
  for (int32_t k = 0; k < lu->n; k++)
    for (int32_t a = lu->lower[k]; a < lu->lower[k + 1]; a++) x[index[a]] -= values[a] * x[k];
  for (int32_t k = lu->n - 1; k >= 0; k--) {
    double sum = x[k];
    for (int32_t a = lu->upper[k] + 1; a < lu->upper[k + 1]; a++) sum -= values[a] * x[index[a]];
    b[lu->pivot_column[k]] = x[k] = sum * values[lu->upper[k]];
  }
}

static void solve_complex(const SparseLu *lu, double *b) {
  Pair *x = (Pair *)(void *)lu->right, *out = (Pair *)(void *)b;
  const Pair *values = (const Pair *)(const void *)lu->values;
  const int32_t *index = lu->index.data;
  for (int32_t k = 0; k < lu->n; k++) x[k] = out[lu->pivot_row[k]] * lu->row_scale[k];
  for (int32_t k = 0; k < lu->n; k++)
    for (int32_t a = lu->lower[k]; a < lu->lower[k + 1]; a++) x[index[a]] -= multiply(x[k], values[a]);
  for (int32_t k = lu->n - 1; k >= 0; k--) {
    Pair sum = x[k];
    for (int32_t a = lu->upper[k] + 1; a < lu->upper[k + 1]; a++) sum -= multiply(x[index[a]], values[a]);
    out[lu->pivot_column[k]] = x[k] = multiply(sum, values[lu->upper[k]]);
  }
}

void sparse_lu_solve(const SparseLu *lu, double *b) {
  if (lu->complex_values) solve_complex(lu, b);
  else solve_real(lu, b);
}

int64_t sparse_lu_operations(const SparseLu *lu) { return lu->target.count; }

double sparse_lu_least_pivot(const SparseLu *lu) {
  double largest = 0;
  for (int32_t k = 0; k < lu->n; k++) {
    const double *reciprocal = lu->values + lu->upper[k] * (lu->complex_values ? 2 : 1);
    largest = fmax(largest, lu->complex_values ? entry_size(reciprocal) : fabs(*reciprocal));
  }
  return 1 / largest;
}

double sparse_lu_determinant(const SparseLu *lu, double *logarithm) {
  double sign = lu->is_odd ? -1 : 1;
  *logarithm = 0;
  for (int32_t k = 0; k < lu->n; k++) {
    double reciprocal = lu->values[lu->upper[k]] * lu->row_scale[k];
    if (reciprocal < 0) sign = -sign;
    *logarithm -= log(fabs(reciprocal));
  }
  return sign;
}
