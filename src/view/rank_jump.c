/* rank_jump: see rank_jump.h. */
#include "view/rank_jump.h"

#include "core/corrector.h"
#include "core/jump.h"

#include <math.h>
#include <string.h>

struct RankJump {
  const Strangeness *strangeness;
  uint32_t rows, columns; /* sizes of the system: the array, then integrated equations and impulses */
  RankParts parts;        /* of it */
  double *values;         /* values of the array's Jacobian */
  double *matrix, *scale; /* matrices of the parts, in units of `weight`; scales of the rows */
  double *weight;         /* per column: its nominal value */
  double *right, *moved;  /* moved: the total so far, in these units */
  double *first;          /* entries of the integrated equations at the beginning, as in the matrix */
  double *y;
  double t, total; /* t: present time; total: sum of the largest changes so far */
  uint32_t column; /* the column of the last change */
  bool is_first;   /* nothing has moved yet */
  bool is_refused; /* the rows cannot be satisfied, or leave the jump undetermined */
};

/* How often equations are integrated: once more than the highest derivative in them. */
static uint32_t count_integrations(const Array *array, const Jacobian *jacobian) {
  uint32_t highest = 0;
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      if (!array_level(array, (uint32_t)jacobian->row_index[e]) && array_order(array, q) > highest)
        highest = array_order(array, q);
  return highest + 1;
}

/* The row and column of the p-th integral of an entry of an equation. */
static void integrate_entry(const Array *array, uint32_t *row, uint32_t *column, uint32_t p) {
  uint32_t unknown = array->column_unknown[*column];
  *row = array->rows + p * array->problem->equations + array->row_equation[*row];
  *column = p < array_order(array, *column) ? *column - p - 1 : array->columns + unknown;
}

/* Entries of equations are integrated until they vanish. */
static uint32_t integrals_of(const Array *array, uint32_t row, uint32_t column) {
  return array_level(array, row) ? 0 : array_order(array, column) + 1;
}

/* Calls `visit` for each entry of the system; `context` belongs to the caller. */
static void for_entries(const RankJump *jump, void (*visit)(void *, uint32_t, uint32_t, int32_t), void *context) {
  const Array *array = jump->strangeness->array;
  const Jacobian *jacobian = jump->strangeness->evaluator->jacobian;
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      uint32_t own = (uint32_t)jacobian->row_index[e];
      visit(context, own, q, e);
      for (uint32_t p = 0; p < integrals_of(array, own, q); p++) {
        uint32_t row = own, column = q;
        integrate_entry(array, &row, &column, p);
        visit(context, row, column, e);
      }
    }
}

/* A pattern by columns while it is counted, then filled. */
typedef struct JumpPattern {
  int32_t *start, *row;
} JumpPattern;

static void count_entry(void *context, uint32_t row, uint32_t column, int32_t entry) {
  (void)row, (void)entry;
  ((JumpPattern *)context)->start[column + 2]++;
}

static void place_entry(void *context, uint32_t row, uint32_t column, int32_t entry) {
  JumpPattern *pattern = context;
  (void)entry;
  pattern->row[pattern->start[column + 1]++] = (int32_t)row;
}

static RankParts find_parts(const RankJump *jump, Heap *heap) {
  Arena *arena = jump->strangeness->arena;
  JumpPattern pattern = {.start = heap_array(heap, (size_t)jump->columns + 2, sizeof(int32_t))};
  for_entries(jump, count_entry, &pattern);
  for (uint32_t q = 0; q < jump->columns; q++) pattern.start[q + 2] += pattern.start[q + 1];
  pattern.row = heap_array(heap, (size_t)pattern.start[jump->columns + 1], sizeof(int32_t));
  for_entries(jump, place_entry, &pattern);
  RankParts parts = rank_parts_connected(jump->rows, jump->columns, pattern.start, pattern.row, arena);
  heap_free_all(heap, pattern.start, pattern.row);
  return parts;
}

RankJump *rank_jump_new(Heap *heap, const Strangeness *strangeness) {
  RankJump *jump = heap_alloc(heap, sizeof *jump);
  const Array *array = strangeness->array;
  const Evaluator *evaluator = strangeness->evaluator;
  uint32_t equations = array->problem->equations, unknowns = array->problem->unknowns;
  jump->strangeness = strangeness;
  jump->rows = array->rows + equations * count_integrations(array, evaluator->jacobian);
  jump->columns = array->columns + unknowns;
  jump->parts = find_parts(jump, heap);
  jump->values = heap_array(heap, evaluator->jacobian->nonzeros, sizeof(double));
  heap_numbers(heap, jump->parts.entries, &jump->matrix, &jump->first);
  heap_numbers(heap, jump->rows, &jump->scale, &jump->right);
  heap_numbers(heap, jump->columns, &jump->weight, &jump->moved);
  jump->y = heap_array(heap, array->columns, sizeof(double));
  memcpy(jump->weight, evaluator->nominal, array->columns * sizeof(double));
  for (uint32_t j = 0; j < unknowns; j++) jump->weight[array->columns + j] = evaluator->nominal[array->column_start[j]];
  return jump;
}

/* The first entry of the row in the dense matrix of its part, which is stored by columns. */
static size_t row_entry(const RankJump *jump, uint32_t row) {
  return jump->parts.part[jump->parts.of_row[row]].first + jump->parts.row_place[row];
}

