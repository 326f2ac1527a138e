/* program: the values of the model's expressions, with the delays read first. */
#include "rounds.h"
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

static int evaluate_edges(void *host, bool rates, double t, const double *y, double *out) {
  Solver *solver = host;
  return program_run(solver, rates ? solver->model->rates : solver->model->conditions, t, y, out);
}

static uint64_t outcome(void *host, double t, const double *y) {
  Solver *solver = host;
  const Model *model = solver->model;
  program_run(solver, model->residual, t, y, solver->input_rows);
  uint64_t hash = rounds_hash(solver->input_rows, (size_t)model->rows);
  program_run(solver, model->conditions, t, y, solver->values);
  for (int m = 0; m < model->modes; m++) solver->values[m] = condition_value(model->mode[m].kind, solver->values[m]);
  return decide_hash(&solver->decide, 31 * hash + rounds_hash(solver->values, (size_t)model->modes), t, y);
}

static void evaluate_logic(void *host, DecideProgram program, int level, double t, const double *y, double *out) {
  Solver *solver = host;
  const Model *model = solver->model;
  ModelProgram *const programs[] = {0, model->initial_program, model->lefts_program, model->samples_program,
                                    model->actions_program};
  program_run(solver, program == DECIDE_LEVEL ? model->level_program[level] : programs[program], t, y, out);
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

/* A parameter that an initial equation determines. */
static bool set_parameter(void *host, int leaf, double value) {
  Solver *solver = host;
  if (isnan(value) || solver->parameters[leaf] == value) return false;
  program_set_parameter(solver, leaf, value);
  program_set_dependents(solver);
  return true;
}

static double *loop_room(void *host, int32_t n, int32_t *capacity) {
  (void)n;
  if (*capacity > SECANT_LIMIT) *capacity = SECANT_LIMIT;
  return ((Solver *)host)->secants;
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
  edges->some_meet = false;
  for (int m = 0; m < model->modes; m++) edges->some_meet = edges->some_meet || model->mode[m].meets;
  edges->mode = solver->discretes + model->first_mode;
  static const DecideHost logic = {evaluate_logic, set_parameter, 0, 0};
  Decide *decide = &solver->decide;
  decide->plan = model->decide;
  decide->methods = &logic;
  decide->host = solver;
  decide->discretes = solver->discretes;
  decide->pre = solver->pre;
  decide->values = solver->values;
  Schedule *schedule = &solver->schedule;
  schedule->plan = model->schedule;
  schedule->parameters = solver->parameters;
  schedule->pre = solver->pre;
  schedule->discretes = solver->discretes;
  schedule->first = model->first_mode;
  schedule->end = &solver->now->end;
  Switching *switching = &solver->switching;
  switching->methods = &events_switching;
  switching->host = solver;
  switching->timed = model->timed;
  switching->schedule = &solver->schedule;
  switching->edges = edges;
  switching->decide = model->has_logic ? decide : 0;
  switching->delays = model->delays ? delays : 0;
  switching->discretes = solver->discretes;
  switching->leaves = model->discretes;
  Settle *settle = &solver->settle;
  settle->methods = &events_methods;
  settle->host = solver;
  settle->switching = switching;
  settle->discretes = solver->discretes;
  settle->columns = model->columns;
  settle->may_slide = true;
  settle->has_other_structure = model->branches && !model->holds;
  Jump *jump = &solver->jump;
  jump->plan = (JumpPlan){model->unknowns,  model->columns, model->column_start, model->d,
                          model->row_start, model->c,       model->nominal};
  jump->methods = &events_jump;
  jump->host = solver;
  jump_list(jump, model->jacobian_start, model->jacobian_row, model->row_equation);
  WhenLoop *loop = &solver->loop;
  loop->decide = decide;
  loop->room = loop_room;
  loop->host = solver;
  if (loop->leaf) when_loop_list(loop);
  settle->loop = loop->leaf ? loop : 0;
}
