/* initial: consistent initial values for other parameters and start values than those of the model's text: from the values found for these, by damped Newton on
 * the rows that determine a column each. Columns that none determines keep their start values. */
#include "solver.h"

#include <math.h>
#include <string.h>

enum { NEWTON_LIMIT = 100, HALVING_LIMIT = 30 };

/* Parameters bound to others, what they need before them. */
void initial_dependents(Solver *solver) {
  const Model *model = solver->model;
  double value;
  for (int k = 0; k < model->dependents; k++) {
    int p = model->dependent[k];
    if (is_finite(solver->overrides[p])) continue;
    program_run(solver, model->dependent_program[k], model->start, model->y0, &value);
    solver->parameters[p] = value;
  }
}

static double size_of(int count, const double *values) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += values[k] * values[k];
  return sum;
}

/* The correction, in `right`. Entries that are not finite count as 0, as that of sqrt(u) at u = 0. */
static int solve_correction(Solver *solver, double t) {
  const Model *model = solver->model;
  int n = model->initial_unknowns;
  program_run(solver, model->initial_jacobian, t, solver->initial_y, solver->initial_entries);
  matrix_begin(&solver->full, n, 1, &model->start_order);
  for (int j = 0; j < n; j++)
    for (int e = model->initial_start[j]; e < model->initial_start[j + 1]; e++)
      if (is_finite(solver->initial_entries[e]))
        matrix_add(&solver->full, model->initial_row[e], j, solver->initial_entries[e]);
  if (matrix_factor(&solver->full)) return 1;
  matrix_solve(&solver->full, solver->right);
  return 0;
}

/* Halves the correction until the residual is defined and does not grow; it is left in `initial_trial`. */
static int search_line(Solver *solver, double t, double before) {
  const Model *model = solver->model;
  int n = model->initial_unknowns;
  double fraction = 1, last = 0;
  for (int k = 0; k < HALVING_LIMIT; k++, fraction /= 2) {
    for (int j = 0; j < n; j++) solver->initial_y[model->initial_unknown[j]] -= (fraction - last) * solver->right[j];
    last = fraction;
    if (program_run(solver, model->initial_residual, t, solver->initial_y, solver->initial_trial)) continue;
    if (size_of(n, solver->initial_trial) <= before * (1 - fraction / 2) || before == 0) return 0;
  }
  return 1;
}

static double correction_size(const Solver *solver) {
  double largest = 0;
  for (int j = 0; j < solver->model->initial_unknowns; j++) {
    double size = fabs(solver->right[j]) / (1 + fabs(solver->initial_y[solver->model->initial_unknown[j]]));
    if (!(size <= largest)) largest = size;
  }
  return largest;
}

static int newton(Solver *solver, double t) {
  const Model *model = solver->model;
  int n = model->initial_unknowns;
  if (program_run(solver, model->initial_residual, t, solver->initial_y, solver->initial_trial)) return 1;
  for (int k = 0; k < NEWTON_LIMIT; k++) {
    double before = size_of(n, solver->initial_trial);
    memcpy(solver->right, solver->initial_trial, (size_t)n * sizeof(double));
    if (solve_correction(solver, t)) return 1;
    double size = correction_size(solver);
    if (!is_finite(size)) return 1;
    if (size < 1e-9) {
      for (int j = 0; j < n; j++) solver->initial_y[model->initial_unknown[j]] -= solver->right[j];
      return 0;
    }
    if (search_line(solver, t, before)) return 1;
  }
  return 1;
}

/* From start values in y; returns 1 without a solution. */
int initial_solve(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  int first = model->initial_columns - model->initial_parameters;
  memcpy(solver->initial_y, model->initial_value, (size_t)model->initial_columns * sizeof(double));
  for (int q = 0; q < model->columns; q++) solver->initial_y[model->initial_place[q]] = y[q];
  if (newton(solver, t)) return 1;
  for (int q = 0; q < model->columns; q++) y[q] = solver->initial_y[model->initial_place[q]];
  for (int k = 0; k < model->initial_parameters; k++)
    solver->parameters[model->initial_parameter[k]] = solver->initial_y[first + k];
  initial_dependents(solver);
  return 0;
}