static void add_entry(void *context, uint32_t row, uint32_t column, int32_t entry) {
  RankJump *jump = context;
  size_t stride = (size_t)jump->parts.part[jump->parts.of_row[row]].rows;
  jump->matrix[row_entry(jump, row) + jump->parts.column_place[column] * stride] =
      jump->values[entry] * jump->weight[column];
}

/* Scales the rows to a largest entry of 1, with their residuals: the array's own rows, and integrated ones for the
 * jumps so far. */
static void scale_rows(RankJump *jump) {
  uint32_t own = jump->strangeness->array->rows;
  for (uint32_t i = 0; i < jump->rows; i++) {
    const RankPart *part = &jump->parts.part[jump->parts.of_row[i]];
    double largest = 0, sum = 0, *entry = jump->matrix + row_entry(jump, i);
    for (int32_t q = 0; q < part->columns; q++) {
      largest = fmax(largest, fabs(entry[q * part->rows]));
      sum += entry[q * part->rows] * jump->moved[part->column[q]];
    }
    jump->scale[i] = largest > 0 ? 1 / largest : 1;
    jump->right[i] = -jump->scale[i] * (i < own ? jump->right[i] : sum);
    for (int32_t q = 0; q < part->columns; q++) entry[q * part->rows] *= jump->scale[i];
  }
}

static bool evaluate(RankJump *jump, double t) {
  Evaluator *evaluator = jump->strangeness->evaluator;
  if (evaluator_rows(evaluator, t, jump->y, jump->right) != EVAL_OK) return false;
  if (evaluator_jacobian(evaluator, t, jump->y, jump->values) != EVAL_OK) return false;
  memset(jump->matrix, 0, jump->parts.entries * sizeof(double));
  for_entries(jump, add_entry, jump);
  scale_rows(jump);
  return true;
}

/* The component of `right` along the left singular vector k. */
static double right_along(const RankJump *jump, const RankPart *part, const Svd *svd, int32_t k) {
  double along = 0;
  for (int32_t i = 0; i < part->rows; i++) along += svd->u[i + k * part->rows] * jump->right[part->row[i]];
  return along;
}

/* The squared residual that no columns can remove. */
static double missed(const RankJump *jump, const RankPart *part, const Svd *svd) {
  double sum = 0;
  for (int32_t k = svd->rank; k < part->rows; k++) sum += pow(right_along(jump, part, svd, k), 2);
  return sum;
}

/* Does the system leave the column undetermined? */
static bool is_open(const RankJump *jump, const Svd *svd, uint32_t column) {
  int32_t columns = jump->parts.part[jump->parts.of_column[column]].columns;
  for (int32_t k = svd->rank; k < columns; k++)
    if (fabs(svd->vt[k + (int32_t)jump->parts.column_place[column] * columns]) > JUMPED) return true;
  return false;
}

/* Moves the columns of a part by the solution of least norm. Returns the largest change of an x, or `largest`, and its column. */
static double move(RankJump *jump, const RankPart *part, const Svd *svd, const double *along, double largest,
                   uint32_t *column) {
  const Strangeness *strangeness = jump->strangeness;
  for (int32_t n = 0; n < part->columns; n++) {
    uint32_t q = part->column[n];
    double by = 0;
    for (int32_t k = 0; k < svd->rank; k++) by += svd->vt[k + n * part->columns] * along[k];
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
  double lacks = 0, change = 0;
  *renew = true;
  if (!evaluate(jump, jump->t)) return HUGE_VAL;
  if (jump->is_first) memcpy(jump->first, jump->matrix, jump->parts.entries * sizeof(double));
  jump->is_first = false;
  Arena scratch = arena_make(strangeness->heap);
  Svd *svds = arena_array(&scratch, jump->parts.count, sizeof *svds);
  for (uint32_t p = 0; p < jump->parts.count; p++) {
    const RankPart *part = &jump->parts.part[p];
    Svd svd = svds[p] =
        dense_svd(jump->matrix + part->first, part->rows, part->columns, strangeness->rank_tolerance, &scratch);
    double *along = arena_array(&scratch, (size_t)part->rows, sizeof *along);
    lacks += missed(jump, part, &svd);
    for (int32_t k = 0; k < svd.rank; k++) along[k] = right_along(jump, part, &svd, k) / svd.s[k];
    change = move(jump, part, &svd, along, change, &jump->column);
  }
  jump->is_refused = sqrt(lacks) > JUMPED ||
                     (change > JUMPED && is_open(jump, &svds[jump->parts.of_column[jump->column]], jump->column));
  arena_free(&scratch);
  jump->total += change;
  return jump->is_refused ? HUGE_VAL : change;
}

/* Do entries of integrated equations depend on columns that jump? */
static bool coefficients_changed(const RankJump *jump) {
  for (uint32_t i = jump->strangeness->array->rows; i < jump->rows; i++) {
    const RankPart *part = &jump->parts.part[jump->parts.of_row[i]];
    double largest = 0, change = 0;
    for (int32_t q = 0; q < part->columns; q++) {
      size_t entry = row_entry(jump, i) + (size_t)q * (size_t)part->rows;
      double moved = jump->moved[part->column[q]];
      largest = fmax(largest, fabs(jump->first[entry] * moved));
      change += (jump->matrix[entry] - jump->first[entry]) * moved;
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
  if (end == CORRECTOR_UNDEFINED) return !jump->is_refused; /* the selection of rows reports this */
  if (end == CORRECTOR_SLOW || (jump->total > JUMPED && (!evaluate(jump, t) || coefficients_changed(jump))))
    return false;
  memcpy(y, jump->y, columns * sizeof *y);
  return true;
}
