/* jump: see jump.h. */
#include "view/jump.h"

#include "base/copy.h"
#include "base/linear.h"
#include "nonlinear/corrector.h"

#include <math.h>
#include <string.h>

/* Scaled by nominal values: a jump is more than this. */
static const double JUMPED = 1e-6;

struct Jump {
  Evaluator *evaluator;
  Linear *linear;
  int32_t *start, *row,
      *entry;             /* leading coefficients by unknown: equation, and place among the entries of the Jacobian */
  double *values, *first; /* of them, now and before the jump */
  double *entries, *rows, *b, *moved, *size, *y;
  double t, total;    /* of now; the largest changes so far, in all */
  uint32_t column;    /* of the last of them */
  bool is_first;      /* nothing has moved yet */
  bool is_switched;   /* rows that are differentiated depend on discrete values */
  double *parameters; /* at the last jump; NULL: there was none */
};

/* Does a row that is differentiated depend on what events change? */
static bool has_switched_constraint(const Array *array) {
  for (uint32_t i = 0; i < array->problem->equations; i++) {
    Expr e = array->problem->residual[i];
    if (array->c[i] && (dag_depends(array->dag, e, OP_DISCRETE) || dag_depends(array->dag, e, OP_PRE))) return true;
  }
  return false;
}

Jump *jump_new(Heap *heap, Evaluator *evaluator) {
  Jump *jump = heap_alloc(heap, sizeof *jump);
  const Array *array = evaluator->array;
  const Jacobian *jacobian = evaluator->jacobian;
  uint32_t n = array->problem->unknowns;
  jump->evaluator = evaluator;
  jump->start = heap_array(heap, (size_t)n + 1, sizeof *jump->start);
  jump->row = heap_array(heap, jacobian->nonzeros, sizeof *jump->row);
  jump->entry = heap_array(heap, jacobian->nonzeros, sizeof *jump->entry);
  for (uint32_t j = 0; j < n; j++) {
    uint32_t q = array->column_start[j] + (uint32_t)array->d[j];
    int32_t count = jump->start[j];
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      uint32_t r = (uint32_t)jacobian->row_index[e], i = array->row_equation[r];
      if ((int32_t)array_level(array, r) != array->c[i]) continue;
      jump->row[count] = (int32_t)i;
      jump->entry[count++] = e;
    }
    jump->start[j + 1] = count;
  }
  jump->linear = linear_new(heap, (int32_t)n, jump->start[n], false);
  linear_set_pattern(jump->linear, jump->start, jump->row);
  heap_numbers(heap, (size_t)jump->start[n], &jump->values, &jump->first);
  jump->entries = heap_array(heap, jacobian->nonzeros, sizeof(double));
  jump->rows = heap_array(heap, array->rows, sizeof(double));
  heap_numbers(heap, n, &jump->b, &jump->moved, &jump->size);
  jump->y = heap_array(heap, array->columns, sizeof(double));
  jump->is_switched = has_switched_constraint(array);
  return jump;
}

void jump_forget(Jump *jump) {
  linear_set_pattern(jump->linear, jump->start, jump->row);
  heap_free(jump->evaluator->heap, jump->parameters);
  jump->parameters = NULL;
}

bool jump_is_ruled_out(Jump *jump) {
  const Evaluator *evaluator = jump->evaluator;
  size_t count = evaluator->model->parameters.count;
  bool same = jump->parameters && memcmp(jump->parameters, evaluator->parameters, count * sizeof(double)) == 0;
  if (!jump->parameters) jump->parameters = heap_array(evaluator->heap, count, sizeof(double));
  copy_numbers(jump->parameters, evaluator->parameters, count);
  return same && !jump->is_switched && !evaluator->past && !evaluator->inputs;
}

/* b: what rows of level c - 1 miss, and what the jump so far makes of the integrated rows with c = 0. */
static bool evaluate(Jump *jump, double t) {
  Evaluator *evaluator = jump->evaluator;
  const Array *array = evaluator->array;
  if (evaluator_rows(evaluator, t, jump->y, jump->rows) != EVAL_OK) return false;
  if (evaluator_jacobian(evaluator, t, jump->y, jump->entries) != EVAL_OK) return false;
  for (uint32_t i = 0; i < array->problem->equations; i++)
    jump->b[i] = array->c[i] ? -jump->rows[array->row_start[i] + (uint32_t)array->c[i] - 1] : 0;
  for (uint32_t j = 0; j < array->problem->unknowns; j++)
    for (int32_t e = jump->start[j]; e < jump->start[j + 1]; e++) {
      jump->values[e] = jump->entries[jump->entry[e]];
      if (!array->c[jump->row[e]]) jump->b[jump->row[e]] -= jump->values[e] * jump->moved[j];
    }
  return true;
}

