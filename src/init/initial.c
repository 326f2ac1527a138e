/* initial: see initial.h. */
#include "init/initial.h"

#include "base/linear.h"
#include "init/starts.h"

#include <math.h>
#include <string.h>

enum { ITERATION_LIMIT = 60, HALVING_LIMIT = 20 };

/* Weights of the minimum norm: a column without a start value moves this much more easily than one with; a highest
 * derivative or algebraic column has at best a guess. */
static const double WEIGHT_GIVEN = 1, WEIGHT_DEFAULT = 1e2, WEIGHT_ALGEBRAIC = 1e3;
static const double CONSISTENT = 1e-10; /* scaled residual of a solution */
static const double SLACK = 1e-14;      /* of the rows, in the quasi-definite system */

typedef struct Gauss {
  Heap *heap;
  Evaluator *evaluator;
  double t0;
  uint32_t rows;
  Program *residual;
  Jacobian *jacobian;
  double *values, *r, *scale, *weight; /* weight 0: the column is held */
  double *trial, *step;
  int32_t *unknown_of; /* per column: number among the free ones, -1 if held */
  int32_t free;
  Linear *linear;
  int32_t *pattern_start, *pattern_row;
  double *pattern_value;
} Gauss;

static Gauss *gauss_new(Heap *heap, Evaluator *evaluator, double t0, const ExprVec *extra) {
  Array *array = evaluator->array;
  Gauss *gauss = heap_alloc(heap, sizeof *gauss);
  ExprVec roots = {0};
  for (uint32_t r = 0; r < array->rows; r++) vec_push(heap, &roots, array_row(array, r));
  for (uint32_t r = 0; r < extra->count; r++) vec_push(heap, &roots, extra->data[r]);
  gauss->heap = heap;
  gauss->evaluator = evaluator;
  gauss->t0 = t0;
  gauss->rows = roots.count;
  gauss->residual = program_new(heap, evaluator->model, &evaluator->layout, roots.data, roots.count);
  gauss->jacobian = jacobian_new(heap, evaluator->model, &evaluator->layout, roots.data, roots.count, NULL, 0);
  vec_free(heap, &roots);
  size_t nonzeros = gauss->jacobian->nonzeros, columns = array->columns;
  gauss->values = heap_array(heap, nonzeros, sizeof(double));
  gauss->r = heap_array(heap, gauss->rows, sizeof(double));
  gauss->scale = heap_array(heap, gauss->rows, sizeof(double));
  gauss->weight = heap_array(heap, columns, sizeof(double));
  gauss->trial = heap_array(heap, columns, sizeof(double));
  gauss->unknown_of = heap_array(heap, columns, sizeof(int32_t));
  gauss->step = heap_array(heap, columns + gauss->rows, sizeof(double));
  gauss->pattern_start = heap_array(heap, columns + gauss->rows + 1, sizeof(int32_t));
  gauss->pattern_row = heap_array(heap, 2 * nonzeros + columns + gauss->rows, sizeof(int32_t));
  gauss->pattern_value = heap_array(heap, 2 * nonzeros + columns + gauss->rows, sizeof(double));
  return gauss;
}

/* Scaled residual: each row by the largest weighted entry of its Jacobian row, so that it is a distance in the columns. */
static bool evaluate(Gauss *gauss, const double *y, double *norm) {
  Point point = evaluator_point(gauss->evaluator, gauss->t0, y);
  gauss->evaluator->row_evaluations += gauss->rows;
  if (program_run(gauss->residual, &point, gauss->r) != EVAL_OK) return false;
  *norm = 0;
  for (uint32_t i = 0; i < gauss->rows; i++) {
    double size = fabs(gauss->r[i]) * gauss->scale[i];
    if (!(size <= *norm)) *norm = size;
  }
  return isfinite(*norm);
}

