/* steady: see steady.h. */
#include "vary/steady.h"

#include "base/large.h"
#include "base/linear.h"
#include "base/rank.h"
#include "base/spread.h"
#include "core/constants.h"
#include "nonlinear/nonlinear.h"

#include <math.h>
#include <string.h>

struct SteadySystem {
  Heap *heap;
  Evaluator *evaluator;
  double t;
  int32_t n;
  int32_t *row;               /* per row of the array: equation, or -1 if it is differentiated */
  int32_t *column;            /* per unknown: column of the array */
  int32_t *start, *row_index; /* pattern of the square matrix */
  uint32_t *entry;            /* its entries in the Jacobian of the array */
  double *all_rows, *all_entries, *values, *residual;
  double *x, *trial; /* unknowns; all columns, with derivatives zero */
  NonlinearProblem problem;
  Nonlinear *nonlinear;
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
}

/* ---- evaluation ---- */

static void set_columns(SteadySystem *steady, const double *x) {
  for (int32_t j = 0; j < steady->n; j++) steady->trial[steady->column[j]] = x[j];
}

static bool evaluate(void *context, const double *x, double *r) {
  SteadySystem *steady = context;
  const Array *array = steady->evaluator->array;
  set_columns(steady, x);
  if (evaluator_rows(steady->evaluator, steady->t, steady->trial, steady->all_rows) != EVAL_OK) return false;
  for (uint32_t i = 0; i < array->rows; i++)
    if (steady->row[i] >= 0) r[steady->row[i]] = steady->all_rows[i];
  return true;
}

static bool evaluate_jacobian(void *context, const double *x, double *entries) {
  SteadySystem *steady = context;
  set_columns(steady, x);
  EvalStatus status = evaluator_jacobian(steady->evaluator, steady->t, steady->trial, steady->all_entries);
  for (int32_t e = 0; e < steady->start[steady->n]; e++) entries[e] = steady->all_entries[steady->entry[e]];
  return status == EVAL_OK;
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
  heap_numbers(heap, nonzeros, &steady->all_entries, &steady->values);
  double *nominal;
  heap_numbers(heap, n, &steady->residual, &steady->x, &nominal);
  steady->trial = heap_array(heap, array->columns, sizeof(double));
  for (uint32_t r = 0; r < array->rows; r++)
    steady->row[r] = array_level(array, r) ? -1 : (int32_t)array->row_equation[r];
  for (size_t j = 0; j < n; j++) {
    steady->column[j] = (int32_t)array->column_start[j];
    nominal[j] = evaluator->nominal[steady->column[j]];
  }
  make_pattern(steady);
  steady->problem = (NonlinearProblem){.context = steady,
                                       .rows = steady->n,
                                       .columns = steady->n,
                                       .column_start = steady->start,
                                       .row_index = steady->row_index,
                                       .nominal = nominal,
                                       .residual = evaluate,
                                       .jacobian = evaluate_jacobian,
                                       .by_corrections = true};
  steady->nonlinear = nonlinear_new(heap, &steady->problem);
  return steady;
}

/* ---- solutions ---- */

static void begin(SteadySystem *steady, const double *y) {
  memset(steady->trial, 0, steady->evaluator->array->columns * sizeof(double));
  for (int32_t j = 0; j < steady->n; j++) steady->x[j] = y[steady->column[j]];
}

static void end(SteadySystem *steady, double *y) {
  set_columns(steady, steady->x);
  memcpy(y, steady->trial, steady->evaluator->array->columns * sizeof(double));
}

/* Moves the start away from a point where the residual has no slope, such as a pendulum that starts horizontally:
 * each unknown moves by a different part of its size. */
static void perturb(SteadySystem *steady, int attempt) {
  for (int32_t j = 0; j < steady->n; j++) {
    double part = spread_part(j + 1) - 0.5;
    steady->x[j] += NOTABLE * attempt * part * (fabs(steady->x[j]) + steady->problem.nominal[j]);
  }
}

bool steady_newton(SteadySystem *steady, double *y, uint32_t *iterations) {
  bool solved = false;
  for (int attempt = 0; attempt < ATTEMPTS && !solved; attempt++) {
    begin(steady, y);
    perturb(steady, attempt);
    NonlinearResult result = nonlinear_solve(steady->nonlinear, steady->x);
    solved = result.solved;
    *iterations += result.iterations;
  }
  if (solved) end(steady, y);
  return solved;
}

bool steady_continue(SteadySystem *steady, double *y, uint32_t *iterations) {
  begin(steady, y);
  NonlinearResult result = nonlinear_continue(steady->nonlinear, steady->x);
  *iterations += result.iterations;
  if (result.solved) end(steady, y);
  return result.solved;
}

double steady_residual(SteadySystem *steady, const double *y) {
  begin(steady, y);
  if (!evaluate(steady, steady->x, steady->residual)) return INFINITY;
  double largest = 0;
  for (int32_t i = 0; i < steady->n; i++) largest = fmax(largest, fabs(steady->residual[i]));
  return largest;
}

bool steady_is_isolated(SteadySystem *steady, const double *y) {
  size_t n = (size_t)steady->n;
  begin(steady, y);
  evaluate_jacobian(steady, steady->x, steady->values);
  if (n > DENSE_ROWS)
    return large_condition(steady->heap, steady->n, steady->start, steady->row_index, steady->values) < HUGE_VAL;
  double *dense = heap_array(steady->heap, 2 * n * n, sizeof *dense), *size = dense + n * n;
  for (size_t j = 0; j < n; j++)
    for (int32_t e = steady->start[j]; e < steady->start[j + 1]; e++) {
      dense[(size_t)steady->row_index[e] + j * n] += steady->values[e];
      size[(size_t)steady->row_index[e] + j * n] += fabs(steady->values[e]);
    }
  bool isolated = linear_rank(dense, size, NULL, steady->n, SOLVED) == steady->n;
  heap_free(steady->heap, dense);
  return isolated;
}
