/* whole_stages: see whole_stages.h. Let a state be d links before an unknown u. At stage j it changes by the sum over i of
 * entry (j, i) of (h A)^d times the change of u at stage i. */
#include "vary/whole_stages.h"

#include "base/arena.h"
#include "base/linear.h"

#include <string.h>

enum { SMAX = RADAU_STAGES_MAX };

struct WholeStages {
  Heap *heap;
  const System *system;
  bool is_transposed;
  Elimination *elimination;
  Linear *linear;        /* NULL until it is needed */
  double *chained[SMAX]; /* for the transpose: n of whole_stages.h, all columns */
};

WholeStages *whole_stages_new(Heap *heap, const System *system, bool is_transposed) {
  WholeStages *whole = heap_alloc(heap, sizeof *whole);
  *whole = (WholeStages){.heap = heap, .system = system, .is_transposed = is_transposed};
  whole->elimination = elimination_new(heap, system);
  for (int i = 0; i < SMAX && is_transposed; i++)
    whole->chained[i] = heap_array(heap, (size_t)system->columns, sizeof(double));
  return whole;
}

/* power[p] = (h A)^p */
static void find_powers(const RadauCoefficients *method, double h, int most, double (*power)[SMAX][SMAX]) {
  int s = method->stages;
  memset(power[0], 0, sizeof power[0]);
  for (int i = 0; i < s; i++) power[0][i][i] = 1;
  for (int p = 1; p <= most; p++)
    for (int i = 0; i < s; i++)
      for (int j = 0; j < s; j++) {
        power[p][i][j] = 0;
        for (int k = 0; k < s; k++) power[p][i][j] += h * method->a[i][k] * power[p - 1][k][j];
      }
}

/* The pattern: column i * rows + u has the rows j * rows + r, for every stage j and every r in column u of one stage. */
static void list_pattern(const Elimination *elimination, int32_t s, int32_t *start, int32_t *row) {
  int32_t rows = elimination->system->rows, next = 0;
  for (int32_t i = 0; i < s; i++)
    for (int32_t u = 0; u < rows; u++) {
      start[i * rows + u] = next;
      for (int32_t j = 0; j < s; j++)
        for (int32_t e = elimination->start[u]; e < elimination->start[u + 1]; e++)
          row[next++] = j * rows + elimination->row[e];
    }
  start[s * rows] = next;
}

static void fill_matrix(const Elimination *elimination, int32_t s, double *const *jacobian, double (*power)[SMAX][SMAX],
                        double *values) {
  const System *system = elimination->system;
  int32_t entries = elimination->start[system->rows];
  memset(values, 0, (size_t)(s * s * entries) * sizeof *values);
  for (int32_t u = 0, link = 0; u < system->rows; u++) {
    int32_t column = elimination->unknown[u], first = elimination->start[u], count = elimination->start[u + 1] - first;
    for (int depth = 0;; depth++) {
      for (int32_t k = system->column_start[column]; k < system->column_start[column + 1]; k++)
        for (int32_t i = 0; i < s; i++)
          for (int32_t j = 0; j < s; j++)
            values[s * (i * entries + first) + j * count + elimination->slot[k] - first] +=
                power[depth][j][i] * jacobian[j][k];
      if (link == system->links || elimination->to[link] != column) break;
      column = elimination->from[link++];
    }
  }
}

static int longest_chain(const Elimination *elimination) {
  int32_t nonzeros = elimination->system->column_start[elimination->system->columns], most = 0;
  for (int32_t k = 0; k < nonzeros; k++)
    if (elimination->power[k] > most) most = elimination->power[k];
  return most;
}

/* Solves the equations of all stages in place. On input `values` are the right sides: one for each row at each stage or, for the
 * transposed matrix, for each column that is not a state. */
