/* minimal: index reduction by minimal extension (Kunkel, Mehrmann 2003, sections 2 and 3).
 *
 * Only equations that couple an algebraic condition to the derivative of a variable in it are
 * differentiated, and each such derivative brings one new variable, which replaces the derivative
 * everywhere: here, one tie y[q]' = y[q + 1] is given up. The step is that of (18) to (20): with E the
 * rows' Jacobian with respect to the derivatives that occur and Z its left null space, the rows of Z^T that
 * stay dependent with respect to what is not differentiated are the ones to differentiate; repeated until
 * none is left. Where that ends with all differentiations of the structural analysis, the system is the one
 * with dummy derivatives, choice of states included.
 */
#include "reduce/method.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Larger systems are taken with the offsets of the structural analysis: the ranks are found with dense
 * matrices. */
enum { DENSE_LIMIT = 600 };

static const double RANK_TOLERANCE = 1e-9;

typedef struct Minimal {
  Reduction *reduction;
  Arena arena;
  int32_t *c, *d;                /* of the rows taken so far */
  uint8_t *tie;                  /* per column of the array */
  double *jacobian;              /* all rows against all columns, column-major, rows scaled */
  uint32_t *row, rows;           /* taken: rows of the array */
  uint32_t *rate, rates;         /* columns that occur only as derivatives */
  uint32_t *variable, variables; /* the other columns */
} Minimal;

static double entry(const Minimal *minimal, uint32_t row, uint32_t column) {
  return minimal->jacobian[row + (size_t)column * minimal->reduction->array->rows];
}

/* The Jacobian near the initial point: a little off it, since ranks are to be those of a general point. */
static bool fill_jacobian(Minimal *minimal) {
  const Reduction *reduction = minimal->reduction;
  const Array *array = reduction->array;
  const Jacobian *jacobian = reduction->at.evaluator->jacobian;
  double *y = arena_array(&minimal->arena, array->columns, sizeof *y);
  double *values = arena_array(&minimal->arena, jacobian->nonzeros, sizeof *values);
  uint64_t seed = 1;
  for (uint32_t q = 0; q < array->columns; q++) {
    seed = hash_mix(seed + q);
    double part = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
    y[q] = reduction->at.y[q] + 1e-3 * part * (fabs(reduction->at.y[q]) + reduction->at.evaluator->nominal[q]);
  }
  if (evaluator_jacobian(reduction->at.evaluator, reduction->time, y, values) != EVAL_OK &&
      evaluator_jacobian(reduction->at.evaluator, reduction->time, reduction->at.y, values) != EVAL_OK)
    return false;
  minimal->jacobian = arena_array(&minimal->arena, (size_t)array->rows * array->columns, sizeof(double));
  double *largest = arena_array(&minimal->arena, array->rows, sizeof *largest);
  for (uint32_t e = 0; e < jacobian->nonzeros; e++)
    largest[jacobian->row_index[e]] = fmax(largest[jacobian->row_index[e]], fabs(values[e]));
  for (uint32_t q = 0; q < array->columns; q++)
    for (int32_t e = jacobian->column_start[q]; e < jacobian->column_start[q + 1]; e++)
      minimal->jacobian[(uint32_t)jacobian->row_index[e] + (size_t)q * array->rows] =
          values[e] / largest[jacobian->row_index[e]];
  return true;
}

/* Rows up to c, columns up to the highest order in them. */
static void list_parts(Minimal *minimal) {
  const Array *array = minimal->reduction->array;
  const Incidence *incidence = &array->problem->incidence;
  minimal->rows = minimal->rates = minimal->variables = 0;
  for (uint32_t i = 0; i < array->problem->equations; i++) {
    for (int32_t l = 0; l <= minimal->c[i]; l++) minimal->row[minimal->rows++] = array->row_start[i] + (uint32_t)l;
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
      int32_t order = incidence->order[e] + minimal->c[i], j = incidence->column[e];
      for (; minimal->d[j] < order; minimal->d[j]++)
        minimal->tie[array->column_start[j] + (uint32_t)minimal->d[j]] = TIE_DERIVATIVE;
    }
  }
  for (uint32_t q = 0; q < array->columns; q++) {
    if ((int32_t)array_order(array, q) > minimal->d[array->column_unknown[q]]) continue;
    bool tied = array_order(array, q) > 0 && minimal->tie[q - 1] != TIE_NONE;
    if (tied && minimal->tie[q] == TIE_NONE) minimal->rate[minimal->rates++] = q;
    else minimal->variable[minimal->variables++] = q;
  }
}

