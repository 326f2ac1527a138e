/* release: see release.h. Invariant of the echelon: a vector is 1 at its pivot and zero at the pivots of those before
 * it. So the unknowns that depend on the remaining ones are found from the last vector to the first. */
#include "array/release.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger problems are not searched. */
enum { LARGEST = 20000, POINTS = 2 };

static const double NOTHING = 1e-9;

/* A pivot must not be smaller than this fraction of the largest in its row. */
static const double THRESHOLD = 0.1;

typedef struct EchelonEntry {
  uint32_t unknown;
  double value;
} EchelonEntry;

typedef struct EchelonRow {
  uint32_t pivot, first, end; /* parts */
} EchelonRow;

typedef struct Echelon {
  Heap *heap;
  VEC(EchelonRow) rows;
  VEC(EchelonEntry) parts;
  double *row;      /* the current row, per unknown */
  IndexVec touched; /* unknowns where it may be nonzero */
  bool *is_touched;
  uint32_t *entries; /* per unknown: in how many rows it occurs, so that pivots cause little fill */
} Echelon;

static void put(Echelon *echelon, uint32_t unknown, double value) {
  if (!echelon->is_touched[unknown]) {
    echelon->is_touched[unknown] = true;
    vec_push(echelon->heap, &echelon->touched, unknown);
  }
  echelon->row[unknown] += value;
}

static void clear(Echelon *echelon) {
  for (uint32_t k = 0; k < echelon->touched.count; k++) {
    echelon->row[echelon->touched.data[k]] = 0;
    echelon->is_touched[echelon->touched.data[k]] = false;
  }
  echelon->touched.count = 0;
}

static double largest_entry(const Echelon *echelon) {
  double largest = 0;
  for (uint32_t k = 0; k < echelon->touched.count; k++)
    largest = fmax(largest, fabs(echelon->row[echelon->touched.data[k]]));
  return largest;
}

static void reduce(Echelon *echelon) {
  for (uint32_t r = 0; r < echelon->rows.count; r++) {
    EchelonRow known = echelon->rows.data[r];
    double factor = echelon->row[known.pivot];
    if (factor == 0) continue;
    for (uint32_t k = known.first; k < known.end; k++)
      put(echelon, echelon->parts.data[k].unknown, -factor * echelon->parts.data[k].value);
    echelon->row[known.pivot] = 0;
  }
}

static uint32_t choose_pivot(const Echelon *echelon, double largest) {
  uint32_t best = UINT32_MAX;
  for (uint32_t k = 0; k < echelon->touched.count; k++) {
    uint32_t unknown = echelon->touched.data[k];
    if (fabs(echelon->row[unknown]) < THRESHOLD * largest) continue;
    bool fewer = best == UINT32_MAX || echelon->entries[unknown] < echelon->entries[best];
    if (fewer || (echelon->entries[unknown] == echelon->entries[best] && unknown < best)) best = unknown;
  }
  return best;
}

/* Adds the current row unless it depends on those already there. */
static void insert(Echelon *echelon) {
  double before = largest_entry(echelon);
  if (!(before > 0)) return;
  reduce(echelon);
  double largest = largest_entry(echelon);
  if (largest <= NOTHING * before) return;
  EchelonRow added = {.pivot = choose_pivot(echelon, largest), .first = echelon->parts.count};
  for (uint32_t k = 0; k < echelon->touched.count; k++) {
    uint32_t unknown = echelon->touched.data[k];
    double value = echelon->row[unknown];
    if (fabs(value) <= NOTHING * NOTHING * before) continue;
    EchelonEntry part = {unknown, value / echelon->row[added.pivot]};
    vec_push(echelon->heap, &echelon->parts, part);
  }
  added.end = echelon->parts.count;
  vec_push(echelon->heap, &echelon->rows, added);
}

/* All partial derivatives of the equations, by equation, with their values at a few points. */
typedef struct Gradients {
  ExprVec leaves, partials;
  uint32_t *start;
  double *values[POINTS];
} Gradients;

static Gradients gradients_make(const Problem *problem, const Samples *samples, Arena *scratch) {
  Gradients gradients = {.start = arena_array(scratch, problem->equations + 1, sizeof(uint32_t))};
  for (uint32_t i = 0; i < problem->equations; i++) {
    dag_gradient(problem->model->dag, problem->residual[i], &gradients.leaves, &gradients.partials);
    gradients.start[i + 1] = gradients.leaves.count;
  }
  for (uint32_t s = 0; s < POINTS; s++) {
    gradients.values[s] = arena_array(scratch, gradients.leaves.count, sizeof(double));
    samples_evaluate(samples, s, gradients.partials.data, gradients.partials.count, gradients.values[s], NULL, NULL);
  }
  return gradients;
}

/* d f_i / d x^(order) at a point. */
typedef struct GradientRow {
  uint32_t equation, order, point, count;
} GradientRow;

typedef VEC(GradientRow) GradientRowVec;

