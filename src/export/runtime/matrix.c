/* matrix: square linear systems, filled in column by column. Without an order they are dense; with one they are sparse: the factors come of a
 * column after the other (Gilbert, Peierls 1988, Sparse partial pivoting in time proportional to arithmetic operations), in an order of
 * the columns that was found when the model was written. The pivot wanted there is taken unless another one is much larger. */
#include "solver.h"

#include <math.h>
#include <string.h>

/* A pivot as small as this part of the largest is taken where it keeps the factors sparse. */
static const double SMALLEST_PIVOT = 1e-3;

/* Matrices of all rows are sparse where the model has an order for them. */
int model_is_sparse(const Model *model) { return model->whole.column != 0; }

void matrix_begin(Matrix *matrix, int n, int copies, const ModelOrder *order) {
  matrix->n = n;
  matrix->copies = copies;
  matrix->order = order->column ? order : 0;
  matrix->entries = matrix->last = 0;
  if (!matrix->order) memset(matrix->dense, 0, (size_t)n * (size_t)n * sizeof(double));
  else matrix->start[0] = 0;
}

/* Columns come in their order, and no entry twice. */
void matrix_add(Matrix *matrix, int row, int column, double value) {
  if (!matrix->order) {
    matrix->dense[row + column * matrix->n] = value;
    return;
  }
  while (matrix->last < column) matrix->start[++matrix->last] = matrix->entries;
  matrix->row[matrix->entries] = row;
  matrix->value[matrix->entries++] = value;
}

static int column_at(const Matrix *matrix, int position) {
  const ModelOrder *order = matrix->order;
  return order->column[position / matrix->copies] + position % matrix->copies * order->n;
}

static int wanted_row(const Matrix *matrix, int position) {
  const ModelOrder *order = matrix->order;
  return order->row[position / matrix->copies] + position % matrix->copies * order->n;
}

/* ---- factors ---- */

/* Rows count by their largest entry. Returns 1 where a row has none. */
static int scale_rows(Matrix *matrix) {
  for (int i = 0; i < matrix->n; i++) matrix->scale[i] = 0;
  for (int e = 0; e < matrix->entries; e++)
    matrix->scale[matrix->row[e]] = fmax(matrix->scale[matrix->row[e]], fabs(matrix->value[e]));
  for (int i = 0; i < matrix->n; i++) {
    if (!(matrix->scale[i] > 0) || !isfinite(matrix->scale[i])) return 1;
    matrix->scale[i] = 1 / matrix->scale[i];
  }
  return 0;
}

/* The rows that a row changes by elimination, itself last, onto the list that ends at `top`; its new beginning. */
static int reach(Matrix *matrix, int from, int stamp, int top) {
  int depth = 0, *stack = matrix->stack, *next = matrix->next;
  stack[0] = from;
  matrix->mark[from] = stamp;
  next[0] = matrix->place[from] < 0 ? 0 : matrix->lower_start[matrix->place[from]];
  while (depth >= 0) {
    int position = matrix->place[stack[depth]], child = -1;
    int end = position < 0 ? 0 : matrix->lower_start[position + 1];
    while (next[depth] < end && child < 0) {
      int row = matrix->lower_row[next[depth]++];
      if (matrix->mark[row] != stamp) child = row;
    }
    if (child < 0) {
      matrix->reached[--top] = stack[depth--];
      continue;
    }
    matrix->mark[child] = stamp;
    stack[++depth] = child;
    next[depth] = matrix->place[child] < 0 ? 0 : matrix->lower_start[matrix->place[child]];
  }
  return top;
}

/* Eliminates a column by the ones before it, into `x`; the beginning of the list of its rows. */
static int eliminate(Matrix *matrix, int column, int stamp) {
  int top = matrix->n;
  for (int e = matrix->start[column]; e < matrix->start[column + 1]; e++)
    if (matrix->mark[matrix->row[e]] != stamp) top = reach(matrix, matrix->row[e], stamp, top);
  for (int e = matrix->start[column]; e < matrix->start[column + 1]; e++)
    matrix->x[matrix->row[e]] = matrix->value[e] * matrix->scale[matrix->row[e]];
  for (int k = top; k < matrix->n; k++) {
    int position = matrix->place[matrix->reached[k]];
    double value = matrix->x[matrix->reached[k]];
    if (position < 0 || value == 0) continue;
    for (int e = matrix->lower_start[position]; e < matrix->lower_start[position + 1]; e++)
      matrix->x[matrix->lower_row[e]] -= matrix->lower[e] * value;
  }
  return top;
}