static bool linearize(Gauss *gauss, const double *y) {
  Point point = evaluator_point(gauss->evaluator, gauss->t0, y);
  gauss->evaluator->entry_evaluations += gauss->jacobian->nonzeros;
  if (jacobian_run(gauss->jacobian, &point, gauss->values) != EVAL_OK) return false;
  const Jacobian *jacobian = gauss->jacobian;
  for (uint32_t i = 0; i < gauss->rows; i++) gauss->scale[i] = 0;
  for (uint32_t q = 0; q < jacobian->columns; q++) {
    double size = gauss->evaluator->nominal[q] + fabs(y[q]);
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      double entry = fabs(gauss->values[e]) * size;
      if (entry > gauss->scale[jacobian->row_index[e]]) gauss->scale[jacobian->row_index[e]] = entry;
    }
  }
  for (uint32_t i = 0; i < gauss->rows; i++) gauss->scale[i] = gauss->scale[i] > 0 ? 1 / gauss->scale[i] : 1;
  return true;
}

/* The pattern of [I, (SJW)^T; SJW, -slack I] for the columns that are free. */
static void set_free(Gauss *gauss) {
  const Jacobian *jacobian = gauss->jacobian;
  gauss->free = 0;
  for (uint32_t q = 0; q < jacobian->columns; q++) gauss->unknown_of[q] = gauss->weight[q] > 0 ? gauss->free++ : -1;
  int32_t n = gauss->free + (int32_t)gauss->rows, next = 0;
  int32_t *count = heap_array(gauss->heap, gauss->rows + 1, sizeof *count);
  for (uint32_t q = 0; q < jacobian->columns; q++) {
    int32_t u = gauss->unknown_of[q];
    if (u < 0) continue;
    gauss->pattern_start[u] = next;
    gauss->pattern_row[next++] = u;
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      gauss->pattern_row[next++] = gauss->free + jacobian->row_index[e];
      count[jacobian->row_index[e]]++;
    }
  }
  for (uint32_t i = 0; i < gauss->rows; i++) { /* transposed part and the slack */
    gauss->pattern_start[gauss->free + (int32_t)i] = next;
    next += count[i] + 1;
    count[i] = gauss->pattern_start[gauss->free + (int32_t)i];
  }
  gauss->pattern_start[n] = next;
  for (uint32_t q = 0; q < jacobian->columns; q++) {
    if (gauss->unknown_of[q] < 0) continue;
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      gauss->pattern_row[count[jacobian->row_index[e]]++] = gauss->unknown_of[q];
  }
  for (uint32_t i = 0; i < gauss->rows; i++) gauss->pattern_row[count[i]] = gauss->free + (int32_t)i;
  heap_free(gauss->heap, count);
  gauss->linear = linear_new(gauss->heap, n, next, false);
  linear_set_pattern(gauss->linear, gauss->pattern_start, gauss->pattern_row);
}

/* Step of least weighted norm among those that satisfy the linearized rows best. */
static bool solve_step(Gauss *gauss, const double *y, double *step) {
  const Jacobian *jacobian = gauss->jacobian;
  int32_t next = 0;
  double *value = gauss->pattern_value;
  int32_t *fill = heap_array(gauss->heap, gauss->rows + 1, sizeof *fill);
  for (uint32_t i = 0; i < gauss->rows; i++) fill[i] = gauss->pattern_start[gauss->free + (int32_t)i];
  for (uint32_t q = 0; q < jacobian->columns; q++) {
    if (gauss->unknown_of[q] < 0) continue;
    double weight = gauss->weight[q] * (gauss->evaluator->nominal[q] + fabs(y[q]));
    value[next++] = 1;
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      int32_t i = jacobian->row_index[e];
      value[next] = gauss->values[e] * gauss->scale[i] * weight;
      value[fill[i]++] = value[next++];
    }
  }
  for (uint32_t i = 0; i < gauss->rows; i++) value[fill[i]] = -SLACK;
  heap_free(gauss->heap, fill);
  if (!linear_factor(gauss->linear, value)) return false;
  double *b = gauss->step;
  memset(b, 0, (size_t)gauss->free * sizeof *b);
  for (uint32_t i = 0; i < gauss->rows; i++) b[gauss->free + (int32_t)i] = -gauss->r[i] * gauss->scale[i];
  linear_solve(gauss->linear, b);
  for (uint32_t q = 0; q < jacobian->columns; q++) {
    double weight = gauss->weight[q] * (gauss->evaluator->nominal[q] + fabs(y[q]));
    step[q] = gauss->unknown_of[q] < 0 ? 0 : b[gauss->unknown_of[q]] * weight;
    if (!isfinite(step[q])) return false;
  }
  return true;
}