static void insert_row(Echelon *echelon, const Problem *problem, const Gradients *gradients, const GradientRow *row) {
  const Dag *dag = problem->model->dag;
  clear(echelon);
  for (uint32_t k = gradients->start[row->equation]; k < gradients->start[row->equation + 1]; k++) {
    Expr leaf = gradients->leaves.data[k];
    double value = gradients->values[row->point][k];
    if (dag_order(dag, leaf) == row->order && isfinite(value))
      put(echelon, problem->local[dag_index(dag, leaf)], value);
  }
  insert(echelon);
}

/* One row for each order of derivatives; one point is enough for numbers. */
static void list_rows(const Problem *problem, const Gradients *gradients, uint32_t i, Heap *heap,
                      GradientRowVec *rows) {
  const Dag *dag = problem->model->dag;
  uint32_t highest = 0, begin = gradients->start[i], end = gradients->start[i + 1];
  for (uint32_t k = begin; k < end; k++)
    if (dag_order(dag, gradients->leaves.data[k]) > highest) highest = dag_order(dag, gradients->leaves.data[k]);
  bool same = !memcmp(gradients->values[0] + begin, gradients->values[1] + begin, (end - begin) * sizeof(double));
  for (uint32_t point = 0; point < (same ? 1 : POINTS); point++)
    for (uint32_t order = 0; order <= highest; order++) {
      GradientRow row = {i, order, point, 0};
      for (uint32_t k = begin; k < end; k++) row.count += dag_order(dag, gradients->leaves.data[k]) == order;
      vec_push(heap, rows, row);
    }
}

/* Short rows come first, because they cause the least fill; rows of equal length keep their order. */
static int compare_rows(const void *left, const void *right) {
  const GradientRow *a = left, *b = right;
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  if (a->equation != b->equation) return a->equation < b->equation ? -1 : 1;
  if (a->point != b->point) return a->point < b->point ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

/* ---- what follows ---- */

/* An equation that is the only one with some unknown, after other such equations were left out. */
typedef struct OutputEquation {
  uint32_t equation, unknown;
} OutputEquation;

typedef VEC(OutputEquation) OutputVec;

static void leave_out(const Incidence *incidence, int32_t i, bool *is_left_out, uint32_t *holders, Heap *heap,
                      IndexVec *single) {
  is_left_out[i] = true;
  for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++)
    if (--holders[incidence->column[e]] == 1) vec_push(heap, single, (uint32_t)incidence->column[e]);
}

/* Removes each unknown that only one equation contains, together with that equation, as long as there are any. */
static void list_outputs(const Incidence *incidence, const Pattern *by_unknown, uint32_t without, Arena *scratch,
                         OutputVec *outputs) {
  uint32_t *holders = arena_array(scratch, (size_t)incidence->n_variables, sizeof *holders);
  bool *is_left_out = arena_array(scratch, (size_t)incidence->n_equations, sizeof *is_left_out);
  IndexVec single = {0};
  for (int32_t j = 0; j < incidence->n_variables; j++)
    holders[j] = (uint32_t)(by_unknown->row_start[j + 1] - by_unknown->row_start[j]);
  for (int32_t j = 0; j < incidence->n_variables; j++)
    if (holders[j] == 1) vec_push(scratch->heap, &single, (uint32_t)j);
  leave_out(incidence, (int32_t)without, is_left_out, holders, scratch->heap, &single);
  for (uint32_t k = 0; k < single.count; k++) {
    uint32_t j = single.data[k];
    for (int32_t e = by_unknown->row_start[j]; e < by_unknown->row_start[j + 1]; e++) {
      int32_t i = by_unknown->column[e];
      if (is_left_out[i]) continue;
      vec_push(scratch->heap, outputs, (OutputEquation){(uint32_t)i, j});
      leave_out(incidence, i, is_left_out, holders, scratch->heap, &single);
    }
  }
  vec_free(scratch->heap, &single);
}

static bool is_linear(const Gradients *gradients, uint32_t i) {
  for (uint32_t k = gradients->start[i]; k < gradients->start[i + 1]; k++)
    if (!isfinite(gradients->values[0][k]) || gradients->values[0][k] != gradients->values[1][k]) return false;
  return true;
}

/* Unknowns that equations give from other unknowns, but not in fixed proportions, and these equations; the inner ones come
 * first. */
typedef struct Followers {
  bool *unknown, *equation;
} Followers;

static Followers find_followers(const Problem *problem, const Gradients *gradients, uint32_t without, Arena *scratch) {
  const Incidence *incidence = &problem->incidence;
  Followers followers = {arena_array(scratch, problem->unknowns, sizeof(bool)),
                         arena_array(scratch, problem->equations, sizeof(bool))};
  Pattern pattern = incidence_pattern(incidence), by_unknown = pattern_transpose(scratch, &pattern);
  OutputVec outputs = {0};
  list_outputs(incidence, &by_unknown, without, scratch, &outputs);
  for (uint32_t k = outputs.count; k-- > 0;) {
    OutputEquation output = outputs.data[k];
    bool follows = !is_linear(gradients, output.equation);
    for (int32_t e = incidence->row_start[output.equation]; e < incidence->row_start[output.equation + 1]; e++)
      follows = follows || followers.unknown[incidence->column[e]];
    followers.unknown[output.unknown] = followers.equation[output.equation] = follows;
  }
  vec_free(scratch->heap, &outputs);
  return followers;
}

