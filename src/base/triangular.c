/* triangular: see triangular.h. Invariant: the column of each pivot has entries only in its own row and in the rows
 * of earlier pivots. The order is found by repeatedly removing a column that has one entry left, together with the
 * row of that entry. */
#include "base/triangular.h"

#include <math.h>
#include <string.h>

struct Triangular {
  int32_t n;
  int32_t *column, *row;  /* per pivot */
  int32_t *pivot;         /* per pivot: its index in the values */
  int32_t *start;         /* per pivot: the first of the other entries of its column */
  int32_t *other, *place; /* per other entry: its row, and its index in the values */
  double *reciprocal, *value, *work;
  /* used while the order is determined */
  int32_t *left;                    /* per column: entries in the remaining rows */
  int32_t *row_start, *row_columns; /* columns of each row */
  bool *taken;                      /* per row: is it removed? */
};

Triangular *triangular_new(Heap *heap, int32_t n, int32_t nonzeros) {
  Triangular *triangular = heap_alloc(heap, sizeof *triangular);
  size_t equations = (size_t)n, entries = (size_t)nonzeros;
  triangular->n = n;
  triangular->column = heap_array(heap, equations, sizeof(int32_t));
  triangular->row = heap_array(heap, equations, sizeof(int32_t));
  triangular->pivot = heap_array(heap, equations, sizeof(int32_t));
  triangular->start = heap_array(heap, equations + 1, sizeof(int32_t));
  triangular->left = heap_array(heap, equations, sizeof(int32_t));
  triangular->row_start = heap_array(heap, equations + 2, sizeof(int32_t));
  triangular->taken = heap_array(heap, equations, sizeof(bool));
  triangular->other = heap_array(heap, entries, sizeof(int32_t));
  triangular->place = heap_array(heap, entries, sizeof(int32_t));
  triangular->row_columns = heap_array(heap, entries, sizeof(int32_t));
  triangular->value = heap_array(heap, entries, sizeof(double));
  heap_numbers(heap, equations, &triangular->reciprocal, &triangular->work);
  return triangular;
}

static void list_columns(Triangular *triangular, const int32_t *column_start, const int32_t *row_index) {
  int32_t n = triangular->n, *start = triangular->row_start;
  memset(start, 0, ((size_t)n + 2) * sizeof *start);
  for (int32_t k = 0; k < column_start[n]; k++) start[row_index[k] + 2]++;
  for (int32_t i = 0; i < n; i++) start[i + 2] += start[i + 1];
  for (int32_t j = 0; j < n; j++)
    for (int32_t k = column_start[j]; k < column_start[j + 1]; k++)
      triangular->row_columns[start[row_index[k] + 1]++] = j;
}

/* Removes a row. Appends the columns that now have one entry left to triangular->column, and returns its new count. */
static int32_t take_row(Triangular *triangular, int32_t row, int32_t count) {
  triangular->taken[row] = true;
  for (int32_t k = triangular->row_start[row]; k < triangular->row_start[row + 1]; k++) {
    int32_t column = triangular->row_columns[k];
    if (--triangular->left[column] == 1) triangular->column[count++] = column;
  }
  return count;
}

/* Stores the entries of the column of pivot p. Returns its row; -1: another column with one entry has taken that row. */
static int32_t take_column(Triangular *triangular, int32_t p, const int32_t *column_start, const int32_t *row_index,
                           const int32_t *number) {
  int32_t column = triangular->column[p], next = triangular->start[p], row = -1;
  for (int32_t k = column_start[column]; k < column_start[column + 1]; k++) {
    if (!triangular->taken[row_index[k]]) {
      row = row_index[k];
      triangular->pivot[p] = number[k];
      continue;
    }
    triangular->other[next] = row_index[k];
    triangular->place[next++] = number[k];
  }
  triangular->start[p + 1] = next;
  return row;
}

bool triangular_set_pattern(Triangular *triangular, const int32_t *column_start, const int32_t *row_index,
                            const int32_t *number) {
  int32_t n = triangular->n, count = 0;
  list_columns(triangular, column_start, row_index);
  for (int32_t j = 0; j < n; j++) {
    triangular->taken[j] = false;
    triangular->left[j] = column_start[j + 1] - column_start[j];
    if (triangular->left[j] == 1) triangular->column[count++] = j;
  }
  for (int32_t p = 0; p < n; p++) {
    int32_t row = p < count ? take_column(triangular, p, column_start, row_index, number) : -1;
    if (row < 0) return false;
    triangular->row[p] = row;
    count = take_row(triangular, row, count);
  }
  return true;
}

bool triangular_take(Triangular *triangular, const double *values) {
  double sum = 0; /* 0, or not a number if a value is not finite */
  for (int32_t p = 0; p < triangular->n; p++) {
    double pivot = values[triangular->pivot[p]];
    if (pivot == 0) return false;
    triangular->reciprocal[p] = 1 / pivot;
    sum += 0 * pivot;
  }
  for (int32_t k = 0; k < triangular->start[triangular->n]; k++) {
    triangular->value[k] = values[triangular->place[k]];
    sum += 0 * triangular->value[k];
  }
  return sum == 0;
}

void triangular_solve(const Triangular *triangular, double *b) {
  for (int32_t p = triangular->n; p-- > 0;) {
    double solution = triangular->work[triangular->column[p]] = b[triangular->row[p]] * triangular->reciprocal[p];
    for (int32_t k = triangular->start[p]; k < triangular->start[p + 1]; k++)
      b[triangular->other[k]] -= triangular->value[k] * solution;
  }
  memcpy(b, triangular->work, (size_t)triangular->n * sizeof *b);
}

void triangular_solve_transposed(const Triangular *triangular, double *b) {
  double *solution = triangular->work;
  for (int32_t p = 0; p < triangular->n; p++) {
    double rest = b[triangular->column[p]];
    for (int32_t k = triangular->start[p]; k < triangular->start[p + 1]; k++)
      rest -= triangular->value[k] * solution[triangular->other[k]];
    solution[triangular->row[p]] = rest * triangular->reciprocal[p];
  }
  memcpy(b, solution, (size_t)triangular->n * sizeof *b);
}
