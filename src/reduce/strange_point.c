/* strange_point: a consistent point of the derivative array by the Gauss-Newton method (Kunkel, Mehrmann 2003, section
 * 2, (11)), nearest in a weighted norm. Invariant: a step is taken only if the scaled residual falls. */
#include "nonlinear/nonlinear.h"
#include "reduce/strangeness.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ITERATION_LIMIT = 60, HALVING_LIMIT = 14 };

static const double STEP_TOLERANCE =
    1e-13;                              /* relative to the largest singular value: a column may have a large weight */
static const double CONSISTENT = 1e-11; /* scaled residual of a consistent point */
static const double HOLDS = 1e-10;      /* relative to the contributions of columns to their row */

/* How easily columns move: start values given, others of x, derivatives. */
static const double WEIGHT_GIVEN = 1, WEIGHT_DEFAULT = 1e2, WEIGHT_DERIVATIVE = 1e4;

/* How far away a generic point is searched for, relative. */
static const double AWAY = 0.05, TIME_AWAY = 0.01;

bool strangeness_entries(const Strangeness *strangeness, double t, const double *y, double *values) {
  Evaluator *evaluator = strangeness->evaluator;
  const Jacobian *jacobian = evaluator->jacobian;
  Arena scratch = arena_make(strangeness->heap);
  double *shaken = arena_array(&scratch, jacobian->columns, sizeof *shaken);
  double *other = arena_array(&scratch, jacobian->nonzeros, sizeof *other);
  evaluator_shake(evaluator, t, y, shaken);
  bool is_defined = evaluator_jacobian(evaluator, t, shaken, other) == EVAL_OK;
  bool ok = evaluator_jacobian(evaluator, t, y, values) == EVAL_OK;
  if (ok && is_defined) entries_drop_lost(values, other, jacobian->nonzeros);
  arena_free(&scratch);
  return ok;
}

/* The rows of a Jacobian, as rows `first` and following of the parts: entries times the weights of their columns,
 * scaled to largest entry one (held columns count with their nominal values), and the scales. Entries outside of the
 * parts are left out. */
static void fill_rows(const Jacobian *jacobian, const double *values, const double *weight, const double *nominal,
                      const RankParts *parts, uint32_t first, double *a, double *scale) {
  memset(scale + first, 0, jacobian->rows * sizeof *scale);
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++) {
      uint32_t row = first + (uint32_t)jacobian->row_index[e];
      if (parts->of_row[row] != parts->of_column[q]) continue;
      const RankPart *part = &parts->part[parts->of_row[row]];
      a[part->first + parts->row_place[row] + parts->column_place[q] * (size_t)part->rows] = values[e] * weight[q];
      scale[row] = fmax(scale[row], fabs(values[e]) * (weight[q] > 0 ? weight[q] : nominal[q]));
    }
  for (uint32_t i = first; i < first + jacobian->rows; i++) {
    const RankPart *part = &parts->part[parts->of_row[i]];
    double *entry = a + part->first + parts->row_place[i];
    scale[i] = scale[i] > 0 ? 1 / scale[i] : 1;
    for (int32_t q = 0; q < part->columns; q++) entry[(size_t)q * (size_t)part->rows] *= scale[i];
  }
}

bool strangeness_jacobian(const Strangeness *strangeness, const RankParts *parts, double t, const double *y,
                          const double *weight, double *a, double *scale) {
  Evaluator *evaluator = strangeness->evaluator;
  Arena scratch = arena_make(strangeness->heap);
  double *values = arena_array(&scratch, evaluator->jacobian->nonzeros, sizeof *values);
  memset(a, 0, parts->entries * sizeof *a);
  bool ok = strangeness_entries(strangeness, t, y, values);
  if (ok) fill_rows(evaluator->jacobian, values, weight, evaluator->nominal, parts, 0, a, scale);
  arena_free(&scratch);
  return ok;
}

/* Initial equations whose derivatives the array has. */
typedef struct InitialRows {
  uint32_t count;
  Workspace *rows, *entries;
  const Jacobian *jacobian;
} InitialRows;

