/* nearest: see nearest.h. The correction d of least norm |W^-1 d| with S J d = -S r solves
 * [I, (SJW)^T; SJW, -slack I] [W^-1 d; m] = [0; -S r], S scaling rows to largest entry 1. */
#include "integrate/nearest.h"

#include "base/linear.h"

#include <math.h>
#include <string.h>

enum { ITERATION_LIMIT = 6 };
static const double ALGEBRAIC_WEIGHT = 1e3, SLACK = 1e-16, ENOUGH = 1e-12;

struct Nearest {
  Heap *heap;
  const System *system;
  Linear *linear;
  double *weight, *held; /* per column; held: with states that do not move */
  const double *in_use;  /* one of the two */
  double *jacobian, *residual, *scale, *values, *solution, *trial;
  int32_t *start, *row;
};

/* The pattern of the quasi-definite matrix; entries in the order in which fill_values gives them. */
static void set_pattern(Nearest *nearest) {
  const System *system = nearest->system;
  int32_t n = system->columns, m = system->rows, next = 0;
  int32_t *count = heap_array(nearest->heap, (size_t)m + 1, sizeof *count);
  for (int32_t q = 0; q < n; q++) {
    nearest->start[q] = next;
    nearest->row[next++] = q;
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++) {
      nearest->row[next++] = n + system->row_index[e];
      count[system->row_index[e]]++;
    }
  }
  for (int32_t i = 0; i < m; i++) {
    nearest->start[n + i] = next;
    next += count[i] + 1;
    count[i] = nearest->start[n + i];
  }
  nearest->start[n + m] = next;
  for (int32_t q = 0; q < n; q++)
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++)
      nearest->row[count[system->row_index[e]]++] = q;
  for (int32_t i = 0; i < m; i++) nearest->row[count[i]] = n + i;
  heap_free(nearest->heap, count);
  linear_set_pattern(nearest->linear, nearest->start, nearest->row);
}

Nearest *nearest_new(Heap *heap, const System *system) {
  Nearest *nearest = heap_alloc(heap, sizeof *nearest);
  size_t n = (size_t)system->columns, m = (size_t)system->rows,
         nonzeros = (size_t)system->column_start[system->columns];
  size_t entries = n + m + 2 * nonzeros;
  nearest->heap = heap;
  nearest->system = system;
  heap_numbers(heap, n, &nearest->weight, &nearest->held);
  for (size_t q = 0; q < n; q++) nearest->weight[q] = nearest->held[q] = ALGEBRAIC_WEIGHT * system->nominal[q];
  for (int32_t k = 0; k < system->links; k++) {
    nearest->weight[system->link_from[k]] = system->nominal[system->link_from[k]];
    nearest->held[system->link_from[k]] = 0;
  }
  nearest->jacobian = heap_array(heap, nonzeros, sizeof(double));
  heap_numbers(heap, m, &nearest->residual, &nearest->scale);
  nearest->values = heap_array(heap, entries, sizeof(double));
  nearest->solution = heap_array(heap, n + m, sizeof(double));
  nearest->trial = heap_array(heap, n, sizeof(double));
  nearest->start = heap_array(heap, n + m + 1, sizeof(int32_t));
  nearest->row = heap_array(heap, entries, sizeof(int32_t));
  nearest->linear = linear_new(heap, (int32_t)(n + m), (int32_t)entries, false);
  set_pattern(nearest);
  return nearest;
}

void nearest_forget(Nearest *nearest) { linear_set_pattern(nearest->linear, nearest->start, nearest->row); }

static void fill_values(Nearest *nearest) {
  const System *system = nearest->system;
  int32_t n = system->columns, m = system->rows, next = 0;
  int32_t *fill = heap_array(nearest->heap, (size_t)m + 1, sizeof *fill);
  memset(nearest->scale, 0, (size_t)m * sizeof(double));
  for (int32_t q = 0; q < n; q++)
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++)
      nearest->scale[system->row_index[e]] =
          fmax(nearest->scale[system->row_index[e]], fabs(nearest->jacobian[e]) * nearest->in_use[q]);
  for (int32_t i = 0; i < m; i++) {
    nearest->scale[i] = nearest->scale[i] > 0 ? 1 / nearest->scale[i] : 1;
    fill[i] = nearest->start[n + i];
  }
  for (int32_t q = 0; q < n; q++) {
    nearest->values[next++] = 1;
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++) {
      int32_t i = system->row_index[e];
      double value = nearest->jacobian[e] * nearest->scale[i] * nearest->in_use[q];
      nearest->values[next++] = value;
      nearest->values[fill[i]++] = value;
    }
  }
  for (int32_t i = 0; i < m; i++) nearest->values[fill[i]] = -SLACK;
  heap_free(nearest->heap, fill);
}

/* One correction of the trial point; its size relative to the columns, or infinity where it cannot be had. */
static double correct(Nearest *nearest, double t) {
  const System *system = nearest->system;
  int32_t n = system->columns, m = system->rows;
  double *trial = nearest->trial, *solution = nearest->solution;
  if (system->residual(system->context, t, trial, nearest->residual) != EVAL_OK) return HUGE_VAL;
  if (system->jacobian(system->context, t, trial, nearest->jacobian) != EVAL_OK) return HUGE_VAL;
  fill_values(nearest);
  if (!linear_factor(nearest->linear, nearest->values)) return HUGE_VAL;
  memset(solution, 0, (size_t)n * sizeof(double));
  for (int32_t i = 0; i < m; i++) solution[n + i] = -nearest->residual[i] * nearest->scale[i];
  linear_solve(nearest->linear, solution);
  double size = 0;
  for (int32_t q = 0; q < n; q++) {
    double change = solution[q] * nearest->in_use[q];
    if (!isfinite(change)) return HUGE_VAL;
    trial[q] += change;
    size = fmax(size, fabs(change) / (fabs(trial[q]) + system->nominal[q]));
  }
  return size;
}

static void move(Nearest *nearest, const double *weight, double t, double *y) {
  size_t bytes = (size_t)nearest->system->columns * sizeof(double);
  memcpy(nearest->trial, y, bytes);
  nearest->in_use = weight;
  double last = HUGE_VAL;
  for (int k = 0; k < ITERATION_LIMIT; k++) {
    double size = correct(nearest, t);
    if (!(size < last)) return; /* not defined, or no longer getting nearer: what was reached before stands */
    memcpy(y, nearest->trial, bytes);
    if (size * size <= ENOUGH) return; /* the next correction, quadratic in this one, would not be seen */
    last = size;
  }
}

void nearest_move(Nearest *nearest, double t, double *y) { move(nearest, nearest->weight, t, y); }

void nearest_move_others(Nearest *nearest, double t, double *y) { move(nearest, nearest->held, t, y); }

double nearest_missed(Nearest *nearest, double t, const double *y, int32_t *column) {
  const System *system = nearest->system;
  double most = 0;
  memcpy(nearest->trial, y, (size_t)system->columns * sizeof *y);
  nearest->in_use = nearest->weight;
  if (correct(nearest, t) == HUGE_VAL) return 0;
  for (int32_t k = 0; k < system->links; k++) {
    int32_t q = system->link_from[k];
    double change = fabs(nearest->trial[q] - y[q]) / (fabs(y[q]) + system->nominal[q]);
    if (change > most) most = change, *column = q;
  }
  return most;
}
