/* steady: see steady.h. */
#include "vary/steady.h"

#include "base/blas.h"
#include "base/linear.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { ITERATIONS = 100, HALVINGS = 20, LEVENBERG_MOST = 600, CONTINUATIONS = 400 };

static const double SOLVED = 1e-12;   /* a step relative to what it moves */
static const double SINGULAR = 1e-11; /* pivots relative to what they are made of */

struct SteadySystem {
  Heap *heap;
  Evaluator *evaluator;
  double t;
  int32_t n;
  int32_t *row;               /* per row of the array: equation, or -1 where it is differentiated */
  int32_t *column;            /* per unknown: column of the array */
  int32_t *start, *row_index; /* pattern of the square matrix */
  uint32_t *entry;            /* its entries in the Jacobian of the array */
  double *all_rows, *all_entries, *values, *residual, *left, *step, *at, *trial;
  Linear *linear;
};

static void make_pattern(SteadySystem *steady) {
  const Jacobian *jacobian = steady->evaluator->jacobian;
  int32_t count = 0;
  for (int32_t j = 0; j < steady->n; j++) {
    steady->start[j] = count;
    for (int32_t e = jacobian->column_start[steady->column[j]]; e < jacobian->column_start[steady->column[j] + 1];
         e++) {
      if (steady->row[jacobian->row_index[e]] < 0) continue;
      steady->row_index[count] = steady->row[jacobian->row_index[e]];
      steady->entry[count++] = (uint32_t)e;
    }
  }
  steady->start[steady->n] = count;
  linear_set_pattern(steady->linear, steady->start, steady->row_index);
}

SteadySystem *steady_new(Heap *heap, View *view, double t) {
  SteadySystem *steady = heap_alloc(heap, sizeof *steady);
  Evaluator *evaluator = view->evaluator;
  const Array *array = evaluator->array;
  size_t n = array->problem->unknowns, nonzeros = evaluator->jacobian->nonzeros;
  *steady = (SteadySystem){.heap = heap, .evaluator = evaluator, .t = t, .n = (int32_t)n};
  steady->row = heap_array(heap, array->rows, sizeof(int32_t));
  steady->column = heap_array(heap, n, sizeof(int32_t));
  steady->start = heap_array(heap, n + 1, sizeof(int32_t));
  steady->row_index = heap_array(heap, nonzeros, sizeof(int32_t));
  steady->entry = heap_array(heap, nonzeros, sizeof(uint32_t));
  steady->all_rows = heap_array(heap, array->rows, sizeof(double));
  steady->all_entries = heap_array(heap, nonzeros, sizeof(double));
  steady->values = heap_array(heap, nonzeros, sizeof(double));
  heap_numbers(heap, n, &steady->residual, &steady->left);
  heap_numbers(heap, n, &steady->step, &steady->at);
  steady->trial = heap_array(heap, array->columns, sizeof(double));
  steady->linear = linear_new(heap, (int32_t)n, (int32_t)nonzeros, false);
  for (uint32_t r = 0; r < array->rows; r++)
    steady->row[r] = array_level(array, r) ? -1 : (int32_t)array->row_equation[r];
  for (size_t j = 0; j < n; j++) steady->column[j] = (int32_t)array->column_start[j];
  make_pattern(steady);
  return steady;
}

/* ---- evaluation ---- */

/* Residual with a part of the one left over taken off; all derivatives in `trial` are zero. */
static bool evaluate(SteadySystem *steady, double part) {
  const Array *array = steady->evaluator->array;
  if (evaluator_rows(steady->evaluator, steady->t, steady->trial, steady->all_rows) != EVAL_OK) return false;
  for (uint32_t r = 0; r < array->rows; r++)
    if (steady->row[r] >= 0)
      steady->residual[steady->row[r]] = steady->all_rows[r] - part * steady->left[steady->row[r]];
  return true;
}

static void evaluate_jacobian(SteadySystem *steady) {
  evaluator_jacobian(steady->evaluator, steady->t, steady->trial, steady->all_entries);
  for (int32_t e = 0; e < steady->start[steady->n]; e++) steady->values[e] = steady->all_entries[steady->entry[e]];
}