/* The rows of the array come first, then initial equations. */
typedef struct PointSearch {
  const Strangeness *strangeness;
  double t;
  uint32_t rows, columns;
  InitialRows initial;
  int32_t *start, *row; /* the pattern of the rows, by columns */
  RankParts parts;      /* of it */
  bool fits;            /* none of them is too large; otherwise there is no matrix */
  double *weight, *matrix, *scale, *residual, *trial;
  double *values; /* entries of the array, or of the initial equations */
} PointSearch;

static InitialRows initial_rows(const Strangeness *strangeness) {
  Model *model = strangeness->problem.model;
  Heap *heap = strangeness->heap;
  const Layout *layout = &strangeness->code->layout;
  ExprVec rows = {0};
  for (uint32_t i = 0; i < model->initial_equations.count; i++)
    if (array_holds(strangeness->array, model->initial_equations.data[i].residual))
      vec_push(heap, &rows, model->initial_equations.data[i].residual);
  InitialRows initial = {.count = rows.count};
  if (!rows.count) return initial;
  uint32_t columns = strangeness->array->columns, *all = heap_array(heap, columns, sizeof *all);
  for (uint32_t q = 0; q < columns; q++) all[q] = q;
  initial.rows = workspace_new(heap, program_new(heap, model, layout, rows.data, rows.count));
  initial.jacobian = jacobian_new(heap, model, layout, rows.data, rows.count, all, columns);
  initial.entries = workspace_new(heap, initial.jacobian->program);
  heap_free(heap, all);
  vec_free(heap, &rows);
  return initial;
}

/* The matrix of all rows at y, and their scales. */
static bool linearize(PointSearch *search, const double *y, const double *weight) {
  Evaluator *evaluator = search->strangeness->evaluator;
  const InitialRows *initial = &search->initial;
  if (!search->fits ||
      !strangeness_jacobian(search->strangeness, &search->parts, search->t, y, weight, search->matrix, search->scale))
    return false;
  if (!initial->count) return true;
  Arena scratch = arena_make(search->strangeness->heap);
  double *values = arena_array(&scratch, initial->jacobian->nonzeros, sizeof *values);
  Point point = evaluator_point(evaluator, search->t, y);
  bool ok = workspace_run(initial->entries, &point, values) == EVAL_OK;
  if (ok)
    fill_rows(initial->jacobian, values, weight, evaluator->nominal, &search->parts, search->rows - initial->count,
              search->matrix, search->scale);
  arena_free(&scratch);
  return ok;
}

static bool evaluate_rows(void *context, const double *y, double *r) {
  PointSearch *search = context;
  Evaluator *evaluator = search->strangeness->evaluator;
  if (evaluator_rows(evaluator, search->t, y, r) != EVAL_OK) return false;
  if (!search->initial.count) return true;
  Point point = evaluator_point(evaluator, search->t, y);
  return workspace_run(search->initial.rows, &point, r + search->rows - search->initial.count) == EVAL_OK;
}

/* The norm of the scaled residual, which Gauss-Newton steps reduce. It is a sum over rows, so that one constant row does not hide
 * progress in the others. */
static double residual_norm(PointSearch *search, const double *y) {
  double norm = 0;
  if (!evaluate_rows(search, y, search->residual)) return HUGE_VAL;
  for (uint32_t i = 0; i < search->rows; i++) {
    double size = search->residual[i] * search->scale[i];
    norm += size * size;
  }
  return norm < HUGE_VAL ? sqrt(norm) : HUGE_VAL;
}

/* Singular values of a part, and the scaled residual along its left singular vectors. */
typedef struct PartStep {
  Svd svd;
  double *along;
} PartStep;

static double residual_along(const PointSearch *search, const RankPart *part, const Svd *svd, int32_t k) {
  const double *u = svd->u + (size_t)k * (size_t)part->rows;
  double along = 0;
  for (int32_t i = 0; i < part->rows; i++) along += u[i] * search->residual[part->row[i]] * search->scale[part->row[i]];
  return along;
}