/* Left and right null spaces of the m x n matrix a (destroyed): the last m - rank rows of `left` (m x m,
 * transposed U) and the last n - rank rows of `right` (n x n). */
static bool null_spaces(Minimal *minimal, double *a, uint32_t m, uint32_t n, double **left, double **right,
                        uint32_t *rank) {
  Arena *arena = &minimal->arena;
  lapack_int rows = (lapack_int)m, columns = (lapack_int)n, info = 0;
  lapack_int smaller = rows < columns ? rows : columns, length = 16 * (rows + columns) + 64;
  double *u = arena_array(arena, (size_t)m * m + 1, sizeof *u), *vt = arena_array(arena, (size_t)n * n + 1, sizeof *vt);
  double *s = arena_array(arena, (size_t)smaller + 1, sizeof *s),
         *work = arena_array(arena, (size_t)length, sizeof *work);
  *rank = 0;
  if (smaller) {
    LAPACK_dgesvd("A", "A", &rows, &columns, a, &rows, s, u, &rows, vt, &columns, work, &length, &info);
    while (*rank < (uint32_t)smaller && s[*rank] > RANK_TOLERANCE * fmax(s[0], 1e-300)) ++*rank;
    if (s[0] < RANK_TOLERANCE) *rank = 0;
  } else {
    for (uint32_t i = 0; i < m; i++) u[i + (size_t)i * m] = 1;
    for (uint32_t i = 0; i < n; i++) vt[i + (size_t)i * n] = 1;
  }
  double *transposed = arena_array(arena, (size_t)m * m + 1, sizeof *transposed);
  for (uint32_t i = 0; i < m; i++)
    for (uint32_t k = 0; k < m; k++) transposed[k * m + i] = u[i + (size_t)k * m];
  double *rows_of_vt = arena_array(arena, (size_t)n * n + 1, sizeof *rows_of_vt);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < n; k++) rows_of_vt[i * n + k] = vt[i + (size_t)k * n];
  *left = transposed;
  *right = rows_of_vt;
  return info == 0;
}

/* The combinations of rows that are to be differentiated: `count` rows of length minimal->rows. */
static bool find_couplings(Minimal *minimal, double **couplings, uint32_t *count) {
  Arena *arena = &minimal->arena;
  uint32_t m = minimal->rows, p = minimal->rates, rank;
  double *e = arena_array(arena, (size_t)m * p + 1, sizeof *e), *z, *t;
  for (uint32_t i = 0; i < m; i++)
    for (uint32_t k = 0; k < p; k++) e[i + (size_t)k * m] = entry(minimal, minimal->row[i], minimal->rate[k]);
  if (!null_spaces(minimal, e, m, p, &z, &t, &rank)) return false;
  uint32_t algebraic = m - rank, loose = p - rank, free = 0;
  for (uint32_t k = 0; k < minimal->variables; k++) free += minimal->tie[minimal->variable[k]] == TIE_NONE;
  /* N = Z^T A T: T is the unit vectors of columns without derivative, and the null space of E for those
   * with one. */
  double *n = arena_array(arena, (size_t)algebraic * (free + loose) + 1, sizeof *n);
  for (uint32_t a = 0; a < algebraic; a++) {
    const double *combination = z + (size_t)(rank + a) * m;
    uint32_t at = 0;
    for (uint32_t k = 0; k < minimal->variables; k++) {
      if (minimal->tie[minimal->variable[k]] != TIE_NONE) continue;
      double sum = 0;
      for (uint32_t i = 0; i < m; i++) sum += combination[i] * entry(minimal, minimal->row[i], minimal->variable[k]);
      n[a + (size_t)at++ * algebraic] = sum;
    }
    for (uint32_t f = 0; f < loose; f++, at++) {
      double sum = 0;
      for (uint32_t k = 0; k < p; k++) {
        double weight = t[(size_t)(rank + f) * p + k];
        for (uint32_t i = 0; i < m && weight != 0; i++)
          sum += combination[i] * weight * entry(minimal, minimal->row[i], minimal->rate[k] - 1);
      }
      n[a + (size_t)at * algebraic] = sum;
    }
  }
  double *v, *unused;
  uint32_t independent;
  if (!null_spaces(minimal, n, algebraic, free + loose, &v, &unused, &independent)) return false;
  *count = algebraic - independent;
  *couplings = arena_array(arena, (size_t)*count * m + 1, sizeof(double));
  for (uint32_t s = 0; s < *count; s++)
    for (uint32_t a = 0; a < algebraic; a++)
      for (uint32_t i = 0; i < m; i++)
        (*couplings)[(size_t)s * m + i] += v[(size_t)(independent + s) * algebraic + a] * z[(size_t)(rank + a) * m + i];
  return true;
}

