/* strangeness: see strangeness.h. */
#include "reduce/strangeness.h"

#include "reduce/method.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { LEVEL_LIMIT = 8, COLUMN_LIMIT = 600, ITERATION_LIMIT = 60, HALVING_LIMIT = 14 };

static const double RANK_TOLERANCE = 1e-9; /* of singular values of the scaled Jacobian */
static const double STEP_TOLERANCE =
    1e-13; /* the same for a step to a consistent point, where columns have weights */
static const double CONSISTENT = 1e-11; /* scaled residual of a consistent point */

/* How easily columns move when a consistent point is looked for: start values given, others of x, derivatives. */
static const double WEIGHT_GIVEN = 1, WEIGHT_DEFAULT = 1e2, WEIGHT_DERIVATIVE = 1e4;

/* ---- dense matrices, by columns ---- */

typedef struct Svd {
  double *s, *u, *vt;
  int32_t rank;
} Svd;

/* a (m x n) = u diag(s) vt; a is spoilt. Owned by the arena. */
static Svd svd_of(double *a, int32_t m, int32_t n, double tolerance, Arena *arena) {
  int32_t small = m < n ? m : n;
  Svd svd = {arena_array(arena, (size_t)small + 1, sizeof(double)),
             arena_array(arena, (size_t)m * (size_t)m + 1, sizeof(double)),
             arena_array(arena, (size_t)n * (size_t)n + 1, sizeof(double)), 0};
  for (int32_t k = 0; k < m; k++) svd.u[k + k * m] = 1;
  for (int32_t k = 0; k < n; k++) svd.vt[k + k * n] = 1;
  if (!small) return svd;
  lapack_int rows = m, columns = n, length = -1, info;
  lapack_int *integers = arena_array(arena, 8 * (size_t)small, sizeof *integers);
  double best;
  char job = 'A';
  LAPACK_dgesdd(&job, &rows, &columns, a, &rows, svd.s, svd.u, &rows, svd.vt, &columns, &best, &length,
                integers, &info);
  length = (lapack_int)best + 1;
  double *work = arena_array(arena, (size_t)length, sizeof *work);
  LAPACK_dgesdd(&job, &rows, &columns, a, &rows, svd.s, svd.u, &rows, svd.vt, &columns, work, &length,
                integers, &info);
  while (info == 0 && svd.rank < small && svd.s[svd.rank] > tolerance * svd.s[0] && svd.s[svd.rank] > 0)
    svd.rank++;
  return svd;
}

/* Columns of a (m x n) in the order of a pivoted QR; those marked in `before` come first. a is spoilt. Owned by the arena. */
static lapack_int *pivots_of(double *a, int32_t m, int32_t n, const bool *before, Arena *arena) {
  lapack_int rows = m, columns = n, length = 64 * (n + 1) + 2 * n, info;
  lapack_int *pivot = arena_array(arena, (size_t)n + 1, sizeof *pivot);
  double *tau = arena_array(arena, (size_t)(m + n), sizeof *tau),
         *work = arena_array(arena, (size_t)length, sizeof *work);
  for (int32_t k = 0; k < n && before; k++) pivot[k] = before[k];
  if (m > 0 && n > 0) LAPACK_dgeqp3(&rows, &columns, a, &rows, pivot, tau, work, &length, &info);
  else
    for (int32_t k = 0; k < n; k++) pivot[k] = k + 1;
  return pivot;
}

/* ---- the array of one level ---- */

static bool is_x(const Strangeness *strangeness, uint32_t column) {
  const Array *array = strangeness->array;
  return (int32_t)array_order(array, column) < strangeness->first[array->column_unknown[column]];
}

/* Is it the derivative of the last column of x of its unknown? */
static bool is_first_derivative(const Strangeness *strangeness, uint32_t column) {
  const Array *array = strangeness->array;
  return (int32_t)array_order(array, column) == strangeness->first[array->column_unknown[column]];
}

