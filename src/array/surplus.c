/* surplus: structurally overdetermined parts whose equations repeat each other (see convert_internal.h). A smallest such part has
 * one equation more than variables. All its equations are differentiated up to the same order of derivatives. A linear dependence
 * of their gradients then shows which of them follows from the others. */
#include "array/convert_internal.h"

/* A derivative of an equation of the problem. */
typedef struct SurplusRow {
  uint32_t equation;
  int32_t times;
} SurplusRow;

typedef VEC(SurplusRow) SurplusRowVec;

static int32_t highest_order(const Incidence *incidence, int32_t i) {
  int32_t highest = 0;
  for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++)
    if (incidence->order[e] > highest) highest = incidence->order[e];
  return highest;
}

/* The original equations come last, and among them those with the highest derivatives: each line depends only on lines
 * before it. */
static void list_rows(const Converter *converter, const DulmageSet *set, SurplusRowVec *rows) {
  const Incidence *incidence = &converter->problem.incidence;
  int32_t highest = 0;
  for (int32_t k = 0; k < set->n_rows; k++)
    if (highest_order(incidence, set->rows[k]) > highest) highest = highest_order(incidence, set->rows[k]);
  for (int32_t k = 0; k < set->n_rows; k++)
    for (int32_t times = highest - highest_order(incidence, set->rows[k]); times > 0; times--)
      vec_push(converter->heap, rows, (SurplusRow){(uint32_t)set->rows[k], times});
  for (int32_t order = 0; order <= highest; order++)
    for (int32_t k = 0; k < set->n_rows; k++)
      if (highest_order(incidence, set->rows[k]) == order)
        vec_push(converter->heap, rows, (SurplusRow){(uint32_t)set->rows[k], 0});
}

/* The gradients of the rows, a column for each variable or derivative in them. */
static BlockJacobian gradients(const Converter *converter, const SurplusRowVec *rows) {
  Heap *heap = converter->heap;
  ExprVec leaves = {0}, partials = {0};
  Map columns = map_make(heap);
  BlockJacobian jacobian = {.row_start = arena_array(converter->arena, rows->count + 1, sizeof(int32_t))};
  for (uint32_t p = 0; p < rows->count; p++) {
    Expr row = converter_derivative(converter, rows->data[p].equation, rows->data[p].times);
    dag_gradient(converter->dag, row, &leaves, &partials);
    jacobian.row_start[p + 1] = (int32_t)leaves.count;
  }
  jacobian.column = arena_array(converter->arena, leaves.count, sizeof(int32_t));
  jacobian.entry = arena_copy_array(converter->arena, partials.data, partials.count, sizeof(Expr));
  for (uint32_t e = 0; e < leaves.count; e++) {
    if (map_get(&columns, leaves.data[e]) == MAP_NONE) map_put(&columns, leaves.data[e], columns.count);
    jacobian.column[e] = (int32_t)map_get(&columns, leaves.data[e]);
  }
  jacobian.size = (int32_t)rows->count;
  jacobian.columns = (int32_t)columns.count;
  map_free(&columns);
  vec_free(heap, &leaves, &partials);
  return jacobian;
}

static Combination combine(const Converter *converter, const SurplusRowVec *rows, const Dependence *dependence) {
  Combination combination = combination_make(converter, dependence);
  for (uint32_t k = 0; k < dependence->count; k++) {
    combination.equation[k] = rows->data[dependence->line[k]].equation;
    combination.times[k] = rows->data[dependence->line[k]].times;
  }
  combination_sum(converter, &combination);
  return combination;
}

static bool find_in(const Converter *converter, const DulmageSet *set, Combination *combination) {
  SurplusRowVec rows = {0};
  DependenceVec found = {0};
  bool is_given = false;
  list_rows(converter, set, &rows);
  BlockJacobian jacobian = gradients(converter, &rows);
  int32_t *order = arena_array(converter->arena, rows.count, sizeof *order);
  for (uint32_t p = 0; p < rows.count; p++) order[p] = (int32_t)p;
  dependence_find(&jacobian, true, order, &converter->samples, converter->arena, &found);
  for (uint32_t k = 0; k < found.count && !is_given; k++) {
    if (rows.data[found.data[k].last].times) continue;
    *combination = combine(converter, &rows, &found.data[k]);
    is_given = !dag_depends(converter->dag, combination->left, OP_VARIABLE);
  }
  vec_free(converter->heap, &rows, &found);
  return is_given;
}

bool surplus_find(const Converter *converter, Combination *combination) {
  const Dulmage *dulmage = &converter->structure.dulmage;
  for (int32_t k = 0; k < dulmage->n_over; k++)
    if (find_in(converter, &dulmage->over[k].culprit, combination)) return true;
  return false;
}
