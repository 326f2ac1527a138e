/* transposed_stages: see transposed_stages.h. */
#include "vary/transposed_stages.h"

#include "base/linear.h"
#include "core/constants.h"
#include "vary/whole_stages.h"

#include <math.h>
#include <string.h>

enum { SMAX = RADAU_STAGES_MAX };

struct TransposedStages {
  Heap *heap;
  const System *system;
  double goal;
  Elimination *elimination;
  int32_t *chosen, chosen_links; /* states of the choice; -1: none yet */
  Linear *real, *pair[SMAX / 2];
  WholeStages *whole;
  double *real_values, *pair_values, *real_right, *pair_right;
  double *chained[SMAX]; /* n: all columns */
  double *change[SMAX];  /* of the multipliers */
  /* the step */
  const RadauCoefficients *method;
  double h;
  double *const *jacobian, *const *weights;
};

TransposedStages *transposed_stages_new(Heap *heap, const System *system, double goal) {
  TransposedStages *stages = heap_alloc(heap, sizeof *stages);
  size_t columns = (size_t)system->columns, rows = (size_t)system->rows;
  int32_t nonzeros = system->column_start[system->columns];
  *stages = (TransposedStages){.heap = heap, .system = system, .goal = goal, .chosen_links = -1};
  stages->elimination = elimination_new(heap, system);
  stages->whole = whole_stages_new(heap, true);
  stages->chosen = heap_array(heap, 2 * columns, sizeof(int32_t));
  stages->real = linear_new(heap, system->rows, nonzeros, false);
  for (int k = 0; k < SMAX / 2; k++) stages->pair[k] = linear_new(heap, system->rows, nonzeros, true);
  stages->real_values = heap_array(heap, (size_t)nonzeros, sizeof(double));
  stages->pair_values = heap_array(heap, 2 * (size_t)nonzeros, sizeof(double));
  stages->real_right = heap_array(heap, rows, sizeof(double));
  stages->pair_right = heap_array(heap, 2 * rows, sizeof(double));
  for (int i = 0; i < SMAX; i++) {
    stages->chained[i] = heap_array(heap, columns, sizeof(double));
    stages->change[i] = heap_array(heap, rows, sizeof(double));
  }
  return stages;
}

/* Takes the present links. */
static void choose(TransposedStages *stages) {
  const System *system = stages->system;
  size_t bytes = (size_t)system->links * sizeof(int32_t);
  int32_t *to = stages->chosen + system->columns;
  if (stages->chosen_links == system->links && memcmp(stages->chosen, system->link_from, bytes) == 0 &&
      memcmp(to, system->link_to, bytes) == 0)
    return;
  stages->chosen_links = system->links;
  memcpy(stages->chosen, system->link_from, bytes);
  memcpy(to, system->link_to, bytes);
  elimination_choose(stages->elimination, NULL);
  const int32_t *start = stages->elimination->start, *row = stages->elimination->row;
  linear_set_transposed(stages->real, start, row);
  for (int k = 0; k < SMAX / 2; k++) linear_set_transposed(stages->pair[k], start, row);
}

/* With the Jacobian of the stage in the middle. The transposed matrix of the method has the conjugate eigenvalues. */
static bool factor(TransposedStages *stages) {
  const RadauCoefficients *method = stages->method;
  const double *jacobian = stages->jacobian[method->stages / 2];
  elimination_real(stages->elimination, jacobian, stages->h * method->mu_real, stages->real_values);
  if (!linear_factor(stages->real, stages->real_values)) return false;
  for (int k = 0; k < method->stages / 2; k++) {
    elimination_complex(stages->elimination, jacobian, stages->h * method->mu[k][0], -stages->h * method->mu[k][1],
                        stages->pair_values);
    if (!linear_factor(stages->pair[k], stages->pair_values)) return false;
  }
  return true;
}

/* n from the weights, which hold J' m already. */
static void chain(const TransposedStages *stages) {
  const Elimination *elimination = stages->elimination;
  int s = stages->method->stages;
  size_t bytes = (size_t)stages->system->columns * sizeof(double);
  for (int i = 0; i < s; i++) memcpy(stages->chained[i], stages->weights[i], bytes);
  for (int32_t l = stages->system->links; l-- > 0;) {
    int32_t from = elimination->from[l], to = elimination->to[l];
    for (int i = 0; i < s; i++) {
      double sum = 0;
      for (int j = 0; j < s; j++) sum += stages->method->a[j][i] * stages->chained[j][from];
      stages->chained[i][to] += stages->h * sum;
    }
  }
}

/* What is left in the columns that are no states, in units of their scales. */
static double norm(const TransposedStages *stages) {
  double largest = 0;
  for (int32_t u = 0; u < stages->system->rows; u++) {
    int32_t column = stages->elimination->unknown[u];
    for (int i = 0; i < stages->method->stages; i++)
      largest = fmax(largest, fabs(stages->chained[i][column]) * stages->system->nominal[column]);
  }
  return largest;
}