static void make_array(Strangeness *strangeness, const double *parameters, int32_t level) {
  const Problem *problem = &strangeness->problem;
  Arena *arena = strangeness->arena;
  int32_t *c = arena_array(arena, problem->equations, sizeof *c),
          *d = arena_array(arena, problem->unknowns, sizeof *d);
  for (uint32_t i = 0; i < problem->equations; i++) c[i] = level;
  for (uint32_t j = 0; j < problem->unknowns; j++) d[j] = strangeness->first[j] + level;
  const Array *before = strangeness->array;
  const double *known = strangeness->y;
  strangeness->array = arena_alloc(arena, sizeof(Array));
  *strangeness->array = array_make(problem, c, d, arena);
  strangeness->evaluator = evaluator_new(strangeness->heap, strangeness->array, parameters, 0);
  strangeness->y = heap_array(strangeness->heap, strangeness->array->columns, sizeof(double));
  for (uint32_t j = 0; j < problem->unknowns && before; j++)
    memcpy(strangeness->y + strangeness->array->column_start[j], known + before->column_start[j],
           (before->column_start[j + 1] - before->column_start[j]) * sizeof(double));
}

/* The Jacobian with columns scaled by weight and rows to largest entry 1 (their factors in `scale`). */
static bool scaled_jacobian(const Strangeness *strangeness, double t, const double *y, const double *weight,
                            double *a, double *scale) {
  Evaluator *evaluator = strangeness->evaluator;
  const Jacobian *jacobian = evaluator->jacobian;
  Arena scratch = arena_make(strangeness->heap);
  double *values = arena_array(&scratch, jacobian->nonzeros, sizeof *values);
  uint32_t m = jacobian->rows;
  bool ok = evaluator_jacobian(evaluator, t, y, values) == EVAL_OK;
  memset(a, 0, (size_t)m * jacobian->columns * sizeof *a);
  memset(scale, 0, m * sizeof *scale);
  for (uint32_t q = 0; q < jacobian->columns && ok; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      int32_t row = jacobian->row_index[e];
      a[(uint32_t)row + q * m] = values[e] * weight[q];
      scale[row] = fmax(scale[row], fabs(a[(uint32_t)row + q * m]));
    }
  for (uint32_t i = 0; i < m; i++) scale[i] = scale[i] > 0 ? 1 / scale[i] : 1;
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (uint32_t i = 0; i < m; i++) a[i + q * m] *= scale[i];
  arena_free(&scratch);
  return ok;
}

/* ---- a consistent point ---- */

typedef struct Search {
  const Strangeness *strangeness;
  double t;
  uint32_t rows, columns;
  double *weight, *matrix, *scale, *residual, *trial;
} Search;

static double residual_norm(Search *search, const double *y) {
  double norm = 0;
  if (evaluator_rows(search->strangeness->evaluator, search->t, y, search->residual) != EVAL_OK)
    return HUGE_VAL;
  for (uint32_t i = 0; i < search->rows; i++) {
    double size = fabs(search->residual[i]) * search->scale[i];
    if (!(size <= norm)) norm = size;
  }
  return norm;
}

/* One step of Gauss and Newton of least weighted norm, halved until the residual falls. */
static bool improve(Search *search, double *y, double *norm) {
  Arena scratch = arena_make(search->strangeness->heap);
  uint32_t m = search->rows, n = search->columns;
  bool better =
      scaled_jacobian(search->strangeness, search->t, y, search->weight, search->matrix, search->scale);
  double fraction = 1, next = HUGE_VAL;
  *norm = better ? residual_norm(search, y) : HUGE_VAL;
  if (better && *norm > 0) {
    Svd svd = svd_of(search->matrix, (int32_t)m, (int32_t)n, STEP_TOLERANCE, &scratch);
    double *step = arena_array(&scratch, n, sizeof *step);
    for (int32_t k = 0; k < svd.rank; k++) {
      double part = 0;
      for (uint32_t i = 0; i < m; i++)
        part += svd.u[i + (uint32_t)k * m] * search->residual[i] * search->scale[i];
      for (uint32_t q = 0; q < n; q++) step[q] -= svd.vt[(uint32_t)k + q * n] * part / svd.s[k];
    }
    better = false;
    for (int halving = 0; halving < HALVING_LIMIT && !better; halving++, fraction /= 2) {
      for (uint32_t q = 0; q < n; q++) search->trial[q] = y[q] + fraction * step[q] * search->weight[q];
      next = residual_norm(search, search->trial);
      better = next < *norm * (1 - fraction / 4);
    }
    if (better) memcpy(y, search->trial, n * sizeof *y), *norm = next;
  }
  arena_free(&scratch);
  return better && *norm > 0;
}