static PartStep *decompose_parts(PointSearch *search, Arena *arena) {
  PartStep *step = arena_array(arena, search->parts.count, sizeof *step);
  for (uint32_t p = 0; p < search->parts.count; p++) {
    const RankPart *part = &search->parts.part[p];
    step[p].svd = dense_svd(search->matrix + part->first, part->rows, part->columns, STEP_TOLERANCE, arena);
    step[p].along = arena_array(arena, (size_t)part->rows, sizeof(double));
    for (int32_t k = 0; k < step[p].svd.rank; k++) step[p].along[k] = residual_along(search, part, &step[p].svd, k);
  }
  return step;
}

/* The Gauss-Newton step of least weighted norm from y, or the step of Levenberg and Marquardt with this damping; all of it or a
 * part, as `trial`. Returns the residual there. */
static double try_step(PointSearch *search, const PartStep *step, const double *y, double damping, double fraction,
                       double *trial) {
  memcpy(trial, y, search->columns * sizeof *trial);
  for (uint32_t p = 0; p < search->parts.count; p++) {
    const RankPart *part = &search->parts.part[p];
    const Svd *svd = &step[p].svd;
    for (int32_t k = 0; k < svd->rank; k++) {
      double along = fraction * step[p].along[k] * svd->s[k] / (svd->s[k] * svd->s[k] + damping);
      for (int32_t q = 0; q < part->columns; q++)
        trial[part->column[q]] -= svd->vt[k + q * part->columns] * along * search->weight[part->column[q]];
    }
  }
  return residual_norm(search, trial);
}

/* One step, halved until the residual falls. Rows that follow from each other on the solutions are almost dependent near them, and
 * Gauss-Newton steps become long. If the damping is the square of the residual, steps still converge quadratically (Yamashita,
 * Fukushima 2001). So this is used if the first steps do not converge fast. */
static bool improve(PointSearch *search, double *y, double *norm) {
  const double quick = 0.25; /* a residual that falls this far needs no second step */
  Arena scratch = arena_make(search->strangeness->heap);
  uint32_t n = search->columns;
  bool better = linearize(search, y, search->weight);
  *norm = better ? residual_norm(search, y) : HUGE_VAL;
  if (better && *norm > 0) {
    const PartStep *step = decompose_parts(search, &scratch);
    double *damped = arena_array(&scratch, n, sizeof *damped);
    double fraction = 1, next = try_step(search, step, y, 0, fraction, search->trial);
    double other = next <= quick * *norm ? HUGE_VAL : try_step(search, step, y, *norm * *norm, fraction, damped);
    if (other < *norm * (1 - fraction / 4)) memcpy(search->trial, damped, n * sizeof *damped), next = other;
    better = next < *norm * (1 - fraction / 4);
    for (int halving = 1; halving < HALVING_LIMIT && !better; halving++) {
      fraction /= 2;
      next = try_step(search, step, y, 0, fraction, search->trial);
      better = next < *norm * (1 - fraction / 4);
    }
    if (better) memcpy(y, search->trial, n * sizeof *y), *norm = next;
  }
  arena_free(&scratch);
  return better && *norm > 0;
}

/* Finds the columns of x in those rows that contain only x and hold at y: corrections for other rows should not change
 * them. */
static void find_settled(PointSearch *search, const double *y, bool *settled) {
  const Strangeness *strangeness = search->strangeness;
  if (!linearize(search, y, strangeness->evaluator->nominal) || !(residual_norm(search, y) < HUGE_VAL)) return;
  for (uint32_t i = 0; i < search->rows; i++) {
    const RankPart *part = &search->parts.part[search->parts.of_row[i]];
    const double *entry = search->matrix + part->first + search->parts.row_place[i];
    bool holds = fabs(search->residual[i]) * search->scale[i] <= CONSISTENT;
    for (int32_t q = 0; q < part->columns && holds; q++)
      holds = entry[q * part->rows] == 0 || strangeness_is_x(strangeness, part->column[q]);
    for (int32_t q = 0; q < part->columns && holds; q++) settled[part->column[q]] |= entry[q * part->rows] != 0;
  }
}

