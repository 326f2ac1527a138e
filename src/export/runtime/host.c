/* host: the steps of a run (steps.h) with the rows of the model. */
#include "constants.h"
#include "inside.h"
#include "solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the system ---- */

static EvalStatus status_of(int failed) { return failed ? EVAL_DOMAIN : EVAL_OK; }

static EvalStatus complete(void *context, double t, double *y) {
  return status_of(states_solve(context, t, y, state_form_follow) != SOLVER_OK);
}

static EvalStatus rates(void *context, double t, double *y) {
  return status_of(states_solve(context, t, y, state_form_rates) != SOLVER_OK);
}

static EvalStatus find(void *context, double t, double *y) {
  return status_of(states_solve(context, t, y, state_form_find) != SOLVER_OK);
}

static EvalStatus residual(void *context, double t, const double *y, double *rows) {
  return status_of(program_run(context, ((Solver *)context)->model->residual, t, y, rows));
}

/* Entries that are not finite count as 0, for example that of sqrt(u) at u = 0. */
static EvalStatus jacobian(void *context, double t, const double *y, double *values) {
  const Model *model = ((Solver *)context)->model;
  program_run(context, model->jacobian, t, y, values);
  for (int e = 0; e < model->nonzeros; e++)
    if (!isfinite(values[e])) values[e] = 0;
  return EVAL_OK;
}

static EvalStatus rates_jacobian(void *context, double t, const double *y, double *jacobian) {
  return variation_rates(((Solver *)context)->variation, t, y, jacobian);
}

static bool evaluate_kinks(void *host, bool sizes, double t, const double *y, double *out) {
  const Model *model = ((Solver *)host)->model;
  return !program_run(host, sizes ? model->kink_sizes : model->kink_program, t, y, out);
}

/* All columns at a time of a step. */
static bool point_of_step(void *host, const Segment *segment, double t, double *y) {
  Solver *solver = host;
  InsideHost inside = {solver->heap, &solver->system, complete, find, solver};
  bool is_between;
  segment_values(segment, t, y);
  if (complete(solver, t, y) == EVAL_OK) return true;
  if (t == segment->t1) return find(solver, t, y) == EVAL_OK;
  return inside_solve(&inside, segment, t, y, &is_between) == EVAL_OK;
}

static bool bends(void *context, double t, const double *y, double t_end, const double *end) {
  Solver *solver = context;
  Kinks *kinks = solver->steps.kinks;
  if (solver->model->modes && edges_bend(&solver->edges, t_end, end)) return true;
  return kinks && !solver->model->has_few_kinks && kinks_pass(kinks, t, y, t_end, end);
}

static System make_system(Solver *solver) {
  const Model *model = solver->model;
  for (int j = 0; j < model->unknowns; j++)
    for (int order = 0; order <= model->d[j]; order++) {
      int q = model->column_start[j] + order;
      solver->successor[q] = order < model->d[j] ? q + 1 : -1;
    }
  return (System){.context = solver,
                  .columns = model->columns,
                  .rows = model->rows,
                  .links = model->states,
                  .link_from = solver->from,
                  .link_to = solver->to,
                  .successor = solver->successor,
                  .column_start = model->jacobian_start,
                  .row_index = model->jacobian_row,
                  .constant = model->constant,
                  .nominal = model->nominal,
                  .size = solver->size,
                  .residual = residual,
                  .jacobian = jacobian,
                  .bends = bends,
                  .complete = complete,
                  .find = find,
                  .rates = rates,
                  .rates_jacobian = rates_jacobian,
                  .given = model->given,
                  .spare = model->spare,
                  .follower = model->follower,
                  .given_by = model->given_by,
                  .followers = model->followers,
                  .watched = model->watched};
}

static const Integrator *wanted_integrator(const Solver *solver) {
  return solver->edges.now->slides ? solver->model->sliding : solver->model->integrator;
}

double host_end(const Solver *solver) {
  const Scalars *now = solver->now;
  return now->end < HUGE_VAL ? now->end : fmax(solver->model->stop, now->time);
}

static bool find_columns(void *host, double t, double *y) {
  return states_solve(host, t, y, state_form_find) == SOLVER_OK;
}

static void begin_conditions(void *host, double t, const double *y) {
  switching_begin(&((Solver *)host)->switching, t, y);
}

