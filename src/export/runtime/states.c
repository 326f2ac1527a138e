/* states: which columns are states (core/dummy.h), and all others solved from them (core/statespace.h). Both are made for the
 * current system when they are first needed. If memory is refused, the caller fails. */
#include "constants.h"
#include "solver.h"

#include <math.h>
#include <string.h>

/* An importer that does not ask after each step must exchange states at the latest when the factor has this value. */
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

typedef enum Work {
  WORK_LINK,
  WORK_SELECT,
  WORK_EXCHANGE,
  WORK_GAIN,
  WORK_COMPLETE,
  WORK_FOLLOW,
  WORK_RATES,
  WORK_SLIDE
} Work;

typedef struct Task {
  Solver *solver;
  Work work;
  double t, step, *y; /* step: the size of the last one */
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
  solver->dummy = dummy_make(heap, &plan, &host);
  solver->space = statespace_new(heap, &model->units, &host);
  solver->formed_for = model;
}

/* Copies the present choice to the memory of the run. */
static void take_choice(Solver *solver) {
  const int32_t *from, *to;
  size_t links = dummy_links(solver->dummy, &from, &to);
  memcpy(solver->depth, dummy_depth(solver->dummy), (size_t)solver->model->unknowns * sizeof(int));
  memcpy(solver->from, from, links * sizeof *from);
  memcpy(solver->to, to, links * sizeof *to);
  statespace_choose(solver->space, solver->depth);
}

static void restore_choice(Solver *solver) {
  dummy_restore(solver->dummy, solver->depth);
  take_choice(solver);
}

static void select_states(Task *task) {
  Dummy *dummy = task->solver->dummy;
  int32_t block;
  bool is_full = task->held ? dummy_select_holding(dummy, task->t, task->y, task->held, &block)
                            : dummy_select(dummy, task->t, task->y, &block);
  task->status = is_full ? EVAL_OK : EVAL_DOMAIN;
  take_choice(task->solver);
}

static void slide(Task *task) {
  Solver *solver = task->solver;
  task->status =
      statespace_slide(solver->space, &solver->edges, solver->model->columns, task->t, task->y, solver->corners);
}

/* Examines the choice at the point where the next step will use it. Before an exchange the rows are solved in the old choice, so that new states
 * have the accuracy of the old ones. */
static void exchange(Task *task) {
  Solver *solver = task->solver;
  const Model *model = solver->model;
  int32_t block;
  double ahead = LOOK_AHEAD * task->step;
  dummy_look_ahead((uint32_t)model->unknowns, model->units.column_start, model->d, ahead, task->y, solver->stage_y);
  task->changed = dummy_watch(solver->dummy, task->t + ahead, solver->stage_y, &block);
  if (task->changed <= 0) return;
  if (solver->edges.now->slides) slide(task);
  else task->status = statespace_follow(solver->space, task->t, task->y);
  if (task->status != EVAL_OK) task->changed = -1;
  take_choice(solver);
}

static void work(void *context) {
  Task *task = context;
  Solver *solver = task->solver;
  if (solver->formed_for != solver->model) {
    make(solver);
    restore_choice(solver);
  }
  if (solver->has_new_parameters) {
    statespace_set_parameters(solver->space);
    dummy_set_parameters(solver->dummy);
    solver->has_new_parameters = false;
  }
  task->status = EVAL_OK;
  switch (task->work) {
  case WORK_LINK: restore_choice(solver); break;
  case WORK_SELECT: select_states(task); break;
  case WORK_EXCHANGE: exchange(task); break;
  case WORK_GAIN: task->gain = dummy_gain(solver->dummy, task->t, task->y); break;
  case WORK_COMPLETE: task->status = statespace_complete(solver->space, task->t, task->y); break;
  case WORK_FOLLOW: task->status = statespace_follow(solver->space, task->t, task->y); break;
  case WORK_RATES: task->status = statespace_rates(solver->space, task->t, task->y); break;
  default: slide(task);
  }
}

static SolverStatus do_work(Task *task) {
  task->status = EVAL_DOMAIN;
  task->changed = -1;
  task->gain = HUGE_VAL;
  if (!heap_protect(task->solver->heap, work, task)) task->solver->formed_for = 0, task->status = EVAL_DOMAIN;
  return task->status == EVAL_OK ? SOLVER_OK : SOLVER_DOMAIN;
}

void states_link(Solver *solver) { do_work(&(Task){.solver = solver, .work = WORK_LINK}); }

int states_select(Solver *solver, double t, const double *y, const unsigned char *held) {
  Task task = {.solver = solver, .work = WORK_SELECT, .t = t, .y = (double *)y, .held = held};
  return do_work(&task) != SOLVER_OK;
}

/* Returns how many unknowns changed, or -1 where a block is singular. */
int states_exchange(Solver *solver, double t, double step, double *y) {
  Task task = {.solver = solver, .work = WORK_EXCHANGE, .t = t, .step = step, .y = y};
  if (!solver->model->choices) return 0;
  do_work(&task);
  return task.changed;
}

static double largest_gain(Solver *solver, double t, const double *y) {
  Task task = {.solver = solver, .work = WORK_GAIN, .t = t, .y = (double *)y};
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

SolverStatus states_solve(Solver *solver, double t, double *y, StatesGoal goal) {
  static const Work works[] = {[STATES_ANY] = WORK_COMPLETE, [STATES_NEXT] = WORK_FOLLOW, [STATES_RATES] = WORK_RATES};
  return do_work(
      &(Task){.solver = solver, .work = solver->edges.now->slides ? WORK_SLIDE : works[goal], .t = t, .y = y});
}

SolverStatus states_solve_corner(Solver *solver, int corner, double t, double *y) {
  edges_set_corner(&solver->edges, corner);
  return do_work(&(Task){.solver = solver, .work = WORK_COMPLETE, .t = t, .y = y});
}
