/* explain: see explain.h. */
#include "init/explain.h"

#include "base/large.h"
#include "base/rank.h"
#include "expr/linearity.h"
#include "init/patch.h"

#include <math.h>

/* The fraction of the terms of a difference that may be round-off. */
static const double LOST = 1e-10;

/* ---- units ---- */

typedef struct UnitLeaves {
  const InitialSystem *system;
  const Order *order;
  const int32_t *unit_of_row;
  int32_t unit;
} UnitLeaves;

/* Is the leaf a column that the unit determines? */
static bool is_determined(const void *context, Expr leaf) {
  const UnitLeaves *leaves = context;
  const Dag *dag = leaves->system->array->dag;
  uint32_t q = leaves->system->layout.column_start[dag_index(dag, leaf)] + dag_order(dag, leaf);
  int32_t row = leaves->order->choice.matching.row_of_column[q];
  return row != STRUCTURE_NONE && leaves->unit_of_row[row] == leaves->unit;
}

static void count_units(InitialSystem *system, const InitialColumn *columns, const Order *order,
                        Explanation *explanation) {
  Arena scratch = arena_make(system->heap);
  Blocks units = order_units(system, columns, order, false, &scratch);
  int32_t *unit_of_row = index_nones(&scratch, (int32_t)system->rows);
  for (int32_t b = 0; b < units.n_blocks; b++)
    for (int32_t p = units.start[b]; p < units.start[b + 1]; p++) unit_of_row[units.row[p]] = b;
  Linearity linearity = linearity_make(system->array->dag, dag_scratch(system->array->dag));
  for (int32_t b = 0; b < units.n_blocks; b++) {
    uint32_t size = (uint32_t)(units.start[b + 1] - units.start[b]);
    UnitLeaves leaves = {system, order, unit_of_row, b};
    bool linear = true;
    for (int32_t p = units.start[b]; p < units.start[b + 1] && linear; p++)
      linear = linearity_test(&linearity, system->row[units.row[p]], is_determined, &leaves);
    uint32_t *largest = linear ? &explanation->largest_linear : &explanation->largest_nonlinear;
    if (linear && size == 1) explanation->assignments++;
    else ++*(linear ? &explanation->linear : &explanation->nonlinear);
    if (size > *largest && !(linear && size == 1)) *largest = size;
  }
  linearity_free(&linearity);
  arena_free(&scratch);
}

/* ---- condition ---- */

/* The entries at perturbed columns, in the heap. */
static double *entries_shaken(InitialSystem *system, Patch *patch, double t, const double *y) {
  uint32_t worst;
  const double *values;
  double *shaken = heap_array(system->heap, system->columns, sizeof *shaken);
  columns_shake(system->nominal, y, system->columns, shaken);
  patch_residual(patch, t, shaken, &worst);
  heap_free(system->heap, shaken);
  const Jacobian *jacobian = patch_jacobian(patch, &values);
  return heap_copy(system->heap, values, jacobian->nonzeros, sizeof *values);
}

/* The condition number of the scaled entries of rows and the columns that they determine. An entry that is only round-off is zero:
 * otherwise its row would be scaled to look regular. */
static double find_condition(const InitialSystem *system, const Order *order, const Patch *patch, const double *shaken,
                             const double *y) {
  Heap *heap = system->heap;
  const double *values, *scale = patch_scale(patch);
  const Jacobian *jacobian = patch_jacobian(patch, &values);
  const Matching *matching = &order->choice.matching;
  int32_t n = 0, next = 0, *place = heap_array(heap, system->rows, sizeof *place);
  for (uint32_t r = 0; r < system->rows; r++) place[r] = matching->column_of_row[r] == STRUCTURE_NONE ? -1 : n++;
  int32_t *start = heap_array(heap, (size_t)n + 1, sizeof *start), *end = start;
  int32_t *row = heap_array(heap, jacobian->nonzeros, sizeof *row);
  double *value = heap_array(heap, jacobian->nonzeros, sizeof *value);
  for (uint32_t q = 0; q < system->columns; q++) {
    if (matching->row_of_column[q] == STRUCTURE_NONE) continue;
    double size = system->nominal[q] + fabs(y[q]);
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      int32_t i = place[jacobian->row_index[e]];
      if (i < 0) continue;
      row[next] = i;
      bool is_lost = entry_is_lost(values[e], shaken[e]);
      value[next++] = is_lost ? 0 : values[e] * scale[jacobian->row_index[e]] * size;
    }
    *++end = next;
  }
  double condition = large_condition(heap, n, start, row, value);
  heap_free_all(heap, place, start, row, value);
  return condition;
}

