/* release: see release.h. */
#include "array/release.h"

#include <math.h>
#include <string.h>

/* Larger problems are not searched. */
enum { LARGEST = 600, POINTS = 2 };

static const double NOTHING = 1e-9;

/* Rows already eliminated: row k pivots on column pivot[k], where all others are zero. */
typedef struct Echelon {
  uint32_t n, rank;
  double *row;
  uint32_t *pivot;
} Echelon;

static void reduce(const Echelon *echelon, double *row) {
  for (uint32_t k = 0; k < echelon->rank; k++) {
    double factor = row[echelon->pivot[k]];
    if (factor == 0) continue;
    for (uint32_t j = 0; j < echelon->n; j++) row[j] -= factor * echelon->row[k * echelon->n + j];
    row[echelon->pivot[k]] = 0;
  }
}

/* Adds a row unless it depends on those there. */
static void insert(Echelon *echelon, double *row) {
  double before = 0, largest = 0;
  uint32_t pivot = 0, n = echelon->n;
  for (uint32_t j = 0; j < n; j++) before = fmax(before, fabs(row[j]));
  if (!(before > 0)) return;
  for (uint32_t j = 0; j < n; j++) row[j] /= before;
  reduce(echelon, row);
  for (uint32_t j = 0; j < n; j++)
    if (fabs(row[j]) > largest) largest = fabs(row[j]), pivot = j;
  if (largest <= NOTHING) return;
  double head = row[pivot];
  for (uint32_t j = 0; j < n; j++) row[j] /= head;
  for (uint32_t k = 0; k < echelon->rank; k++) {
    double factor = echelon->row[k * n + pivot];
    for (uint32_t j = 0; j < n && factor != 0; j++) echelon->row[k * n + j] -= factor * row[j];
  }
  memcpy(echelon->row + echelon->rank * n, row, n * sizeof *row);
  echelon->pivot[echelon->rank++] = pivot;
}

/* d f_i / d x^(k) at a point, one row for each k. */
static void insert_equation(Echelon *echelon, const Problem *problem, const Samples *samples, uint32_t i,
                            ExprVec *leaves, ExprVec *partials, Arena *scratch) {
  Dag *dag = problem->model->dag;
  leaves->count = partials->count = 0;
  dag_gradient(dag, problem->residual[i], leaves, partials);
  uint32_t highest = 0;
  for (uint32_t k = 0; k < leaves->count; k++)
    if (dag_order(dag, leaves->data[k]) > highest) highest = dag_order(dag, leaves->data[k]);
  double *values = arena_array(scratch, leaves->count, sizeof *values),
         *row = arena_array(scratch, echelon->n, sizeof *row);
  for (uint32_t s = 0; s < POINTS; s++) {
    samples_evaluate(samples, s, partials->data, partials->count, values, NULL);
    for (uint32_t order = 0; order <= highest; order++) {
      memset(row, 0, echelon->n * sizeof *row);
      for (uint32_t k = 0; k < leaves->count; k++)
        if (dag_order(dag, leaves->data[k]) == order && isfinite(values[k]))
          row[problem->local[dag_index(dag, leaves->data[k])]] = values[k];
      insert(echelon, row);
    }
  }
}

static int preference(const Problem *problem, uint32_t unknown) {
  const Model *model = problem->model;
  const Variable *variable = &model->variables.data[model->unknowns.data[problem->unknown[unknown]]];
  return (variable->fixed == FIXED_TRUE) * 2 + (variable->start != EXPR_NONE);
}

void release_candidates(const Problem *problem, const Samples *samples, uint32_t without, Arena *arena,
                        IndexVec *unknowns) {
  uint32_t n = problem->unknowns;
  if (n > LARGEST) return;
  Arena scratch = arena_make(arena->heap);
  ExprVec leaves = {0}, partials = {0};
  Echelon echelon = {.n = n};
  echelon.row = arena_array(&scratch, (size_t)n * n, sizeof(double));
  echelon.pivot = arena_array(&scratch, n, sizeof(uint32_t));
  for (uint32_t i = 0; i < problem->equations; i++)
    if (i != without) insert_equation(&echelon, problem, samples, i, &leaves, &partials, &scratch);
  /* A column without pivot is free, and so is every column whose pivot row has an entry in it. */
  bool *free = arena_array(&scratch, n, sizeof *free), *pivots = arena_array(&scratch, n, sizeof *pivots);
  for (uint32_t k = 0; k < echelon.rank; k++) pivots[echelon.pivot[k]] = true;
  for (uint32_t j = 0; j < n; j++) {
    if (pivots[j]) continue;
    free[j] = true;
    for (uint32_t k = 0; k < echelon.rank; k++)
      if (fabs(echelon.row[k * n + j]) > NOTHING) free[echelon.pivot[k]] = true;
  }
  for (int wanted = 3; wanted >= 0; wanted--)
    for (uint32_t j = 0; j < n; j++)
      if (free[j] && preference(problem, j) == wanted) vec_push(arena->heap, unknowns, j);
  vec_free(arena->heap, &leaves);
  vec_free(arena->heap, &partials);
  arena_free(&scratch);
}
