/* explain: see explain.h. */
#include "init/explain.h"

#include "base/linear.h"
#include "init/degree.h"
#include "init/patch.h"

#include <math.h>
#include <string.h>

/* ---- units ---- */

typedef struct Inside {
  const InitialSystem *system;
  const Order *order;
  const int32_t *unit_of_row;
  int32_t unit;
} Inside;

/* One class: the columns that the unit determines. */
static Degree inside_classes(void *context, Expr leaf) {
  const Inside *inside = context;
  const Dag *dag = inside->system->array->dag;
  uint32_t q = inside->system->layout.column_start[dag_index(dag, leaf)] + dag_order(dag, leaf);
  int32_t row = inside->order->choice.matching.row_of_column[q];
  return (Degree){row != STRUCTURE_NONE && inside->unit_of_row[row] == inside->unit, 0};
}

static void count_units(InitialSystem *system, const InitialColumn *columns, const Order *order,
                        Explanation *explanation) {
  Heap *heap = system->heap;
  Arena scratch = arena_make(heap);
  Blocks units = order_units(system, columns, order, false, &scratch);
  int32_t *unit_of_row = index_nones(&scratch, (int32_t)system->rows);
  for (int32_t b = 0; b < units.n_blocks; b++)
    for (int32_t p = units.start[b]; p < units.start[b + 1]; p++) unit_of_row[units.row[p]] = b;
  Degrees *degrees = degrees_new(heap, system->array->dag);
  for (int32_t b = 0; b < units.n_blocks; b++) {
    uint32_t size = (uint32_t)(units.start[b + 1] - units.start[b]);
    Inside inside = {system, order, unit_of_row, b};
    bool linear = true;
    for (int32_t p = units.start[b]; p < units.start[b + 1] && linear; p++) {
      Degree degree;
      degrees_run(degrees, &system->row[units.row[p]], 1, inside_classes, &inside, &degree);
      linear = !degree.beyond;
    }
    uint32_t *largest = linear ? &explanation->largest_linear : &explanation->largest_nonlinear;
    if (linear && size == 1) explanation->assignments++;
    else ++*(linear ? &explanation->linear : &explanation->nonlinear);
    if (size > *largest && !(linear && size == 1)) *largest = size;
  }
  arena_free(&scratch);
}

/* ---- condition ---- */

/* A square matrix and its transposed, factored. */
typedef struct Pair {
  int32_t n;
  Linear *plain, *turned;
} Pair;

static double norm_1(const double *x, int32_t n) {
  double sum = 0;
  for (int32_t k = 0; k < n; k++) sum += fabs(x[k]);
  return sum;
}

/* Largest column sum of the inverse, from below (Hager 1984; Higham 1988, Algorithm 4.1). */
static double inverse_norm(const Pair *pair, Heap *heap) {
  enum { ROUNDS = 5 };
  int32_t n = pair->n, last = -1;
  double *x = heap_array(heap, (size_t)n, sizeof *x), *z = heap_array(heap, (size_t)n, sizeof *z), norm = 0;
  for (int32_t k = 0; k < n; k++) x[k] = 1.0 / n;
  for (int round = 0; round < ROUNDS; round++) {
    linear_solve(pair->plain, x);
    double now = norm_1(x, n);
    if (now > norm) norm = now;
    for (int32_t k = 0; k < n; k++) z[k] = x[k] >= 0 ? 1 : -1;
    linear_solve(pair->turned, z);
    int32_t best = 0;
    for (int32_t k = 1; k < n; k++)
      if (fabs(z[k]) > fabs(z[best])) best = k;
    if (best == last) break;
    last = best;
    memset(x, 0, (size_t)n * sizeof *x);
    x[best] = 1;
  }
  heap_free(heap, x);
  heap_free(heap, z);
  return norm;
}

