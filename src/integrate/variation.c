/* variation: see variation.h. */
#include "integrate/variation.h"

#include "base/linear.h"
#include "base/triangular.h"

#include <string.h>

struct Variation {
  Heap *heap;
  const System *system;
  bool is_transposed;
  double *values;         /* the whole Jacobian; NULL until the first point */
  int32_t *place;         /* per column: its number among the columns that are not states; -1: it is a state */
  int32_t *states, links; /* states of the pattern; -1: none yet */
  int32_t *start, *row;   /* the columns that are not states, in order, as one square matrix */
  int32_t *number;        /* indices of its entries in the Jacobian */
  double *entries, *right;
  double *change;         /* all columns */
  Triangular *triangular; /* factors of equations that give one unknown after another; NULL until the first point */
  bool is_triangular;
  Linear *linear; /* factors for all others */
};

Variation *variation_new(Heap *heap, const System *system) {
  Variation *variation = heap_alloc(heap, sizeof *variation);
  variation->heap = heap;
  variation->system = system;
  return variation;
}

/* Makes room at the first point, because many runs have none. */
static void make_room(Variation *variation) {
  Heap *heap = variation->heap;
  const System *system = variation->system;
  size_t columns = (size_t)system->columns, nonzeros = (size_t)system->column_start[system->columns];
  variation->values = heap_array(heap, nonzeros, sizeof(double));
  variation->place = heap_array(heap, columns, sizeof(int32_t));
  variation->states = heap_array(heap, columns, sizeof(int32_t));
  variation->links = -1;
  variation->start = heap_array(heap, columns + 1, sizeof(int32_t));
  variation->row = heap_array(heap, nonzeros, sizeof(int32_t));
  variation->number = heap_array(heap, nonzeros, sizeof(int32_t));
  variation->entries = heap_array(heap, nonzeros, sizeof(double));
  variation->right = heap_array(heap, (size_t)system->rows, sizeof(double));
  variation->change = heap_array(heap, columns, sizeof(double));
  variation->linear = linear_new(heap, system->rows, (int32_t)nonzeros, false);
}

Variation *variation_new_transposed(Heap *heap, const System *system) {
  Variation *variation = variation_new(heap, system);
  variation->is_transposed = true;
  return variation;
}

/* Are the states the same as in the pattern? */
static bool has_same_states(const Variation *variation) {
  const System *system = variation->system;
  size_t bytes = (size_t)system->links * sizeof(int32_t);
  return variation->links == system->links && memcmp(variation->states, system->link_from, bytes) == 0;
}

static void mark_states(Variation *variation) {
  const System *system = variation->system;
  for (int32_t q = 0; q < system->columns; q++) variation->place[q] = 0;
  for (int32_t k = 0; k < system->links; k++) variation->place[system->link_from[k]] = -1;
  int32_t next = 0, entry = 0;
  for (int32_t q = 0; q < system->columns; q++) {
    if (variation->place[q] < 0) continue;
    variation->place[q] = next;
    variation->start[next++] = entry;
    for (int32_t e = system->column_start[q]; e < system->column_start[q + 1]; e++) {
      variation->number[entry] = e;
      variation->row[entry++] = system->row_index[e];
    }
  }
  variation->start[next] = entry;
  variation->links = system->links;
  memcpy(variation->states, system->link_from, (size_t)system->links * sizeof(int32_t));
  if (!variation->triangular)
    variation->triangular = triangular_new(variation->heap, system->rows, system->column_start[system->columns]);
  variation->is_triangular =
      triangular_set_pattern(variation->triangular, variation->start, variation->row, variation->number);
  if (variation->is_triangular) return;
  if (variation->is_transposed) linear_set_transposed(variation->linear, variation->start, variation->row);
  else linear_set_pattern(variation->linear, variation->start, variation->row);
}

static bool factor_entries(Variation *variation) {
  int32_t count = variation->start[variation->system->rows];
  for (int32_t k = 0; k < count; k++) variation->entries[k] = variation->values[variation->number[k]];
  return linear_factor(variation->linear, variation->entries);
}

static EvalStatus factor(Variation *variation) {
  if (!has_same_states(variation)) mark_states(variation);
  bool is_regular =
      variation->is_triangular ? triangular_take(variation->triangular, variation->values) : factor_entries(variation);
  return is_regular ? EVAL_OK : EVAL_DOMAIN;
}

EvalStatus variation_factor(Variation *variation, double t, const double *y) {
  const System *system = variation->system;
  if (!variation->values) make_room(variation);
  EvalStatus status = system->jacobian(system->context, t, y, variation->values);
  return status == EVAL_OK ? factor(variation) : status;
}

EvalStatus variation_take(Variation *variation, const double *entries) {
  const System *system = variation->system;
  if (!variation->values) make_room(variation);
  memcpy(variation->values, entries, (size_t)system->column_start[system->columns] * sizeof(double));
  return factor(variation);
}

const double *variation_entries(const Variation *variation) { return variation->values; }

void variation_solve(Variation *variation, const double *g, double *dy) {
  const System *system = variation->system;
  double *right = variation->right;
  for (int32_t r = 0; r < system->rows; r++) right[r] = g ? -g[r] : 0;
  for (int32_t k = 0; k < system->links; k++) {
    int32_t from = system->link_from[k];
    if (dy[from] == 0) continue;
    for (int32_t e = system->column_start[from]; e < system->column_start[from + 1]; e++)
      right[system->row_index[e]] -= variation->values[e] * dy[from];
  }
  if (variation->is_triangular) triangular_solve(variation->triangular, right);
  else linear_solve(variation->linear, right);
  for (int32_t q = 0; q < system->columns; q++)
    if (variation->place[q] >= 0) dy[q] = right[variation->place[q]];
}

void variation_solve_transposed(Variation *variation, double *weights, double *z) {
  const System *system = variation->system;
  for (int32_t q = 0; q < system->columns; q++) {
    if (variation->place[q] < 0) continue;
    z[variation->place[q]] = weights[q];
    weights[q] = 0;
  }
  if (variation->is_triangular) triangular_solve_transposed(variation->triangular, z);
  else linear_solve(variation->linear, z);
  for (int32_t k = 0; k < system->links; k++) {
    int32_t from = system->link_from[k];
    for (int32_t e = system->column_start[from]; e < system->column_start[from + 1]; e++)
      weights[from] -= variation->values[e] * z[system->row_index[e]];
  }
}

EvalStatus variation_rates(Variation *variation, double t, const double *y, double *jacobian) {
  const System *system = variation->system;
  EvalStatus status = variation_factor(variation, t, y);
  int32_t n = system->links;
  for (int32_t k = 0; k < n && status == EVAL_OK; k++) {
    for (int32_t i = 0; i < n; i++) variation->change[system->link_from[i]] = i == k;
    variation_solve(variation, NULL, variation->change);
    for (int32_t i = 0; i < n; i++) jacobian[i + k * n] = variation->change[system->link_to[i]];
  }
  return status;
}
