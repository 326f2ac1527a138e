/* strange_select: ranks of the derivative array at a consistent point, and the rows, solved columns and
 * states that they select (strangeness.h). */
#include "reduce/strangeness.h"

#include <math.h>
#include <string.h>

enum { EQUILIBRATION_TURNS = 8 };

static const double LEVEL_WEIGHT = 0.1; /* of rows of one level over those of the level below */
static const double SUPPORT = 1e-9;     /* a coefficient of a combination of unit norm that is not zero */
static const double NEGLIGIBLE = 1e-9;  /* entries over the largest of their line, for its scale */

/* ---- ranks ---- */

/* The columns wanted (x or not) of the scaled Jacobian, packed. */
static double *part_of(const Strangeness *strangeness, const double *matrix, bool x, int32_t *columns, uint32_t *list,
                       Arena *arena) {
  const Array *array = strangeness->array;
  double *part = arena_array(arena, (size_t)array->rows * array->columns + 1, sizeof *part);
  *columns = 0;
  for (uint32_t q = 0; q < array->columns; q++) {
    if (strangeness_is_x(strangeness, q) != x) continue;
    memcpy(part + (size_t)*columns * array->rows, matrix + (size_t)q * array->rows, array->rows * sizeof *part);
    list[(*columns)++] = q;
  }
  return part;
}

/* 1 / sqrt(smallest * largest) of the entries that are not negligible; 1 for a line of zeros. */
static double line_factor(const double *first, size_t stride, uint32_t count) {
  double largest = 0, smallest;
  for (uint32_t k = 0; k < count; k++) largest = fmax(largest, fabs(first[k * stride]));
  if (largest == 0) return 1;
  smallest = largest;
  for (uint32_t k = 0; k < count; k++)
    if (fabs(first[k * stride]) > NEGLIGIBLE * largest) smallest = fmin(smallest, fabs(first[k * stride]));
  return 1 / sqrt(smallest * largest);
}

static void scale_line(double *first, size_t stride, uint32_t count, double factor) {
  for (uint32_t k = 0; k < count; k++) first[k * stride] *= factor;
}

/* Rows and columns by turns to geometric means of 1 (Curtis, Reid 1972, in its simplest form): singular
 * values of a badly scaled matrix, such as that of masses of 1e-7 beside forces, say little. */
static void equilibrate(Ranks *ranks, uint32_t m, uint32_t n) {
  for (uint32_t q = 0; q < n; q++) ranks->factor[q] = 1;
  for (int turn = 0; turn < EQUILIBRATION_TURNS; turn++) {
    for (uint32_t i = 0; i < m; i++) scale_line(ranks->matrix + i, m, n, line_factor(ranks->matrix + i, m, n));
    for (uint32_t q = 0; q < n; q++) {
      double *column = ranks->matrix + (size_t)q * m, factor = line_factor(column, 1, m);
      scale_line(column, 1, m, factor);
      ranks->factor[q] *= factor;
    }
  }
  for (uint32_t i = 0; i < m; i++) {
    double largest = 0;
    for (uint32_t q = 0; q < n; q++) largest = fmax(largest, fabs(ranks->matrix[i + (size_t)q * m]));
    scale_line(ranks->matrix + i, m, n, largest > 0 ? 1 / largest : 1);
  }
}

bool strangeness_ranks(const Strangeness *strangeness, double t, const double *y, Arena *arena, Ranks *ranks) {
  const Array *array = strangeness->array;
  size_t size = (size_t)array->rows * array->columns;
  ranks->matrix = arena_array(arena, size + 1, sizeof(double));
  ranks->factor = arena_array(arena, array->columns, sizeof(double));
  double *scale = arena_array(arena, array->rows, sizeof(double));
  ranks->x_list = arena_array(arena, array->columns, sizeof(uint32_t));
  ranks->w_list = arena_array(arena, array->columns, sizeof(uint32_t));
  if (!strangeness_jacobian(strangeness, t, y, strangeness->evaluator->nominal, ranks->matrix, scale)) return false;
  equilibrate(ranks, array->rows, array->columns);
  double *copy = arena_array(arena, size + 1, sizeof *copy);
  memcpy(copy, ranks->matrix, size * sizeof *copy);
  Svd all = dense_values(copy, (int32_t)array->rows, (int32_t)array->columns, strangeness->rank_tolerance, arena);
  ranks->all = all.rank;
  ranks->values = all.s;
  double *w = part_of(strangeness, ranks->matrix, false, &ranks->w_count, ranks->w_list, arena);
  ranks->w = dense_svd(w, (int32_t)array->rows, ranks->w_count, strangeness->rank_tolerance, arena);
  ranks->high = ranks->w.rank;
  part_of(strangeness, ranks->matrix, true, &ranks->x_count, ranks->x_list, arena);
  return true;
}

