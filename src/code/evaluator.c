/* evaluator: see evaluator.h. */
#include "code/evaluator.h"

#include "base/spread.h"
#include "code/past.h"

#include <math.h>
#include <string.h>

/* More points are evaluated one after another. */
enum { EVALUATOR_POINTS = 8, SHAKE_SWEEPS = 8 };

Model *evaluator_model(Evaluator *evaluator) {
  if (!evaluator->own) evaluator->own = model_layer(evaluator->model, evaluator->heap);
  return evaluator->own;
}

void evaluator_trim(Evaluator *evaluator) {
  dag_scratch_free(&evaluator->scratch);
  if (evaluator->own) dag_trim(evaluator->own->dag);
}

bool evaluator_constant(Evaluator *evaluator, Expr e, double *value) {
  return model_evaluate(evaluator->model, &evaluator->scratch, e, evaluator->parameters, value);
}

const char *evaluator_row_text(Evaluator *evaluator, uint32_t row, Arena *arena) {
  return array_row_text(evaluator->array, evaluator_model(evaluator), row, arena);
}

static bool is_zero(Evaluator *evaluator, Expr bound) {
  double value;
  return bound != EXPR_NONE && evaluator_constant(evaluator, bound, &value) && value == 0;
}

/* A nominal value that is zero, negative or not given counts as 1; derivatives share that of their variable. */
static void fill_nominal(Evaluator *evaluator) {
  const Array *array = evaluator->array;
  const Model *model = evaluator->model;
  evaluator->nominal = heap_array(evaluator->heap, array->columns, sizeof(double));
  evaluator->size = heap_array(evaluator->heap, array->columns, sizeof(double));
  evaluator->is_sized = heap_array(evaluator->heap, array->columns, sizeof(bool));
  evaluator->is_signed = heap_array(evaluator->heap, array->columns, sizeof(bool));
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    const Variable *variable = &model->variables.data[model->unknowns.data[array->problem->unknown[j]]];
    double value = 0;
    if (variable->nominal != EXPR_NONE && evaluator_constant(evaluator, variable->nominal, &value)) value = fabs(value);
    bool is_given = value > 0 && isfinite(value);
    for (uint32_t q = array->column_start[j]; q < array->column_start[j + 1]; q++) {
      evaluator->nominal[q] = evaluator->size[q] = is_given ? value : 1;
      evaluator->is_sized[q] = !is_given;
    }
    bool has_sign = is_zero(evaluator, variable->min) || is_zero(evaluator, variable->max);
    if (array->d[j] > 0) evaluator->is_signed[array->column_start[j]] = has_sign && !is_given;
  }
}

Evaluator *evaluator_new(Heap *heap, const ArrayCode *code, const double *parameters) {
  const Model *model = code->model;
  Evaluator *evaluator = heap_alloc(heap, sizeof *evaluator);
  *evaluator =
      (Evaluator){.heap = heap, .code = code, .model = model, .array = code->array, .jacobian = code->jacobian};
  evaluator->scratch = dag_scratch_make(heap);
  evaluator->parameters = heap_copy(heap, parameters, model->parameters.count, sizeof(double));
  uint32_t discretes = modes_leaves(code->modes);
  heap_numbers(heap, discretes, &evaluator->discretes, &evaluator->pre);
  evaluator->rows = workspace_new(heap, code->rows);
  evaluator->entries = workspace_new(heap, code->jacobian->program);
  evaluator->past = past_new(heap, code);
  evaluator->inputs = inputs_new(heap, model);
  fill_nominal(evaluator);
  return evaluator;
}

void evaluator_copy_leaves(Evaluator *evaluator, const Evaluator *from) {
  size_t size = modes_leaves(from->code->modes) * sizeof(double);
  memcpy(evaluator->discretes, from->discretes, size);
  memcpy(evaluator->pre, from->pre, size);
}

void evaluator_look_up(const Evaluator *evaluator, double t, const double *y) {
  Point point = {t, y, evaluator->parameters, evaluator->discretes, evaluator->pre};
  if (evaluator->inputs) inputs_write(evaluator->inputs, t, evaluator->parameters);
  if (evaluator->past) past_read(evaluator, &point);
}

EvalStatus evaluator_fail(Evaluator *evaluator, double t, const double *y) {
  size_t columns = evaluator->array->columns;
  if (!evaluator->failed_y) evaluator->failed_y = heap_array(evaluator->heap, columns, sizeof *y);
  memcpy(evaluator->failed_y, y, columns * sizeof *y);
  evaluator->failed_time = t;
  return EVAL_DOMAIN;
}