/* Gives up one tie for each of the rows: those of columns at the rows' own highest order, by column-pivoted
 * QR. */
static bool release_ties(Minimal *minimal, const uint32_t *rows, uint32_t count) {
  const Array *array = minimal->reduction->array;
  const Incidence *incidence = &array->problem->incidence;
  Arena *arena = &minimal->arena;
  uint32_t candidates = 0;
  uint32_t *candidate = arena_array(arena, array->columns, sizeof *candidate);
  int32_t *place = arena_array(arena, array->columns, sizeof *place);
  double *b = arena_array(arena, (size_t)count * array->columns + 1, sizeof *b);
  for (uint32_t r = 0; r < count; r++) {
    uint32_t i = array->row_equation[rows[r]];
    for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++) {
      uint32_t q =
          array->column_start[incidence->column[e]] + (uint32_t)incidence->order[e] + array_level(array, rows[r]);
      if (minimal->tie[q] == TIE_NONE) continue;
      if (!place[q]) candidate[candidates++] = q, place[q] = (int32_t)candidates;
      b[r + (size_t)(place[q] - 1) * count] = entry(minimal, rows[r], q);
    }
  }
  if (candidates < count) return false;
  lapack_int m = (lapack_int)count, n = (lapack_int)candidates, info, length = 8 * (n + 1) + 64 * (n + 1);
  lapack_int *pivots = arena_array(arena, candidates, sizeof *pivots);
  double *tau = arena_array(arena, candidates, sizeof *tau), *work = arena_array(arena, (size_t)length, sizeof *work);
  LAPACK_dgeqp3(&m, &n, b, &m, pivots, tau, work, &length, &info);
  if (info || fabs(b[(count - 1) + (size_t)(count - 1) * count]) <= RANK_TOLERANCE * fabs(b[0])) return false;
  for (uint32_t k = 0; k < count; k++) minimal->tie[candidate[pivots[k] - 1]] = TIE_NONE;
  return true;
}

/* One step: false when it cannot be made within the offsets of the structural analysis. *done: nothing is
 * left to do. */
static bool extend(Minimal *minimal, bool *done) {
  const Array *array = minimal->reduction->array;
  double *couplings;
  uint32_t count, added = 0;
  list_parts(minimal);
  if (!find_couplings(minimal, &couplings, &count)) return false;
  *done = count == 0;
  if (*done) return true;
  uint32_t *rows = arena_array(&minimal->arena, minimal->rows, sizeof *rows);
  for (uint32_t r = 0; r < minimal->rows; r++) {
    uint32_t i = array->row_equation[minimal->row[r]];
    double size = 0;
    for (uint32_t s = 0; s < count; s++) size = fmax(size, fabs(couplings[(size_t)s * minimal->rows + r]));
    if (size < 1e-6 || (int32_t)array_level(array, minimal->row[r]) < minimal->c[i]) continue;
    if (minimal->c[i] == array->c[i]) return false;
    rows[added++] = minimal->row[r];
  }
  if (!added || !release_ties(minimal, rows, added)) return false;
  for (uint32_t r = 0; r < added; r++) minimal->c[array->row_equation[rows[r]]]++;
  return true;
}