/* Moves the columns of order d - 1 by the solution; returns the largest scaled change, and whose it is. */
static double move(Jump *jump, const double *by, uint32_t *column) {
  const Array *array = jump->evaluator->array;
  double largest = 0;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    jump->moved[j] += by[j];
    if (!array->d[j]) continue;
    uint32_t q = array->column_start[j] + (uint32_t)array->d[j] - 1;
    double change = fabs(by[j]) / fmax(jump->evaluator->nominal[q], fabs(jump->y[q]));
    jump->y[q] += by[j];
    if (!(change > largest)) continue;
    largest = change;
    *column = q;
  }
  return largest;
}

/* Do leading coefficients of rows that share the jump depend on it? Those of what does not jump may change. */
static bool coefficients_changed(Jump *jump) {
  const int32_t *c = jump->evaluator->array->c;
  uint32_t n = jump->evaluator->array->problem->unknowns;
  double *change = jump->b, *size = jump->size;
  memset(change, 0, n * sizeof *change);
  memset(size, 0, n * sizeof *size);
  for (uint32_t j = 0; j < n; j++)
    for (int32_t e = jump->start[j]; e < jump->start[j + 1]; e++) {
      int32_t i = jump->row[e];
      change[i] += (jump->values[e] - jump->first[e]) * jump->moved[j];
      size[i] = fmax(size[i], fabs(jump->first[e] * jump->moved[j]));
    }
  for (uint32_t i = 0; i < n; i++)
    if (!c[i] && fabs(change[i]) > JUMPED * size[i]) return true;
  return false;
}

/* Would columns of order d - below have to jump, for rows of level c - below? Their coefficients are the leading ones too. */
static bool jumps_below(Jump *jump, int32_t below, uint32_t *column) {
  const Array *array = jump->evaluator->array;
  for (uint32_t i = 0; i < array->problem->equations; i++)
    jump->b[i] = array->c[i] >= below ? -jump->rows[array->row_start[i] + (uint32_t)(array->c[i] - below)] : 0;
  linear_solve(jump->linear, jump->b);
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    if (array->d[j] < below) continue;
    *column = array->column_start[j] + (uint32_t)(array->d[j] - below);
    if (fabs(jump->b[j]) > JUMPED * fmax(jump->evaluator->nominal[*column], fabs(jump->y[*column]))) return true;
  }
  return false;
}

/* The same of all orders below d - 1. */
static bool lower_jumps(Jump *jump, uint32_t *column) {
  const Array *array = jump->evaluator->array;
  int32_t most = 0;
  for (uint32_t i = 0; i < array->problem->equations; i++) most = array->c[i] > most ? array->c[i] : most;
  for (int32_t below = 2; below <= most; below++)
    if (jumps_below(jump, below, column)) return true;
  return false;
}

static double correct(void *context, bool *renew) {
  Jump *jump = context;
  uint32_t n = jump->evaluator->array->problem->unknowns;
  *renew = true;
  if (!evaluate(jump, jump->t) || !linear_factor(jump->linear, jump->values)) return HUGE_VAL;
  if (jump->is_first) memcpy(jump->first, jump->values, (size_t)jump->start[n] * sizeof(double));
  jump->is_first = false;
  linear_solve(jump->linear, jump->b);
  double change = move(jump, jump->b, &jump->column);
  jump->total += change;
  return change;
}

bool jump_solve(Jump *jump, double t, double *y, uint32_t *column) {
  const Array *array = jump->evaluator->array;
  size_t columns = array->columns;
  uint32_t lower;
  jump->t = t;
  jump->total = 0;
  jump->column = 0;
  jump->is_first = true;
  memcpy(jump->y, y, columns * sizeof *y);
  memset(jump->moved, 0, array->problem->unknowns * sizeof(double));
  CorrectorEnd end = corrector_run(correct, jump, REACH_ANY, false, CORRECTOR_ROUND_OFF);
  *column = jump->column;
  if (end == CORRECTOR_UNDEFINED) return true; /* left to the state-space form */
  if (lower_jumps(jump, &lower)) {
    *column = lower;
    return false;
  }
  if (jump->total > JUMPED && (end == CORRECTOR_SLOW || coefficients_changed(jump))) return false;
  memcpy(y, jump->y, columns * sizeof *y);
  return true;
}