static double next_time(void *host, double t, double until, int *mode) {
  return switching_next_time(&((Solver *)host)->switching, t, until, mode);
}

static bool accepts(void *host) {
  double defect;
  return !steps_miss_rows(&((Solver *)host)->steps, &defect);
}

static StepInside inside(const void *host) {
  (void)host;
  return INSIDE_KNOWN;
}

static bool reads_again(void *host) {
  (void)host;
  return false;
}

static void make_steps(Solver *solver) {
  static const StepsHost methods = {find_columns, point_of_step, 0,          begin_conditions, next_time, 0,
                                    accepts,      inside,        reads_again};
  const Model *model = solver->model;
  const Scalars *now = solver->now;
  Heap *heap = solver->workspace;
  const System *system = &solver->system;
  Steps *steps = &solver->steps;
  KinksPlan kinks = {solver, (uint32_t)model->kinks, model->has_few_kinks != 0, evaluate_kinks, point_of_step};
  WatcherPlan watcher = {.host = solver,
                         .edges = model->modes ? &solver->edges : 0,
                         .system = system,
                         .point = point_of_step,
                         .columns = model->watched_columns,
                         .count = model->watched_count,
                         .reads_none = !model->watched_count && !model->delays};
  DefectLooks looks = steps->looks;
  *steps = (Steps){.methods = &methods,
                   .host = solver,
                   .now = &solver->now->at,
                   .system = system,
                   .start = model->start,
                   .tolerance = now->tolerance,
                   .integrator = wanted_integrator(solver),
                   .y = solver->event_y,
                   .heap = solver->heap,
                   .folds = model->folds ? model->folds->methods : 0,
                   .keeps_branch = model->folds,
                   .beyond = solver->beyond,
                   .begin = solver->begin,
                   .segment = segment_new(heap, model->columns),
                   .watcher = watcher_new(heap, &watcher),
                   .sizes = sizes_new(heap, system, model->is_sized, model->is_signed, solver->size, solver->seen),
                   .kinks = model->kinks ? kinks_new(heap, &kinks, system, model->start, now->tolerance) : 0,
                   .defect = defect_new(heap, system, now->tolerance),
                   .looks = {.rejected = looks.rejected},
                   .stretches = steps->stretches,
                   .edges = &solver->edges,
                   .delays = model->delays ? &solver->delays : 0};
  heap_numbers(heap, (size_t)model->columns, &steps->ahead, &steps->recent.y, &steps->origin.y);
}

/* The system, tolerances or the integrator may have changed since the last time. */
void host_make(Solver *solver) {
  const Scalars *now = solver->now, *with = &solver->made_with;
  const Model *model = solver->model;
  Steps *steps = &solver->steps;
  bool is_made = solver->made_for == model && steps->integrator == wanted_integrator(solver) &&
                 with->tolerance == now->tolerance && with->max_step == now->max_step;
  if (!is_made) {
    heap_release(solver->heap, solver->ticket);
    solver->ticket = 0;
    solver->made_for = 0;
    solver->variation = solver->transposed = 0;
    solver->jump = 0;
    solver->workspace = heap_within(solver->heap, &solver->ticket);
    solver->system = make_system(solver);
    solver->variation = variation_new(solver->workspace, &solver->system);
    solver->transposed = variation_new_transposed(solver->workspace, &solver->system);
    make_steps(solver);
    solver->made_for = model;
    solver->made_with = *now;
  }
  steps->stop = host_end(solver);
  steps->looks.start = model->start;
  steps->looks.span = steps->stop - model->start;
  steps->looks.is_rough = model->is_rough != 0;
}

static bool has_integrator(const Solver *solver) {
  return solver->made_for == solver->model && solver->made_for && solver->steps.self;
}

const double *host_values(const Solver *solver) {
  const Steps *steps = &solver->steps;
  bool is_here = has_integrator(solver) && steps->integrator->time(steps->self) == solver->now->time;
  return is_here ? steps->integrator->values(steps->self) : solver->y;
}

double host_size(const Solver *solver) {
  IntegratorStatistics now;
  if (!has_integrator(solver)) return solver->now->step;
  solver->steps.integrator->statistics(solver->steps.self, &now);
  return now.step;
}