/* ---- free unknowns ---- */

/* The echelon form of all equations except one; equations that follow from others are left out. */
static Echelon eliminate(const Problem *problem, const Samples *samples, uint32_t without, Arena *scratch,
                         Followers *followers) {
  uint32_t n = problem->unknowns;
  Echelon echelon = {.heap = scratch->heap};
  echelon.row = arena_array(scratch, n, sizeof(double));
  echelon.is_touched = arena_array(scratch, n, sizeof(bool));
  echelon.entries = arena_array(scratch, n, sizeof(uint32_t));
  Gradients gradients = gradients_make(problem, samples, scratch);
  *followers = find_followers(problem, &gradients, without, scratch);
  for (uint32_t k = 0; k < gradients.leaves.count; k++)
    echelon.entries[problem->local[dag_index(problem->model->dag, gradients.leaves.data[k])]]++;
  GradientRowVec rows = {0};
  for (uint32_t i = 0; i < problem->equations; i++)
    if (i != without && !followers->equation[i]) list_rows(problem, &gradients, i, echelon.heap, &rows);
  if (rows.count) qsort(rows.data, rows.count, sizeof *rows.data, compare_rows);
  for (uint32_t k = 0; k < rows.count; k++) insert_row(&echelon, problem, &gradients, &rows.data[k]);
  vec_free(echelon.heap, &gradients.leaves, &gradients.partials, &rows);
  return echelon;
}

static void echelon_free(Echelon *echelon) {
  vec_free(echelon->heap, &echelon->rows, &echelon->parts, &echelon->touched);
}

/* Moves the unknowns with a pivot as the moves of the others require. */
static void move_pivots(const Echelon *echelon, double *moves) {
  for (uint32_t r = 0; r < echelon->rows.count; r++) moves[echelon->rows.data[r].pivot] = 0;
  for (uint32_t r = echelon->rows.count; r-- > 0;) {
    const EchelonRow *row = &echelon->rows.data[r];
    double sum = 0, size = 0;
    for (uint32_t k = row->first; k < row->end; k++) {
      double move = echelon->parts.data[k].unknown == row->pivot
                        ? 0
                        : echelon->parts.data[k].value * moves[echelon->parts.data[k].unknown];
      sum -= move;
      size += fabs(move);
    }
    moves[row->pivot] = fabs(sum) <= NOTHING * size ? 0 : sum;
  }
}

static int preference(const Problem *problem, uint32_t unknown) {
  const Model *model = problem->model;
  const Variable *variable = &model->variables.data[model->unknowns.data[problem->unknown[unknown]]];
  return (variable->fixed == FIXED_TRUE) * 2 + (variable->start != EXPR_NONE);
}

/* Unknowns without pivot are free, and so are the unknowns that move with them: all are moved by different amounts at once. */
void release_candidates(const Problem *problem, const Samples *samples, uint32_t without, Arena *arena,
                        IndexVec *unknowns) {
  uint32_t n = problem->unknowns;
  if (n > LARGEST) return;
  Arena scratch = arena_make(arena->heap);
  Followers followers;
  Echelon echelon = eliminate(problem, samples, without, &scratch, &followers);
  double *moves = arena_array(&scratch, n, sizeof *moves);
  for (uint32_t j = 0; j < n; j++) moves[j] = followers.unknown[j] ? 0 : 1 + (double)(j * 7919 % 104729) / 104729;
  move_pivots(&echelon, moves);
  for (int wanted = 3; wanted >= 0; wanted--)
    for (uint32_t j = 0; j < n; j++)
      if (moves[j] != 0 && preference(problem, j) == wanted) vec_push(arena->heap, unknowns, j);
  echelon_free(&echelon);
  arena_free(&scratch);
}

/* If there are several such proportions, those of the first unknown without pivot are used. */
const double *release_move(const Problem *problem, const Samples *samples, uint32_t without, Arena *arena) {
  uint32_t n = problem->unknowns, free = 0;
  if (n > LARGEST) return NULL;
  Arena scratch = arena_make(arena->heap);
  Followers followers;
  Echelon echelon = eliminate(problem, samples, without, &scratch, &followers);
  double *moves = arena_array(arena, n, sizeof *moves);
  for (uint32_t r = 0; r < echelon.rows.count; r++) followers.unknown[echelon.rows.data[r].pivot] = true;
  while (free < n && followers.unknown[free]) free++;
  if (free < n) {
    moves[free] = 1;
    move_pivots(&echelon, moves);
  }
  echelon_free(&echelon);
  arena_free(&scratch);
  return free < n ? moves : NULL;
}
