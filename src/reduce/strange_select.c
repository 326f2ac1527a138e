/* strange_select: ranks of the derivative array at a consistent point, and the rows, solved columns and
 * states that they select (strangeness.h). */
#include "reduce/strangeness.h"

#include <math.h>
#include <string.h>

enum { EQUILIBRATION_TURNS = 8 };

static const double LEVEL_WEIGHT =
    0.1; /* weight of the rows of a level, relative to the weight of the rows of the level below */
static const double SUPPORT = 1e-9; /* a larger coefficient of a combination of unit norm is not zero */
static const double NEGLIGIBLE =
    1e-9; /* smaller entries, relative to the largest entry of their line, do not count for the scale of the line */

/* ---- ranks ---- */

static const double *column_of(const PartRanks *ranks, int32_t column) {
  return ranks->matrix + (size_t)column * (size_t)ranks->part->rows;
}

static bool is_x(const Strangeness *strangeness, const PartRanks *ranks, int32_t column) {
  return strangeness_is_x(strangeness, ranks->part->column[column]);
}

/* The columns wanted (x or not) of the scaled Jacobian, packed. */
static double *part_of(const Strangeness *strangeness, const PartRanks *ranks, bool x, int32_t *columns, int32_t *list,
                       Arena *arena) {
  size_t rows = (size_t)ranks->part->rows;
  double *part = arena_array(arena, rows * (size_t)ranks->part->columns + 1, sizeof *part);
  *columns = 0;
  for (int32_t q = 0; q < ranks->part->columns; q++) {
    if (is_x(strangeness, ranks, q) != x) continue;
    memcpy(part + (size_t)*columns * rows, column_of(ranks, q), rows * sizeof *part);
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

/* `all` keeps the product of the factors so far. */
static void scale_line(double *first, size_t stride, uint32_t count, double factor, double *all) {
  for (uint32_t k = 0; k < count; k++) first[k * stride] *= factor;
  *all *= factor;
}

/* Scales rows and columns in turn to geometric means of 1 (Curtis, Reid 1972, in its simplest form). The singular values of a badly
 * scaled matrix, such as one with masses of 1e-7 and forces of 1, do not show its rank. */
static void equilibrate(PartRanks *ranks, uint32_t m, uint32_t n) {
  for (uint32_t q = 0; q < n; q++) ranks->factor[q] = 1;
  for (int turn = 0; turn < EQUILIBRATION_TURNS; turn++) {
    for (uint32_t i = 0; i < m; i++)
      scale_line(ranks->matrix + i, m, n, line_factor(ranks->matrix + i, m, n), &ranks->scale[i]);
    for (uint32_t q = 0; q < n; q++) {
      double *column = ranks->matrix + (size_t)q * m;
      scale_line(column, 1, m, line_factor(column, 1, m), &ranks->factor[q]);
    }
  }
  for (uint32_t i = 0; i < m; i++) {
    double largest = 0;
    for (uint32_t q = 0; q < n; q++) largest = fmax(largest, fabs(ranks->matrix[i + (size_t)q * m]));
    scale_line(ranks->matrix + i, m, n, largest > 0 ? 1 / largest : 1, &ranks->scale[i]);
  }
}

static PartRanks part_ranks(const Strangeness *strangeness, const RankPart *part, double *matrix, const double *scale,
                            Arena *arena) {
  size_t size = (size_t)part->rows * (size_t)part->columns, columns = (size_t)part->columns;
  PartRanks ranks = {.part = part, .matrix = matrix + part->first};
  ranks.factor = arena_array(arena, columns, sizeof(double));
  ranks.scale = arena_array(arena, (size_t)part->rows, sizeof(double));
  for (int32_t i = 0; i < part->rows; i++) ranks.scale[i] = scale[part->row[i]];
  ranks.x_list = arena_array(arena, columns, sizeof(int32_t));
  ranks.w_list = arena_array(arena, columns, sizeof(int32_t));
  equilibrate(&ranks, (uint32_t)part->rows, (uint32_t)part->columns);
  double *copy = arena_copy_array(arena, ranks.matrix, size, sizeof *copy);
  Svd all = dense_values(copy, part->rows, part->columns, strangeness->rank_tolerance, arena);
  ranks.all = all.rank;
  ranks.values = all.s;
  double *w = part_of(strangeness, &ranks, false, &ranks.w_count, ranks.w_list, arena);
  ranks.w = dense_svd(w, part->rows, ranks.w_count, strangeness->rank_tolerance, arena);
  ranks.high = ranks.w.rank;
  part_of(strangeness, &ranks, true, &ranks.x_count, ranks.x_list, arena);
  return ranks;
}

bool strangeness_ranks(const Strangeness *strangeness, double t, const double *y, Arena *arena, Ranks *ranks) {
  const RankParts *parts = &strangeness->parts;
  double *matrix = arena_array(arena, parts->entries + 1, sizeof *matrix);
  double *scale = arena_array(arena, strangeness->array->rows, sizeof *scale);
  *ranks = (Ranks){.count = parts->count, .part = arena_array(arena, parts->count, sizeof *ranks->part)};
  if (!strangeness_jacobian(strangeness, parts, t, y, strangeness->evaluator->nominal, matrix, scale)) return false;
  for (uint32_t p = 0; p < parts->count; p++) {
    ranks->part[p] = part_ranks(strangeness, &parts->part[p], matrix, scale, arena);
    ranks->all += ranks->part[p].all;
    ranks->high += ranks->part[p].high;
    ranks->w_count += ranks->part[p].w_count;
  }
  return true;
}

/* The rank of some columns of the scaled Jacobian in the rows up to a level. */
static int32_t rank_up_to(const Strangeness *strangeness, const PartRanks *ranks, int32_t level, bool x_too,
                          Arena *arena) {
  const RankPart *part = ranks->part;
  double *wanted = arena_array(arena, (size_t)part->rows * (size_t)part->columns + 1, sizeof *wanted), *to = wanted;
  int32_t m = 0, n = 0;
  for (int32_t i = 0; i < part->rows; i++) m += (int32_t)array_level(strangeness->array, part->row[i]) <= level;
  for (int32_t q = 0; q < part->columns; q++) {
    if (!x_too && is_x(strangeness, ranks, q)) continue;
    for (int32_t i = 0; i < part->rows; i++)
      if ((int32_t)array_level(strangeness->array, part->row[i]) <= level) *to++ = column_of(ranks, q)[i];
    n++;
  }
  return dense_values(wanted, m, n, strangeness->rank_tolerance, arena).rank;
}

int32_t strangeness_constraints(const Strangeness *strangeness, const Ranks *ranks, int32_t level) {
  Arena scratch = arena_make(strangeness->heap);
  int32_t count = 0;
  for (uint32_t p = 0; p < ranks->count; p++)
    count += rank_up_to(strangeness, &ranks->part[p], level, true, &scratch) -
             rank_up_to(strangeness, &ranks->part[p], level, false, &scratch);
  arena_free(&scratch);
  return count;
}

/* The product of the vector z with the rows of later parts, in this column. */
static double later_rows(const Strangeness *strangeness, const Ranks *ranks, const double *values, uint32_t column,
                         const double *z) {
  const RankParts *parts = &strangeness->parts;
  const Jacobian *jacobian = strangeness->evaluator->jacobian;
  uint32_t own = parts->of_column[column];
  double sum = 0;
  for (int32_t e = jacobian->column_start[column]; e < jacobian->column_start[column + 1]; e++) {
    uint32_t row = (uint32_t)jacobian->row_index[e], part = parts->of_row[row];
    if (part != own) sum += z[row] * ranks->part[part].scale[parts->row_place[row]] * values[e];
  }
  return sum * strangeness->evaluator->nominal[column] * ranks->part[own].factor[parts->column_place[column]];
}

/* The rows of a part in z^T F_w = 0, if the rows of later parts are given: the solution of least norm plus any null vector. */
static void extend_null_vector(const Strangeness *strangeness, const Ranks *ranks, uint32_t p, const double *values,
                               Arena *arena, uint32_t *seed, double *z) {
  const PartRanks *part = &ranks->part[p];
  int32_t m = part->part->rows, n = part->w_count;
  double *right = arena_array(arena, (size_t)n, sizeof *right);
  for (int32_t q = 0; q < n; q++)
    right[q] = -later_rows(strangeness, ranks, values, part->part->column[part->w_list[q]], z);
  for (int32_t k = 0; k < m; k++) {
    double along = 0;
    *seed = *seed * 1664525u + 1013904223u;
    for (int32_t q = 0; q < n && k < part->high; q++) along += part->w.vt[k + q * n] * right[q] / part->w.s[k];
    if (k >= part->high) along = 0.5 + (*seed >> 8) * 0x1p-24;
    for (int32_t i = 0; i < m; i++) z[part->part->row[i]] += along * part->w.u[i + k * m];
  }
}

/* z^T F_w = 0 for all combinations of rows that are constraints on x. A random sum of these combinations has an entry wherever
 * any of them has one. */
int32_t strangeness_constraint_level(const Strangeness *strangeness, const Ranks *ranks, double t, const double *y) {
  Arena scratch = arena_make(strangeness->heap);
  double *values = arena_array(&scratch, strangeness->evaluator->jacobian->nonzeros, sizeof *values);
  double *z = arena_array(&scratch, strangeness->array->rows, sizeof *z);
  uint32_t seed = 1;
  int32_t highest = 0;
  bool ok = strangeness_entries(strangeness, t, y, values);
  for (uint32_t p = ranks->count; p-- > 0 && ok;) {
    const RankPart *part = ranks->part[p].part;
    double largest = 0;
    extend_null_vector(strangeness, ranks, p, values, &scratch, &seed, z);
    for (int32_t i = 0; i < part->rows; i++) largest = fmax(largest, fabs(z[part->row[i]]));
    for (int32_t i = 0; i < part->rows; i++) {
      int32_t level = (int32_t)array_level(strangeness->array, part->row[i]);
      if (fabs(z[part->row[i]]) > SUPPORT * largest && level > highest) highest = level;
    }
  }
  arena_free(&scratch);
  return highest;
}

/* The columns where a null vector of F_w has an entry, listed in the order of a pivoted QR. */
static int32_t part_open(const Strangeness *strangeness, const PartRanks *ranks, Arena *arena, uint32_t *unknowns) {
  int32_t null = ranks->w_count - ranks->high, n = 0, open = 0;
  if (!null) return 0;
  uint32_t *candidates = arena_array(arena, (size_t)ranks->w_count, sizeof *candidates);
  double *part = arena_array(arena, (size_t)null * (size_t)ranks->w_count + 1, sizeof *part);
  for (int32_t q = 0; q < ranks->w_count; q++) {
    uint32_t column = ranks->part->column[ranks->w_list[q]];
    if (!strangeness_is_rate(strangeness, column)) continue;
    for (int32_t k = 0; k < null; k++) part[k + n * null] = ranks->w.vt[ranks->high + k + q * ranks->w_count];
    candidates[n++] = strangeness->array->column_unknown[column];
  }
  double *copy = arena_copy_array(arena, part, (size_t)null * (size_t)n, sizeof *copy);
  Svd svd = dense_svd(copy, null, n, strangeness->rank_tolerance, arena);
  while (open < svd.rank && svd.s[open] > 1e-6) open++;
  int32_t *pivot = dense_pivots(part, null, n, NULL, arena);
  for (int32_t k = 0; k < open; k++) unknowns[k] = candidates[pivot[k]];
  return open;
}

int32_t strangeness_open(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, uint32_t *unknowns) {
  int32_t open = 0;
  for (uint32_t p = 0; p < ranks->count; p++) open += part_open(strangeness, &ranks->part[p], arena, unknowns + open);
  return open;
}

/* ---- selection ---- */

static bool has_successor(const Array *array, uint32_t column) {
  return (int32_t)array_order(array, column) < array->d[array->column_unknown[column]];
}

static bool determines_last(const Strangeness *strangeness, const PartRanks *ranks, Arena *arena) {
  size_t rows = (size_t)ranks->part->rows;
  double *part = arena_array(arena, rows * (size_t)ranks->part->columns + 1, sizeof *part);
  int32_t count = 0;
  for (int32_t q = 0; q < ranks->part->columns; q++) {
    if (is_x(strangeness, ranks, q) && has_successor(strangeness->array, ranks->part->column[q])) continue;
    memcpy(part + (size_t)count++ * rows, column_of(ranks, q), rows * sizeof *part);
  }
  return dense_values(part, (int32_t)rows, count, strangeness->rank_tolerance, arena).rank == count;
}

bool strangeness_determines_last(const Strangeness *strangeness, const Ranks *ranks, Arena *arena) {
  for (uint32_t p = 0; p < ranks->count; p++)
    if (!determines_last(strangeness, &ranks->part[p], arena)) return false;
  return true;
}

/* The columns of x that the constraints Z2^T F_x determine; those without a derivative in the array cannot
 * be states. */
static void choose_x(const Strangeness *strangeness, const PartRanks *ranks, Arena *arena, bool *solved) {
  const uint32_t *columns = ranks->part->column;
  int32_t m = ranks->part->rows, left = m - ranks->high;
  double *constraints = arena_array(arena, (size_t)left * (size_t)ranks->x_count + 1, sizeof *constraints);
  for (int32_t q = 0; q < ranks->x_count; q++)
    for (int32_t k = 0; k < left; k++) {
      double sum = 0;
      const double *column = column_of(ranks, ranks->x_list[q]),
                   *z = ranks->w.u + (size_t)(ranks->high + k) * (size_t)m;
      for (int32_t i = 0; i < m; i++) sum += z[i] * column[i];
      constraints[k + q * left] = sum / ranks->factor[ranks->x_list[q]];
    }
  bool *before = arena_array(arena, (size_t)ranks->x_count, sizeof *before);
  for (int32_t q = 0; q < ranks->x_count; q++)
    before[q] = !has_successor(strangeness->array, columns[ranks->x_list[q]]);
  int32_t *pivot = dense_pivots(constraints, left, ranks->x_count, before, arena);
  for (int32_t k = 0; k < ranks->all - ranks->high; k++) solved[columns[ranks->x_list[pivot[k]]]] = true;
}

/* The columns of w that are solved for: x' first, then as many as the rank requires. */
static void choose_w(const Strangeness *strangeness, const PartRanks *ranks, Arena *arena, bool *solved) {
  const uint32_t *columns = ranks->part->column;
  int32_t count, *list = arena_array(arena, (size_t)ranks->part->columns, sizeof *list);
  double *w = part_of(strangeness, ranks, false, &count, list, arena);
  bool *before = arena_array(arena, (size_t)count + 1, sizeof *before);
  for (int32_t q = 0; q < count; q++) before[q] = strangeness_is_rate(strangeness, columns[list[q]]);
  int32_t *pivot = dense_pivots(w, ranks->part->rows, count, before, arena);
  for (int32_t k = 0; k < ranks->high; k++) solved[columns[list[pivot[k]]]] = true;
}

/* Chooses independent rows, low levels first as far as possible: pivots of the transposed Jacobian. */
static void choose_part_rows(const Strangeness *strangeness, const PartRanks *ranks, Arena *arena, bool *chosen) {
  int32_t m = ranks->part->rows, n = ranks->part->columns, *pivot = NULL;
  if (ranks->all < m) {
    double *transposed = arena_array(arena, (size_t)m * (size_t)n + 1, sizeof *transposed);
    for (int32_t i = 0; i < m; i++) {
      double weight = pow(LEVEL_WEIGHT, array_level(strangeness->array, ranks->part->row[i]));
      for (int32_t q = 0; q < n; q++) transposed[q + i * n] = column_of(ranks, q)[i] * weight;
    }
    pivot = dense_pivots(transposed, n, m, NULL, arena);
  }
  for (int32_t k = 0; k < ranks->all; k++) chosen[ranks->part->row[pivot ? pivot[k] : k]] = true;
}

/* Numbers the chosen rows, -1 for the others. Returns their number. */
static int32_t choose_rows(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, int32_t *row) {
  int32_t count = 0;
  bool *chosen = arena_array(arena, strangeness->array->rows, sizeof *chosen);
  for (uint32_t p = 0; p < ranks->count; p++) choose_part_rows(strangeness, &ranks->part[p], arena, chosen);
  for (uint32_t i = 0; i < strangeness->array->rows; i++) row[i] = chosen[i] ? count++ : -1;
  return count;
}

/* The rows of a part that are needed; chosen: independent rows. */
static void mark_needed(const Strangeness *strangeness, const PartRanks *ranks, const bool *chosen, Arena *arena,
                        bool *needed) {
  const RankPart *part = ranks->part;
  int32_t rows = ranks->all, columns = 0;
  double *high = arena_array(arena, (size_t)rows * (size_t)part->columns + 1, sizeof *high), *to = high;
  for (int32_t q = 0; q < part->columns; q++) {
    if (is_x(strangeness, ranks, q) || strangeness_is_rate(strangeness, part->column[q])) continue;
    for (int32_t i = 0; i < part->rows; i++)
      if (chosen[part->row[i]]) *to++ = column_of(ranks, q)[i];
    columns++;
  }
  Svd svd = dense_svd(high, rows, columns, strangeness->rank_tolerance, arena);
  for (int32_t i = 0, next = 0; i < part->rows; i++) {
    double size = 0;
    if (!chosen[part->row[i]]) continue;
    for (int32_t k = svd.rank; k < rows; k++) size = fmax(size, fabs(svd.u[next + k * rows]));
    needed[part->row[i]] = size > SUPPORT;
    next++;
  }
}

void strangeness_needed(const Strangeness *strangeness, const Ranks *ranks, Arena *arena, bool *needed) {
  bool *chosen = arena_array(arena, strangeness->array->rows, sizeof *chosen);
  for (uint32_t p = 0; p < ranks->count; p++) {
    choose_part_rows(strangeness, &ranks->part[p], arena, chosen);
    mark_needed(strangeness, &ranks->part[p], chosen, arena, needed);
  }
}

bool strangeness_select(Strangeness *strangeness, double t, const double *y) {
  Arena scratch = arena_make(strangeness->heap);
  Ranks ranks;
  uint32_t n = strangeness->array->columns;
  bool ok = strangeness_ranks(strangeness, t, y, &scratch, &ranks) && ranks.all - ranks.high == strangeness->solved;
  if (ok) {
    bool *solved = arena_array(&scratch, n, sizeof *solved);
    for (uint32_t p = 0; p < ranks.count; p++) {
      choose_x(strangeness, &ranks.part[p], &scratch, solved);
      choose_w(strangeness, &ranks.part[p], &scratch, solved);
    }
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

static Expr start_of(const Problem *problem, uint32_t unknown) {
  const Model *model = problem->model;
  const Variable *variable = &model->variables.data[model->unknowns.data[problem->unknown[unknown]]];
  return variable->start == EXPR_NONE ? dag_constant(model->dag, 0) : variable->start;
}

/* One part with the marked columns of the undifferentiated equations, rows scaled, and the columns at which null vectors have
 * entries. A maximal independent set of the columns comes first. */
typedef struct Moving {
  int32_t count, rank;
  uint32_t *column;
} Moving;

static Moving find_moving(const Strangeness *strangeness, const RankPart *part, const double *matrix,
                          const bool *marked, Arena *arena) {
  Moving moving = {.column = arena_array(arena, (size_t)part->columns, sizeof(uint32_t))};
  size_t m = 0, count = 0, kept = 0, rows = (size_t)part->rows;
  double *entries = arena_array(arena, rows * (size_t)part->columns + 1, sizeof *entries), *to = entries;
  for (int32_t i = 0; i < part->rows; i++) m += array_level(strangeness->array, part->row[i]) == 0;
  for (int32_t q = 0; q < part->columns; q++) {
    if (!marked[part->column[q]]) continue;
    for (size_t i = 0; i < rows; i++)
      if (array_level(strangeness->array, part->row[i]) == 0) *to++ = matrix[part->first + i + (size_t)q * rows];
    moving.column[count++] = part->column[q];
  }
  double *copy = arena_copy_array(arena, entries, m * count, sizeof *copy);
  Svd svd = dense_svd(copy, (int32_t)m, (int32_t)count, strangeness->rank_tolerance, arena);
  for (size_t k = 0; k < count; k++) {
    double size = 0;
    for (size_t null = (size_t)svd.rank; null < count; null++) size = fmax(size, fabs(svd.vt[null + k * count]));
    if (size <= SUPPORT) continue;
    memmove(entries + kept * m, entries + k * m, m * sizeof *entries);
    moving.column[kept++] = moving.column[k];
  }
  int32_t *pivot = dense_pivots(entries, (int32_t)m, (int32_t)kept, NULL, arena);
  /* The order of pivots may depend on round-off: independent columns come in the order as written, then the others. */
  size_t rank = kept - (count - (size_t)svd.rank), next = 0, other = rank;
  uint32_t *ordered = arena_array(arena, kept, sizeof *ordered);
  bool *is_pivot = arena_array(arena, kept, sizeof *is_pivot);
  for (size_t k = 0; k < rank; k++) is_pivot[pivot[k]] = true;
  for (size_t k = 0; k < kept; k++) ordered[is_pivot[k] ? next++ : other++] = moving.column[k];
  return (Moving){(int32_t)kept, (int32_t)rank, ordered};
}

static void add_leaf(const Strangeness *strangeness, uint32_t column, Freedom *freedom) {
  const Problem *problem = &strangeness->problem;
  Dag *dag = problem->model->dag;
  uint32_t unknown = strangeness->array->column_unknown[column];
  freedom->leaf[freedom->count] = dag_variable(dag, problem->unknown[unknown], array_order(strangeness->array, column));
  freedom->target[freedom->count++] =
      array_order(strangeness->array, column) ? dag_constant(dag, 0) : start_of(problem, unknown);
}

bool freedom_find(const Strangeness *strangeness, double t, const double *y, const int32_t *order, const bool *is_leaf,
                  Freedom *freedom, Arena *arena) {
  const Problem *problem = &strangeness->problem;
  const RankParts *parts = &strangeness->parts;
  uint32_t count = 0;
  bool *marked = arena_array(arena, strangeness->array->columns, sizeof *marked);
  for (uint32_t j = 0; j < problem->unknowns; j++)
    if (is_leaf[j]) marked[strangeness->array->column_start[j] + (uint32_t)order[j]] = true;
  double *matrix = arena_array(arena, parts->entries + 1, sizeof *matrix);
  double *scale = arena_array(arena, strangeness->array->rows, sizeof *scale);
  if (!strangeness_jacobian(strangeness, parts, t, y, strangeness->evaluator->nominal, matrix, scale)) return false;
  Moving *moving = arena_array(arena, parts->count, sizeof *moving);
  *freedom = (Freedom){0};
  for (uint32_t p = 0; p < parts->count; p++) {
    moving[p] = find_moving(strangeness, &parts->part[p], matrix, marked, arena);
    freedom->rank += (uint32_t)moving[p].rank;
    count += (uint32_t)moving[p].count;
  }
  freedom->leaf = arena_array(arena, count, sizeof(Expr));
  freedom->target = arena_array(arena, count, sizeof(Expr));
  for (uint32_t p = 0; p < parts->count; p++)
    for (int32_t k = 0; k < moving[p].rank; k++) add_leaf(strangeness, moving[p].column[k], freedom);
  for (uint32_t p = 0; p < parts->count; p++)
    for (int32_t k = moving[p].rank; k < moving[p].count; k++) add_leaf(strangeness, moving[p].column[k], freedom);
  return count > freedom->rank;
}