static Workspace *prepare(void *host, Heap *heap, const Program *program) {
  (void)host;
  return workspace_new(heap, program);
}

static EvalStatus run_program(void *host, Workspace *workspace, double t, const double *y, double *out) {
  Point point = evaluator_point(host, t, y);
  return workspace_run(workspace, &point, out);
}

static EvalStatus note_failure(void *host, double t, const double *y) { return evaluator_fail(host, t, y); }

RowsHost evaluator_host(Evaluator *evaluator) {
  return (RowsHost){.host = evaluator,
                    .nominal = evaluator->nominal,
                    .prepare = prepare,
                    .run = run_program,
                    .fail = note_failure,
                    .row_evaluations = &evaluator->row_evaluations,
                    .entry_evaluations = &evaluator->entry_evaluations};
}

EvalStatus evaluator_rows(Evaluator *evaluator, double t, const double *y, double *rows) {
  Point point = evaluator_point(evaluator, t, y);
  evaluator->row_evaluations += evaluator->array->rows;
  return workspace_run(evaluator->rows, &point, rows) == EVAL_OK ? EVAL_OK : evaluator_fail(evaluator, t, y);
}

EvalStatus evaluator_rows_at(Evaluator *evaluator, uint32_t count, const double *t, double *const *y,
                             double *const *rows) {
  Point points[EVALUATOR_POINTS] = {0};
  bool differ = evaluator->inputs || evaluator->past; /* the points differ in more than the columns */
  EvalStatus status = EVAL_OK;
  if (!differ && count <= EVALUATOR_POINTS) {
    for (uint32_t k = 0; k < count; k++) points[k] = evaluator_point(evaluator, t[k], y[k]);
    evaluator->row_evaluations += (uint64_t)count * evaluator->array->rows;
    if (workspace_run_points(evaluator->rows, count, points, rows) == EVAL_OK) return EVAL_OK;
  } /* evaluates one point after the other, to find the undefined one */
  for (uint32_t k = 0; k < count && status == EVAL_OK; k++) status = evaluator_rows(evaluator, t[k], y[k], rows[k]);
  return status;
}

/* Moves columns away from zero, so that entries that nearly vanish do not count as zero. Neighbours move differently, so that
 * differences of equal columns change, too. */
static void move_columns(const double *error, const double *y, uint32_t count, double *shaken) {
  for (uint32_t q = 0; q < count; q++) {
    shaken[q] = y[q] + copysign((0.5 + spread_part(q + 1)) * error[q], y[q]);
  }
}

static const double SHAKEN = 0x1p-43; /* relative to the size of a column, or of a term of a row */

void columns_shake(const double *nominal, const double *y, uint32_t count, double *shaken) {
  for (uint32_t q = 0; q < count; q++) shaken[q] = SHAKEN * (nominal[q] + fabs(y[q]));
  move_columns(shaken, y, count, shaken);
}

/* The largest value that a row can have at the solution: the sum of the errors of its columns, the round-off of its terms, and its
 * residual; NAN: unknown. */
static void bound_rows(const Jacobian *jacobian, const double *rows, const double *values, const double *other,
                       const double *y, const double *error, double *bound) {
  for (uint32_t i = 0; i < jacobian->rows; i++) bound[i] = 2 * fabs(rows[i]);
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      bound[jacobian->row_index[e]] +=
          fmax(fabs(values[e]), fabs(other[e])) * (error[q] + SHAKEN * fabs(y[q])) + 0 * (values[e] + other[e]);
}

/* The error that some row allows for a column, at most the one found before. */
static double bound_column(const Jacobian *jacobian, uint32_t q, const double *values, const double *other,
                           const double *bound, double error) {
  double least = error;
  for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
    double size = fabs(values[e]), all = bound[jacobian->row_index[e]];
    double room = all - fmax(size, fabs(other[e])) * error + SHAKEN * all; /* the last term for round-off of the sum */
    bool is_sure = size > 0 && fabs(other[e] - values[e]) <= 0.5 * size;
    if (is_sure && room >= 0) least = fmin(least, room / size);
  }
  return least;
}

/* Later columns are parameters of the initial system. */
static bool is_highest(const Array *array, uint32_t q) {
  return q < array->columns && (int32_t)array_order(array, q) == array->d[array->column_unknown[q]];
}

