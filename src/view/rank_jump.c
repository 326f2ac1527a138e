/* rank_jump: see rank_jump.h. */
#include "view/rank_jump.h"

#include "nonlinear/corrector.h"

#include <math.h>
#include <string.h>

/* Scaled by nominal values: a jump is more than this, and so is a row that is not met. */
static const double JUMPED = 1e-6;

struct RankJump {
  const Strangeness *strangeness;
  uint32_t rows, columns; /* of the system; the array's come first, then integrated equations and impulses */
  double *values;         /* of the array's Jacobian */
  double *matrix, *scale; /* by columns, in units of `weight`; of the rows */
  double *weight;         /* per column: its nominal value */
  double *right, *moved;  /* moved: in all, in these units */
  double *first;          /* entries of the integrated equations at the beginning, as in the matrix */
  double *y;
  double t, total; /* of now; the largest changes so far, in all */
  uint32_t column; /* of the last of them */
  bool is_first;   /* nothing has moved yet */
  bool is_refused; /* the rows cannot be met, or leave open what jumps */
};

/* How often equations are to be integrated: once more than the highest derivative in them. */
static uint32_t count_integrations(const Array *array, const Jacobian *jacobian) {
  uint32_t highest = 0;
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      if (!array_level(array, (uint32_t)jacobian->row_index[e]) && array_order(array, q) > highest)
        highest = array_order(array, q);
  return highest + 1;
}

RankJump *rank_jump_new(Heap *heap, const Strangeness *strangeness) {
  RankJump *jump = heap_alloc(heap, sizeof *jump);
  const Array *array = strangeness->array;
  const Evaluator *evaluator = strangeness->evaluator;
  uint32_t equations = array->problem->equations, unknowns = array->problem->unknowns;
  jump->strangeness = strangeness;
  jump->rows = array->rows + equations * count_integrations(array, evaluator->jacobian);
  jump->columns = array->columns + unknowns;
  size_t entries = (size_t)jump->rows * jump->columns;
  jump->values = heap_array(heap, evaluator->jacobian->nonzeros, sizeof(double));
  heap_numbers(heap, entries, &jump->matrix, &jump->first);
  heap_numbers(heap, jump->rows, &jump->scale, &jump->right);
  heap_numbers(heap, jump->columns, &jump->weight, &jump->moved);
  jump->y = heap_array(heap, array->columns, sizeof(double));
  memcpy(jump->weight, evaluator->nominal, array->columns * sizeof(double));
  for (uint32_t j = 0; j < unknowns; j++) jump->weight[array->columns + j] = evaluator->nominal[array->column_start[j]];
  return jump;
}

static double *entry_of(const RankJump *jump, uint32_t row, uint32_t column) {
  return &jump->matrix[row + (size_t)column * jump->rows];
}

/* An entry of the array's Jacobian, and of the equation integrated as often as leaves something of it. */
static void add_entry(RankJump *jump, uint32_t row, uint32_t column, double value) {
  const Array *array = jump->strangeness->array;
  uint32_t order = array_order(array, column), unknown = array->column_unknown[column];
  *entry_of(jump, row, column) = value * jump->weight[column];
  for (uint32_t p = 0; p <= order && !array_level(array, row); p++) {
    uint32_t of = p < order ? column - p - 1 : array->columns + unknown;
    uint32_t integrated = array->rows + p * array->problem->equations + array->row_equation[row];
    *entry_of(jump, integrated, of) = value * jump->weight[of];
  }
}

/* Scales the rows to largest entry 1, with what they miss: the array's own rows, and integrated ones for what has moved so far. */
static void scale_rows(RankJump *jump) {
  uint32_t own = jump->strangeness->array->rows;
  for (uint32_t i = 0; i < jump->rows; i++) {
    double largest = 0, sum = 0;
    for (uint32_t q = 0; q < jump->columns; q++) {
      largest = fmax(largest, fabs(*entry_of(jump, i, q)));
      sum += *entry_of(jump, i, q) * jump->moved[q];
    }
    jump->scale[i] = largest > 0 ? 1 / largest : 1;
    jump->right[i] = -jump->scale[i] * (i < own ? jump->right[i] : sum);
    for (uint32_t q = 0; q < jump->columns; q++) *entry_of(jump, i, q) *= jump->scale[i];
  }
}

static bool evaluate(RankJump *jump, double t) {
  Evaluator *evaluator = jump->strangeness->evaluator;
  const Jacobian *jacobian = evaluator->jacobian;
  if (evaluator_rows(evaluator, t, jump->y, jump->right) != EVAL_OK) return false;
  if (evaluator_jacobian(evaluator, t, jump->y, jump->values) != EVAL_OK) return false;
  memset(jump->matrix, 0, (size_t)jump->rows * jump->columns * sizeof(double));
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      add_entry(jump, (uint32_t)jacobian->row_index[e], q, jump->values[e]);
  scale_rows(jump);
  return true;
}