/* Which columns may not move, in addition to fixed start values. With the last value, all other columns move equally easily;
 * derivatives that move more easily may diverge. */
typedef enum Hold { HOLD_NOTHING_ALIKE, HOLD_NOTHING, HOLD_SETTLED, HOLD_GIVEN } Hold;

static const Variable *variable_of(const Strangeness *strangeness, uint32_t column) {
  const Model *model = strangeness->problem.model;
  uint32_t unknown = strangeness->problem.unknown[strangeness->array->column_unknown[column]];
  return &model->variables.data[model->unknowns.data[unknown]];
}

static bool is_given(const Strangeness *strangeness, uint32_t column) {
  return array_order(strangeness->array, column) == 0 && variable_of(strangeness, column)->start != EXPR_NONE;
}

static bool is_fixed(const Strangeness *strangeness, uint32_t column) {
  return is_given(strangeness, column) && variable_of(strangeness, column)->fixed == FIXED_TRUE;
}

/* Weights of the columns; 0 holds one. */
static void set_weights(PointSearch *search, Hold hold, const bool *settled) {
  const Strangeness *strangeness = search->strangeness;
  const Array *array = strangeness->array;
  for (uint32_t q = 0; q < array->columns; q++) {
    bool given = is_given(strangeness, q);
    bool known = strangeness_is_x(strangeness, q) &&
                 !isnan(strangeness_known(strangeness, array->column_unknown[q], array_order(array, q)));
    bool held =
        is_fixed(strangeness, q) || (hold == HOLD_GIVEN && (given || known)) || (hold == HOLD_SETTLED && settled[q]);
    double weight = !strangeness_is_x(strangeness, q) ? WEIGHT_DERIVATIVE : given ? WEIGHT_GIVEN : WEIGHT_DEFAULT;
    if (hold == HOLD_NOTHING_ALIKE) weight = WEIGHT_GIVEN;
    search->weight[q] = held ? 0 : weight * strangeness->evaluator->nominal[q];
  }
}

/* Do the rows hold at y, regardless of the weights? */
static bool rows_hold(PointSearch *search, const double *y) {
  const double *nominal = search->strangeness->evaluator->nominal;
  for (uint32_t q = 0; q < search->columns; q++) search->weight[q] = nominal[q] + fabs(y[q]);
  return linearize(search, y, search->weight) && residual_norm(search, y) <= HOLDS;
}

/* Appends to each column copies of its entries, or of their rows. */
static void add_entries(const Jacobian *jacobian, const int32_t *start, int32_t *next, const double *values,
                        double *entries) {
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      entries[start[q] + next[q]++] = values[e];
}

static bool evaluate_entries(void *context, const double *y, double *entries) {
  PointSearch *search = context;
  Evaluator *evaluator = search->strangeness->evaluator;
  const InitialRows *initial = &search->initial;
  Arena scratch = arena_make(search->strangeness->heap);
  int32_t *next = arena_array(&scratch, search->columns, sizeof *next);
  const Jacobian *jacobian = evaluator->jacobian;
  bool ok = strangeness_entries(search->strangeness, search->t, y, search->values);
  if (ok) add_entries(jacobian, search->start, next, search->values, entries);
  if (ok && initial->count) {
    Point point = evaluator_point(evaluator, search->t, y);
    ok = workspace_run(initial->entries, &point, search->values) == EVAL_OK;
    add_entries(initial->jacobian, search->start, next, search->values, entries);
  }
  arena_free(&scratch);
  return ok;
}