void columns_shake_within(Heap *heap, const Array *array, const Jacobian *jacobian, const double *nominal,
                          const double *rows, const double *values, const double *other, const double *y,
                          double *shaken) {
  uint32_t columns = jacobian->columns;
  double *error = heap_array(heap, columns, sizeof *error), *bound = heap_array(heap, jacobian->rows, sizeof *bound);
  for (uint32_t q = 0; q < columns; q++) error[q] = SHAKEN * (nominal[q] + fabs(y[q]));
  bool is_less = true;
  for (int sweep = 0; sweep < SHAKE_SWEEPS && is_less; sweep++) {
    bound_rows(jacobian, rows, values, other, y, error, bound);
    is_less = false;
    for (uint32_t q = 0; q < columns; q++) {
      double least = is_highest(array, q) ? bound_column(jacobian, q, values, other, bound, error[q]) : error[q];
      is_less |= least < 0.5 * error[q];
      error[q] = least;
    }
  }
  move_columns(error, y, columns, shaken);
  heap_free_all(heap, error, bound);
}

void evaluator_shake(Evaluator *evaluator, double t, const double *y, double *shaken) {
  const Jacobian *jacobian = evaluator->jacobian;
  double *values, *other, *rows = heap_array(evaluator->heap, jacobian->rows, sizeof *rows);
  heap_numbers(evaluator->heap, jacobian->nonzeros, &values, &other);
  columns_shake(evaluator->nominal, y, jacobian->columns, shaken);
  if (evaluator_jacobian(evaluator, t, shaken, other) == EVAL_OK &&
      evaluator_jacobian(evaluator, t, y, values) == EVAL_OK && evaluator_rows(evaluator, t, y, rows) == EVAL_OK)
    columns_shake_within(evaluator->heap, evaluator->array, jacobian, evaluator->nominal, rows, values, other, y,
                         shaken);
  heap_free_all(evaluator->heap, values, other, rows);
}

void entries_drop_lost(double *values, const double *shaken, size_t count) {
  for (size_t e = 0; e < count; e++)
    if (entry_is_lost(values[e], shaken[e])) values[e] = 0;
}

void evaluator_drop_infinite(double *values, size_t count) {
  for (size_t e = 0; e < count; e++)
    if (!isfinite(values[e])) values[e] = 0;
}

EvalStatus evaluator_jacobian(Evaluator *evaluator, double t, const double *y, double *values) {
  Point point = evaluator_point(evaluator, t, y);
  evaluator->entry_evaluations += evaluator->jacobian->nonzeros;
  if (workspace_run(evaluator->entries, &point, values) != EVAL_OK)
    evaluator_drop_infinite(values, evaluator->jacobian->nonzeros);
  return EVAL_OK;
}

double evaluator_value(Evaluator *evaluator, const double *y, uint32_t unknown, uint32_t order) {
  const Array *array = evaluator->array;
  const Aliases *aliases = &array->problem->aliases;
  uint32_t root = unknown;
  double sign = 1, value = NAN;
  if (unknown >= evaluator->model->unknowns.count) return NAN;
  if (aliases->removed) {
    root = aliases->root[unknown];
    if (root == UINT32_MAX)
      return order || !evaluator_constant(evaluator, aliases->constant[unknown], &value) ? 0 : value;
    order += aliases->shift[unknown];
    sign = aliases->sign[unknown];
  }
  uint32_t local = array->problem->local[root], column = array->column_start[local] + order;
  return column < array->column_start[local + 1] ? sign * y[column] : NAN;
}

double evaluator_in_rows(const Evaluator *evaluator, uint64_t rows) {
  return evaluator->array->rows ? (double)rows / evaluator->array->rows : 0;
}

double evaluator_in_jacobians(const Evaluator *evaluator, uint64_t entries) {
  return evaluator->jacobian->nonzeros ? (double)entries / evaluator->jacobian->nonzeros : 0;
}

bool evaluator_calls_functions(Evaluator *evaluator) {
  const Array *array = evaluator->array;
  const Dag *dag = array->dag;
  IndexVec below = {0};
  bool found = false;
  if (evaluator->model->functions.count) dag_below(dag, &evaluator->scratch, array->row, array->rows, &below);
  for (uint32_t k = 0; k < below.count && !found; k++) {
    Expr e = below.data[k];
    found = dag_op(dag, e) == OP_CALL && (dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_TIME));
  }
  vec_free(evaluator->scratch.heap, &below);
  return found;
}