/* ---- rank ---- */

/* Do the rows of this unit determine its columns? A pivot counts if it exceeds the errors of its terms: a conductance
 * of 1e-12 next to one of 1 does. */
static bool is_unit_regular(const InitialSystem *system, const Blocks *units, int32_t b, const Jacobian *jacobian,
                            const double *values, const double *shaken, int32_t *place) {
  int32_t first = units->start[b], n = units->start[b + 1] - first;
  double *a = heap_array(system->heap, 2 * (size_t)n * (size_t)n, sizeof *a), *size = a + (size_t)n * (size_t)n;
  for (int32_t p = 0; p < n; p++) place[units->row[first + p]] = p;
  for (int32_t k = 0; k < n; k++) {
    int32_t q = units->column[first + k];
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      int32_t p = place[jacobian->row_index[e]];
      if (p < 0 || entry_is_lost(values[e], shaken[e])) continue;
      a[p * n + k] = values[e];
      size[p * n + k] = fabs(values[e]);
    }
  }
  for (int32_t p = 0; p < n; p++) place[units->row[first + p]] = -1;
  bool is_regular = linear_rank(a, size, NULL, n, LOST) == n;
  heap_free(system->heap, a);
  return is_regular;
}

bool initial_is_regular(Initializer *initializer, const Initial *initial, double later) {
  InitialSystem *system = initial->system;
  if (!system->rows) return true;
  Arena scratch = arena_make(initializer->heap);
  Order order = order_make(system, &system->pattern, initial->column, &scratch);
  Blocks units = order_units(system, initial->column, &order, false, &scratch);
  Patch *patch = patch_new(system, NULL, 0);
  double *shaken = entries_shaken(system, patch, later, initial->value);
  uint32_t worst;
  patch_residual(patch, initial->t0, initial->value, &worst);
  const double *values;
  const Jacobian *jacobian = patch_jacobian(patch, &values);
  int32_t *place = index_nones(&scratch, (int32_t)system->rows);
  bool is_regular = true;
  for (int32_t b = 0; b < units.n_blocks && is_regular; b++)
    is_regular = is_unit_regular(system, &units, b, jacobian, values, shaken, place);
  heap_free(initializer->heap, shaken);
  vec_free(initializer->heap, &order.surplus, &order.redundant);
  arena_free(&scratch);
  return is_regular;
}

/* ---- the whole ---- */