/* The row of the pivot; -1: there is none. */
static int find_pivot(const Matrix *matrix, int top, int wanted) {
  double largest = 0;
  int best = -1;
  for (int k = top; k < matrix->n; k++) {
    int row = matrix->reached[k];
    if (matrix->place[row] >= 0 || !(fabs(matrix->x[row]) > largest)) continue;
    largest = fabs(matrix->x[row]);
    best = row;
  }
  if (!isfinite(largest)) return -1;
  return matrix->place[wanted] < 0 && fabs(matrix->x[wanted]) > SMALLEST_PIVOT * largest ? wanted : best;
}

/* Moves the column that `x` holds into the factors, and clears it. */
static void keep_column(Matrix *matrix, int position, int top, int pivot, int *lower, int *upper) {
  double divisor = matrix->x[pivot];
  matrix->diagonal[position] = divisor;
  matrix->pivot[position] = pivot;
  for (int k = top; k < matrix->n; k++) {
    int row = matrix->reached[k];
    double value = matrix->x[row];
    matrix->x[row] = 0;
    if (row == pivot || value == 0) continue;
    if (matrix->place[row] >= 0) {
      matrix->upper_place[*upper] = matrix->place[row];
      matrix->upper[(*upper)++] = value;
    } else {
      matrix->lower_row[*lower] = row;
      matrix->lower[(*lower)++] = value / divisor;
    }
  }
  matrix->place[pivot] = position;
}

static int factor_sparse(Matrix *matrix) {
  int lower = 0, upper = 0, n = matrix->n;
  while (matrix->last < n) matrix->start[++matrix->last] = matrix->entries;
  if (scale_rows(matrix)) return 1;
  memset(matrix->x, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) matrix->place[i] = matrix->mark[i] = -1;
  for (int k = 0; k < n; k++) {
    matrix->lower_start[k] = lower;
    matrix->upper_start[k] = upper;
    int top = eliminate(matrix, column_at(matrix, k), k), pivot = find_pivot(matrix, top, wanted_row(matrix, k));
    int has_room = lower + n - top <= matrix->room && upper + n - top <= matrix->room;
    if (pivot < 0 || !has_room) return 1;
    keep_column(matrix, k, top, pivot, &lower, &upper);
    matrix->lower_start[k + 1] = lower;
    matrix->upper_start[k + 1] = upper;
  }
  return 0;
}

int matrix_factor(Matrix *matrix) {
  return matrix->order ? factor_sparse(matrix) : lu_factor(matrix->n, matrix->dense, matrix->pivot);
}

/* ---- solving ---- */

static void solve_sparse(Matrix *matrix, double *b) {
  int n = matrix->n;
  double *x = matrix->x;
  for (int i = 0; i < n; i++) b[i] *= matrix->scale[i];
  for (int k = 0; k < n; k++)
    for (int e = matrix->lower_start[k]; e < matrix->lower_start[k + 1]; e++)
      b[matrix->lower_row[e]] -= matrix->lower[e] * b[matrix->pivot[k]];
  for (int k = n - 1; k >= 0; k--) {
    double value = b[matrix->pivot[k]] / matrix->diagonal[k];
    x[column_at(matrix, k)] = value;
    for (int e = matrix->upper_start[k]; e < matrix->upper_start[k + 1]; e++)
      b[matrix->pivot[matrix->upper_place[e]]] -= matrix->upper[e] * value;
  }
  memcpy(b, x, (size_t)n * sizeof(double));
}

static void solve_sparse_transposed(Matrix *matrix, double *b) {
  int n = matrix->n;
  double *x = matrix->x;
  for (int k = 0; k < n; k++) {
    double value = b[column_at(matrix, k)];
    for (int e = matrix->upper_start[k]; e < matrix->upper_start[k + 1]; e++)
      value -= matrix->upper[e] * x[matrix->upper_place[e]];
    x[k] = value / matrix->diagonal[k];
  }
  for (int k = n - 1; k >= 0; k--)
    for (int e = matrix->lower_start[k]; e < matrix->lower_start[k + 1]; e++)
      x[k] -= matrix->lower[e] * x[matrix->place[matrix->lower_row[e]]];
  for (int k = 0; k < n; k++) b[matrix->pivot[k]] = x[k] * matrix->scale[matrix->pivot[k]];
}

void matrix_solve(Matrix *matrix, double *b) {
  if (matrix->order) solve_sparse(matrix, b);
  else lu_solve(matrix->n, matrix->dense, matrix->pivot, b);
}

void matrix_solve_transposed(Matrix *matrix, double *b) {
  if (matrix->order) solve_sparse_transposed(matrix, b);
  else lu_solve_transposed(matrix->n, matrix->dense, matrix->pivot, b);
}