/* The rank of some columns of the scaled Jacobian in the rows up to a level. */
static int32_t rank_up_to(const Strangeness *strangeness, const Ranks *ranks, int32_t level, bool x_too, Arena *arena) {
  const Array *array = strangeness->array;
  double *part = arena_array(arena, (size_t)array->rows * array->columns + 1, sizeof *part);
  int32_t m = 0, n = 0;
  for (uint32_t i = 0; i < array->rows; i++) m += (int32_t)array_level(array, i) <= level;
  for (uint32_t q = 0; q < array->columns; q++) {
    if (!x_too && strangeness_is_x(strangeness, q)) continue;
    double *to = part + (size_t)n++ * (size_t)m;
    for (uint32_t i = 0; i < array->rows; i++)
      if ((int32_t)array_level(array, i) <= level) *to++ = ranks->matrix[i + (size_t)q * array->rows];
  }
  return dense_values(part, m, n, strangeness->rank_tolerance, arena).rank;
}

int32_t strangeness_constraints(const Strangeness *strangeness, const Ranks *ranks, int32_t level) {
  Arena scratch = arena_make(strangeness->heap);
  int32_t count =
      rank_up_to(strangeness, ranks, level, true, &scratch) - rank_up_to(strangeness, ranks, level, false, &scratch);
  arena_free(&scratch);
  return count;
}

/* A null vector of F_w has an entry there. They are listed in the order of a pivoted QR. */
int32_t strangeness_open(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, uint32_t *unknowns) {
  int32_t null = ranks->w_count - ranks->high, n = 0, open = 0;
  uint32_t *candidates = arena_array(arena, strangeness->problem.unknowns, sizeof *candidates);
  double *part = arena_array(arena, (size_t)null * strangeness->problem.unknowns + 1, sizeof *part);
  for (int32_t q = 0; q < ranks->w_count; q++) {
    if (!strangeness_is_rate(strangeness, ranks->w_list[q])) continue;
    for (int32_t k = 0; k < null; k++) part[k + n * null] = ranks->w.vt[ranks->high + k + q * ranks->w_count];
    candidates[n++] = strangeness->array->column_unknown[ranks->w_list[q]];
  }
  double *copy = arena_array(arena, (size_t)null * (size_t)n + 1, sizeof *copy);
  memcpy(copy, part, (size_t)(null * n) * sizeof *copy);
  Svd svd = dense_svd(copy, null, n, strangeness->rank_tolerance, arena);
  while (open < svd.rank && svd.s[open] > 1e-6) open++;
  int32_t *pivot = dense_pivots(part, null, n, NULL, arena);
  for (int32_t k = 0; k < open; k++) unknowns[k] = candidates[pivot[k]];
  return open;
}

/* ---- selection ---- */

static bool has_successor(const Array *array, uint32_t column) {
  return (int32_t)array_order(array, column) < array->d[array->column_unknown[column]];
}

bool strangeness_determines_last(const Strangeness *strangeness, const Ranks *ranks, Arena *arena) {
  const Array *array = strangeness->array;
  double *part = arena_array(arena, (size_t)array->rows * array->columns + 1, sizeof *part);
  int32_t count = 0;
  for (uint32_t q = 0; q < array->columns; q++) {
    if (strangeness_is_x(strangeness, q) && has_successor(array, q)) continue;
    memcpy(part + (size_t)count++ * array->rows, ranks->matrix + (size_t)q * array->rows, array->rows * sizeof *part);
  }
  return dense_values(part, (int32_t)array->rows, count, strangeness->rank_tolerance, arena).rank == count;
}

/* The a columns of x that the constraints Z2^T F_x determine; those without a derivative in the array cannot
 * be states. */
static void choose_x(Strangeness *strangeness, const Ranks *ranks, Arena *arena, bool *solved) {
  int32_t m = (int32_t)strangeness->array->rows, left = m - ranks->high;
  double *constraints = arena_array(arena, (size_t)left * (size_t)ranks->x_count + 1, sizeof *constraints);
  for (int32_t q = 0; q < ranks->x_count; q++)
    for (int32_t k = 0; k < left; k++) {
      double sum = 0;
      const double *column = ranks->matrix + (size_t)ranks->x_list[q] * (size_t)m,
                   *z = ranks->w.u + (size_t)(ranks->high + k) * (size_t)m;
      for (int32_t i = 0; i < m; i++) sum += z[i] * column[i];
      constraints[k + q * left] = sum / ranks->factor[ranks->x_list[q]];
    }
  bool *before = arena_array(arena, (size_t)ranks->x_count, sizeof *before);
  for (int32_t q = 0; q < ranks->x_count; q++) before[q] = !has_successor(strangeness->array, ranks->x_list[q]);
  int32_t *pivot = dense_pivots(constraints, left, ranks->x_count, before, arena);
  for (int32_t k = 0; k < strangeness->solved; k++) solved[ranks->x_list[pivot[k]]] = true;
}