static double squares(const SteadySystem *steady) {
  double sum = 0;
  for (int32_t i = 0; i < steady->n; i++) sum += steady->residual[i] * steady->residual[i];
  return sum;
}

/* ---- steps ---- */

/* The size of the step relative to what it moves. */
static double step_size(const SteadySystem *steady) {
  double size = 0;
  for (int32_t j = 0; j < steady->n; j++) {
    double scale = fabs(steady->trial[steady->column[j]]) + steady->evaluator->nominal[steady->column[j]];
    double part = fabs(steady->step[j]) / scale;
    if (!(part <= size)) size = part;
  }
  return size;
}

static bool newton_step(SteadySystem *steady) {
  memcpy(steady->step, steady->residual, (size_t)steady->n * sizeof(double));
  if (!linear_factor(steady->linear, steady->values)) return false;
  linear_solve(steady->linear, steady->step);
  return isfinite(step_size(steady));
}

/* (J^T J + damping) step = J^T residual. */
static bool levenberg_step(SteadySystem *steady, double damping) {
  size_t n = (size_t)steady->n;
  if (n > LEVENBERG_MOST) return false;
  Arena arena = arena_make(steady->heap);
  double *dense = arena_array(&arena, n * n, sizeof *dense), *normal = arena_array(&arena, n * n, sizeof *normal);
  for (size_t j = 0; j < n; j++)
    for (int32_t e = steady->start[j]; e < steady->start[j + 1]; e++)
      dense[(size_t)steady->row_index[e] + j * n] += steady->values[e];
  for (size_t j = 0; j < n; j++)
    for (size_t k = 0; k <= j; k++) {
      double sum = j == k ? damping : 0;
      for (size_t i = 0; i < n; i++) sum += dense[i + j * n] * dense[i + k * n];
      normal[k + j * n] = sum;
    }
  for (size_t j = 0; j < n; j++) {
    steady->step[j] = 0;
    for (size_t i = 0; i < n; i++) steady->step[j] += dense[i + j * n] * steady->residual[i];
  }
  char half = 'U';
  lapack_int size = steady->n, one = 1, info;
  blas_expect_room(steady->heap);
  LAPACK_dposv(&half, &size, &one, normal, &size, steady->step, &size, &info);
  arena_free(&arena);
  return info == 0 && isfinite(step_size(steady));
}

static void move(SteadySystem *steady, double fraction) {
  for (int32_t j = 0; j < steady->n; j++) steady->trial[steady->column[j]] = steady->at[j] - fraction * steady->step[j];
}

static void keep(SteadySystem *steady) {
  for (int32_t j = 0; j < steady->n; j++) steady->at[j] = steady->trial[steady->column[j]];
}

/* Halves the step until the residual falls. */
static bool descend(SteadySystem *steady, double part, double before) {
  double fraction = 1;
  for (int halving = 0; halving < HALVINGS; halving++, fraction /= 2) {
    move(steady, fraction);
    if (evaluate(steady, part) && squares(steady) <= before * (1 - fraction / 4)) return true;
  }
  move(steady, 0);
  return false;
}

/* One step that lets the residual fall; *solved: it moves nothing any more. */
static bool iterate(SteadySystem *steady, double part, bool *solved) {
  double before = squares(steady);
  keep(steady);
  evaluate_jacobian(steady);
  if (newton_step(steady)) {
    *solved = before == 0 || step_size(steady) <= SOLVED;
    move(steady, *solved);
    if (*solved || descend(steady, part, before)) return true;
  } else if (before == 0) {
    *solved = true;
    return true;
  }
  for (double damping = 1e-8 * (1 + before); damping < 1e12; damping *= 10) {
    move(steady, 0);
    if (!evaluate(steady, part) || !levenberg_step(steady, damping)) continue;
    if (step_size(steady) <= SOLVED) break;
    if (descend(steady, part, before)) return true;
  }
  /* Nothing lets it fall: it is what it can be, and zero or not. */
  move(steady, 0);
  evaluate(steady, part);
  *solved = squares(steady) <= SOLVED * SOLVED * (double)steady->n;
  return *solved;
}