/* Weights of the columns; 0 holds one: fixed start values, and at first all that are given. */
static void set_weights(Search *search, bool hold_given) {
  const Strangeness *strangeness = search->strangeness;
  const Array *array = strangeness->array;
  const Model *model = strangeness->problem.model;
  for (uint32_t q = 0; q < array->columns; q++) {
    const Variable *variable =
        &model->variables.data[model->unknowns.data[strangeness->problem.unknown[array->column_unknown[q]]]];
    bool given = array_order(array, q) == 0 && variable->start != EXPR_NONE;
    bool held = given && (hold_given || variable->fixed == FIXED_TRUE);
    double weight = !is_x(strangeness, q) ? WEIGHT_DERIVATIVE : given ? WEIGHT_GIVEN : WEIGHT_DEFAULT;
    search->weight[q] = held ? 0 : weight * strangeness->evaluator->nominal[q];
  }
}

static Search search_make(const Strangeness *strangeness, double t, Arena *arena) {
  const Array *array = strangeness->array;
  Search search = {.strangeness = strangeness, .t = t, .rows = array->rows, .columns = array->columns};
  search.weight = arena_array(arena, array->columns, sizeof(double));
  search.matrix = arena_array(arena, (size_t)array->rows * array->columns, sizeof(double));
  search.scale = arena_array(arena, array->rows, sizeof(double));
  search.residual = arena_array(arena, array->rows, sizeof(double));
  search.trial = arena_array(arena, array->columns, sizeof(double));
  return search;
}

static bool find_point(Strangeness *strangeness, double t) {
  Arena scratch = arena_make(strangeness->heap);
  const Array *array = strangeness->array;
  Search search = search_make(strangeness, t, &scratch);
  double *before = arena_array(&scratch, array->columns, sizeof *before), norm = HUGE_VAL;
  memcpy(before, strangeness->y, array->columns * sizeof *before);
  for (int hold = 1; hold >= 0 && norm > CONSISTENT; hold--) {
    memcpy(strangeness->y, before, array->columns * sizeof *before);
    set_weights(&search, hold);
    for (int k = 0; k < ITERATION_LIMIT && improve(&search, strangeness->y, &norm); k++) continue;
  }
  arena_free(&scratch);
  if (norm <= CONSISTENT) return true;
  diag_error(strangeness->diags, DIAG_INIT, (Span){0},
             "no consistent initial values for the equations and their derivatives up to order %d: scaled "
             "residual %.3g; change the "
             "start values, or remove fixed=true",
             (int)array->c[0], norm);
  return false;
}

void strangeness_refresh(const Strangeness *strangeness, double t, double *y) {
  Arena scratch = arena_make(strangeness->heap);
  uint32_t columns = strangeness->array->columns;
  Search search = search_make(strangeness, t, &scratch);
  double *fresh = arena_array(&scratch, columns, sizeof *fresh), norm = HUGE_VAL, before = HUGE_VAL;
  for (uint32_t q = 0; q < columns; q++) {
    bool low = is_x(strangeness, q);
    fresh[q] = low || is_first_derivative(strangeness, q) ? y[q] : 0;
    search.weight[q] = low ? 0 : strangeness->evaluator->nominal[q];
  }
  if (scaled_jacobian(strangeness, t, y, strangeness->evaluator->nominal, search.matrix, search.scale))
    before = residual_norm(&search, y);
  for (int k = 0; k < ITERATION_LIMIT && improve(&search, fresh, &norm); k++) continue;
  if (norm <= fmax(10 * before, CONSISTENT)) memcpy(y, fresh, columns * sizeof *y);
  arena_free(&scratch);
}

/* ---- ranks ---- */

/* The columns wanted (x or not) of the scaled Jacobian, packed. */
static double *part_of(const Strangeness *strangeness, const double *matrix, bool x, int32_t *columns,
                       uint32_t *list, Arena *arena) {
  const Array *array = strangeness->array;
  double *part = arena_array(arena, (size_t)array->rows * array->columns + 1, sizeof *part);
  *columns = 0;
  for (uint32_t q = 0; q < array->columns; q++) {
    if (is_x(strangeness, q) != x) continue;
    memcpy(part + (size_t)*columns * array->rows, matrix + (size_t)q * array->rows,
           array->rows * sizeof *part);
    list[(*columns)++] = q;
  }
  return part;
}