static double step_norm(const Gauss *gauss, const double *y, const double *step) {
  double norm = 0;
  for (uint32_t q = 0; q < gauss->jacobian->columns; q++) {
    double size = fabs(step[q]) / (gauss->evaluator->nominal[q] + fabs(y[q]));
    if (size > norm) norm = size;
  }
  return norm;
}

/* Damped Gauss-Newton from y; true if all rows hold at the end. y and *norm are left at the best point. */
static bool gauss_run(Gauss *gauss, double *y, double *norm, uint32_t *iterations) {
  uint32_t columns = gauss->jacobian->columns;
  double *step = heap_array(gauss->heap, columns, sizeof *step);
  set_free(gauss);
  bool defined = linearize(gauss, y) && evaluate(gauss, y, norm);
  for (uint32_t k = 0; defined && k < ITERATION_LIMIT && *norm > 0; k++, (*iterations)++) {
    if (!solve_step(gauss, y, step)) break;
    double fraction = 1, next = *norm, size = step_norm(gauss, y, step);
    bool better = false;
    for (int halving = 0; halving < HALVING_LIMIT && !better; halving++, fraction /= 2) {
      for (uint32_t q = 0; q < columns; q++) gauss->trial[q] = y[q] + fraction * step[q];
      better = evaluate(gauss, gauss->trial, &next) && next < *norm * (1 - fraction / 4);
    }
    if (!better) break; /* round-off, or a point where the rows cannot be met more closely */
    memcpy(y, gauss->trial, columns * sizeof *y);
    *norm = next;
    defined = linearize(gauss, y) && evaluate(gauss, y, norm);
    if (size < 1e-15) break;
  }
  heap_free(gauss->heap, step);
  return defined && *norm <= CONSISTENT;
}

/* ---- the cheap way ---- */

static bool gave_way(const Initial *initial, const double *y, uint32_t q) {
  double start = initial->column[q].start;
  return fabs(y[q] - start) > 1e-9 * (1 + fabs(start));
}

/* Is the column below the highest derivative of its unknown, so that its start value can be kept? */
static bool is_low(const Array *array, uint32_t q) {
  return (int32_t)array_order(array, q) < array->d[array->column_unknown[q]];
}

static bool solve_by_states(Evaluator *evaluator, Dummy *dummy, StateSpace *space, double t0, Initial *initial) {
  const Array *array = evaluator->array;
  double *y = heap_array(evaluator->heap, array->columns, sizeof *y);
  memcpy(y, initial->y, array->columns * sizeof *y);
  int32_t block;
  bool ok = dummy_select_holding(dummy, t0, y, initial->held, &block);
  if (ok) {
    statespace_choose(space, dummy_depth(dummy));
    ok = statespace_close(space, t0, y) == EVAL_OK;
  }
  for (uint32_t q = 0; q < array->columns && ok; q++) {
    bool must_keep = initial->column[q].fixed || (initial->column[q].given && is_low(array, q));
    ok = isfinite(y[q]) && !(must_keep && gave_way(initial, y, q));
  }
  if (ok) memcpy(initial->y, y, array->columns * sizeof *y);
  heap_free(evaluator->heap, y);
  return ok;
}

/* ---- all rows at once ---- */

static void set_weights(Gauss *gauss, const Initial *initial, bool hold_given) {
  const Array *array = gauss->evaluator->array;
  for (uint32_t q = 0; q < array->columns; q++) {
    const InitialColumn *column = &initial->column[q];
    bool low = is_low(array, q);
    bool held = column->fixed || (hold_given && column->given && low);
    gauss->weight[q] = held ? 0 : !low ? WEIGHT_ALGEBRAIC : column->given ? WEIGHT_GIVEN : WEIGHT_DEFAULT;
  }
}

