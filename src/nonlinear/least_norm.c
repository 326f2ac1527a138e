/* least_norm: see least_norm.h. Invariant: `number` counts the columns that are not held; the pattern contains only these. */
#include "nonlinear/least_norm.h"

#include "base/linear.h"

#include <math.h>
#include <string.h>

struct LeastNorm {
  Heap *heap;
  int32_t rows, columns, free;
  const int32_t *start, *row; /* of A */
  double *unit;               /* per column */
  int32_t *number;            /* per column: its number among the free columns; -1 if it is held */
  double slack;
  double *work;            /* free columns, then rows */
  int32_t *begin, *places; /* the pattern; per row: the place of its next entry */
  int32_t *index;
  double *value;
  Linear *linear; /* NULL: the pattern must be made */
};

LeastNorm *least_norm_new(Heap *heap, int32_t rows, int32_t columns, const int32_t *start, const int32_t *row) {
  LeastNorm *norm = heap_alloc(heap, sizeof *norm);
  size_t size = (size_t)rows + (size_t)columns;
  *norm = (LeastNorm){.heap = heap, .rows = rows, .columns = columns, .start = start, .row = row};
  norm->unit = heap_array(heap, (size_t)columns, sizeof(double));
  norm->number = heap_array(heap, (size_t)columns, sizeof(int32_t));
  norm->work = heap_array(heap, size, sizeof(double));
  return norm;
}

void least_norm_set_units(LeastNorm *norm, const double *unit) {
  bool same = norm->linear != NULL;
  norm->free = 0;
  for (int32_t q = 0; q < norm->columns; q++) {
    same &= (unit[q] > 0) == (norm->unit[q] > 0);
    norm->unit[q] = unit[q];
    norm->number[q] = unit[q] > 0 ? norm->free++ : -1;
  }
  if (!same) norm->linear = NULL;
}

void least_norm_forget(LeastNorm *norm) {
  if (norm->linear) linear_set_pattern(norm->linear, norm->begin, norm->index);
}

/* A free column holds its 1 and its entries, then a row its transposed entries and the slack. */
static void make_pattern(LeastNorm *norm) {
  Heap *heap = norm->heap;
  size_t size = (size_t)norm->free + (size_t)norm->rows, room = 2 * (size_t)norm->start[norm->columns] + size;
  norm->begin = heap_array(heap, size + 1, sizeof(int32_t));
  norm->places = heap_array(heap, (size_t)norm->rows + 1, sizeof(int32_t));
  norm->index = heap_array(heap, room, sizeof(int32_t));
  norm->value = heap_array(heap, room, sizeof(double));
  int32_t *places = norm->places, next = 0;
  for (int32_t q = 0; q < norm->columns; q++) {
    if (norm->number[q] < 0) continue;
    norm->begin[norm->number[q]] = next;
    norm->index[next++] = norm->number[q];
    for (int32_t e = norm->start[q]; e < norm->start[q + 1]; e++) {
      norm->index[next++] = norm->free + norm->row[e];
      places[norm->row[e]]++;
    }
  }
  for (int32_t i = 0; i < norm->rows; i++) {
    norm->begin[norm->free + i] = next;
    next += places[i] + 1;
    places[i] = norm->begin[norm->free + i];
  }
  norm->begin[size] = next;
  for (int32_t q = 0; q < norm->columns; q++)
    for (int32_t e = norm->start[q]; e < norm->start[q + 1] && norm->number[q] >= 0; e++)
      norm->index[places[norm->row[e]]++] = norm->number[q];
  for (int32_t i = 0; i < norm->rows; i++) norm->index[places[i]] = norm->free + i;
  norm->linear = linear_new(heap, (int32_t)size, next, false);
  linear_set_pattern(norm->linear, norm->begin, norm->index);
}

bool least_norm_factor(LeastNorm *norm, const double *entries, const double *scale, double slack) {
  if (!norm->linear) make_pattern(norm);
  int32_t *places = norm->places, next = 0;
  double *value = norm->value;
  norm->slack = slack;
  for (int32_t i = 0; i < norm->rows; i++) places[i] = norm->begin[norm->free + i];
  for (int32_t q = 0; q < norm->columns; q++) {
    if (norm->number[q] < 0) continue;
    value[next++] = 1;
    for (int32_t e = norm->start[q]; e < norm->start[q + 1]; e++) {
      value[next] = entries[e] * scale[norm->row[e]] * norm->unit[q];
      value[places[norm->row[e]]++] = value[next++];
    }
  }
  for (int32_t i = 0; i < norm->rows; i++) value[places[i]] = -slack;
  return linear_factor(norm->linear, value);
}

bool least_norm_solve(LeastNorm *norm, const double *right, const double *target, double *step) {
  double *work = norm->work, largest = 0;
  for (int32_t q = 0; q < norm->columns; q++)
    if (norm->number[q] >= 0) work[norm->number[q]] = target ? target[q] / norm->unit[q] : 0;
  memcpy(work + norm->free, right, (size_t)norm->rows * sizeof *right);
  linear_solve(norm->linear, work);
  for (int32_t q = 0; q < norm->columns; q++) {
    step[q] = norm->number[q] < 0 ? 0 : work[norm->number[q]] * norm->unit[q];
    if (!(fabs(step[q]) <= largest)) largest = fabs(step[q]);
  }
  return isfinite(largest);
}

double least_norm_left(const LeastNorm *norm) {
  double squares = 0;
  for (int32_t i = 0; i < norm->rows; i++) {
    double left = norm->slack * norm->work[norm->free + i];
    squares += left * left;
  }
  return squares;
}