static bool solve(WholeStages *whole, const WholeStep *step, double *const *values) {
  const Elimination *elimination = whole->elimination;
  int32_t s = step->method->stages, rows = whole->system->rows, n = s * rows;
  int32_t entries = s * s * elimination->start[rows];
  int most = longest_chain(elimination);
  Arena arena = arena_make(whole->heap);
  int32_t *start = arena_array(&arena, (size_t)n + 1, sizeof *start);
  int32_t *row = arena_array(&arena, (size_t)entries, sizeof *row);
  double *matrix = arena_array(&arena, (size_t)entries, sizeof *matrix);
  double *right = arena_array(&arena, (size_t)n, sizeof *right);
  double(*power)[SMAX][SMAX] = arena_array(&arena, (size_t)most + 1, sizeof *power);
  find_powers(step->method, step->h, most, power);
  list_pattern(elimination, s, start, row);
  fill_matrix(elimination, s, step->jacobian, power, matrix);
  if (!whole->linear) whole->linear = linear_new(whole->heap, n, entries, false);
  linear_resize(whole->linear, n, entries);
  if (whole->is_transposed) linear_set_transposed(whole->linear, start, row);
  else linear_set_pattern(whole->linear, start, row);
  for (int32_t k = 0; k < n; k++) right[k] = values[k / rows][k % rows];
  bool is_regular = linear_factor(whole->linear, matrix);
  if (is_regular) linear_solve(whole->linear, right);
  for (int32_t k = 0; k < n; k++) values[k / rows][k % rows] = right[k];
  arena_free(&arena);
  return is_regular;
}

bool whole_stages_solve(WholeStages *whole, const WholeStep *step, double *const *residual, const double *now,
                        double *const *stage) {
  const Elimination *elimination = whole->elimination;
  int s = step->method->stages;
  elimination_choose(whole->elimination, NULL);
  if (!solve(whole, step, residual)) return false;
  for (int i = 0; i < s; i++)
    for (int32_t u = 0; u < whole->system->rows; u++) stage[i][elimination->unknown[u]] -= residual[i][u];
  radau_follow_links(step->method, step->h, elimination->from, elimination->to, whole->system->links, now, stage);
  return true;
}

/* ---- the transpose ---- */

/* Computes n from the weights. */
static void chain(const WholeStages *whole, const WholeStep *step, double *const *weights) {
  int s = step->method->stages;
  for (int i = 0; i < s; i++) memcpy(whole->chained[i], weights[i], (size_t)whole->system->columns * sizeof(double));
  for (int32_t l = whole->system->links; l-- > 0;) {
    int32_t from = whole->elimination->from[l], to = whole->elimination->to[l];
    for (int i = 0; i < s; i++) {
      double sum = 0;
      for (int j = 0; j < s; j++) sum += step->method->a[j][i] * whole->chained[j][from];
      whole->chained[i][to] += step->h * sum;
    }
  }
}

/* weights += J' multiplier */
static void add_product(const System *system, const double *entries, const double *multiplier, double *weights) {
  for (int32_t q = 0; q < system->columns; q++)
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++)
      weights[q] += entries[e] * multiplier[system->row_index[e]];
}

bool whole_stages_transpose(WholeStages *whole, const WholeStep *step, double *const *weights, double *start,
                            double *const *multiplier) {
  const System *system = whole->system;
  int s = step->method->stages;
  elimination_choose(whole->elimination, NULL);
  chain(whole, step, weights);
  for (int i = 0; i < s; i++)
    for (int32_t u = 0; u < system->rows; u++) multiplier[i][u] = -whole->chained[i][whole->elimination->unknown[u]];
  if (!solve(whole, step, multiplier)) return false;
  for (int i = 0; i < s; i++) add_product(system, step->jacobian[i], multiplier[i], weights[i]);
  chain(whole, step, weights);
  memset(start, 0, (size_t)system->columns * sizeof *start);
  for (int32_t l = 0; l < system->links; l++)
    for (int i = 0; i < s; i++) start[system->link_from[l]] += whole->chained[i][system->link_from[l]];
  return true;
}