/* The entries that are not zero at the point, by rows. */
static Pattern pattern_at_point(const InitialSystem *system, const Patch *patch, Arena *arena) {
  const double *values;
  const Jacobian *jacobian = patch_jacobian(patch, &values);
  int32_t rows = (int32_t)system->rows, *start = index_zeros(arena, rows + 1), *end = index_zeros(arena, rows);
  for (int32_t e = 0; e < (int32_t)jacobian->nonzeros; e++) start[jacobian->row_index[e] + 1] += values[e] != 0;
  for (int32_t r = 0; r < rows; r++) start[r + 1] += start[r], end[r] = start[r];
  int32_t *column = index_zeros(arena, start[rows]);
  for (uint32_t q = 0; q < system->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      if (values[e] != 0) column[end[jacobian->row_index[e]]++] = (int32_t)q;
  return (Pattern){rows, (int32_t)system->columns, start, column};
}

/* Can all columns that no row determines keep a start value? */
static bool keeps_low(const InitialSystem *system, const InitialColumn *columns, const Order *order) {
  for (uint32_t q = 0; q < system->array->columns; q++)
    if (order->choice.given[q] && !columns[q].low) return false;
  return true;
}

/* If rows do not determine the columns chosen by structure, because entries happen to be zero here, others are chosen if they
 * are determined. */
static void choose_at_point(InitialSystem *system, const InitialColumn *columns, const Patch *patch,
                            const double *shaken, const double *y, Order *order, double *condition, Arena *arena) {
  Pattern pattern = pattern_at_point(system, patch, arena);
  Order other = order_make(system, &pattern, columns, arena);
  bool is_whole = other.choice.matching.size == order->choice.matching.size && keeps_low(system, columns, &other);
  double found = is_whole ? find_condition(system, &other, patch, shaken, y) : HUGE_VAL;
  if (!isfinite(found)) return;
  *order = other;
  *condition = found;
}

static void take_rows(const Order *order, Initial *initial) {
  for (uint32_t q = 0; q < initial->columns; q++) {
    int32_t row = order->choice.matching.row_of_column[q];
    initial->column[q].row = row == STRUCTURE_NONE ? MAP_NONE : (uint32_t)row;
    initial->column[q].redundant = initial->column[q].fixed && row != STRUCTURE_NONE;
  }
}

/* Explains values that come from ranks; the rows that determine them are not known. */
static Explanation explain_ranks(const Initializer *initializer, Initial *initial, Arena *arena) {
  const Strangeness *ranks = initializer->ranks;
  Explanation explanation = {.residual_row = MAP_NONE, .condition = 1, .nonlinear = 1};
  explanation.ranks = arena_printf(arena, "strangeness index mu = %d: a = %d, d = %d, v = %d, u = %d", (int)ranks->mu,
                                   (int)ranks->a, (int)ranks->d, (int)ranks->v, (int)ranks->u);
  initial->system = system_new(initializer->heap, ranks->evaluator, NULL, false);
  explanation.largest_nonlinear = initial->system->rows;
  Patch *patch = patch_new(initial->system, NULL, 0);
  explanation.residual = patch_residual(patch, initial->t0, initial->value, &explanation.residual_row);
  const SingularValues *all = &ranks->all;
  if (all->rank) explanation.condition = all->value[0] / all->value[all->rank - 1];
  if (all->rank < all->count && !ranks->v)
    explanation.condition = HUGE_VAL; /* only exactly at this point does an equation follow from others */
  return explanation;
}

Explanation initial_explain(Initializer *initializer, Initial *initial, Arena *arena) {
  if (initializer->ranks) return explain_ranks(initializer, initial, arena);
  Explanation explanation = {.residual_row = MAP_NONE, .condition = 1};
  Heap *heap = initializer->heap;
  Arena scratch = arena_make(heap);
  if (!initializer->system)
    initializer->system = system_new(heap, initializer->evaluator, initializer->structure, true);
  if (!initial->system) initial->system = initializer->system;
  InitialSystem *system = initial->system;
  Order order = order_make(system, &system->pattern, initial->column, &scratch);
  explanation.parts = parts_find(evaluator_model(initializer->evaluator), heap);
  if (system->rows) {
    Patch *patch = patch_new(system, NULL, 0);
    double *shaken = entries_shaken(system, patch, initial->t0, initial->value);
    explanation.residual = patch_residual(patch, initial->t0, initial->value, &explanation.residual_row);
    explanation.condition = find_condition(system, &order, patch, shaken, initial->value);
    if (!isfinite(explanation.condition))
      choose_at_point(system, initial->column, patch, shaken, initial->value, &order, &explanation.condition, &scratch);
    heap_free(heap, shaken);
  }
  take_rows(&order, initial);
  count_units(system, initial->column, &order, &explanation);
  vec_free(heap, &order.surplus, &order.redundant);
  arena_free(&scratch);
  return explanation;
}

const Propagation *initial_propagation(const Initializer *initializer, const Initial *initial, Arena *arena) {
  Propagation *propagation = arena_alloc(arena, sizeof *propagation);
  Evaluator *evaluator = initializer->ranks ? initializer->ranks->evaluator : initializer->evaluator;
  *propagation = propagation_find(evaluator, initial->t0, initial->y, arena);
  propagation->is_closed = initializer->ranks && initializer->ranks->u;
  return propagation;
}