/* Factors the scaled entries of rows and the columns that they determine, and the transposed. */
static double find_condition(const InitialSystem *system, const Order *order, const Patch *patch, const double *y) {
  Heap *heap = system->heap;
  const double *values, *scale = patch_scale(patch);
  const Jacobian *jacobian = patch_jacobian(patch, &values);
  const Matching *matching = &order->choice.matching;
  int32_t n = 0, *place = heap_array(heap, system->rows, sizeof *place);
  for (uint32_t r = 0; r < system->rows; r++) place[r] = matching->column_of_row[r] == STRUCTURE_NONE ? -1 : n++;
  int32_t *start = heap_array(heap, (size_t)n + 1, sizeof *start),
          *turned_start = heap_array(heap, (size_t)n + 2, sizeof *turned_start);
  int32_t *row = heap_array(heap, jacobian->nonzeros, sizeof *row),
          *column = heap_array(heap, jacobian->nonzeros, sizeof *column);
  double *value = heap_array(heap, jacobian->nonzeros, sizeof *value),
         *turned = heap_array(heap, jacobian->nonzeros, sizeof *turned);
  int32_t next = 0, at = 0;
  double norm = 0;
  for (uint32_t q = 0; q < system->columns; q++) {
    if (matching->row_of_column[q] == STRUCTURE_NONE) continue;
    double sum = 0, size = system->nominal[q] + fabs(y[q]);
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      int32_t i = place[jacobian->row_index[e]];
      if (i < 0) continue;
      row[next] = i;
      value[next] = values[e] * scale[jacobian->row_index[e]] * size;
      sum += fabs(value[next++]);
      turned_start[i + 2]++;
    }
    start[++at] = next;
    if (sum > norm) norm = sum;
  }
  for (int32_t i = 0; i < n; i++) turned_start[i + 2] += turned_start[i + 1];
  for (int32_t j = 0; j < n; j++) {
    for (int32_t e = start[j]; e < start[j + 1]; e++) {
      int32_t place_of_entry = turned_start[row[e] + 1]++;
      column[place_of_entry] = j;
      turned[place_of_entry] = value[e];
    }
  }
  Pair pair = {n, linear_new(heap, n, next, false), linear_new(heap, n, next, false)};
  linear_set_pattern(pair.plain, start, row);
  linear_set_pattern(pair.turned, turned_start, column);
  heap_free(heap, place);
  if (!linear_factor(pair.plain, value) || !linear_factor(pair.turned, turned)) return HUGE_VAL;
  return norm * inverse_norm(&pair, heap);
}

/* ---- the whole ---- */

static void take_rows(const Order *order, Initial *initial) {
  for (uint32_t q = 0; q < initial->columns; q++) {
    int32_t row = order->choice.matching.row_of_column[q];
    initial->column[q].row = row == STRUCTURE_NONE ? MAP_NONE : (uint32_t)row;
    initial->column[q].redundant = initial->column[q].fixed && row != STRUCTURE_NONE;
  }
}

/* Of values by ranks: which row determines what is not known. */
static Explanation explain_ranks(const Initializer *initializer, Initial *initial, Arena *arena) {
  const Strangeness *ranks = initializer->ranks;
  Explanation explanation = {.residual_row = MAP_NONE, .condition = 1, .nonlinear = 1};
  explanation.form_text = arena_printf(arena, "strangeness index mu = %d: a = %d, d = %d, v = %d, u = %d",
                                       (int)ranks->mu, (int)ranks->a, (int)ranks->d, (int)ranks->v, (int)ranks->u);
  initial->system = system_new(initializer->heap, ranks->evaluator, NULL, false);
  explanation.largest_nonlinear = initial->system->rows;
  Patch *patch = patch_new(initial->system, NULL, 0);
  explanation.residual = patch_residual(patch, initial->t0, initial->value, &explanation.residual_row);
  if (ranks->all.rank) explanation.condition = ranks->all.value[0] / ranks->all.value[ranks->all.rank - 1];
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
  Order order = order_make(system, initial->column, &scratch);
  take_rows(&order, initial);
  count_units(system, initial->column, &order, &explanation);
  explanation.form = form_find(evaluator_model(initializer->evaluator), heap);
  explanation.form_text = form_text(&explanation.form, arena);
  if (system->rows) {
    Patch *patch = patch_new(system, NULL, 0);
    explanation.residual = patch_residual(patch, initial->t0, initial->value, &explanation.residual_row);
    explanation.condition = find_condition(system, &order, patch, initial->value);
  }
  vec_free(heap, &order.surplus);
  vec_free(heap, &order.redundant);
  arena_free(&scratch);
  return explanation;
}