void host_forget_sizes(Solver *solver) {
  size_t size = (size_t)solver->model->columns * sizeof(double);
  memcpy(solver->size, solver->model->nominal, size);
  memset(solver->seen, 0, size);
}

/* ---- steps ---- */

/* Follows the sizes of the states from the last step to here. */
void host_note_sizes(Solver *solver) {
  host_make(solver);
  steps_note_sizes(&solver->steps, solver->now->time, host_values(solver));
}

static void make_integrator(Solver *solver) {
  const Scalars *now = solver->now;
  Steps *steps = &solver->steps;
  IntegratorOptions options = {.relative_tolerance = now->tolerance,
                               .absolute_tolerance = now->tolerance,
                               .max_step = now->max_step < HUGE_VAL ? now->max_step : 0};
  host_make(solver);
  if (!steps->self) steps->self = steps->integrator->create(solver->workspace, &solver->system, &options);
}

/* Starts the integrator at the present point, with a first step of this size; 0: it finds one. */
void host_start(Solver *solver, double step) {
  solver->open.is_open = solver->waits_for_step = false;
  solver->now->next = step;
  make_integrator(solver);
  solver->now->sign = 0;
  if (solver->steps.kinks) kinks_forget(solver->steps.kinks);
  steps_start(&solver->steps, solver->now->time, solver->y, step);
}

/* Continues after an event, whether a mode caused it or not. If nothing that is integrated has changed, and the last step ended
 * there, the steps continue unchanged. */
void host_pass_event(Solver *solver, int mode) {
  const Scalars *now = solver->now;
  Steps *steps = &solver->steps;
  if (has_integrator(solver) && steps->kinks) kinks_forget(steps->kinks);
  if (!now->changed && has_integrator(solver) && steps->integrator == wanted_integrator(solver) &&
      steps->integrator->time(steps->self) == now->time)
    return;
  make_integrator(solver);
  solver->now->sign = 0;
  steps_pass_event(steps, now->time, solver->y, mode);
}

/* Call this after states have been exchanged. */
void host_switch(Solver *solver) {
  if (!has_integrator(solver)) return;
  solver->now->sign = 0;
  solver->steps.integrator->switch_states(solver->steps.self, solver->y);
}

/* Adds the work of the integrator since it was counted last. */
static void count_work(Solver *solver) {
  Scalars *now = solver->now;
  IntegratorStatistics after, *before = &solver->counted;
  solver->steps.integrator->statistics(solver->steps.self, &after);
  now->steps += (int)(after.steps - before->steps);
  now->rejected +=
      (int)(after.rejected_error + after.rejected_convergence - before->rejected_error - before->rejected_convergence);
  now->next = after.next;
  *before = after;
}

/* Restarts the steps where the last one began, with an integrator that does not remember a failure. */
static void renew_integrator(Solver *solver) {
  Steps *steps = &solver->steps;
  count_work(solver);
  solver->counted = (IntegratorStatistics){0};
  steps->self = 0;
  make_integrator(solver);
  steps_start(steps, steps->now->before, steps->begin, 0);
}

/* Begins a failed step again, if the sizes of states can be larger. */
static bool begin_again(Solver *solver) {
  if (!steps_widen_sizes(&solver->steps)) return false;
  renew_integrator(solver);
  return true;
}

/* ---- folds ---- */

/* The step ends at a fold. */
static bool end_at_fold(Solver *solver, const Fold *fold) {
  solver->model->folds->report(solver, fold);
  renew_integrator(solver);
  double t = fmax(fold->time, solver->told);
  solver->end = (StepEnd){.t = steps_snap(&solver->steps, t), .is_event = true, .mode = -1};
  return solver->ends_at_fold = true;
}

/* Does the branch of the solution end in the last step, of this size, or soon after it? */
static bool passes_fold(Solver *solver, double size) {
  Fold fold;
  return steps_pass_fold(&solver->steps, size, NAN, &fold) && end_at_fold(solver, &fold);
}

bool host_pass_fold(Solver *solver) {
  const Steps *steps = &solver->steps;
  if (!has_integrator(solver)) return false;
  steps->integrator->statistics(steps->self, &solver->counted);
  return passes_fold(solver, steps->segment->t1 - steps->now->before);
}

/* ---- a step ---- */