/* The rows that stay apart, with the fixed start values that occur in them. */
static void report_conflict(Gauss *gauss, const Initial *initial, double norm, Diags *diags) {
  Evaluator *evaluator = gauss->evaluator;
  Array *array = evaluator->array;
  Model *model = evaluator->model;
  double best;
  if (!evaluate(gauss, initial->y, &best)) {
    diag_error(diags, DIAG_INIT, (Span){0}, "the equations are not defined at the start values; give better start values");
    return;
  }
  uint32_t worst = 0;
  for (uint32_t i = 1; i < gauss->rows; i++)
    if (fabs(gauss->r[i]) * gauss->scale[i] > fabs(gauss->r[worst]) * gauss->scale[worst]) worst = i;
  bool extra = worst >= array->rows;
  const Equation *equation = extra ? &model->initial_equations.data[worst - array->rows] : NULL;
  Span span = extra ? equation->span : array_row_span(array, worst);
  const char *text = extra ? model_equation_text(model, equation, &diags->arena) : array_row_text(array, worst, &diags->arena);
  Diag *diag = diag_error(diags, DIAG_INIT, span,
                          "no consistent initial values: `%s` cannot be met together with the rest (residual %.3g)", text,
                          gauss->r[worst]);
  uint32_t named = 0;
  for (uint32_t q = 0; q < array->columns; q++) {
    if (!initial->column[q].fixed) continue;
    bool inside = false;
    for (int32_t e = gauss->jacobian->column_start[q]; e < gauss->jacobian->column_start[q + 1] && !inside; e++)
      inside = gauss->jacobian->row_index[e] == (int32_t)worst;
    if (!inside || named++ >= 8) continue;
    diag_note(diags, diag, model->variables.data[initial->column[q].named].span,
              "fixed start value %s = %.10g; remove fixed=true from one of those named",
              model_name(model, initial->column[q].named), initial->column[q].start);
  }
  if (!named) diag_note(diags, diag, (Span){0}, "the iteration stopped at a scaled residual of %.3g; give start values nearer to a solution", norm);
}

static bool solve_all(Heap *heap, Evaluator *evaluator, double t0, const ExprVec *extra, Initial *initial, Diags *diags) {
  uint32_t columns = evaluator->array->columns;
  double *start = heap_array(heap, columns, sizeof *start);
  memcpy(start, initial->y, columns * sizeof *start);
  Gauss *gauss = gauss_new(heap, evaluator, t0, extra);
  double norm = 0;
  bool ok = false;
  for (int pass = 0; pass < 2 && !ok; pass++) {
    memcpy(initial->y, start, columns * sizeof *start);
    set_weights(gauss, initial, pass == 0);
    ok = gauss_run(gauss, initial->y, &norm, &initial->iterations);
  }
  initial->residual = norm;
  if (!ok) report_conflict(gauss, initial, norm, diags);
  return ok;
}

static void classify(const Evaluator *evaluator, Initial *initial) {
  for (uint32_t q = 0; q < evaluator->array->columns; q++) {
    InitialColumn *column = &initial->column[q];
    if (column->fixed) column->origin = ORIGIN_FIXED;
    else if (!column->given) column->origin = ORIGIN_COMPUTED;
    else column->origin = gave_way(initial, initial->y, q) ? ORIGIN_MOVED : ORIGIN_KEPT;
  }
}

bool initial_solve(Heap *heap, Evaluator *evaluator, const Structure *structure, Dummy *dummy, StateSpace *space,
                   const StartValues *starts, double t0, Initial *initial, Diags *diags) {
  const Array *array = evaluator->array;
  *initial = (Initial){0};
  initial->column = heap_array(heap, array->columns, sizeof *initial->column);
  initial->held = heap_array(heap, array->columns, sizeof *initial->held);
  initial->y = heap_array(heap, array->columns, sizeof *initial->y);
  ExprVec extra = {0};
  if (!starts_collect(evaluator, starts, initial, diags)) return false;
  if (!starts_equations(heap, evaluator, &extra, diags)) return false;
  for (uint32_t q = 0; q < array->columns; q++)
    initial->held[q] = initial->column[q].fixed ? 2 : initial->column[q].given && is_low(array, q);
  int64_t open = structure->dof - (int64_t)initial->fixed - (int64_t)extra.count;
  initial->free = open > 0 ? (uint32_t)open : 0;
  bool ok = extra.count == 0 && solve_by_states(evaluator, dummy, space, t0, initial);
  if (!ok) ok = solve_all(heap, evaluator, t0, &extra, initial, diags);
  if (ok) classify(evaluator, initial);
  return ok;
}
