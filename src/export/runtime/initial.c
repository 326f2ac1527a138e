/* initial: consistent initial values for other parameters and start values than those of the model's text. It starts from the
 * values found for these, and uses damped Newton on the rows that determine one column each. Columns that no row determines keep
 * their start values. Where start values must change, they move as little as possible, in the units and with the weights that
 * were used for the values of the text. */
#include "solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { NEWTON_LIMIT = 100, HALVING_LIMIT = 30 };

/* Computes parameters bound to others, in the order of their dependencies. */
void initial_dependents(Solver *solver) {
  const Model *model = solver->model;
  double value;
  for (int k = 0; k < model->dependents; k++) {
    int p = model->dependent[k];
    if (isfinite(solver->overrides[p])) continue;
    program_run(solver, model->dependent_program[k], model->start, model->y0, &value);
    program_set_parameter(solver, p, value);
  }
}

/* Computes the correction in `right`, followed by the multipliers. Entries that are not finite count as 0, for example that of
 * sqrt(u) at u = 0. */
static int solve_correction(Solver *solver, const ModelInitial *system, double t, Linear *matrix, double *values) {
  int n = system->rows + system->balances;
  program_run(solver, system->jacobian, t, solver->initial_y, solver->initial_entries);
  memcpy(solver->right, solver->initial_trial, (size_t)system->rows * sizeof(double));
  for (int k = 0; k < system->balances; k++) {
    int j = system->balance[k], q = system->unknown[j];
    solver->right[system->rows + k] =
        system->pull[j] > 0 ? system->pull[j] * (solver->initial_y[q] - solver->initial_target[q]) : 0;
  }
  for (int e = 0; e < system->start[n]; e++) {
    int source = system->source[e];
    double value = source < 0 ? fabs(system->pull[-1 - source]) : solver->initial_entries[source];
    values[e] = isfinite(value) ? value : 0;
  }
  if (!linear_factor(matrix, values)) return 1;
  linear_solve(matrix, solver->right);
  return 0;
}

/* The line search reduces this merit: the squares of the rows. Where unknowns are pulled to targets, it is their distance from the
 * targets plus the rows, weighted by more than their multipliers; the correction reduces that (Han 1977). */
static double merit(const Solver *solver, const ModelInitial *system, double multiplier) {
  double sum = 0;
  for (int r = 0; r < system->rows; r++) {
    double row = solver->initial_trial[r];
    sum += system->balances ? 2 * multiplier * fabs(row) : row * row;
  }
  for (int k = 0; k < system->balances; k++) {
    int j = system->balance[k], q = system->unknown[j];
    double away = solver->initial_y[q] - solver->initial_target[q];
    if (system->pull[j] > 0) sum += 0.5 * system->pull[j] * away * away;
  }
  return sum;
}

static double largest_multiplier(const Solver *solver, const ModelInitial *system) {
  double largest = DBL_MIN;
  for (int k = system->unknowns; k < system->rows + system->balances; k++)
    largest = fmax(largest, fabs(solver->right[k]));
  return largest;
}

/* Halves the correction until the rows are defined and the merit falls or no longer changes; leaves the rows in `initial_trial`. */
static int search_line(Solver *solver, const ModelInitial *system, double t) {
  double multiplier = largest_multiplier(solver, system), before = merit(solver, system, multiplier);
  double fraction = 1, last = 0;
  for (int k = 0; k < HALVING_LIMIT; k++, fraction /= 2) {
    for (int j = 0; j < system->unknowns; j++)
      solver->initial_y[system->unknown[j]] -= (fraction - last) * solver->right[j];
    last = fraction;
    if (program_run(solver, system->residual, t, solver->initial_y, solver->initial_trial)) continue;
    double after = merit(solver, system, multiplier);
    if (before == 0 || after <= before * (system->balances ? 1 + 4 * DBL_EPSILON : 1 - fraction / 2)) return 0;
  }
  return 1;
}

static double correction_size(const Solver *solver, const ModelInitial *system) {
  double largest = 0;
  for (int j = 0; j < system->unknowns; j++) {
    double size = fabs(solver->right[j]) / (1 + fabs(solver->initial_y[system->unknown[j]]));
    if (!(size <= largest)) largest = size;
  }
  return largest;
}

