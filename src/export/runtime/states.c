/* states: the form of the current system (core/state_form.h), made when it is first needed. */
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

/* The form of the current system, with the present parameters. */
static StateForm *form_of(Solver *solver) {
  if (solver->formed_for != solver->model) {
    make(solver);
    state_form_restore(&solver->form, solver->depth);
  }
  if (solver->has_new_parameters) {
    statespace_set_parameters(solver->form.space);
    dummy_set_parameters(solver->form.dummy);
    solver->has_new_parameters = false;
  }
  return &solver->form;
}

void states_link(Solver *solver) {
  bool is_made = solver->formed_for == solver->model;
  StateForm *form = form_of(solver);
  if (is_made) state_form_restore(form, solver->depth);
  take_choice(solver);
}

SolverStatus states_solve(Solver *solver, double t, double *y, StateFormSolve *how) {
  EvalStatus status = how(form_of(solver), t, y);
  take_choice(solver);
  return status == EVAL_OK ? SOLVER_OK : SOLVER_DOMAIN;
}

SolverStatus states_hold(Solver *solver, double t, double *y, const unsigned char *held) {
  int32_t block;
  bool is_solved = state_form_hold(form_of(solver), t, y, held, &block);
  take_choice(solver);
  return is_solved ? SOLVER_OK : SOLVER_DOMAIN;
}

/* Examines the choice at the point where the next step will use it. Returns how many unknowns changed, or -1 where a block is
 * singular. */
int states_exchange(Solver *solver, double t, double step, double *y) {
  const Model *model = solver->model;
  int32_t block;
  double ahead = LOOK_AHEAD * step;
  if (!model->choices) return 0;
  dummy_look_ahead((uint32_t)model->unknowns, model->units.column_start, model->d, ahead, y, solver->stage_y);
  int changed = state_form_exchange(form_of(solver), t, y, t + ahead, solver->stage_y, &block);
  take_choice(solver);
  return changed;
}

int states_wants_exchange(Solver *solver, double t, const double *y) {
  return dummy_is_exchange(dummy_gain(form_of(solver)->dummy, t, y));
}

/* The distance of the choice from a necessary change, at most 1; negative if it must change. */
double states_indicator(Solver *solver, double t, const double *y) {
  double gain = dummy_gain(form_of(solver)->dummy, t, y);
  return isfinite(gain) ? (LATEST_EXCHANGE - gain) / (LATEST_EXCHANGE + gain) : -1;
}