/* Appends the rows of a Jacobian to each column; they are the rows of the search from `first` on. */
static void add_pattern(PointSearch *search, const Jacobian *jacobian, uint32_t first, int32_t *next) {
  for (uint32_t q = 0; q < jacobian->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      search->row[search->start[q] + next[q]++] = jacobian->row_index[e] + (int32_t)first;
}

static void make_pattern(PointSearch *search, Arena *arena) {
  const Jacobian *array = search->strangeness->evaluator->jacobian, *initial = search->initial.jacobian;
  int32_t *next = arena_array(arena, search->columns, sizeof *next);
  search->start = arena_array(arena, (size_t)search->columns + 1, sizeof(int32_t));
  for (uint32_t q = 0; q <= search->columns; q++)
    search->start[q] = array->column_start[q] + (initial ? initial->column_start[q] : 0);
  search->row = arena_array(arena, (size_t)search->start[search->columns], sizeof(int32_t));
  search->values = arena_array(arena, (size_t)search->start[search->columns], sizeof(double));
  add_pattern(search, array, 0, next);
  if (initial) add_pattern(search, initial, search->rows - search->initial.count, next);
}

/* initial: where a run begins. */
static PointSearch search_make(const Strangeness *strangeness, double t, bool initial, Arena *arena) {
  const Array *array = strangeness->array;
  PointSearch search = {.strangeness = strangeness, .t = t, .rows = array->rows, .columns = array->columns};
  if (initial) search.initial = initial_rows(strangeness);
  search.rows += search.initial.count;
  search.weight = arena_array(arena, array->columns, sizeof(double));
  make_pattern(&search, arena);
  search.parts = rank_parts_connected(search.rows, search.columns, search.start, search.row, arena);
  search.fits = strangeness_fits(strangeness, &search.parts, initial ? strangeness->diags : NULL);
  search.matrix = arena_array(arena, search.fits ? search.parts.entries + 1 : 1, sizeof(double));
  search.scale = arena_array(arena, search.rows, sizeof(double));
  search.residual = arena_array(arena, search.rows, sizeof(double));
  search.trial = arena_array(arena, array->columns, sizeof(double));
  return search;
}

/* Moves by continuation from y to a point at which the rows hold: with many derivatives at once, Newton's method may diverge. */
static bool continue_to_point(PointSearch *search, double *y) {
  Heap *outer = search->strangeness->heap;
  void *ticket = NULL;
  Heap *heap = heap_within(outer, &ticket);
  Arena scratch = arena_make(heap);
  double *weights = arena_array(&scratch, search->columns, sizeof *weights);
  const double *nominal = search->strangeness->evaluator->nominal;
  NonlinearProblem problem = {.context = search,
                              .rows = (int32_t)search->rows,
                              .columns = (int32_t)search->columns,
                              .column_start = search->start,
                              .row_index = search->row,
                              .nominal = nominal,
                              .residual = evaluate_rows,
                              .jacobian = evaluate_entries};
  for (uint32_t q = 0; q < search->columns; q++) weights[q] = search->weight[q] / nominal[q];
  Nonlinear *nonlinear = nonlinear_new(heap, &problem);
  nonlinear_set_weights(nonlinear, weights);
  bool solved = nonlinear_continue(nonlinear, y).solved;
  arena_free(&scratch);
  heap_release(outer, ticket);
  return solved && rows_hold(search, y);
}

/* A remainder as small as the round-off of a round-off error is set to zero: otherwise a search that starts here again would
 * not treat it as zero. */
static void drop_traces(const Strangeness *strangeness) {
  static const double trace = 4 * DBL_EPSILON * DBL_EPSILON;
  for (uint32_t q = 0; q < strangeness->array->columns; q++)
    if (fabs(strangeness->y[q]) <= trace * strangeness->evaluator->nominal[q]) strangeness->y[q] = 0;
}

/* Equations that cannot hold together leave a part of the residual that no move removes: it is normal to all columns. */
static void note_conflict(PointSearch *search, const double *y, Diag *diag) {
  enum { SHOWN = 6 };
  const double least = 0.01; /* relative to the largest */
  const Strangeness *strangeness = search->strangeness;
  Model *model = strangeness->problem.model;
  Arena scratch = arena_make(strangeness->heap);
  double *left = arena_array(&scratch, search->rows, sizeof *left), norm = 0;
  uint32_t shown = 0;
  if (linearize(search, y, strangeness->evaluator->nominal) && isfinite(residual_norm(search, y))) {
    for (uint32_t p = 0; p < search->parts.count; p++) {
      const RankPart *part = &search->parts.part[p];
      Svd svd =
          dense_svd(search->matrix + part->first, part->rows, part->columns, strangeness->rank_tolerance, &scratch);
      for (int32_t k = svd.rank; k < part->rows; k++) {
        double along = residual_along(search, part, &svd, k);
        for (int32_t i = 0; i < part->rows; i++) left[part->row[i]] += svd.u[i + k * part->rows] * along;
      }
    }
    for (uint32_t i = 0; i < search->rows; i++) norm = fmax(norm, fabs(left[i]));
  }
  for (uint32_t i = 0; i < strangeness->array->rows && shown < SHOWN && norm > CONSISTENT; i++) {
    if (array_level(strangeness->array, i) || fabs(left[i]) < least * norm) continue;
    const Equation *equation =
        &model->equations.data[strangeness->problem.equation[strangeness->array->row_equation[i]]];
    diag_note(strangeness->diags, diag, equation->span, "%s `%s`",
              shown ? "together with" : "no values were found that satisfy",
              model_equation_text(model, equation, &strangeness->diags->arena));
    shown++;
  }
  arena_free(&scratch);
}

static void report_conflict(PointSearch *search, double norm) {
  const Strangeness *strangeness = search->strangeness;
  Diag *diag = diag_error(strangeness->diags, DIAG_INIT, (Span){0},
                          "no consistent initial values found for the equations and their derivatives up to order %d: "
                          "scaled residual %.3g; change the start values, or remove fixed=true",
                          strangeness->array->rows ? (int)strangeness->array->c[0] : 0, norm);
  note_conflict(search, strangeness->y, diag);
}

bool strangeness_find_point(Strangeness *strangeness, double t, bool may_move) {
  Arena scratch = arena_make(strangeness->heap);
  const Array *array = strangeness->array;
  PointSearch search = search_make(strangeness, t, true, &scratch);
  double *before = arena_array(&scratch, array->columns, sizeof *before), norm = HUGE_VAL;
  bool *settled = arena_array(&scratch, array->columns, sizeof *settled), holds = false;
  memcpy(before, strangeness->y, array->columns * sizeof *before);
  find_settled(&search, before, settled);
  for (int hold = HOLD_GIVEN; hold >= (may_move ? HOLD_NOTHING_ALIKE : HOLD_GIVEN) && search.fits && !holds; hold--) {
    memcpy(strangeness->y, before, array->columns * sizeof *before);
    set_weights(&search, (Hold)hold, settled);
    for (int k = 0; k < ITERATION_LIMIT && improve(&search, strangeness->y, &norm); k++) continue;
    holds = norm <= CONSISTENT && rows_hold(&search, strangeness->y);
    if (holds) break;
    memcpy(strangeness->y, before, array->columns * sizeof *before);
    set_weights(&search, (Hold)hold, settled);
    holds = continue_to_point(&search, strangeness->y);
  }
  if (holds) drop_traces(strangeness);
  if (!holds && may_move && search.fits) report_conflict(&search, norm);
  arena_free(&scratch);
  return holds;
}
void strangeness_refresh(const Strangeness *strangeness, double t, double *y) {
  Arena scratch = arena_make(strangeness->heap);
  uint32_t columns = strangeness->array->columns;
  PointSearch search = search_make(strangeness, t, false, &scratch);
  double *fresh = arena_array(&scratch, columns, sizeof *fresh), norm = HUGE_VAL, before = HUGE_VAL;
  for (uint32_t q = 0; q < columns; q++) {
    bool low = strangeness_is_x(strangeness, q);
    fresh[q] = low || strangeness_is_rate(strangeness, q) ? y[q] : 0;
    search.weight[q] = low ? 0 : strangeness->evaluator->nominal[q];
  }
  if (linearize(&search, y, strangeness->evaluator->nominal)) before = residual_norm(&search, y);
  for (int k = 0; k < ITERATION_LIMIT && improve(&search, fresh, &norm); k++) continue;
  if (norm <= fmax(10 * before, CONSISTENT)) memcpy(y, fresh, columns * sizeof *y);
  arena_free(&scratch);
}

void strangeness_perturb(const Strangeness *strangeness, double *y) {
  uint32_t seed = 1;
  for (uint32_t q = 0; q < strangeness->array->columns; q++) {
    seed = seed * 1664525u + 1013904223u;
    if (strangeness_is_x(strangeness, q))
      y[q] += AWAY * (strangeness->evaluator->nominal[q] + fabs(y[q])) * (0.5 + (seed >> 8) * 0x1p-24);
  }
}

/* Moves y, a consistent point, towards `to` as far as the linear part of the rows allows and the rows are almost linear: so it
 * stays on its branch of the solutions. */
static void move_along(PointSearch *search, const double *to, double *y) {
  const double straight = 0.1; /* growth of the residual relative to the move */
  Arena scratch = arena_make(search->strangeness->heap);
  uint32_t n = search->columns;
  double *move = arena_array(&scratch, n, sizeof *move), size = 0;
  for (uint32_t q = 0; q < n; q++) move[q] = search->weight[q] > 0 ? (to[q] - y[q]) / search->weight[q] : 0;
  bool is_linear = linearize(search, y, search->weight);
  for (uint32_t p = 0; p < search->parts.count && is_linear; p++) {
    const RankPart *part = &search->parts.part[p];
    Svd svd = dense_svd(search->matrix + part->first, part->rows, part->columns, STEP_TOLERANCE, &scratch);
    for (int32_t k = 0; k < svd.rank; k++) {
      double along = 0;
      for (int32_t q = 0; q < part->columns; q++) along += svd.vt[k + q * part->columns] * move[part->column[q]];
      for (int32_t q = 0; q < part->columns; q++) move[part->column[q]] -= svd.vt[k + q * part->columns] * along;
    }
  }
  for (uint32_t q = 0; q < n; q++) size = fmax(size, fabs(move[q]));
  double fraction = 1, left = HUGE_VAL, before = residual_norm(search, y);
  for (int halving = 0; halving < HALVING_LIMIT && left > before + straight * fraction * size; halving++) {
    fraction = ldexp(1, -halving);
    for (uint32_t q = 0; q < n; q++) search->trial[q] = y[q] + fraction * move[q] * search->weight[q];
    left = residual_norm(search, search->trial);
  }
  memcpy(y, search->trial, n * sizeof *y);
  arena_free(&scratch);
}

/* Moves y to a consistent point at some distance from it. `derivative` is the factor by which derivatives move more
 * easily than other columns. */
static bool move_off(const Strangeness *strangeness, Generic generic, double derivative, double t, double *y) {
  Arena scratch = arena_make(strangeness->heap);
  PointSearch search = search_make(strangeness, t, false, &scratch);
  double norm = HUGE_VAL, *to = arena_copy_array(&scratch, y, search.columns, sizeof *to);
  strangeness_perturb(strangeness, to);
  for (uint32_t q = 0; q < search.columns; q++) {
    search.weight[q] = strangeness->evaluator->nominal[q];
    if (!strangeness_is_x(strangeness, q)) search.weight[q] *= derivative;
    if (generic == GENERIC_FIXED && is_fixed(strangeness, q)) search.weight[q] = 0;
  }
  if (generic == GENERIC_BRANCH) move_along(&search, to, y);
  else memcpy(y, to, search.columns * sizeof *y);
  for (int k = 0; k < ITERATION_LIMIT && improve(&search, y, &norm); k++) continue;
  arena_free(&scratch);
  return norm <= CONSISTENT;
}

bool strangeness_generic(const Strangeness *strangeness, Generic generic, double *t, double *y) {
  size_t columns = strangeness->array->columns;
  double *from = heap_copy(strangeness->heap, y, columns, sizeof *from);
  *t += TIME_AWAY * (1 + fabs(*t));
  bool found = move_off(strangeness, generic, WEIGHT_DERIVATIVE, *t, y);
  if (!found) memcpy(y, from, columns * sizeof *y);
  found = found || move_off(strangeness, generic, 1, *t, y);
  heap_free(strangeness->heap, from);
  return found;
}
