/* stages: see stages.h. */
#include "integrate/stages.h"

#include "core/constants.h"

#include <math.h>
#include <string.h>

enum { SMAX = RADAU_STAGES_MAX };

Stages *stages_new(Heap *heap, const System *system, int most) {
  Stages *stages = heap_alloc(heap, sizeof *stages);
  size_t columns = (size_t)system->columns, rows = (size_t)system->rows;
  int32_t nonzeros = system->column_start[system->columns];
  *stages = (Stages){.heap = heap, .system = system, .most = most};
  stages->condense = condense_new(heap, system);
  stages->elimination = elimination_new(heap, system);
  stages->real = linear_new(heap, system->rows, nonzeros, false);
  for (int k = 0; k < most / 2; k++) stages->pair[k] = linear_new(heap, system->rows, nonzeros, true);
  stages->residuals = heap_array(heap, rows * (size_t)(most + 1), sizeof(double));
  stages->change = heap_array(heap, columns * (size_t)(most + 1), sizeof(double));
  stages->work = heap_array(heap, columns, sizeof(double));
  stages->right = heap_array(heap, rows, sizeof(double));
  stages->real_right = heap_array(heap, rows, sizeof(double));
  for (int k = 0; k < most / 2; k++) stages->pair_right[k] = heap_array(heap, 2 * rows, sizeof(double));
  return stages;
}

/* ---- the choice of states ---- */

static void set_linear(const Stages *stages, Linear *linear) {
  const Elimination *elimination = stages->elimination;
  linear_resize(linear, stages->rows, elimination->start[stages->rows]);
  linear_set_pattern(linear, elimination->start, elimination->row);
}

void stages_choose(Stages *stages, const double *jacobian) {
  condense_choose(stages->condense, jacobian);
  elimination_choose(stages->elimination, condense_pattern(stages->condense));
  stages->rows = condense_pattern(stages->condense)->rows;
  size_t entries = (size_t)stages->elimination->start[stages->rows];
  stages->real_values = heap_resize(stages->heap, stages->real_values, entries * sizeof(double));
  stages->pair_values = heap_resize(stages->heap, stages->pair_values, 2 * entries * sizeof(double));
  set_linear(stages, stages->real);
  for (int k = 0; k < stages->most / 2; k++) set_linear(stages, stages->pair[k]);
  stages->factored_step = 0;
  if (jacobian) condense_jacobian(stages->condense, jacobian);
  stages->is_chosen = jacobian != NULL;
}

bool stages_are_chosen(const Stages *stages) { return stages->is_chosen && elimination_is_chosen(stages->elimination); }

void stages_take_jacobian(Stages *stages, const double *jacobian) {
  stages->factored_step = 0;
  if (!stages_are_chosen(stages) || !condense_jacobian(stages->condense, jacobian)) stages_choose(stages, jacobian);
}

/* ---- factors ---- */

bool stages_factor(Stages *stages, const RadauCoefficients *method, double h) {
  if (stages->factored_step == h && stages->factored_method == method) return true;
  stages->factored_step = 0;
  const double *jacobian = condense_values(stages->condense);
  elimination_real(stages->elimination, jacobian, h * method->mu_real, stages->real_values);
  if (!linear_factor(stages->real, stages->real_values)) return false;
  for (int k = 0; k < method->stages / 2; k++) {
    elimination_complex(stages->elimination, jacobian, h * method->mu[k][0], h * method->mu[k][1], stages->pair_values);
    if (!linear_factor(stages->pair[k], stages->pair_values)) return false;
  }
  stages->factored_step = h;
  stages->factored_method = method;
  return true;
}

void stages_take_right(const Stages *stages, double *residual, double *right) {
  const int32_t *row = condense_rows(stages->condense);
  condense_right(stages->condense, 1, residual);
  for (int32_t r = 0; r < stages->rows; r++) right[r] = residual[row[r]];
}

/* ---- solving ---- */

/* out[i] = sum_j matrix[i][j] in[j] */
static inline void multiply(const double (*matrix)[SMAX], int s, const double *in, double *out) {
#pragma GCC unroll 7
  for (int i = 0; i < s; i++) {
    double sum = matrix[i][0] * in[0];
#pragma GCC unroll 7
    for (int j = 1; j < s; j++) sum += matrix[i][j] * in[j];
    out[i] = sum;
  }
}

/* Transforms the remaining rows to eigenvectors. */
static inline void go_forward(Stages *stages, int s) {
  const int32_t *row = condense_rows(stages->condense);
  for (int32_t u = 0; u < stages->rows; u++) {
    double out[SMAX];
    multiply(stages->factored_method->forward, s, stages->residuals + row[u] * (s + 1), out);
    stages->real_right[u] = out[0];
    for (int k = 0; k < s / 2; k++) {
      stages->pair_right[k][2 * u] = out[2 * k + 1];
      stages->pair_right[k][2 * u + 1] = out[2 * k + 2];
    }
  }
}

