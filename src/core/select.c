/* select: see select.h. Before anything is compared, rows are scaled to a largest entry of 1, and columns by their weight. */
#include "core/select.h"

#include "base/linear.h"
#include "base/pairs.h"
#include "core/lu.h"

#include <math.h>
#include <string.h>

/* Above this many rows the matrix is treated as sparse. */
enum { DENSE_ROWS = 160 };

static const double RANK_TOLERANCE = 1e-11;

struct Selector {
  Heap *heap;
  VEC(double) matrix, work;
  IntVec pivots;
  IntVec place;   /* column -> dense column */
  Linear *linear; /* factors of the chosen columns, a full matrix of `rows`; NULL until needed */
  int32_t rows;
  IntVec start, row; /* its pattern */
};

Selector *selector_new(Heap *heap) {
  Selector *selector = heap_alloc(heap, sizeof *selector);
  selector->heap = heap;
  return selector;
}

#define ROOM(selector, vector, n) ((vector)->count = 0, (void)vec_extend((selector)->heap, (vector), (uint32_t)(n)))

static double row_scale(const SelectProblem *problem, int32_t row, const int32_t *place) {
  double largest = 0;
  for (int32_t e = problem->row_start[row]; e < problem->row_start[row + 1]; e++) {
    if (place[problem->column[e]] < 0) continue;
    double size = fabs(problem->values[e]) * problem->weight[problem->column[e]];
    if (size > largest) largest = size;
  }
  return largest > 0 ? 1 / largest : 1;
}

/* Dense column-major copy of the columns with place >= 0. */
static double *fill_dense(Selector *selector, const SelectProblem *problem, int32_t columns, double keep) {
  const int32_t *place = selector->place.data;
  ROOM(selector, &selector->matrix, problem->rows * columns + 1);
  double *a = selector->matrix.data;
  memset(a, 0, (size_t)(problem->rows * columns) * sizeof *a);
  for (int32_t i = 0; i < problem->rows; i++) {
    double scale = row_scale(problem, i, place);
    for (int32_t e = problem->row_start[i]; e < problem->row_start[i + 1]; e++) {
      int32_t j = problem->column[e];
      if (place[j] < 0) continue;
      double weight = problem->weight[j] * (problem->chosen[j] ? keep : 1);
      a[i + place[j] * problem->rows] += problem->values[e] * scale * weight;
    }
  }
  return a;
}

static void place_candidates(Selector *selector, const SelectProblem *problem) {
  ROOM(selector, &selector->place, problem->columns);
  for (int32_t j = 0; j < problem->columns; j++) selector->place.data[j] = -1;
  for (int32_t c = 0; c < problem->candidate_count; c++) selector->place.data[problem->candidates[c]] = c;
}

static bool choose_dense(Selector *selector, SelectProblem *problem) {
  int32_t m = problem->rows, n = problem->candidate_count;
  place_candidates(selector, problem);
  double *a = fill_dense(selector, problem, n, problem->keep);
  ROOM(selector, &selector->pivots, n);
  if (select_columns(m, n, a, selector->pivots.data)) return false;
  memset(problem->chosen, 0, (size_t)problem->columns * sizeof(bool));
  for (int32_t k = 0; k < m; k++) problem->chosen[problem->candidates[selector->pivots.data[k]]] = true;
  return true;
}

/* Row-wise elimination of a sparse matrix: each row is reduced by the pivot rows met in its columns, then pivots on its
 * largest entry. The rows of U are kept as lists. */
typedef struct RowElimination {
  IntVec start, column;
  VEC(double) value;
  int32_t *pivot_row; /* per column: the row of U that pivots there, -1 if none */
  double *dense;
  bool *present;
  IntVec touched, pending;
} RowElimination;

static void scatter(Heap *heap, RowElimination *elimination, int32_t column, double value) {
  if (!elimination->present[column]) {
    elimination->present[column] = true;
    elimination->dense[column] = 0;
    vec_push(heap, &elimination->touched, column);
    if (elimination->pivot_row[column] >= 0) vec_push(heap, &elimination->pending, column);
  }
  elimination->dense[column] += value;
}

/* Subtracts pivot rows from the scattered row, oldest first. A newer pivot row has no entries in the columns of older pivots,
 * but an older one can add entries in the columns of newer pivots. */
static void reduce_row(Heap *heap, RowElimination *elimination) {
  while (elimination->pending.count) {
    uint32_t oldest = 0;
    for (uint32_t k = 1; k < elimination->pending.count; k++)
      if (elimination->pivot_row[elimination->pending.data[k]] <
          elimination->pivot_row[elimination->pending.data[oldest]])
        oldest = k;
    int32_t column = elimination->pending.data[oldest];
    elimination->pending.data[oldest] = vec_last(&elimination->pending);
    elimination->pending.count--;
    int32_t u = elimination->pivot_row[column];
    double factor = elimination->dense[column];
    elimination->dense[column] = 0;
    if (factor == 0) continue;
    for (int32_t e = elimination->start.data[u]; e < elimination->start.data[u + 1]; e++)
      if (elimination->column.data[e] != column)
        scatter(heap, elimination, elimination->column.data[e], -factor * elimination->value.data[e]);
  }
}

