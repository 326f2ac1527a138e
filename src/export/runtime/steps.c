/* steps: the steps of a run by the integrators of the library, and the directions in which all columns move with the states. Where
 * memory is refused, a step fails, and integrators are made again for the next. */
#include "solver.h"

#include <math.h>
#include <string.h>

/* ---- the system ---- */

static EvalStatus status_of(int failed) { return failed ? EVAL_DOMAIN : EVAL_OK; }

static EvalStatus complete(void *context, double t, double *y) {
  return status_of(states_solve(context, t, y, STATES_NEXT) != SOLVER_OK);
}

static EvalStatus rates(void *context, double t, double *y) {
  return status_of(states_solve(context, t, y, STATES_RATES) != SOLVER_OK);
}

static EvalStatus find(void *context, double t, double *y) {
  return status_of(states_solve(context, t, y, STATES_ANY) != SOLVER_OK);
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

static bool point_of_step(void *host, const Segment *segment, double t, double *y) {
  segment_values(segment, t, y);
  return states_solve(host, t, y, STATES_NEXT) == SOLVER_OK;
}

static bool bends(void *context, double t, const double *y, double t_end, const double *end) {
  Solver *solver = context;
  if (solver->model->modes && edges_bend(&solver->edges, t_end, end)) return true;
  return solver->kinks && !solver->model->has_few_kinks && kinks_pass(solver->kinks, t, y, t_end, end);
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
                  .spare = model->spare};
}

static const Integrator *wanted_integrator(const Solver *solver) {
  return solver->edges.now->slides ? solver->model->sliding : solver->model->integrator;
}

/* The system, tolerances or the integrator may have changed since the last time. */
void steps_make(Solver *solver) {
  const Scalars *now = solver->now, *with = &solver->made_with;
  const Model *model = solver->model;
  if (solver->made_for == model && solver->made_by == wanted_integrator(solver) && with->tolerance == now->tolerance &&
      with->max_step == now->max_step)
    return;
  heap_release(solver->heap, solver->ticket);
  solver->ticket = 0;
  solver->made_for = 0;
  solver->integrator = solver->variation = solver->transposed = 0;
  solver->jump_matrix = 0;
  solver->sizes = 0;
  solver->segment = 0;
  solver->defect = 0;
  solver->kinks = 0;
  solver->workspace = heap_within(solver->heap, &solver->ticket);
  solver->system = make_system(solver);
  solver->variation = variation_new(solver->workspace, &solver->system);
  solver->transposed = variation_new_transposed(solver->workspace, &solver->system);
  solver->sizes =
      sizes_new(solver->workspace, &solver->system, model->is_sized, model->is_signed, solver->size, solver->seen);
  KinksPlan kinks = {solver, (uint32_t)model->kinks, model->has_few_kinks != 0, evaluate_kinks, point_of_step};
  if (model->kinks) solver->kinks = kinks_new(solver->workspace, &kinks, &solver->system, model->start, now->tolerance);
  solver->segment = segment_new(solver->workspace, model->columns);
  solver->defect = defect_new(solver->workspace, &solver->system, now->tolerance);
  solver->made_for = model;
  solver->made_by = wanted_integrator(solver);
  solver->made_with = *now;
}

/* ---- sizes ---- */

void steps_forget_sizes(Solver *solver) {
  size_t size = (size_t)solver->model->columns * sizeof(double);
  memcpy(solver->size, solver->model->nominal, size);
  memset(solver->seen, 0, size);
}

static double end_of_run(const Solver *solver) {
  const Scalars *now = solver->now;
  return now->end < HUGE_VAL ? now->end : fmax(solver->model->stop, now->time);
}

static void note_sizes(void *context) {
  Solver *solver = context;
  const Scalars *now = solver->now;
  SizesStep step = {.begin = now->step_begin,
                    .end = now->time,
                    .start = solver->model->start,
                    .span = end_of_run(solver) - solver->model->start,
                    .tolerance = now->tolerance,
                    .is_sliding = solver->edges.now->slides > 0};
  steps_make(solver);
  sizes_note(solver->sizes, &step, solver->y);
}

/* Follows the sizes of the states from the last step to here. */
void steps_note_sizes(Solver *solver) {
  if (!heap_protect(solver->heap, note_sizes, solver)) solver->made_for = 0;
}

/* ---- steps ---- */

typedef struct Call {
  Solver *solver;
  double stop;
  StepStatus status;
  bool misses;
} Call;