typedef struct Ranks {
  double *matrix, *scale;    /* the scaled Jacobian */
  int32_t all, high;         /* ranks of [F_x F_w], F_w */
  uint32_t *x_list, *w_list; /* columns */
  int32_t x_count, w_count;
  Svd w; /* of F_w */
} Ranks;

static bool find_ranks(const Strangeness *strangeness, double t, const double *y, Arena *arena,
                       Ranks *ranks) {
  const Array *array = strangeness->array;
  size_t size = (size_t)array->rows * array->columns;
  ranks->matrix = arena_array(arena, size + 1, sizeof(double));
  ranks->scale = arena_array(arena, array->rows, sizeof(double));
  ranks->x_list = arena_array(arena, array->columns, sizeof(uint32_t));
  ranks->w_list = arena_array(arena, array->columns, sizeof(uint32_t));
  if (!scaled_jacobian(strangeness, t, y, strangeness->evaluator->nominal, ranks->matrix, ranks->scale))
    return false;
  double *copy = arena_array(arena, size + 1, sizeof *copy);
  memcpy(copy, ranks->matrix, size * sizeof *copy);
  ranks->all = svd_of(copy, (int32_t)array->rows, (int32_t)array->columns, RANK_TOLERANCE, arena).rank;
  double *w = part_of(strangeness, ranks->matrix, false, &ranks->w_count, ranks->w_list, arena);
  ranks->w = svd_of(w, (int32_t)array->rows, ranks->w_count, RANK_TOLERANCE, arena);
  ranks->high = ranks->w.rank;
  part_of(strangeness, ranks->matrix, true, &ranks->x_count, ranks->x_list, arena);
  return true;
}

/* Unknowns whose first derivative the equations leave open: a null vector of F_w has an entry there. They are listed in the order of a
 * pivoted QR; returns how many are independent. */
static int32_t find_open(const Strangeness *strangeness, const Ranks *ranks, Arena *arena,
                         uint32_t *unknowns) {
  int32_t null = ranks->w_count - ranks->high, n = 0, open = 0;
  uint32_t *candidates = arena_array(arena, strangeness->problem.unknowns, sizeof *candidates);
  double *part = arena_array(arena, (size_t)null * strangeness->problem.unknowns + 1, sizeof *part);
  for (int32_t q = 0; q < ranks->w_count; q++) {
    if (!is_first_derivative(strangeness, ranks->w_list[q])) continue;
    for (int32_t k = 0; k < null; k++) part[k + n * null] = ranks->w.vt[ranks->high + k + q * ranks->w_count];
    candidates[n++] = strangeness->array->column_unknown[ranks->w_list[q]];
  }
  double *copy = arena_array(arena, (size_t)null * (size_t)n + 1, sizeof *copy);
  memcpy(copy, part, (size_t)(null * n) * sizeof *copy);
  Svd svd = svd_of(copy, null, n, RANK_TOLERANCE, arena);
  while (open < svd.rank && svd.s[open] > 1e-6) open++;
  lapack_int *pivot = pivots_of(part, null, n, NULL, arena);
  for (int32_t k = 0; k < open; k++) unknowns[k] = candidates[pivot[k] - 1];
  return open;
}

/* ---- selection ---- */

/* The a columns of x that the constraints Z2^T F_x determine. */
static void choose_x(Strangeness *strangeness, const Ranks *ranks, Arena *arena, bool *solved) {
  int32_t m = (int32_t)strangeness->array->rows, left = m - ranks->high;
  double *constraints = arena_array(arena, (size_t)left * (size_t)ranks->x_count + 1, sizeof *constraints);
  for (int32_t q = 0; q < ranks->x_count; q++)
    for (int32_t k = 0; k < left; k++) {
      double sum = 0;
      const double *column = ranks->matrix + (size_t)ranks->x_list[q] * (size_t)m,
                   *z = ranks->w.u + (size_t)(ranks->high + k) * (size_t)m;
      for (int32_t i = 0; i < m; i++) sum += z[i] * column[i];
      constraints[k + q * left] = sum;
    }
  lapack_int *pivot = pivots_of(constraints, left, ranks->x_count, NULL, arena);
  for (int32_t k = 0; k < strangeness->solved; k++) solved[ranks->x_list[pivot[k] - 1]] = true;
}