/* Makes the scattered row a pivot row; false if nothing is left of it. */
static bool keep_row(Heap *heap, RowElimination *elimination) {
  int32_t best = -1;
  for (uint32_t k = 0; k < elimination->touched.count; k++) {
    int32_t j = elimination->touched.data[k];
    if (elimination->pivot_row[j] >= 0) continue;
    double size = fabs(elimination->dense[j]);
    if (best < 0 || size > fabs(elimination->dense[best]) || (size == fabs(elimination->dense[best]) && j < best))
      best = j;
  }
  if (best < 0 || !(fabs(elimination->dense[best]) > RANK_TOLERANCE)) return false;
  int32_t row = (int32_t)elimination->start.count - 1;
  for (uint32_t k = 0; k < elimination->touched.count; k++) {
    int32_t j = elimination->touched.data[k];
    if (elimination->pivot_row[j] < 0 && elimination->dense[j] != 0) {
      vec_push(heap, &elimination->column, j);
      vec_push(heap, &elimination->value, elimination->dense[j] / elimination->dense[best]);
    }
  }
  vec_push(heap, &elimination->start, (int32_t)elimination->column.count);
  elimination->pivot_row[best] = row;
  return true;
}

static bool choose_sparse(Selector *selector, SelectProblem *problem) {
  Heap *heap = selector->heap;
  RowElimination elimination = {0};
  place_candidates(selector, problem);
  const int32_t *place = selector->place.data;
  elimination.pivot_row = heap_array(heap, (size_t)problem->columns, sizeof(int32_t));
  elimination.dense = heap_array(heap, (size_t)problem->columns, sizeof(double));
  elimination.present = heap_array(heap, (size_t)problem->columns, sizeof(bool));
  for (int32_t j = 0; j < problem->columns; j++) elimination.pivot_row[j] = -1;
  vec_push(heap, &elimination.start, 0);
  bool full = true;
  for (int32_t i = 0; i < problem->rows && full; i++) {
    double scale = row_scale(problem, i, place);
    for (int32_t e = problem->row_start[i]; e < problem->row_start[i + 1]; e++) {
      int32_t j = problem->column[e];
      double weight = problem->weight[j] * (problem->chosen[j] ? problem->keep : 1);
      if (place[j] >= 0) scatter(heap, &elimination, j, problem->values[e] * scale * weight);
    }
    reduce_row(heap, &elimination);
    full = keep_row(heap, &elimination);
    for (uint32_t k = 0; k < elimination.touched.count; k++) elimination.present[elimination.touched.data[k]] = false;
    elimination.touched.count = 0;
  }
  if (full)
    for (int32_t j = 0; j < problem->columns; j++) problem->chosen[j] = elimination.pivot_row[j] >= 0;
  vec_free(heap, &elimination.start, &elimination.column, &elimination.value, &elimination.touched,
           &elimination.pending);
  heap_free_all(heap, elimination.pivot_row, elimination.dense, elimination.present);
  return full;
}

bool selector_choose(Selector *selector, SelectProblem *problem) {
  if (problem->rows == 0) {
    memset(problem->chosen, 0, (size_t)problem->columns * sizeof(bool));
    return true;
  }
  if (problem->rows > problem->candidate_count) return false;
  return problem->rows <= DENSE_ROWS ? choose_dense(selector, problem) : choose_sparse(selector, problem);
}

/* Dense column-major copy of the candidates, chosen columns first. */
static double *fill_chosen_first(Selector *selector, const SelectProblem *problem) {
  int32_t n = problem->candidate_count, next = 0;
  ROOM(selector, &selector->place, problem->columns);
  for (int32_t j = 0; j < problem->columns; j++) selector->place.data[j] = -1;
  for (int pass = 0; pass < 2; pass++)
    for (int32_t c = 0; c < n; c++)
      if (problem->chosen[problem->candidates[c]] == (pass == 0)) selector->place.data[problem->candidates[c]] = next++;
  return fill_dense(selector, problem, n, 1);
}

/* Makes room for the factors of a full matrix. */
static void take_full_pattern(Selector *selector, int32_t rows) {
  if (selector->linear && selector->rows == rows) return;
  selector->rows = rows;
  selector->start.count = selector->row.count = 0;
  for (int32_t j = 0; j <= rows; j++) vec_push(selector->heap, &selector->start, j * rows);
  for (int32_t k = 0; k < rows * rows; k++) vec_push(selector->heap, &selector->row, k % rows);
  if (selector->linear) linear_resize(selector->linear, rows, rows * rows);
  else selector->linear = linear_new(selector->heap, rows, rows * rows, false);
  linear_set_pattern(selector->linear, selector->start.data, selector->row.data);
}