/* The part of `right` along the left singular vector k. */
static double part_along(const RankJump *jump, const Svd *svd, int32_t k) {
  double part = 0;
  for (uint32_t i = 0; i < jump->rows; i++) part += svd->u[i + (size_t)k * jump->rows] * jump->right[i];
  return part;
}

/* What no move meets of the rows. */
static double missed(const RankJump *jump, const Svd *svd) {
  double sum = 0;
  for (int32_t k = svd->rank; k < (int32_t)jump->rows; k++) sum += pow(part_along(jump, svd, k), 2);
  return sqrt(sum);
}

/* Does the system leave the column open? */
static bool is_open(const RankJump *jump, const Svd *svd, uint32_t column) {
  for (uint32_t k = (uint32_t)svd->rank; k < jump->columns; k++)
    if (fabs(svd->vt[k + (size_t)column * jump->columns]) > JUMPED) return true;
  return false;
}

/* Moves all columns by the solution of least norm; returns the largest change of one of x, and whose it is. */
static double move(RankJump *jump, const Svd *svd, const double *along, uint32_t *column) {
  const Strangeness *strangeness = jump->strangeness;
  double largest = 0;
  for (uint32_t q = 0; q < jump->columns; q++) {
    double by = 0;
    for (int32_t k = 0; k < svd->rank; k++) by += svd->vt[(uint32_t)k + (size_t)q * jump->columns] * along[k];
    jump->moved[q] += by;
    if (q >= strangeness->array->columns) continue;
    jump->y[q] += by * jump->weight[q];
    double change = fabs(by) / fmax(1, fabs(jump->y[q]) / jump->weight[q]);
    if (!strangeness_is_x(strangeness, q) || !(change > largest)) continue;
    largest = change;
    *column = q;
  }
  return largest;
}

static double correct(void *context, bool *renew) {
  RankJump *jump = context;
  const Strangeness *strangeness = jump->strangeness;
  *renew = true;
  if (!evaluate(jump, jump->t)) return HUGE_VAL;
  if (jump->is_first) memcpy(jump->first, jump->matrix, (size_t)jump->rows * jump->columns * sizeof(double));
  jump->is_first = false;
  Arena scratch = arena_make(strangeness->heap);
  Svd svd = dense_svd(jump->matrix, (int32_t)jump->rows, (int32_t)jump->columns, strangeness->rank_tolerance, &scratch);
  double lacks = missed(jump, &svd), *along = arena_array(&scratch, jump->rows, sizeof *along);
  for (int32_t k = 0; k < svd.rank; k++) along[k] = part_along(jump, &svd, k) / svd.s[k];
  double change = move(jump, &svd, along, &jump->column);
  jump->is_refused = lacks > JUMPED || (change > JUMPED && is_open(jump, &svd, jump->column));
  arena_free(&scratch);
  jump->total += change;
  return jump->is_refused ? HUGE_VAL : change;
}

/* Do entries of integrated equations depend on what jumps? */
static bool coefficients_changed(const RankJump *jump) {
  for (uint32_t i = jump->strangeness->array->rows; i < jump->rows; i++) {
    double largest = 0, change = 0;
    for (uint32_t q = 0; q < jump->columns; q++) {
      double before = jump->first[i + (size_t)q * jump->rows];
      largest = fmax(largest, fabs(before * jump->moved[q]));
      change += (*entry_of(jump, i, q) - before) * jump->moved[q];
    }
    if (fabs(change) > JUMPED * largest) return true;
  }
  return false;
}

bool rank_jump_solve(RankJump *jump, double t, double *y, uint32_t *column) {
  size_t columns = jump->strangeness->array->columns;
  jump->t = t;
  jump->total = 0;
  jump->column = 0;
  jump->is_first = true;
  jump->is_refused = false;
  memcpy(jump->y, y, columns * sizeof *y);
  memset(jump->moved, 0, jump->columns * sizeof(double));
  CorrectorEnd end = corrector_run(correct, jump, REACH_ANY, false, CORRECTOR_ROUND_OFF);
  *column = jump->column;
  if (end == CORRECTOR_UNDEFINED) return !jump->is_refused; /* left to the selection */
  if (end == CORRECTOR_SLOW || (jump->total > JUMPED && (!evaluate(jump, t) || coefficients_changed(jump))))
    return false;
  memcpy(y, jump->y, columns * sizeof *y);
  return true;
}