static bool begins_at_fold(Solver *solver) {
  Fold fold;
  return steps_begin_at_fold(&solver->steps, &fold) && end_at_fold(solver, &fold);
}

static SolverStatus step(Solver *solver, double until) {
  Steps *steps = &solver->steps;
  StepEnd *end = &solver->end;
  steps_plan_timed(steps, solver->now->time, until);
  do {
    steps_begin(steps);
    if (begins_at_fold(solver)) return SOLVER_OK;
    if (steps_step(steps, steps_end(steps, until)) != STEP_OK) {
      if (passes_fold(solver, 0)) return SOLVER_OK;
      if (!begin_again(solver)) return SOLVER_FAILED;
      continue;
    }
    *end = steps_find_end(steps);
    if (end->is_undefined) return SOLVER_FAILED;
  } while (!end->is_event && steps_are_repeated(steps));
  if (steps->folds && solver->model->folds->watch) solver->model->folds->watch(solver, end);
  return SOLVER_OK;
}

/* A step to a point that equals the present one up to round-off adds no history. Such a step happens if an importer stops next
 * to an event. */
static bool was_tiny(const Solver *solver, double stop) {
  const Scalars *now = solver->now;
  return !solver->steps.integrator->is_one_step && now->step > 0 && now->step < integrator_least_step(now->time, stop);
}

SolverStatus host_step(Solver *solver, double until) {
  Scalars *now = solver->now;
  Steps *steps = &solver->steps;
  if (has_integrator(solver) && was_tiny(solver, until)) host_start(solver, 0);
  if (!has_integrator(solver)) return SOLVER_FAILED;
  steps->stop = host_end(solver);
  steps->integrator->statistics(steps->self, &solver->counted);
  steps->taken_again = 0;
  solver->ends_at_fold = false;
  solver->end = (StepEnd){0};
  if (step(solver, until) != SOLVER_OK) return SOLVER_FAILED;
  count_work(solver);
  now->steps -= steps->taken_again;
  now->rejected += steps->taken_again;
  now->step = solver->end.t - now->at.before;
  if (solver->end.is_event || solver->end.t >= now->at.t_doubt) now->at.t_doubt = HUGE_VAL;
  return SOLVER_OK;
}

SolverStatus host_follow(Solver *solver, double until) {
  Steps *steps = &solver->steps;
  IntegratorStatistics found;
  make_integrator(solver);
  steps_start(steps, solver->now->time, solver->y, solver->now->next);
  do {
    steps_begin(steps);
    if (steps_step(steps, until) != STEP_OK) return SOLVER_FAILED;
    if (!steps_keep_past(steps, steps->segment->t1, steps->segment->end)) return SOLVER_FAILED;
  } while (steps->segment->t1 < until);
  steps->integrator->statistics(steps->self, &found);
  solver->now->next = found.next;
  return SOLVER_OK;
}

bool host_point(Solver *solver, double t, double *y) { return point_of_step(solver, solver->steps.segment, t, y); }

void host_solve_end(Solver *solver) {
  if (host_point(solver, solver->now->time, solver->event_y))
    memcpy(solver->y, solver->event_y, (size_t)solver->model->columns * sizeof(double));
}

/* The memory of an integrator is not part of a saved state. Both the saved and the restored run continue with a new one. */
void host_saved(Solver *solver) {
  solver->made_for = 0;
  solver->open.is_open = false;
  stretches_forget(&solver->steps.stretches, solver->model->modes);
  if (solver->now->is_started) host_start(solver, solver->now->next);
}

/* ---- directions ---- */

static bool factor_rows(Solver *solver, Variation *const *variation) {
  host_make(solver);
  return variation_factor(*variation, solver->now->time, solver->y) == EVAL_OK;
}

int host_direction(Solver *solver, double *columns, const double *rows) {
  if (!factor_rows(solver, &solver->variation)) return 1;
  variation_solve(solver->variation, rows, columns);
  return 0;
}

int host_adjoint(Solver *solver, double *columns, double *rows) {
  if (!factor_rows(solver, &solver->transposed)) return 1;
  variation_solve_transposed(solver->transposed, columns, rows);
  for (int r = 0; r < solver->model->rows; r++) rows[r] = -rows[r];
  return 0;
}