/* The columns of w that are solved for: x' first, then as many as the rank asks for. */
static void choose_w(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, bool *solved) {
  int32_t count;
  uint32_t *list = arena_array(arena, strangeness->array->columns, sizeof *list);
  double *w = part_of(strangeness, ranks->matrix, false, &count, list, arena);
  bool *before = arena_array(arena, (size_t)count + 1, sizeof *before);
  for (int32_t q = 0; q < count; q++) before[q] = is_first_derivative(strangeness, list[q]);
  lapack_int *pivot = pivots_of(w, (int32_t)strangeness->array->rows, count, before, arena);
  for (int32_t k = 0; k < ranks->high; k++) solved[list[pivot[k] - 1]] = true;
}

/* Independent rows: pivots of the transposed Jacobian. */
static void choose_rows(Strangeness *strangeness, const Ranks *ranks, Arena *arena) {
  int32_t m = (int32_t)strangeness->array->rows, n = (int32_t)strangeness->array->columns;
  double *transposed = arena_array(arena, (size_t)m * (size_t)n + 1, sizeof *transposed);
  for (int32_t q = 0; q < n; q++)
    for (int32_t i = 0; i < m; i++) transposed[q + i * n] = ranks->matrix[i + q * m];
  lapack_int *pivot = pivots_of(transposed, n, m, NULL, arena);
  for (int32_t i = 0; i < m; i++) strangeness->row[i] = -1;
  for (int32_t k = 0; k < ranks->all; k++) strangeness->row[pivot[k] - 1] = 0;
  strangeness->rows = 0;
  for (int32_t i = 0; i < m; i++)
    if (strangeness->row[i] == 0) strangeness->row[i] = strangeness->rows++;
}

bool strangeness_select(Strangeness *strangeness, double t, const double *y) {
  Arena scratch = arena_make(strangeness->heap);
  Ranks ranks;
  uint32_t n = strangeness->array->columns;
  bool ok = find_ranks(strangeness, t, y, &scratch, &ranks) && ranks.all - ranks.high == strangeness->solved;
  if (ok) {
    bool *solved = arena_array(&scratch, n, sizeof *solved);
    choose_x(strangeness, &ranks, &scratch, solved);
    choose_w(strangeness, &ranks, &scratch, solved);
    choose_rows(strangeness, &ranks, &scratch);
    strangeness->links = 0;
    for (uint32_t q = 0; q < n; q++) {
      bool state = is_x(strangeness, q) && !solved[q];
      strangeness->held[q] = !solved[q] && !state;
      if (!state) continue;
      strangeness->from[strangeness->links] = (int32_t)q;
      strangeness->to[strangeness->links++] = (int32_t)q + 1;
    }
    for (int32_t k = 0; k < strangeness->links; k++) ok = ok && !strangeness->held[strangeness->to[k]];
  }
  arena_free(&scratch);
  return ok;
}

/* ---- levels ---- */

static double start_value(const Strangeness *strangeness, const double *parameters, const double *start,
                          uint32_t unknown) {
  Model *model = strangeness->problem.model;
  uint32_t position = model->unknowns.data[strangeness->problem.unknown[unknown]];
  const Variable *variable = &model->variables.data[position];
  double value = 0;
  if (start && !isnan(start[position])) return start[position];
  if (variable->start != EXPR_NONE && !model_evaluate(model, variable->start, parameters, &value)) value = 0;
  return value;
}

static void count_columns(Strangeness *strangeness) {
  const Problem *problem = &strangeness->problem;
  const Incidence *incidence = &problem->incidence;
  strangeness->first = arena_array(strangeness->arena, problem->unknowns, sizeof(int32_t));
  for (uint32_t j = 0; j < problem->unknowns; j++) strangeness->first[j] = 1;
  for (int32_t e = 0; e < incidence->row_start[incidence->n_equations]; e++)
    if (incidence->order[e] > strangeness->first[incidence->column[e]])
      strangeness->first[incidence->column[e]] = incidence->order[e];
  strangeness->size = 0;
  for (uint32_t j = 0; j < problem->unknowns; j++) strangeness->size += strangeness->first[j];
}

