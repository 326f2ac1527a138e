/* program: the values of the model's expressions, where delays have been read for them. */
#include "rounds.h"
#include "solver.h"

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

static int evaluate_edges(void *host, bool rates, double t, const double *y, double *out) {
  Solver *solver = host;
  return program_run(solver, rates ? solver->model->rates : solver->model->conditions, t, y, out);
}

/* Each term keeps what was before it: the order counts. */
static uint64_t outcome(void *host, double t, const double *y) {
  Solver *solver = host;
  const Model *model = solver->model;
  program_run(solver, model->residual, t, y, solver->input_rows);
  uint64_t hash = rounds_hash(solver->input_rows, (size_t)model->rows);
  program_run(solver, model->conditions, t, y, solver->values);
  for (int m = 0; m < model->modes; m++) solver->values[m] = condition_value(model->mode[m].kind, solver->values[m]);
  hash = 31 * hash + rounds_hash(solver->values, (size_t)model->modes);
  for (int l = 0; l < model->levels; l++) {
    const ModelLevel *level = &model->discrete_level[l];
    program_run(solver, level->program, t, y, solver->values);
    hash = 31 * hash + rounds_hash(solver->values, (size_t)level->count);
  }
  if (model->actions) program_run(solver, model->actions_program, t, y, solver->values);
  return 31 * hash + rounds_hash(solver->values, 2 * (size_t)model->actions);
}

int program_run(Solver *solver, ModelProgram *program, double t, const double *y, double *out) {
  if (solver->model->delays) delays_read(&solver->delays, t, y);
  return run(solver, program, t, y, out);
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
  Edges *edges = &solver->edges;
  edges->condition = model->mode;
  edges->count = model->modes;
  edges->evaluate = evaluate_edges;
  edges->outcome = outcome;
  edges->host = solver;
  edges->mode = solver->discretes + model->first_mode;
}