/* Computes M^-1 N by LU. */
static double gain_dense(Selector *selector, const SelectProblem *problem) {
  int32_t m = problem->rows, n = problem->candidate_count;
  double *a = fill_chosen_first(selector, problem), gain = 0;
  take_full_pattern(selector, m);
  if (!linear_factor(selector->linear, a)) return HUGE_VAL;
  for (int32_t j = m; j < n; j++) linear_solve(selector->linear, a + j * m);
  for (int32_t k = m * m; k < m * n; k++)
    if (!(fabs(a[k]) <= gain)) gain = fabs(a[k]);
  return isfinite(gain) ? gain : HUGE_VAL;
}

/* A large choice is assessed by making it again with a preference for the present one: it is good if it stays the same. */
static double gain_sparse(Selector *selector, const SelectProblem *problem) {
  SelectProblem again = *problem;
  again.keep = 2;
  again.chosen = heap_copy(selector->heap, problem->chosen, (size_t)problem->columns, sizeof(bool));
  bool full = choose_sparse(selector, &again);
  bool same = full && memcmp(again.chosen, problem->chosen, (size_t)problem->columns * sizeof(bool)) == 0;
  heap_free(selector->heap, again.chosen);
  return same ? 1 : HUGE_VAL;
}

double selector_gain(Selector *selector, const SelectProblem *problem) {
  if (problem->rows == 0 || problem->rows == problem->candidate_count) return 0;
  return problem->rows <= DENSE_ROWS ? gain_dense(selector, problem) : gain_sparse(selector, problem);
}

/* Let M be the chosen columns and N the other candidates of a matrix that has moved from (M0, N0) by (E, F). Then X = M^-1 N =
 * M0^-1 N0 + M0^-1 (F - E X). Let r_i be the sum of |E| and |F| in row i, and d the largest entry of |M0^-1| r. No entry of
 * M0^-1 F is larger than d, and no entry of M0^-1 E X is larger than d max|X|. So max|X| <= (max|M0^-1 N0| + d) / (1 - d). That
 * is at most the limit where d <= (limit - max|M0^-1 N0|) / (1 + limit). This holds for any scale of the rows. */
static bool has_moved_little(Selector *selector, const SelectProblem *problem, const Judged *judged) {
  int32_t m = problem->rows;
  ROOM(selector, &selector->work, m);
  double *sum = selector->work.data, *scale = judged->scale.data, *before = judged->values.data;
  memset(sum, 0, (size_t)m * sizeof *sum);
  for (int32_t i = 0; i < m; i++) {
    double row = 0;
    for (int32_t e = problem->row_start[i]; e < problem->row_start[i + 1]; e++)
      row += scale[e] * fabs(problem->values[e] - before[e]);
    if (row == 0) continue;
    add_multiple(sum, judged->inverse.data + i * m, row, m);
  }
  for (int32_t k = 0; k < m; k++)
    if (!(sum[k] <= judged->room)) return false;
  return true;
}

/* Keeps the data for has_moved_little; selector->linear has the factors of the chosen columns. */
static void keep_judged(Selector *selector, const SelectProblem *problem, double room, Judged *judged) {
  int32_t m = problem->rows, entries = problem->row_start[m];
  const int32_t *place = selector->place.data;
  judged->rows = m;
  judged->room = room;
  ROOM(selector, &judged->values, entries);
  ROOM(selector, &judged->scale, entries);
  ROOM(selector, &judged->inverse, m * m);
  memcpy(judged->values.data, problem->values, (size_t)entries * sizeof(double));
  for (int32_t i = 0; i < m; i++) {
    double scale = row_scale(problem, i, place);
    for (int32_t e = problem->row_start[i]; e < problem->row_start[i + 1]; e++)
      judged->scale.data[e] = place[problem->column[e]] < 0 ? 0 : scale * problem->weight[problem->column[e]];
    double *column = judged->inverse.data + i * m;
    memset(column, 0, (size_t)m * sizeof *column);
    column[i] = 1;
    linear_solve(selector->linear, column);
    for (int32_t k = 0; k < m; k++) column[k] = fabs(column[k]);
  }
}

bool selector_is_good(Selector *selector, const SelectProblem *problem, double limit, Judged *judged) {
  if (judged->rows && has_moved_little(selector, problem, judged)) return true;
  judged->rows = 0;
  double gain = selector_gain(selector, problem);
  if (!(gain <= limit)) return false;
  if (gain > 0 && problem->rows <= DENSE_ROWS) keep_judged(selector, problem, (limit - gain) / (1 + limit), judged);
  return true;
}

double selector_condition(Selector *selector, const SelectProblem *problem) {
  int32_t m = problem->rows;
  if (m == 0 || m > DENSE_ROWS) return m ? NAN : 1;
  double *a = fill_chosen_first(selector, problem), least = HUGE_VAL, most = 0;
  ROOM(selector, &selector->work, m);
  singular_values(m, m, a, selector->work.data);
  for (int32_t k = 0; k < m; k++) {
    least = fmin(least, selector->work.data[k]);
    most = fmax(most, selector->work.data[k]);
  }
  return most / least;
}
