/* program: the values of the model's expressions, with the delays read first. */
#include "solver.h"

#include <math.h>

static int run(const Solver *solver, ModelProgram *program, double t, const double *y, double *out) {
  return program(t, y, solver->parameters, solver->discretes, solver->pre, solver->work, out);
}

static void evaluate_delays(void *host, DelayProgram program, double t, const double *y, double *out) {
  const Solver *solver = host;
  const Model *model = solver->model;
  run(solver,
      program == DELAY_VALUES  ? model->delayed
      : program == DELAY_TIMES ? model->delay_times
                               : model->pipe_points,
      t, y, out);
}

int program_run(Solver *solver, ModelProgram *program, double t, const double *y, double *out) {
  if (solver->model->delays) delays_read(&solver->delays, t, y);
  return run(solver, program, t, y, out);
}

void program_set_parameter(Solver *solver, int leaf, double value) {
  solver->parameters[leaf] = value;
  solver->has_new_parameters = true;
}

/* Computes parameters bound to others, in the order of their dependencies. */
void program_set_dependents(Solver *solver) {
  const Model *model = solver->model;
  double value;
  for (int k = 0; k < model->dependents; k++) {
    int p = model->dependent[k];
    if (isfinite(solver->overrides[p])) continue;
    program_run(solver, model->dependent_program[k], model->start, model->y0, &value);
    program_set_parameter(solver, p, value);
  }
}

void program_enter(Solver *solver, const Model *model) {
  solver->model = model;
  Delays *delays = &solver->delays;
  delays->delay = model->delay;
  delays->count = model->delays;
  delays->are_free = model->has_free_delays;
  delays->capacity = model->pieces;
  delays->evaluate = evaluate_delays;
  delays->host = solver;
  delays->discretes = solver->discretes;
  Schedule *schedule = &solver->schedule;
  schedule->plan = model->schedule;
  schedule->parameters = solver->parameters;
  schedule->pre = solver->pre;
  schedule->discretes = solver->discretes;
  schedule->first = model->first_mode;
  schedule->end = &solver->now->end;
}