static int iterate(Solver *solver, const ModelInitial *system, double t, Linear *matrix, double *values) {
  if (program_run(solver, system->residual, t, solver->initial_y, solver->initial_trial)) return 1;
  for (int k = 0; k < NEWTON_LIMIT; k++) {
    if (solve_correction(solver, system, t, matrix, values)) return 1;
    double size = correction_size(solver, system);
    if (!isfinite(size)) return 1;
    if (size < 1e-9) {
      for (int j = 0; j < system->unknowns; j++) solver->initial_y[system->unknown[j]] -= solver->right[j];
      return 0;
    }
    if (search_line(solver, system, t)) return 1;
  }
  return 1;
}

typedef struct Newton {
  Solver *solver;
  const ModelInitial *system;
  double t;
  int failed;
} Newton;

static void solve_system(void *context) {
  Newton *task = context;
  void *ticket;
  int n = task->system->rows + task->system->balances, entries = task->system->start[n];
  Heap *heap = heap_within(task->solver->heap, &ticket);
  Linear *matrix = linear_new(heap, n, entries, false);
  linear_set_pattern(matrix, task->system->start, task->system->row);
  double *values = heap_array(heap, (size_t)entries, sizeof *values);
  task->failed = iterate(task->solver, task->system, task->t, matrix, values);
  heap_release(task->solver->heap, ticket);
}

static int newton(Solver *solver, const ModelInitial *system, double t) {
  Newton task = {solver, system, t, 1};
  return !heap_protect(solver->heap, solve_system, &task) || task.failed;
}

/* Do the rows hold that should follow from the others? */
static int checks_hold(Solver *solver, double t) {
  const ModelInitial *system = &solver->model->start_system;
  if (!system->checks) return 1;
  if (program_run(solver, system->residual, t, solver->initial_y, solver->initial_trial)) return 0;
  for (int k = 0; k < system->checks; k++) {
    double row = solver->initial_trial[system->rows + k];
    if (!(fabs(row) <= solver->now->tolerance)) return 0;
  }
  return 1;
}

/* Sets the conditions of the operating point by its values. Does one change? */
static int set_point_modes(Solver *solver, double t) {
  const Model *model = solver->model;
  int changed = 0;
  if (!model->point_modes ||
      program_run(solver, model->point_conditions, t, solver->initial_y, solver->point_differences))
    return 0;
  for (int m = 0; m < model->point_modes; m++) {
    double *mode = &solver->point_discretes[model->point_first_mode + m];
    double value = condition_value((ConditionKind)model->point_kind[m], solver->point_differences[m]);
    changed |= value != *mode;
    *mode = value;
  }
  return changed;
}

/* Solves for the operating point until its conditions agree with it. Its programs read its own discrete values. */
static int solve_point(Solver *solver, double t) {
  const Model *model = solver->model;
  double *discretes = solver->discretes;
  int failed = 0, rounds = 0;
  memcpy(solver->point_discretes, model->point_discretes0, (size_t)model->point_discretes * sizeof(double));
  solver->discretes = solver->point_discretes;
  set_point_modes(solver, t);
  do failed = newton(solver, &model->point, t) || rounds++ > model->point_modes;
  while (!failed && set_point_modes(solver, t));
  failed = failed || program_run(solver, model->point_starts, t, solver->initial_y, solver->initial_target);
  solver->discretes = discretes;
  return failed;
}

/* Sets the start values of a circuit to its operating point. Returns 1 where it is not found. */
int initial_point(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  if (!model->point.rows || !model->point_count) return 0;
  memcpy(solver->initial_y, model->point.value, (size_t)model->point.columns * sizeof(double));
  if (solve_point(solver, t)) return 1;
  for (int k = 0; k < model->point_count; k++) y[model->point_column[k]] = solver->initial_target[k];
  return 0;
}

/* From start values in y; returns 1 without a solution. Values that may change begin with those of the model's text. */
int initial_solve(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  const ModelInitial *system = &model->start_system;
  int first = system->columns - system->parameters;
  memcpy(solver->initial_y, system->value, (size_t)system->columns * sizeof(double));
  memcpy(solver->initial_target, system->target, (size_t)system->columns * sizeof(double));
  for (int q = 0; q < model->columns; q++)
    solver->initial_y[system->place[q]] = solver->initial_target[system->place[q]] = y[q];
  for (int k = 0; k < system->balances; k++) {
    int q = system->unknown[system->balance[k]];
    solver->initial_y[q] = system->value[q];
  }
  if (newton(solver, system, t) || !checks_hold(solver, t)) return 1;
  for (int q = 0; q < model->columns; q++) y[q] = solver->initial_y[system->place[q]];
  for (int k = 0; k < system->parameters; k++)
    program_set_parameter(solver, system->parameter[k], solver->initial_y[first + k]);
  initial_dependents(solver);
  return 0;
}