/* The columns of w that are solved for: x' first, then as many as the rank asks for. */
static void choose_w(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, bool *solved) {
  int32_t count;
  uint32_t *list = arena_array(arena, strangeness->array->columns, sizeof *list);
  double *w = part_of(strangeness, ranks->matrix, false, &count, list, arena);
  bool *before = arena_array(arena, (size_t)count + 1, sizeof *before);
  for (int32_t q = 0; q < count; q++) before[q] = strangeness_is_rate(strangeness, list[q]);
  int32_t *pivot = dense_pivots(w, (int32_t)strangeness->array->rows, count, before, arena);
  for (int32_t k = 0; k < ranks->high; k++) solved[list[pivot[k]]] = true;
}

/* Independent rows, low levels first as far as that is possible: pivots of the transposed Jacobian. Returns
 * their number. */
static int32_t choose_rows(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, int32_t *row) {
  const Array *array = strangeness->array;
  int32_t m = (int32_t)array->rows, n = (int32_t)array->columns, count = 0;
  double *transposed = arena_array(arena, (size_t)m * (size_t)n + 1, sizeof *transposed);
  for (int32_t i = 0; i < m; i++) {
    double weight = pow(LEVEL_WEIGHT, array_level(array, (uint32_t)i));
    for (int32_t q = 0; q < n; q++) transposed[q + i * n] = ranks->matrix[i + q * m] * weight;
  }
  int32_t *pivot = ranks->all < m ? dense_pivots(transposed, n, m, NULL, arena) : NULL;
  for (int32_t i = 0; i < m; i++) row[i] = pivot ? -1 : 0;
  for (int32_t k = 0; k < ranks->all && pivot; k++) row[pivot[k]] = 0;
  for (int32_t i = 0; i < m; i++)
    if (row[i] == 0) row[i] = count++;
  return count;
}

void strangeness_needed(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, bool *needed) {
  const Array *array = strangeness->array;
  int32_t *row = arena_array(arena, array->rows, sizeof *row), columns = 0;
  int32_t rows = choose_rows(strangeness, ranks, arena, row);
  double *high = arena_array(arena, (size_t)rows * array->columns + 1, sizeof *high);
  for (uint32_t q = 0; q < array->columns; q++) {
    if (strangeness_is_x(strangeness, q) || strangeness_is_rate(strangeness, q)) continue;
    for (uint32_t i = 0; i < array->rows; i++)
      if (row[i] >= 0) high[row[i] + columns * rows] = ranks->matrix[i + (size_t)q * array->rows];
    columns++;
  }
  Svd svd = dense_svd(high, rows, columns, strangeness->rank_tolerance, arena);
  for (uint32_t i = 0; i < array->rows; i++) {
    double size = 0;
    for (int32_t k = svd.rank; k < rows && row[i] >= 0; k++) size = fmax(size, fabs(svd.u[row[i] + k * rows]));
    needed[i] = size > SUPPORT;
  }
}

bool strangeness_select(Strangeness *strangeness, double t, const double *y) {
  Arena scratch = arena_make(strangeness->heap);
  Ranks ranks;
  uint32_t n = strangeness->array->columns;
  bool ok = strangeness_ranks(strangeness, t, y, &scratch, &ranks) && ranks.all - ranks.high == strangeness->solved;
  if (ok) {
    bool *solved = arena_array(&scratch, n, sizeof *solved);
    choose_x(strangeness, &ranks, &scratch, solved);
    choose_w(strangeness, &ranks, &scratch, solved);
    strangeness->rows = choose_rows(strangeness, &ranks, &scratch, strangeness->row);
    strangeness->links = 0;
    for (uint32_t q = 0; q < n; q++) {
      bool state = strangeness_is_x(strangeness, q) && !solved[q];
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

/* ---- free unknowns ---- */

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

bool freedom_find(const Strangeness *strangeness, double t, const double *y, const int32_t *order, const bool *is_leaf,
                  Freedom *freedom, Arena *arena) {
  const Problem *problem = &strangeness->problem;
  uint32_t n = problem->equations, count = 0;
  uint32_t *column = arena_array(arena, problem->unknowns, sizeof *column);
  for (uint32_t j = 0; j < problem->unknowns; j++)
    if (is_leaf[j]) column[count++] = strangeness->array->column_start[j] + (uint32_t)order[j];
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
    freedom->leaf[k] = dag_variable(problem->model->dag, problem->unknown[unknown], (uint32_t)order[unknown]);
    freedom->target[k] = order[unknown] ? dag_constant(problem->model->dag, 0) : start_of(problem, unknown);
  }
  return true;
}