static void begin(SteadySystem *steady, const double *y) {
  memset(steady->trial, 0, steady->evaluator->array->columns * sizeof(double));
  for (int32_t j = 0; j < steady->n; j++) steady->trial[steady->column[j]] = y[steady->column[j]];
}

static bool solve_part(SteadySystem *steady, double part, int limit, uint32_t *iterations) {
  bool solved = false;
  if (!evaluate(steady, part)) return false;
  for (int k = 0; k < limit && !solved; k++, ++*iterations)
    if (!iterate(steady, part, &solved)) return false;
  return solved;
}

static void end(const SteadySystem *steady, double *y) {
  memcpy(y, steady->trial, steady->evaluator->array->columns * sizeof(double));
}

/* Moves the start away from where the residual has no slope, as that of a pendulum that is let go horizontally: by another part
 * of its size for every unknown. */
static void perturb(SteadySystem *steady, int attempt) {
  static const double ratio = 0.6180339887498949;
  for (int32_t j = 0; j < steady->n; j++) {
    double *value = &steady->trial[steady->column[j]], part = fmod((j + 1) * ratio, 1) - 0.5;
    *value += 0.2 * attempt * part * (fabs(*value) + steady->evaluator->nominal[steady->column[j]]);
  }
}

bool steady_newton(SteadySystem *steady, double *y, uint32_t *iterations) {
  enum { ATTEMPTS = 4 };
  bool solved = false;
  for (int attempt = 0; attempt < ATTEMPTS && !solved; attempt++) {
    begin(steady, y);
    perturb(steady, attempt);
    solved = solve_part(steady, 0, ITERATIONS, iterations);
  }
  if (solved) end(steady, y);
  return solved;
}

bool steady_continue(SteadySystem *steady, double *y, uint32_t *iterations) {
  enum { QUICK = 8 };
  size_t size = steady->evaluator->array->columns * sizeof(double);
  double *last = heap_alloc(steady->heap, size), part = 1, change = 0.1;
  begin(steady, y);
  memset(steady->left, 0, (size_t)steady->n * sizeof(double));
  bool ok = evaluate(steady, 0);
  if (ok) memcpy(steady->left, steady->residual, (size_t)steady->n * sizeof(double));
  for (int k = 0; k < CONTINUATIONS && ok && part > 0; k++) {
    double next = fmax(part - change, 0);
    memcpy(last, steady->trial, size);
    if (solve_part(steady, next, QUICK, iterations)) {
      part = next;
      change *= 2;
    } else {
      memcpy(steady->trial, last, size);
      change /= 4;
      ok = change > 1e-6;
    }
  }
  ok = ok && part == 0;
  if (ok) end(steady, y);
  heap_free(steady->heap, last);
  return ok;
}

double steady_residual(SteadySystem *steady, const double *y) {
  begin(steady, y);
  if (!evaluate(steady, 0)) return INFINITY;
  double largest = 0;
  for (int32_t i = 0; i < steady->n; i++) largest = fmax(largest, fabs(steady->residual[i]));
  return largest;
}

bool steady_is_isolated(SteadySystem *steady, const double *y) {
  size_t n = (size_t)steady->n;
  begin(steady, y);
  evaluate_jacobian(steady);
  if (n > LEVENBERG_MOST) return linear_factor(steady->linear, steady->values);
  double *dense = heap_array(steady->heap, 2 * n * n, sizeof *dense), *size = dense + n * n;
  for (size_t j = 0; j < n; j++)
    for (int32_t e = steady->start[j]; e < steady->start[j + 1]; e++) {
      dense[(size_t)steady->row_index[e] + j * n] += steady->values[e];
      size[(size_t)steady->row_index[e] + j * n] += fabs(steady->values[e]);
    }
  bool isolated = linear_rank(dense, size, NULL, steady->n, SINGULAR) == steady->n;
  heap_free(steady->heap, dense);
  return isolated;
}
