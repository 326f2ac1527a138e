/* redundancy: see redundancy.h. */
#include "reduce/redundancy.h"

#include <math.h>

static const double SUPPORT = 1e-9; /* an entry of a null vector of unit norm that is not zero */

/* The rank of the rows of equations that are not left out; of equation `last` those below the highest level. */
static int32_t rank_without(const Strangeness *strangeness, const PartRanks *ranks, const bool *is_left_out,
                            uint32_t last, Arena *arena) {
  const Array *array = strangeness->array;
  const RankPart *part = ranks->part;
  double *rest = arena_array(arena, (size_t)part->rows * (size_t)part->columns + 1, sizeof *rest), *to = rest;
  int32_t m = 0;
  for (int32_t q = 0; q < part->columns; q++)
    for (int32_t i = 0; i < part->rows; i++) {
      uint32_t equation = array->row_equation[part->row[i]];
      bool is_top = (int32_t)array_level(array, part->row[i]) == array->c[equation];
      if (equation == last ? is_top : is_left_out[equation]) continue;
      *to++ = ranks->matrix[i + q * part->rows];
      m += q == 0;
    }
  return dense_values(rest, m, part->columns, strangeness->rank_tolerance, arena).rank;
}

/* Does the equation `last` add nothing to the parts that it has rows in? */
static bool adds_nothing(const Strangeness *strangeness, const Ranks *ranks, const bool *is_left_out, uint32_t last) {
  const Array *array = strangeness->array;
  Arena arena = arena_make(strangeness->heap);
  bool nothing = true;
  for (uint32_t i = array->row_start[last]; i < array->row_start[last + 1] && nothing; i++) {
    const PartRanks *part = &ranks->part[strangeness->parts.of_row[i]];
    if (i > array->row_start[last] && strangeness->parts.of_row[i] == strangeness->parts.of_row[i - 1]) continue;
    nothing = rank_without(strangeness, part, is_left_out, last, &arena) ==
              rank_without(strangeness, part, is_left_out, UINT32_MAX, &arena);
  }
  arena_free(&arena);
  return nothing;
}

/* The equations whose rows take part in a dependence. */
static void mark_dependent(const Strangeness *strangeness, const PartRanks *ranks, Arena *arena, bool *is_dependent) {
  const RankPart *part = ranks->part;
  size_t m = (size_t)part->rows;
  double *copy = arena_copy_array(arena, ranks->matrix, m * (size_t)part->columns, sizeof *copy);
  Svd svd = dense_svd(copy, part->rows, part->columns, strangeness->rank_tolerance, arena);
  for (uint32_t i = 0; i < m; i++)
    for (size_t k = (size_t)svd.rank; k < m; k++)
      if (fabs(svd.u[i + k * m]) > SUPPORT) is_dependent[strangeness->array->row_equation[part->row[i]]] = true;
}

/* An equation follows if its rows add nothing to those of the others, but for the highest, which the others may give at a higher level. Those written last are
 * the ones left out. */
static uint32_t list_followers(const Strangeness *strangeness, const Ranks *ranks, uint32_t most, uint32_t *equation) {
  uint32_t n = strangeness->problem.equations, count = 0;
  Arena scratch = arena_make(strangeness->heap);
  bool *is_left_out = arena_array(&scratch, n, sizeof *is_left_out);
  bool *is_dependent = arena_array(&scratch, n, sizeof *is_dependent);
  for (uint32_t p = 0; p < ranks->count; p++) mark_dependent(strangeness, &ranks->part[p], &scratch, is_dependent);
  for (uint32_t i = n; i-- > 0 && count < most;) {
    if (!is_dependent[i]) continue;
    is_left_out[i] = true;
    is_left_out[i] = adds_nothing(strangeness, ranks, is_left_out, i);
    if (is_left_out[i]) equation[count++] = i;
  }
  arena_free(&scratch);
  return count;
}

/* Does every unknown that is free occur in some equation? One that occurs in none has been forgotten: no constraint is superfluous for it. */
static bool all_occur(const Problem *problem, const Freedom *freedom) {
  const Incidence *incidence = &problem->incidence;
  for (uint32_t k = 0; k < freedom->count; k++) {
    int32_t unknown = (int32_t)problem->local[dag_index(problem->model->dag, freedom->leaf[k])], at = 0;
    int32_t entries = incidence->row_start[incidence->n_equations];
    while (at < entries && incidence->column[at] != unknown) at++;
    if (at == entries) return false;
  }
  return true;
}

bool redundancy_find(Strangeness *strangeness, double t, Redundancy *redundancy) {
  const Problem *problem = &strangeness->problem;
  Arena *arena = strangeness->arena;
  if (!strangeness_find_level(strangeness, t) || !strangeness->u) return false;
  double *y = arena_copy_array(arena, strangeness->y, strangeness->array->columns, sizeof *y);
  Arena scratch = arena_make(strangeness->heap);
  Ranks ranks;
  bool found = strangeness_generic(strangeness, GENERIC_NEAREST, &t, y) &&
               strangeness_ranks(strangeness, t, y, &scratch, &ranks) &&
               strangeness_open(strangeness, &ranks, &scratch, strangeness->open) == strangeness->u &&
               freedom_find(strangeness, t, y, false, &redundancy->freedom, arena) &&
               all_occur(problem, &redundancy->freedom);
  if (found) {
    redundancy->count = redundancy->freedom.count - redundancy->freedom.rank;
    redundancy->equation = arena_array(arena, redundancy->count, sizeof(uint32_t));
    found = redundancy->count == (uint32_t)strangeness->u &&
            list_followers(strangeness, &ranks, redundancy->count, redundancy->equation) == redundancy->count;
  }
  arena_free(&scratch);
  return found;
}

/* ---- do they hold? ---- */

typedef struct At {
  const Array *array;
  const Evaluator *evaluator;
  double t;
  const double *y;
} At;

static double leaf_value(void *context, const Dag *dag, Expr leaf) {
  const At *at = context;
  uint32_t column;
  switch (dag_op(dag, leaf)) {
  case OP_TIME: return at->t;
  case OP_PARAMETER: return at->evaluator->parameters[dag_index(dag, leaf)];
  case OP_DISCRETE: return at->evaluator->discretes[dag_index(dag, leaf)];
  case OP_PRE: return at->evaluator->pre[dag_index(dag, leaf)];
  case OP_VARIABLE: column = array_column(at->array, leaf); return column == MAP_NONE ? NAN : at->y[column];
  default: return NAN;
  }
}

/* Do the terms cancel? What has no value here is not looked into. */
static bool holds(At *at, Expr residual, double tolerance) {
  Dag *dag = at->array->dag;
  const Term *terms;
  double sum = 0, size, value;
  if (dag_op(dag, residual) != OP_SUM) return true;
  uint32_t count = dag_terms(dag, residual, &sum, &terms);
  size = fabs(sum);
  for (uint32_t k = 0; k < count; k++) {
    if (!dag_evaluate(dag, dag_scratch(dag), terms[k].node, leaf_value, at, &value, NULL)) return true;
    sum += terms[k].coefficient * value;
    size += fabs(terms[k].coefficient * value);
  }
  return !(fabs(sum) > tolerance * size);
}

bool redundancy_holds(const Array *array, const Evaluator *evaluator, double t, const double *y, const Expr *residual,
                      uint32_t count, double tolerance) {
  At at = {array, evaluator, t, y};
  for (uint32_t k = 0; k < count; k++)
    if (!holds(&at, residual[k], tolerance)) return false;
  return true;
}