/* Raises the level until one more differentiation finds no more constraints. open: unknowns that nothing determines. */
static bool find_level(Strangeness *strangeness, const double *parameters, const double *start, double t,
                       uint32_t *open) {
  int32_t before = -1;
  count_columns(strangeness);
  strangeness->array = NULL;
  for (int32_t level = 0; level <= LEVEL_LIMIT; level++) {
    make_array(strangeness, parameters, level);
    if (strangeness->array->columns > COLUMN_LIMIT) {
      diag_error(strangeness->diags, DIAG_STRUCTURE, (Span){0},
                 "the uniform derivative array has %u columns at level %d, more than method strangeness "
                 "handles; use another method",
                 strangeness->array->columns, (int)level);
      return false;
    }
    for (uint32_t j = 0; j < strangeness->problem.unknowns && level == 0; j++)
      strangeness->y[strangeness->array->column_start[j]] = start_value(strangeness, parameters, start, j);
    if (!find_point(strangeness, t)) return false;
    Arena scratch = arena_make(strangeness->heap);
    Ranks ranks;
    bool ok = find_ranks(strangeness, t, strangeness->y, &scratch, &ranks);
    strangeness->a = ok ? ranks.all - ranks.high : 0;
    bool found = ok && level > 0 && strangeness->a == before;
    int32_t free = found ? find_open(strangeness, &ranks, &scratch, open) : 0;
    arena_free(&scratch);
    before = strangeness->a;
    if (!found) continue;
    strangeness->solved = strangeness->a;
    strangeness->mu = level - 1;
    strangeness->u = free;
    return true;
  }
  diag_error(strangeness->diags, DIAG_STRUCTURE, (Span){0},
             "the strangeness index is above %d, or the ranks of the derivative array do not settle at the "
             "initial point",
             LEVEL_LIMIT - 1);
  return false;
}

static void report_held(const Strangeness *strangeness, uint32_t unknown, double value) {
  const Model *model = strangeness->problem.model;
  diag_warning(strangeness->diags, (Span){0}, "the equations leave %s free: it is held at %.10g",
               model_name(model, model->unknowns.data[strangeness->problem.unknown[unknown]]), value);
}

bool strangeness_build(Strangeness *strangeness, Model *model, const double *parameters, const double *start,
                       double t) {
  strangeness->problem = problem_make(model, false, strangeness->arena);
  uint32_t equations = strangeness->problem.equations;
  uint32_t *open = arena_array(strangeness->arena, strangeness->problem.unknowns, sizeof *open);
  if (!find_level(strangeness, parameters, start, t, open)) return false;
  int32_t mu = strangeness->mu, size = strangeness->size, a = strangeness->a, u = strangeness->u;
  int32_t d = size - a - u, v = (int32_t)equations + size - (int32_t)strangeness->problem.unknowns - a - d;
  if (u) { /* one equation for each free unknown, then the same again */
    for (int32_t k = 0; k < u; k++) {
      double value = start_value(strangeness, parameters, start, open[k]);
      report_held(strangeness, open[k], value);
      Expr leaf = dag_variable(model->dag, strangeness->problem.unknown[open[k]], 0);
      strangeness->problem =
          problem_append(&strangeness->problem, leaf, dag_constant(model->dag, value), strangeness->arena);
    }
    if (!find_level(strangeness, parameters, start, t, open)) return false;
  }
  strangeness->row = heap_array(strangeness->heap, strangeness->array->rows, sizeof(int32_t));
  strangeness->held = heap_array(strangeness->heap, strangeness->array->columns, sizeof(bool));
  strangeness->from = heap_array(strangeness->heap, strangeness->array->columns, sizeof(int32_t));
  strangeness->to = heap_array(strangeness->heap, strangeness->array->columns, sizeof(int32_t));
  if (!strangeness_select(strangeness, t, strangeness->y)) {
    diag_error(strangeness->diags, DIAG_STRUCTURE, (Span){0},
               "no regular selection of equations and variables was found at the initial point");
    return false;
  }
  strangeness->mu = mu, strangeness->size = size, strangeness->a = a, strangeness->d = d, strangeness->v = v,
  strangeness->u = u;
  return true;
}

/* ---- the method ---- */

static bool apply(Reduction *reduction) {
  diag_error(reduction->diags, DIAG_USAGE, (Span){0},
             "method strangeness works with numerical ranks: it makes no equations to print");
  return false;
}

const Method method_strangeness = {
    .name = "strangeness",
    .description = "strangeness-free system by numerical ranks (Kunkel, Mehrmann)",
    .enforces_all = true,
    .apply = apply,
};
