/* redundancy: see redundancy.h. */
#include "reduce/redundancy.h"

#include <math.h>
#include <string.h>

static const double SUPPORT = 1e-9; /* an entry of a null vector of unit norm that is not zero */

/* ---- free unknowns ---- */

/* The column of the highest derivative with which an unknown occurs, which is among the first ones of the array. */
static uint32_t top_column(const Strangeness *strangeness, uint32_t unknown, uint32_t order) {
  return strangeness->array->column_start[unknown] + order;
}

static uint32_t *highest_orders(const Problem *problem, Arena *arena) {
  uint32_t *order = arena_array(arena, problem->unknowns, sizeof *order);
  const Incidence *incidence = &problem->incidence;
  for (int32_t e = 0; e < incidence->row_start[problem->equations]; e++)
    if ((uint32_t)incidence->order[e] > order[incidence->column[e]])
      order[incidence->column[e]] = (uint32_t)incidence->order[e];
  return order;
}

/* The equations as they are by the leaves wanted, with their rows scaled; packed by columns. */
static double *leaf_matrix(const Strangeness *strangeness, double t, const double *y, const uint32_t *column,
                           uint32_t count, Arena *arena) {
  const Array *array = strangeness->array;
  double *all = arena_array(arena, (size_t)array->rows * array->columns + 1, sizeof *all);
  double *scale = arena_array(arena, array->rows, sizeof *scale);
  uint32_t n = strangeness->problem.equations;
  double *part = arena_array(arena, (size_t)n * count + 1, sizeof *part);
  if (!strangeness_jacobian(strangeness, t, y, strangeness->evaluator->nominal, all, scale)) return NULL;
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t i = 0; i < n; i++) part[i + k * n] = all[array->row_start[i] + (size_t)column[k] * array->rows];
  return part;
}

static Expr start_of(const Problem *problem, uint32_t unknown) {
  const Model *model = problem->model;
  const Variable *variable = &model->variables.data[model->unknowns.data[problem->unknown[unknown]]];
  return variable->start == EXPR_NONE ? dag_constant(model->dag, 0) : variable->start;
}

/* Keeps the columns at which null vectors have entries; returns how many there are. */
static uint32_t keep_moving(const Svd *svd, uint32_t *column, double *part, uint32_t rows, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < count; k++) {
    double size = 0;
    for (uint32_t null = (uint32_t)svd->rank; null < count; null++) size = fmax(size, fabs(svd->vt[null + k * count]));
    if (size <= SUPPORT) continue;
    memmove(part + (size_t)kept * rows, part + (size_t)k * rows, rows * sizeof *part);
    column[kept++] = column[k];
  }
  return kept;
}

bool freedom_find(const Strangeness *strangeness, double t, const double *y, bool of_rates, Freedom *freedom,
                  Arena *arena) {
  const Problem *problem = &strangeness->problem;
  uint32_t *order = highest_orders(problem, arena), n = problem->equations, count = 0;
  uint32_t *column = arena_array(arena, problem->unknowns, sizeof *column);
  for (uint32_t j = 0; j < problem->unknowns; j++)
    if ((order[j] > 0) == of_rates) column[count++] = top_column(strangeness, j, order[j]);
  double *part = leaf_matrix(strangeness, t, y, column, count, arena);
  if (!part || !count) return false;
  double *copy = arena_copy_array(arena, part, (size_t)n * count + 1, sizeof *copy);
  Svd svd = dense_svd(copy, (int32_t)n, (int32_t)count, strangeness->rank_tolerance, arena);
  uint32_t null = count - (uint32_t)svd.rank;
  if (!null) return false;
  count = keep_moving(&svd, column, part, n, count);
  int32_t *pivot = dense_pivots(part, (int32_t)n, (int32_t)count, NULL, arena);
  *freedom = (Freedom){.count = count, .rank = count - null};
  freedom->leaf = arena_array(arena, count, sizeof(Expr));
  freedom->target = arena_array(arena, count, sizeof(Expr));
  for (uint32_t k = 0; k < count; k++) {
    uint32_t unknown = strangeness->array->column_unknown[column[pivot[k]]];
    freedom->leaf[k] = dag_variable(problem->model->dag, problem->unknown[unknown], order[unknown]);
    freedom->target[k] = of_rates ? dag_constant(problem->model->dag, 0) : start_of(problem, unknown);
  }
  return true;
}