static double size_of_weights(const TransposedStages *stages) {
  double largest = 0;
  for (int i = 0; i < stages->method->stages; i++)
    for (int32_t c = 0; c < stages->system->columns; c++)
      largest = fmax(largest, fabs(stages->weights[i][c]) * stages->system->nominal[c]);
  return largest;
}

/* weights += J' change, multiplier += change */
static void add_change(TransposedStages *stages, double *const *multiplier) {
  const System *system = stages->system;
  for (int i = 0; i < stages->method->stages; i++) {
    const double *entries = stages->jacobian[i], *change = stages->change[i];
    for (int32_t q = 0; q < system->columns; q++) {
      double sum = 0;
      for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++)
        sum += entries[e] * change[system->row_index[e]];
      stages->weights[i][q] += sum;
    }
    for (int32_t r = 0; r < system->rows; r++) multiplier[i][r] += change[r];
  }
}

/* Component `part` of n in the columns that are no states, in the basis of the eigenvectors. */
static double component(const TransposedStages *stages, int part, int32_t column) {
  double sum = 0;
  for (int i = 0; i < stages->method->stages; i++) sum += stages->method->back[i][part] * stages->chained[i][column];
  return sum;
}

/* change -= the part of the solution that belongs to a component */
static void subtract_component(const TransposedStages *stages, int part, const double *solution, int stride) {
  for (int i = 0; i < stages->method->stages; i++) {
    double weight = stages->method->forward[part][i];
    for (int32_t r = 0; r < stages->system->rows; r++) stages->change[i][r] -= weight * solution[r * stride];
  }
}

/* The change of the multipliers that n asks for, with one Jacobian for all stages. */
static void solve_with_one(TransposedStages *stages) {
  int32_t rows = stages->system->rows;
  const int32_t *unknown = stages->elimination->unknown;
  for (int i = 0; i < stages->method->stages; i++) memset(stages->change[i], 0, (size_t)rows * sizeof(double));
  for (int32_t u = 0; u < rows; u++) stages->real_right[u] = component(stages, 0, unknown[u]);
  linear_solve(stages->real, stages->real_right);
  subtract_component(stages, 0, stages->real_right, 1);
  for (int k = 0; k < stages->method->stages / 2; k++) {
    for (int32_t u = 0; u < rows; u++) {
      stages->pair_right[2 * u] = component(stages, 2 * k + 1, unknown[u]);
      stages->pair_right[2 * u + 1] = component(stages, 2 * k + 2, unknown[u]);
    }
    linear_solve(stages->pair[k], stages->pair_right);
    subtract_component(stages, 2 * k + 1, stages->pair_right, 2);
    subtract_component(stages, 2 * k + 2, stages->pair_right + 1, 2);
  }
}

/* The weights of the states at the start as they are now; returns how far they moved, over the largest. */
static double move_start(const TransposedStages *stages, double *start) {
  const System *system = stages->system;
  double moved = 0, largest = 0;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t from = system->link_from[l];
    double sum = 0, before = start[from];
    for (int i = 0; i < stages->method->stages; i++) sum += stages->chained[i][from];
    start[from] = sum;
    moved = fmax(moved, fabs(sum - before) * system->nominal[from]);
    largest = fmax(largest, fabs(sum) * system->nominal[from]);
  }
  return moved > 0 ? moved / largest : 0;
}

/* false: the Jacobians of the stages differ too much. */
static bool correct(TransposedStages *stages, double *start, double *const *multiplier) {
  double size = size_of_weights(stages), before = HUGE_VAL;
  if (!factor(stages)) return false;
  for (int k = 0; k < ROUNDS; k++) {
    chain(stages);
    double left = norm(stages), moved = move_start(stages, start);
    if (left <= stages->goal * size && moved <= 10 * stages->goal) return true;
    if (!(left <= CONTRACTS * before)) return left <= stages->goal * size;
    before = k ? left : HUGE_VAL;
    solve_with_one(stages);
    add_change(stages, multiplier);
  }
  return false;
}

/* ---- all stages at once ---- */

static bool solve_whole(TransposedStages *stages, double *const *multiplier) {
  const int32_t *unknown = stages->elimination->unknown;
  chain(stages);
  for (int i = 0; i < stages->method->stages; i++)
    for (int32_t u = 0; u < stages->system->rows; u++) stages->change[i][u] = -stages->chained[i][unknown[u]];
  if (!whole_stages_solve(stages->whole, stages->elimination, stages->method, stages->h, stages->jacobian,
                          stages->change))
    return false;
  add_change(stages, multiplier);
  return true;
}

bool transposed_stages_solve(TransposedStages *stages, const RadauCoefficients *method, double h,
                             double *const *jacobian, double *const *weights, double *start,
                             double *const *multiplier) {
  const System *system = stages->system;
  stages->method = method;
  stages->h = h;
  stages->jacobian = jacobian;
  stages->weights = weights;
  choose(stages);
  for (int i = 0; i < method->stages; i++) memset(multiplier[i], 0, (size_t)system->rows * sizeof(double));
  memset(start, 0, (size_t)system->columns * sizeof *start);
  if (correct(stages, start, multiplier)) return true;
  if (!solve_whole(stages, multiplier)) return false;
  chain(stages);
  move_start(stages, start);
  return true;
}