/* Computes all columns from the states and these guesses, so that the rows hold as exactly as possible. */
static void take_values(Solver *solver, const double *values) {
  size_t size = (size_t)solver->model->columns * sizeof(double);
  for (int is_following = 1; is_following >= 0; is_following--) {
    memcpy(solver->y, values, size);
    if (states_solve(solver, solver->now->time, solver->y, is_following ? STATES_NEXT : STATES_ANY) == SOLVER_OK)
      return;
  }
  memcpy(solver->y, values, size);
}

static void start(void *context) {
  Solver *solver = ((Call *)context)->solver;
  const Scalars *now = solver->now;
  steps_make(solver);
  IntegratorOptions options = {.relative_tolerance = now->tolerance,
                               .absolute_tolerance = now->tolerance,
                               .max_step = now->max_step < HUGE_VAL ? now->max_step : 0};
  if (!solver->integrator) solver->integrator = solver->made_by->create(solver->workspace, &solver->system, &options);
  memcpy(solver->stage_y, solver->y, (size_t)solver->model->columns * sizeof(double));
  take_values(solver, solver->stage_y);
  double end = end_of_run(solver);
  solver->made_by->start(solver->integrator, now->time, solver->y, end > now->time ? end : now->time + 1);
  solver->looks.rejections = 0;
  if (solver->kinks) kinks_forget(solver->kinks);
}

static void step(void *context) {
  Call *call = context;
  call->status = call->solver->made_by->step(call->solver->integrator, call->stop);
}

static void switch_states(void *context) {
  Solver *solver = ((Call *)context)->solver;
  solver->made_by->switch_states(solver->integrator, solver->y);
}

static void protect(Call *call, void (*work)(void *context)) {
  if (!heap_protect(call->solver->heap, work, call)) call->solver->made_for = 0, call->solver->integrator = 0;
}

void steps_start(Solver *solver) {
  protect(&(Call){.solver = solver}, start);
  solver->now->next = 0;
}

void steps_suggest(Solver *solver, double next) {
  solver->now->next = next;
  if (solver->integrator && next > 0) solver->made_by->suggest(solver->integrator, next);
}

/* Continues after an event of a mode, or of none. If nothing that is integrated has changed, and the last step ended there,
 * the steps continue unchanged. */
void steps_pass_event(Solver *solver, int mode) {
  const Scalars *now = solver->now;
  if (solver->kinks) kinks_forget(solver->kinks);
  if (!now->changed && solver->integrator && solver->made_for == solver->model &&
      solver->made_by == wanted_integrator(solver) && solver->made_by->time(solver->integrator) == now->time)
    return;
  steps_start(solver);
  double span = end_of_run(solver) - solver->model->start;
  if (solver->integrator)
    steps_suggest(solver, stretches_begin(&solver->stretches, &solver->edges, mode, now->time, span,
                                          solver->made_by->is_one_step));
}

/* Goes back to t, where the last step or an earlier one began; a part of it is tried next. */
void steps_repeat(Solver *solver, double t, double next) {
  bool is_last = solver->integrator && solver->now->step_begin == t && next > 0;
  solver->now->time = t;
  if (is_last && solver->made_by->repeat(solver->integrator, next)) return;
  steps_start(solver);
  steps_suggest(solver, next);
}

/* Call this after states have been exchanged. */
void steps_switch(Solver *solver) {
  if (solver->integrator) protect(&(Call){.solver = solver}, switch_states);
}

SolverStatus steps_step(Solver *solver, double stop) {
  Scalars *now = solver->now;
  IntegratorStatistics before, after;
  Call call = {solver, stop, STEP_EVALUATION, false};
  /* A step to a point that equals the present one except for round-off, as when an importer stops next to an event, adds no
   * history. */
  bool was_tiny = now->step > 0 && now->step < integrator_least_step(now->time, stop);
  if (solver->integrator && was_tiny && !solver->made_by->is_one_step) steps_start(solver);
  if (!solver->integrator) return SOLVER_FAILED;
  solver->made_by->statistics(solver->integrator, &before);
  protect(&call, step);
  if (call.status != STEP_OK && solver->integrator && !solver->made_by->explicit_form && sizes_widen(solver->sizes)) {
    steps_note_sizes(solver);
    steps_start(solver);
    if (solver->integrator) protect(&call, step);
  }
  if (call.status != STEP_OK || !solver->integrator) return SOLVER_FAILED;
  solver->made_by->statistics(solver->integrator, &after);
  now->step_begin = now->time;
  now->step_end = now->time = solver->made_by->time(solver->integrator);
  now->step = now->step_end - now->step_begin;
  now->next = after.next;
  stretches_note_step(&solver->stretches, now->next);
  now->steps++;
  now->rejected +=
      (int)(after.rejected_error + after.rejected_convergence - before.rejected_error - before.rejected_convergence);
  take_values(solver, solver->made_by->values(solver->integrator));
  return SOLVER_OK;
}