/* ---- equations that follow ---- */

/* The rank of the rows of equations that are not left out; of equation `last` those below the highest level. */
static int32_t rank_without(const Strangeness *strangeness, const Ranks *ranks, const bool *is_left_out, uint32_t last,
                            Arena *arena) {
  const Array *array = strangeness->array;
  double *part = arena_array(arena, (size_t)array->rows * array->columns + 1, sizeof *part), *to = part;
  int32_t m = 0;
  for (uint32_t q = 0; q < array->columns; q++)
    for (uint32_t i = 0; i < array->rows; i++) {
      uint32_t equation = array->row_equation[i];
      bool is_top = (int32_t)array_level(array, i) == array->c[equation];
      if (equation == last ? is_top : is_left_out[equation]) continue;
      *to++ = ranks->matrix[i + (size_t)q * array->rows];
      m += q == 0;
    }
  return dense_values(part, m, (int32_t)array->columns, strangeness->rank_tolerance, arena).rank;
}

/* The equations whose rows take part in a dependence. */
static void mark_dependent(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, bool *is_dependent) {
  const Array *array = strangeness->array;
  size_t m = array->rows;
  double *copy = arena_copy_array(arena, ranks->matrix, m * array->columns, sizeof *copy);
  Svd svd = dense_svd(copy, (int32_t)m, (int32_t)array->columns, strangeness->rank_tolerance, arena);
  for (uint32_t i = 0; i < m; i++)
    for (size_t k = (size_t)svd.rank; k < m; k++)
      if (fabs(svd.u[i + k * m]) > SUPPORT) is_dependent[array->row_equation[i]] = true;
}

/* An equation follows if its rows add nothing to those of the others, but for the highest, which the others may give at a higher level. Those written last are
 * the ones left out. */
static uint32_t list_followers(const Strangeness *strangeness, const Ranks *ranks, uint32_t most, uint32_t *equation) {
  uint32_t n = strangeness->problem.equations, count = 0;
  Arena scratch = arena_make(strangeness->heap);
  bool *is_left_out = arena_array(&scratch, n, sizeof *is_left_out);
  bool *is_dependent = arena_array(&scratch, n, sizeof *is_dependent);
  mark_dependent(strangeness, ranks, &scratch, is_dependent);
  for (uint32_t i = n; i-- > 0 && count < most;) {
    if (!is_dependent[i]) continue;
    Arena arena = arena_make(strangeness->heap);
    is_left_out[i] = true;
    bool follows = rank_without(strangeness, ranks, is_left_out, i, &arena) ==
                   rank_without(strangeness, ranks, is_left_out, UINT32_MAX, &arena);
    is_left_out[i] = follows;
    if (follows) equation[count++] = i;
    arena_free(&arena);
  }
  arena_free(&scratch);
  return count;
}

bool redundancy_find(Strangeness *strangeness, double t, Redundancy *redundancy) {
  const Problem *problem = &strangeness->problem;
  Arena *arena = strangeness->arena;
  uint32_t *open = arena_array(arena, problem->unknowns, sizeof *open);
  if (!strangeness_find_level(strangeness, t, open) || !strangeness->u) return false;
  double *y = arena_copy_array(arena, strangeness->y, strangeness->array->columns, sizeof *y);
  Arena scratch = arena_make(strangeness->heap);
  Ranks ranks;
  bool found = strangeness_generic(strangeness, GENERIC_NEAREST, &t, y) &&
               strangeness_ranks(strangeness, t, y, &scratch, &ranks) &&
               strangeness_open(strangeness, &ranks, &scratch, open) == strangeness->u &&
               freedom_find(strangeness, t, y, false, &redundancy->freedom, arena);
  if (found) {
    redundancy->count = redundancy->freedom.count - redundancy->freedom.rank;
    redundancy->equation = arena_array(arena, redundancy->count, sizeof(uint32_t));
    found = redundancy->count == (uint32_t)strangeness->u &&
            list_followers(strangeness, &ranks, redundancy->count, redundancy->equation) == redundancy->count;
  }
  arena_free(&scratch);
  return found;
}
