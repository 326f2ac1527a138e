/* states: the form of the current system (core/state_form.h), made when it is first needed. If memory is refused, the caller fails. */
#include "constants.h"
#include "solver.h"

#include <math.h>
#include <string.h>

/* An exchange improves a matrix by some factor. An importer that does not call completedIntegratorStep after each step must
 * exchange states at the latest when the factor has this value. */
static const double LATEST_EXCHANGE = 2;

/* ---- programs ---- */

struct Workspace {
  const Program *program;
};

static struct Workspace *prepare(void *host, Heap *heap, const Program *program) {
  struct Workspace *workspace = heap_alloc(heap, sizeof *workspace);
  (void)host;
  workspace->program = program;
  return workspace;
}

static EvalStatus run(void *host, struct Workspace *workspace, double t, const double *y, double *out) {
  return program_run(host, workspace->program->function, t, y, out) ? EVAL_DOMAIN : EVAL_OK;
}

static EvalStatus fail(void *host, double t, const double *y) {
  (void)host, (void)t, (void)y;
  return EVAL_DOMAIN;
}

/* ---- the form ---- */

typedef struct Task {
  Solver *solver;
  EvalStatus (*run)(struct Task *task);
  StateFormSolve *solve;
  double t, step, *y; /* step: the size of the last step */
  const unsigned char *held;
  int changed;
  double gain;
  EvalStatus status;
} Task;

static void make(Solver *solver) {
  const Model *model = solver->model;
  RowsHost host = {solver, model->nominal, prepare, run, fail, &solver->evaluations, &solver->evaluations};
  DummyPlan plan = {.unknowns = (uint32_t)model->unknowns,
                    .columns = (uint32_t)model->columns,
                    .count = (uint32_t)model->choices,
                    .d = model->d,
                    .column_start = model->units.column_start,
                    .order = model->order,
                    .depth = model->depth0,
                    .choice = model->choice};
  heap_release(solver->heap, solver->form_ticket);
  solver->form_ticket = 0;
  solver->formed_for = 0;
  Heap *heap = heap_within(solver->heap, &solver->form_ticket);
  solver->form = (StateForm){.heap = heap,
                             .dummy = dummy_make(heap, &plan, &host),
                             .space = statespace_new(heap, &model->units, &host),
                             .edges = &solver->edges,
                             .columns = model->columns};
  solver->formed_for = model;
}

/* Copies the present choice to the memory of the run. */
static void take_choice(Solver *solver) {
  const int32_t *from, *to;
  const Dummy *dummy = solver->form.dummy;
  size_t links = dummy_links(dummy, &from, &to);
  memcpy(solver->depth, dummy_depth(dummy), (size_t)solver->model->unknowns * sizeof(int));
  memcpy(solver->from, from, links * sizeof *from);
  memcpy(solver->to, to, links * sizeof *to);
}

static EvalStatus restore(Task *task) {
  state_form_restore(&task->solver->form, task->solver->depth);
  return EVAL_OK;
}

static void work(void *context) {
  Task *task = context;
  Solver *solver = task->solver;
  bool is_new = solver->formed_for != solver->model;
  if (is_new) {
    make(solver);
    state_form_restore(&solver->form, solver->depth);
  }
  if (solver->has_new_parameters) {
    statespace_set_parameters(solver->form.space);
    dummy_set_parameters(solver->form.dummy);
    solver->has_new_parameters = false;
  }
  task->status = is_new && task->run == restore ? EVAL_OK : task->run(task);
  take_choice(solver);
}

static SolverStatus do_work(Task *task) {
  task->status = EVAL_DOMAIN;
  task->changed = -1;
  task->gain = HUGE_VAL;
  if (!heap_protect(task->solver->heap, work, task)) task->solver->formed_for = 0, task->status = EVAL_DOMAIN;
  return task->status == EVAL_OK ? SOLVER_OK : SOLVER_DOMAIN;
}

void states_link(Solver *solver) { do_work(&(Task){.solver = solver, .run = restore}); }

static EvalStatus solve(Task *task) { return task->solve(&task->solver->form, task->t, task->y); }

SolverStatus states_solve(Solver *solver, double t, double *y, StateFormSolve *how) {
  return do_work(&(Task){.solver = solver, .run = solve, .solve = how, .t = t, .y = y});
}

static EvalStatus hold(Task *task) {
  int32_t block;
  return state_form_hold(&task->solver->form, task->t, task->y, task->held, &block) ? EVAL_OK : EVAL_DOMAIN;
}

SolverStatus states_hold(Solver *solver, double t, double *y, const unsigned char *held) {
  return do_work(&(Task){.solver = solver, .run = hold, .t = t, .y = y, .held = held});
}

/* Examines the choice at the point where the next step will use it. */
static EvalStatus exchange(Task *task) {
  Solver *solver = task->solver;
  const Model *model = solver->model;
  int32_t block;
  double ahead = LOOK_AHEAD * task->step;
  dummy_look_ahead((uint32_t)model->unknowns, model->units.column_start, model->d, ahead, task->y, solver->stage_y);
  task->changed = state_form_exchange(&solver->form, task->t, task->y, task->t + ahead, solver->stage_y, &block);
  return EVAL_OK;
}

/* Returns how many unknowns changed, or -1 where a block is singular. */
int states_exchange(Solver *solver, double t, double step, double *y) {
  Task task = {.solver = solver, .run = exchange, .t = t, .step = step, .y = y};
  if (!solver->model->choices) return 0;
  do_work(&task);
  return task.changed;
}

static EvalStatus find_gain(Task *task) {
  task->gain = dummy_gain(task->solver->form.dummy, task->t, task->y);
  return EVAL_OK;
}

static double largest_gain(Solver *solver, double t, const double *y) {
  Task task = {.solver = solver, .run = find_gain, .t = t, .y = (double *)y};
  do_work(&task);
  return task.gain;
}

int states_wants_exchange(Solver *solver, double t, const double *y) {
  return dummy_is_exchange(largest_gain(solver, t, y));
}

/* How far the choice is from having to change, at most 1; negative if it must change. */
double states_indicator(Solver *solver, double t, const double *y) {
  double gain = largest_gain(solver, t, y);
  return isfinite(gain) ? (LATEST_EXCHANGE - gain) / (LATEST_EXCHANGE + gain) : -1;
}