static void look_at_rows(void *context) {
  Call *call = context;
  Solver *solver = call->solver;
  const Integrator *method = solver->made_by;
  const Scalars *now = solver->now;
  IntegratorStatistics found;
  method->statistics(solver->integrator, &found);
  segment_take(solver->segment, &method->segment, solver->integrator, now->step_begin, solver->begin, now->step_end,
               method->values(solver->integrator));
  solver->looks.start = solver->model->start;
  solver->looks.span = end_of_run(solver) - solver->model->start;
  solver->looks.is_rough = solver->model->is_rough != 0;
  int every = solver->looks.is_rough ? method->look_every_rough : method->look_every;
  bool is_in_doubt = defect_is_in_doubt(&solver->looks, solver->segment,
                                        found.rejected_error + found.rejected_convergence, found.next);
  if (solver->kinks && !method->is_one_step)
    is_in_doubt =
        kinks_pass(solver->kinks, now->step_begin, solver->begin, now->step_end, solver->segment->end) || is_in_doubt;
  double defect;
  call->misses = defect_is_too_large(solver->defect, &solver->looks, solver->segment, every, is_in_doubt,
                                     solver->event_y, &defect);
}

/* Do the polynomials of the last step miss the rows by more than its error explains? */
int steps_miss_rows(Solver *solver) {
  Call call = {.solver = solver};
  if (solver->now->step_end > solver->now->step_begin) protect(&call, look_at_rows);
  return call.misses;
}

static void find_kink(void *context) {
  Call *call = context;
  Solver *solver = call->solver;
  double begin = solver->now->step_begin, end = solver->now->step_end,
         kink = kinks_find(solver->kinks, solver->segment);
  /* a kink at the beginning, up to round-off, is passed */
  if (kink - begin >= integrator_least_step(begin, end) && kink < end) call->stop = kink;
}

/* The kink at which the last step must end; HUGE_VAL: none. */
double steps_kink(Solver *solver) {
  Call call = {.solver = solver, .stop = HUGE_VAL};
  if (solver->kinks && solver->made_by->is_one_step && kinks_end_steps(solver->kinks, solver->segment))
    protect(&call, find_kink);
  return call.stop;
}

void steps_interpolate(Solver *solver, double t, double *y) {
  solver->made_by->segment.interpolate(solver->integrator, t, 0, (uint32_t)solver->model->columns, y);
}

/* The memory of an integrator is not part of a saved state. Both the saved and the restored run continue with a new one. */
void steps_saved(Solver *solver) {
  double next = solver->now->next;
  solver->made_for = 0;
  stretches_forget(&solver->stretches, solver->model->modes);
  if (!solver->now->is_started) return;
  steps_start(solver);
  steps_suggest(solver, next);
}

/* ---- directions ---- */

typedef struct Direction {
  Solver *solver;
  Variation *variation;
  bool is_transposed, is_regular;
} Direction;

static void factor_rows(void *context) {
  Direction *task = context;
  Solver *solver = task->solver;
  steps_make(solver);
  task->variation = task->is_transposed ? solver->transposed : solver->variation;
  task->is_regular = variation_factor(task->variation, solver->now->time, solver->y) == EVAL_OK;
}

static Variation *factored_rows(Solver *solver, bool is_transposed) {
  Direction task = {solver, 0, is_transposed, false};
  return heap_protect(solver->heap, factor_rows, &task) && task.is_regular ? task.variation : 0;
}

int steps_direction(Solver *solver, double *columns, const double *rows) {
  Variation *variation = factored_rows(solver, false);
  if (variation) variation_solve(variation, rows, columns);
  return !variation;
}

int steps_adjoint(Solver *solver, double *columns, double *rows) {
  Variation *variation = factored_rows(solver, true);
  if (!variation) return 1;
  variation_solve_transposed(variation, columns, rows);
  for (int r = 0; r < solver->model->rows; r++) rows[r] = -rows[r];
  return 0;
}
