/* initial: consistent initial values for other parameters and start values than those of the model's text, stage after stage by the
 * library's solver of nonlinear equations (nonlinear.h). Columns that no row determines keep their start values. If start values
 * must change, they move as little as possible, in the units and with the weights by which the values of the text were found. */
#include "nonlinear.h"
#include "solver.h"

#include <math.h>
#include <string.h>

typedef struct Stage {
  Solver *solver;
  const ModelInitial *system;
  double t;
  const ModelStage *size;
  int row, unknown;           /* its first ones */
  int *start, *index, *entry; /* derivatives of the stage with respect to columns, and their places in the system */
} Stage;

static void set_columns(const Stage *stage, const double *x) {
  const int *unknown = stage->system->unknown + stage->unknown;
  for (int k = 0; k < stage->size->unknowns; k++) stage->solver->initial_y[unknown[k]] = x[k];
}

static void get_columns(const Stage *stage, const double *y, double *x) {
  const int *unknown = stage->system->unknown + stage->unknown;
  for (int k = 0; k < stage->size->unknowns; k++) x[k] = y[unknown[k]];
}

static bool are_finite(const double *values, int count) {
  for (int k = 0; k < count; k++)
    if (!isfinite(values[k])) return false;
  return true;
}

/* Rows of other stages may be undefined. */
static bool residual(void *context, const double *x, double *r) {
  const Stage *stage = context;
  Solver *solver = stage->solver;
  set_columns(stage, x);
  program_run(solver, stage->system->residual, stage->t, solver->initial_y, solver->initial_trial);
  memcpy(r, solver->initial_trial + stage->row, (size_t)stage->size->rows * sizeof *r);
  return are_finite(r, stage->size->rows);
}

static bool jacobian(void *context, const double *x, double *entries) {
  const Stage *stage = context;
  Solver *solver = stage->solver;
  int count = stage->start[stage->size->unknowns];
  set_columns(stage, x);
  program_run(solver, stage->system->jacobian, stage->t, solver->initial_y, solver->initial_entries);
  for (int e = 0; e < count; e++) entries[e] = solver->initial_entries[stage->entry[e]];
  return are_finite(entries, count);
}

static void list_entries(Heap *heap, Stage *stage) {
  const int *start = stage->system->start + stage->unknown;
  size_t n = (size_t)stage->size->unknowns, room = (size_t)(start[n] - start[0]);
  int count = 0;
  stage->start = heap_array(heap, n + 1, sizeof *stage->start);
  stage->index = heap_array(heap, room, sizeof *stage->index);
  stage->entry = heap_array(heap, room, sizeof *stage->entry);
  for (size_t k = 0; k < n; k++) {
    for (int e = start[k]; e < start[k + 1]; e++) {
      int row = stage->system->row[e] - stage->row;
      if (row < 0 || row >= stage->size->rows) continue;
      stage->index[count] = row;
      stage->entry[count++] = e;
    }
    stage->start[k + 1] = count;
  }
}

/* Solves a stage from the start values or, if that fails, from the solution with the values of the text. */
static bool solve_stage(Heap *heap, Stage *stage) {
  const ModelInitial *system = stage->system;
  Solver *solver = stage->solver;
  list_entries(heap, stage);
  NonlinearProblem problem = {.context = stage,
                              .rows = stage->size->rows,
                              .columns = stage->size->unknowns,
                              .column_start = stage->start,
                              .row_index = stage->index,
                              .nominal = system->nominal + stage->unknown,
                              .residual = residual,
                              .jacobian = jacobian};
  Nonlinear *nonlinear = nonlinear_new(heap, &problem);
  nonlinear_set_weights(nonlinear, system->weight + stage->unknown);
  double *x, *origin;
  heap_numbers(heap, (size_t)problem.columns, &x, &origin);
  get_columns(stage, solver->initial_target, origin);
  get_columns(stage, solver->initial_target, x);
  NonlinearResult result = nonlinear_solve(nonlinear, x);
  if (!result.solved) {
    get_columns(stage, system->value, x);
    result = nonlinear_solve(nonlinear, x);
  }
  if (result.solved && stage->size->is_nearest) nonlinear_approach(nonlinear, origin, x, &result);
  set_columns(stage, x);
  return result.solved;
}

/* Solves from the targets; everything else is in initial_y. Returns 1 without a solution. */
static int solve_stages(Solver *solver, const ModelInitial *system, double t) {
  void *ticket;
  Heap *heap = heap_within(solver->heap, &ticket);
  Stage stage = {solver, system, t, system->stage, 0, 0, 0, 0, 0};
  bool is_solved = true;
  for (int k = 0; k < system->stages && is_solved; k++, stage.size++) {
    is_solved = solve_stage(heap, &stage);
    stage.row += stage.size->rows;
    stage.unknown += stage.size->unknowns;
  }
  heap_release(solver->heap, ticket);
  return !is_solved;
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

/* Sets the conditions of the operating point from its values. Does one change? */
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
  do {
    memcpy(solver->initial_target, solver->initial_y, (size_t)model->point.columns * sizeof(double));
    failed = solve_stages(solver, &model->point, t) || rounds++ > model->point_modes;
  } while (!failed && set_point_modes(solver, t));
  failed = failed || program_run(solver, model->point_starts, t, solver->initial_y, solver->initial_target);
  solver->discretes = discretes;
  return failed;
}

/* Sets the start values of a circuit to its operating point. Returns 1 if it is not found. */
int initial_point(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  if (!model->point.rows || !model->point_count) return 0;
  memcpy(solver->initial_y, model->point.value, (size_t)model->point.columns * sizeof(double));
  if (solve_point(solver, t)) return 1;
  for (int k = 0; k < model->point_count; k++) y[model->point_column[k]] = solver->initial_target[k];
  return 0;
}

/* From start values in y; returns 1 without a solution. Values that may change begin with those of the model's text. */
static int initial_solve(Solver *solver, double t, double *y) {
  const Model *model = solver->model;
  const ModelInitial *system = &model->start_system;
  int first = system->columns - system->parameters;
  memcpy(solver->initial_y, system->value, (size_t)system->columns * sizeof(double));
  memcpy(solver->initial_target, system->target, (size_t)system->columns * sizeof(double));
  for (int q = 0; q < model->columns; q++)
    solver->initial_y[system->place[q]] = solver->initial_target[system->place[q]] = y[q];
  if (solve_stages(solver, system, t) || !checks_hold(solver, t)) return 1;
  for (int q = 0; q < model->columns; q++) y[q] = solver->initial_y[system->place[q]];
  for (int k = 0; k < system->parameters; k++)
    program_set_parameter(solver, system->parameter[k], solver->initial_y[first + k]);
  program_set_dependents(solver);
  return 0;
}

/* Solves for all columns, from start values. If a block has no solution, only the blocks before it are solved. */
bool initial_columns(Solver *solver, double t) {
  const Model *model = solver->model;
  memcpy(solver->y, solver->event_y, (size_t)model->columns * sizeof(double));
  if (model->start_system.rows && !initial_solve(solver, t, solver->y)) return true;
  return states_hold(solver, t, solver->y, model->held) == SOLVER_OK && !model->start_system.rows;
}

bool initial_moved(const Solver *solver, const double *y) {
  for (int q = 0; q < solver->model->columns; q++)
    if (solver->model->held[q] == 2 && !(fabs(y[q] - solver->event_y[q]) <= 1e-9 * (1 + fabs(solver->event_y[q]))))
      return true;
  return false;
}