/* Finds the smallest offsets; false: those of the structural analysis are needed or cannot be improved on. */
static bool find_offsets(Minimal *minimal) {
  const Array *array = minimal->reduction->array;
  if (array->rows > DENSE_LIMIT || !fill_jacobian(minimal)) return false;
  minimal->row = arena_array(&minimal->arena, array->rows, sizeof *minimal->row);
  minimal->rate = arena_array(&minimal->arena, array->columns, sizeof *minimal->rate);
  minimal->variable = arena_array(&minimal->arena, array->columns, sizeof *minimal->variable);
  for (bool done = false; !done;)
    if (!extend(minimal, &done)) return false;
  return memcmp(minimal->c, array->c, array->problem->equations * sizeof *minimal->c) != 0;
}

static void take_rows(Reduction *reduction, const Minimal *minimal) {
  const Array *array = reduction->array;
  form_use_dummies(reduction); /* for the start values that may be fixed */
  Form *form = &reduction->form;
  form->rows.count = 0;
  for (uint32_t i = 0; i < array->problem->equations; i++)
    for (int32_t l = 0; l <= minimal->c[i]; l++) form_add(reduction, i, l);
  for (uint32_t q = 0; q < array->columns; q++) {
    form->tie[q] = minimal->tie[q];
    if ((int32_t)array_order(array, q) > minimal->d[array->column_unknown[q]]) form->fixed[q] = false;
  }
}

/* Counted as in the paper's Example 1. */
static void count_variables(Reduction *reduction, const int32_t *c, const int32_t *d) {
  const Array *array = reduction->array;
  ReductionCounts *counts = &reduction->counts;
  uint32_t dummies = 0;
  counts->first_order = array->problem->equations;
  for (uint32_t i = 0; i < array->problem->equations; i++) {
    counts->new_variables += (uint32_t)c[i];
    dummies += (uint32_t)array->c[i];
  }
  counts->first_order += counts->new_variables;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) counts->first_order += d[j] > 1 ? (uint32_t)d[j] - 1 : 0;
  if (counts->new_variables == dummies)
    reduction->remark = arena_printf(reduction->arena, "%u new variables, as many as dummy derivatives", dummies);
  else
    reduction->remark = arena_printf(
        reduction->arena, "%u new variables instead of %u dummy derivatives; %u first-order equations instead of %u",
        counts->new_variables, dummies, counts->first_order, counts->dummy_first_order);
}

static bool apply(Reduction *reduction) {
  const Array *array = reduction->array;
  Minimal minimal = {.reduction = reduction, .arena = arena_make(reduction->heap)};
  minimal.c = arena_array(reduction->arena, array->problem->equations, sizeof(int32_t));
  minimal.d = arena_array(reduction->arena, array->problem->unknowns, sizeof(int32_t));
  minimal.tie = arena_array(reduction->arena, array->columns + 1, sizeof(uint8_t));
  form_use_dummies(reduction);
  reduction->counts.dummy_first_order = form_first_order(reduction, &reduction->form);
  if (find_offsets(&minimal)) {
    count_variables(reduction, minimal.c, minimal.d);
    take_rows(reduction, &minimal);
    reduction_shrink(reduction, minimal.c, minimal.tie);
  } else {
    count_variables(reduction, array->c, array->d);
    reduction_keep(reduction);
  }
  arena_free(&minimal.arena);
  return true;
}

const Method method_minimal = {
    .name = "minimal",
    .description = "minimal extension (Kunkel, Mehrmann): new variables only where a coupling is removed",
    .enforces_all = true,
    .chooses = true,
    .apply = apply,
};
