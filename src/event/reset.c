/* reset: see reset.h. The columns are functions of the states. Chooses columns to keep, in order of preference: as many as
 * there are states, with independent rows of the Jacobian. Newton's method finds the states at which these columns have the
 * values to keep. */
#include "event/reset.h"

#include "base/vec.h"
#include "core/constants.h"
#include "core/corrector.h"
#include "core/lu.h"

#include <math.h>
#include <string.h>

typedef struct Reset {
  const ResetPlan *plan;
  const System *system;
  double t;
  int32_t n;        /* states */
  int32_t turn;     /* the first state to keep */
  IndexVec columns; /* the candidates, later the kept columns */
  double *wanted;   /* per column of the view: its value if it is kept */
  double *jacobian; /* candidates x states, by rows */
  double *matrix;   /* states x states */
  double *right;    /* per state */
  int *pivots;
  bool is_differentiated; /* the Jacobian belongs to y */
  double *y, *moved;      /* all columns */
} Reset;

static void add_once(Heap *heap, IndexVec *columns, uint8_t *seen, uint32_t q) {
  if (!seen[q]) vec_push(heap, columns, q);
  seen[q] = 1;
}

/* Lists candidates in order of preference. false: all preferred ones are states. */
static bool list_candidates(Heap *heap, Reset *reset, const uint8_t *held) {
  const ResetPlan *plan = reset->plan;
  const System *system = reset->system;
  IndexVec *columns = &reset->columns;
  uint8_t *seen = heap_array(heap, (size_t)system->columns, 1),
          *is_state = heap_array(heap, (size_t)system->columns, 1);
  for (int32_t k = 0; k < system->links; k++) is_state[system->link_from[k]] = 1;
  for (int32_t q = 0; q < system->columns; q++)
    if (held[q] == 2) add_once(heap, columns, seen, (uint32_t)q);
  for (uint32_t k = 0; k < plan->count; k++) add_once(heap, columns, seen, plan->preferred[k]);
  bool others = false;
  for (uint32_t k = 0; k < columns->count; k++) others = others || !is_state[columns->data[k]];
  for (int32_t k = 0; k < system->links; k++)
    add_once(heap, columns, seen, (uint32_t)system->link_from[(k + reset->turn) % system->links]);
  return others;
}

/* Computes the derivatives of the columns with respect to the states, at reset->y. */
static bool differentiate(Reset *reset) {
  const System *system = reset->system;
  for (int32_t s = 0; s < reset->n; s++) {
    int32_t from = system->link_from[s];
    double step = SAME * (fabs(reset->y[from]) + system->nominal[from]);
    memcpy(reset->moved, reset->y, (size_t)system->columns * sizeof(double));
    reset->moved[from] += step;
    step = reset->moved[from] - reset->y[from];
    if (system->find(system->context, reset->t, reset->moved) != EVAL_OK) return false;
    for (uint32_t k = 0; k < reset->columns.count; k++) {
      uint32_t q = reset->columns.data[k];
      reset->jacobian[k * (uint32_t)reset->n + (uint32_t)s] =
          (reset->moved[q] - reset->y[q]) / step * system->nominal[from] / system->nominal[q];
    }
  }
  return true;
}

static double row_size(const double *row, int32_t n) {
  double size = 0;
  for (int32_t s = 0; s < n; s++) size = fmax(size, fabs(row[s]));
  return size;
}

/* Keeps the first candidates with independent rows, as many as there are states. */
static bool choose(Reset *reset, int32_t *pivot) {
  int32_t n = reset->n, kept = 0;
  for (uint32_t k = 0; k < reset->columns.count && kept < n; k++) {
    double *row = &reset->matrix[kept * n];
    memcpy(row, &reset->jacobian[k * (uint32_t)n], (size_t)n * sizeof(double));
    double size = row_size(row, n);
    for (int32_t i = 0; i < kept; i++) {
      double factor = row[pivot[i]] / reset->matrix[i * n + pivot[i]];
      for (int32_t s = 0; s < n; s++) row[s] -= factor * reset->matrix[i * n + s];
    }
    double left = row_size(row, n);
    if (!(left > PRESENT * size)) continue;
    pivot[kept] = 0;
    while (fabs(row[pivot[kept]]) < left) pivot[kept]++;
    memmove(&reset->jacobian[kept * n], &reset->jacobian[k * (uint32_t)n], (size_t)n * sizeof(double));
    reset->columns.data[kept++] = reset->columns.data[k];
  }
  reset->columns.count = (uint32_t)kept;
  return kept == n;
}