/* Transforms the unknowns back from eigenvectors, and computes the states by their links. */
static inline void go_back(Stages *stages, int s) {
  const Elimination *elimination = stages->elimination;
  double h = stages->factored_step;
  for (int32_t u = 0; u < stages->rows; u++) {
    double in[SMAX], *change = stages->change + elimination->unknown[u] * (s + 1);
    in[0] = -stages->real_right[u];
    for (int k = 0; k < s / 2; k++) {
      in[2 * k + 1] = -stages->pair_right[k][2 * u];
      in[2 * k + 2] = -stages->pair_right[k][2 * u + 1];
    }
    multiply(stages->factored_method->back, s, in, change);
    change[s] = 0;
  }
  for (int32_t l = 0; l < stages->system->links; l++) {
    double *change = stages->change + elimination->from[l] * (s + 1);
    multiply(stages->factored_method->a, s, stages->change + elimination->to[l] * (s + 1), change);
    for (int i = 0; i < s; i++) change[i] *= h;
    change[s] = 0;
  }
}

/* Two rows at a time, and the last one by itself. Inlined for each s, so that its loops become short straight-line
 * code. */
static inline __attribute__((always_inline)) void pack(const Stages *stages, double *const *residual, int s) {
  const double *from[SMAX];
  double *to = stages->residuals;
  int32_t r = 0, rows = stages->system->rows;
#pragma GCC unroll 7
  for (int i = 0; i < s; i++) from[i] = residual[i];
  for (; r + 2 <= rows; r += 2, to += 2 * (s + 1)) {
#pragma GCC unroll 4
    for (int i = 0; i < s; i += 2) {
      Pair a = pair_at(from[i] + r), b = i + 1 < s ? pair_at(from[i + 1] + r) : (Pair){0};
      set_pair(to + i, firsts(a, b));
      set_pair(to + s + 1 + i, seconds(a, b));
    }
  }
  if (r == rows) return;
  for (int i = 0; i < s; i++) to[i] = from[i][r];
  to[s] = 0;
}

static inline __attribute__((always_inline)) void solve_stages(Stages *stages, int s) {
  condense_right(stages->condense, s + 1, stages->residuals);
  go_forward(stages, s);
  linear_solve(stages->real, stages->real_right);
  for (int k = 0; k < s / 2; k++) linear_solve(stages->pair[k], stages->pair_right[k]);
  go_back(stages, s);
  condense_expand(stages->condense, s + 1, stages->residuals, stages->change);
}

void stages_solve(Stages *stages, double *const *residual) {
  switch (stages->factored_method->stages) {
  case 3: pack(stages, residual, 3), solve_stages(stages, 3); return;
  case 5: pack(stages, residual, 5), solve_stages(stages, 5); return;
  default: pack(stages, residual, 7), solve_stages(stages, 7);
  }
}

void stages_filter(Stages *stages, double step, double *error) {
  elimination_filter(stages->elimination, stages->real, condense_values(stages->condense), step, error, stages->right,
                     stages->work);
}

/* ---- from step to step ---- */

int radau_first_point(const RadauCoefficients *method, double ratio) {
  double degree = log(REACH) / log1p(ratio);
  return degree >= method->stages ? 0 : method->stages - (int)degree;
}

Continuation radau_continue_from(const RadauCoefficients *method, int first) {
  Continuation continuation = {.first = first, .last = method->stages};
  double *node = continuation.node;
  for (int i = 1; i <= method->stages; i++) node[i] = method->node[i - 1];
  for (int i = first; i <= method->stages; i++) {
    double product = 1;
    for (int j = first; j <= method->stages; j++)
      if (j != i) product *= node[i] - node[j];
    continuation.reciprocal[i] = 1 / product;
  }
  return continuation;
}

int radau_continuation_weights(const Continuation *continuation, double x, double *weight) {
  const double *node = continuation->node;
  double product = 1;
  for (int i = continuation->first; i <= continuation->last; i++) product *= x - node[i];
  for (int i = continuation->first; i <= continuation->last; i++)
    weight[i - continuation->first] = x == node[i] ? 1 : product * continuation->reciprocal[i] / (x - node[i]);
  return continuation->last - continuation->first + 1;
}

void radau_follow_links(const RadauCoefficients *method, double h, const int32_t *from, const int32_t *to,
                        int32_t links, const double *start, double *const *stage) {
  int s = method->stages;
  for (int32_t l = 0; l < links; l++) {
    double rate[RADAU_STAGES_MAX];
    for (int j = 0; j < s; j++) rate[j] = stage[j][to[l]];
    for (int i = 0; i < s; i++) {
      double sum = 0;
      for (int j = 0; j < s; j++) sum += method->a[i][j] * rate[j];
      stage[i][from[l]] = start[from[l]] + h * sum;
    }
  }
}