/* One correction of the states. Its size is infinite if the matrix is singular or the rows cannot be solved. */
static double correct(void *context, bool *renew) {
  *renew = true;
  Reset *reset = context;
  const System *system = reset->system;
  int n = reset->n;
  double size = 0, *right = reset->right;
  if (!reset->is_differentiated && !differentiate(reset)) return HUGE_VAL;
  reset->is_differentiated = false;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t s = 0; s < n; s++) reset->matrix[s * n + i] = reset->jacobian[i * n + s];
    uint32_t q = reset->columns.data[i];
    right[i] = (reset->wanted[q] - reset->y[q]) / system->nominal[q];
  }
  if (lu_factor(n, reset->matrix, reset->pivots) != 0) return HUGE_VAL;
  lu_solve(n, reset->matrix, reset->pivots, right);
  for (int32_t s = 0; s < n; s++) {
    int32_t from = system->link_from[s];
    size = fmax(size, fabs(right[s]) / (1 + fabs(reset->y[from]) / system->nominal[from]));
    reset->y[from] += right[s] * system->nominal[from];
  }
  return system->find(system->context, reset->t, reset->y) == EVAL_OK ? size : HUGE_VAL;
}

static bool find_states(Reset *reset, Heap *heap) {
  reset->right = heap_array(heap, (size_t)reset->n, sizeof *reset->right);
  reset->pivots = heap_array(heap, (size_t)reset->n, sizeof *reset->pivots);
  int32_t *chosen = heap_array(heap, (size_t)reset->n, sizeof *chosen);
  reset->is_differentiated = differentiate(reset) && choose(reset, chosen);
  return reset->is_differentiated &&
         corrector_run(correct, reset, REACH_ANY, false, CORRECTOR_ROUND_OFF) == CORRECTOR_CONVERGED;
}

/* Lists the candidates and allocates the rest. */
static void make_room(Reset *reset, Heap *heap) {
  heap_numbers(heap, (size_t)reset->system->columns, &reset->wanted, &reset->y, &reset->moved);
  reset->jacobian = heap_array(heap, reset->columns.count * (size_t)reset->n, sizeof(double));
  reset->matrix = heap_array(heap, (size_t)reset->n * (size_t)reset->n, sizeof(double));
}

void reset_keep_preferred(const ResetPlan *plan, double t, const double *before, const uint8_t *held, double *y) {
  const System *system = plan->system;
  size_t columns = (size_t)system->columns;
  Reset reset = {.plan = plan, .system = system, .t = t, .n = system->links};
  void *ticket = NULL;
  Heap *heap = heap_within(plan->heap, &ticket);
  if (system->complete && reset.n > 0 && list_candidates(heap, &reset, held)) {
    make_room(&reset, heap);
    for (size_t q = 0; q < columns; q++) reset.wanted[q] = held[q] == 2 ? y[q] : before[q];
    memcpy(reset.y, y, columns * sizeof *y);
    if (find_states(&reset, heap)) memcpy(y, reset.y, columns * sizeof *y);
  }
  heap_release(plan->heap, ticket);
}

/* Moves the states from y until the columns have made this part of the requested change. */
static bool go_on(Reset *reset, Heap *heap, const uint8_t *held, const double *values, const double *before,
                  double part, double *y) {
  size_t columns = (size_t)reset->system->columns;
  void *ticket = NULL;
  Heap *own = heap_within(heap, &ticket);
  Reset way = *reset;
  way.columns = (IndexVec){0};
  list_candidates(own, &way, held);
  for (size_t q = 0; q < columns; q++)
    way.wanted[q] = held[q] != 2 ? before[q] : part < 1 ? before[q] + part * (values[q] - before[q]) : values[q];
  memcpy(way.y, y, columns * sizeof *y);
  bool found = find_states(&way, own);
  if (found) memcpy(y, way.y, columns * sizeof *y);
  heap_release(heap, ticket);
  return found;
}

/* Makes the whole change in parts; each is half as long as the last one that failed. */
static bool go_all_the_way(Reset *reset, Heap *heap, const uint8_t *held, const double *values, double *y) {
  size_t columns = (size_t)reset->system->columns;
  double *before = heap_copy(heap, y, columns, sizeof *y), done = 0, more = 1;
  while (done < 1 && more >= NEGLIGIBLE) {
    double part = fmin(done + more, 1);
    bool is_there = go_on(reset, heap, held, values, before, part, y);
    if (is_there) done = part;
    more *= is_there ? 2 : 0.5;
  }
  if (done < 1) memcpy(y, before, columns * sizeof *y);
  return done >= 1;
}

bool reset_give(const ResetPlan *plan, double t, const uint8_t *held, const double *values, double *y) {
  const System *system = plan->system;
  Reset reset = {.plan = plan, .system = system, .t = t, .n = system->links};
  void *ticket = NULL;
  bool is_there = false;
  if (!system->complete || reset.n == 0) return false;
  Heap *heap = heap_within(plan->heap, &ticket);
  list_candidates(heap, &reset, held);
  make_room(&reset, heap);
  for (; reset.turn < reset.n && reset.turn < CORRECTIONS && !is_there; reset.turn++)
    is_there = go_all_the_way(&reset, heap, held, values, y);
  heap_release(plan->heap, ticket);
  return is_there;
}
