/* run: see run.h. */
#include "solve/run.h"

#include "solve/events.h"

#include <math.h>
#include <string.h>

/* With `auto`, systems of more rows than this go to a sparse multistep method from the start. */
enum { LARGE_ROWS = 3000 };

/* A choice of states is judged this part of a step ahead. */
static const double LOOK_AHEAD = 0.75;

/* After so many events in a row that do not get ahead a condition gets hysteresis; so many are chattering. */
enum { SLIDING_LIMIT = 20, CHATTER_LIMIT = 200 };

/* Other choices that are tried at one point. */
enum { REPAIR_LIMIT = 6 };

typedef struct Run {
  Heap *heap;
  View *view;
  const Structure *structure;
  const RunOptions *options;
  Recorder *recorder;
  RunStatistics *statistics;
  Diags *diags;
  Constraints *constraints;
  Turning *turning; /* NULL: nothing to watch */
  TurningPoint turning_point;
  const Integrator *integrator;
  void *self, *ticket; /* of the heap that the integrator lives in; NULL: there is none yet */
  double *y, *output;
  uint64_t output_count, outputs;
  double last_event;
  int repairs;       /* of the choice of states since the last step that succeeded */
  uint64_t rejected; /* steps that the integrator had rejected when the states were looked at last */
  bool warned;       /* of a determinant that changed its sign */
  uint32_t chatter;
  uint64_t rows_before, entries_before;                        /* the evaluator's counts at the beginning */
  uint64_t output_rows, output_entries, output_factorizations; /* spent on output points */
} Run;

static bool describe_failure(Run *run, StepStatus status, double t);

/* ---- output ---- */

static double output_time(const Run *run, uint64_t k) {
  if (k >= run->outputs) return run->options->stop;
  return run->options->start + (double)k * run->options->interval;
}

/* Records y at t, whose states are right and whose other columns are guesses. */
static bool record_point(Run *run, double t, double *y) {
  Evaluator *evaluator = run->view->evaluator;
  uint64_t rows = evaluator->row_evaluations, entries = evaluator->entry_evaluations;
  uint64_t factorizations = view_factorizations(run->view);
  if (view_solve(run->view, t, y) != EVAL_OK) return false;
  constraints_check(run->constraints, t, y);
  run->output_rows += evaluator->row_evaluations - rows;
  run->output_entries += evaluator->entry_evaluations - entries;
  run->output_factorizations += view_factorizations(run->view) - factorizations;
  recorder_add(run->recorder, t, y);
  return true;
}

/* All output points up to t, from the dense output of the last step; those before t only, with `before`. */
static bool record_until(Run *run, double t, bool before) {
  double end = run->integrator->time(run->self);
  while (run->output_count <= run->outputs) {
    double next = output_time(run, run->output_count);
    if (next > t || (before && next == t)) return true;
    if (next == end)
      memcpy(run->output, run->integrator->values(run->self), (size_t)run->view->system.columns * sizeof(double));
    else run->integrator->interpolate(run->self, next, run->output);
    if (!record_point(run, next, run->output)) return describe_failure(run, STEP_EVALUATION, next);
    run->output_count++;
  }
  return true;
}

static bool record_outputs(Run *run, double t) { return record_until(run, t, false); }
static bool record_before(Run *run, double t) { return record_until(run, t, true); }

/* ---- messages ---- */

/* Adds the equations of a block to a message: all of a small one, the first of a large one. */
static void note_block(Run *run, Diag *diag, int32_t block) {
  enum { SHOWN = 6 };
  const Blocks *blocks = &run->structure->blocks;
  Array *array = run->view->evaluator->array;
  if (block < 0 || block >= blocks->n_blocks) return;
  int32_t size = blocks->start[block + 1] - blocks->start[block];
  for (int32_t p = blocks->start[block]; p < blocks->start[block + 1] && p < blocks->start[block] + SHOWN; p++) {
    uint32_t row = array->row_start[blocks->row[p]];
    diag_note(run->diags, diag, array_row_span(array, row), "equation of the block: %s",
              array_row_text(array, row, &run->diags->arena));
  }
  if (size > SHOWN) diag_note(run->diags, diag, (Span){0}, "and %d more equations", (int)(size - SHOWN));
}

/* The equation that is outside of its domain at y, if one is. */
static void note_domain(Run *run, Diag *diag, double t, const double *y) {
  Evaluator *evaluator = run->view->evaluator;
  Point point = evaluator_point(evaluator, t, y);
  Blame blame;
  if (!program_blame(evaluator->rows, &point, &blame)) return;
  diag_note(run->diags, diag, array_row_span(evaluator->array, blame.output), "%s (%.6g) in %s: %s", blame.reason,
            blame.argument, model_text(evaluator->model, blame.node, &run->diags->arena),
            array_row_text(evaluator->array, blame.output, &run->diags->arena));
}

/* The name under which the model knows a column: that of an alias v = der(x) if there is one. */
static const char *known_name(const Run *run, uint32_t column) {
  const Array *array = run->view->evaluator->array;
  const Aliases *aliases = &array->problem->aliases;
  const Model *model = array->problem->model;
  uint32_t root = array->problem->unknown[array->column_unknown[column]], order = array_order(array, column);
  for (uint32_t j = 0; order && j < aliases->count && aliases->removed; j++)
    if (aliases->root[j] == root && aliases->shift[j] == order) return model_name(model, model->unknowns.data[j]);
  return array_column_name(array, column, &run->diags->arena);
}

/* Ends the run at a singular point, with the equations and variables of its block. */
static bool report_turning(Run *run) {
  enum { SHOWN = 6 };
  TurningPoint *point = heap_alloc(run->heap, sizeof *point);
  *point = run->turning_point;
  run->statistics->turning = point;
  const Blocks *blocks = &run->structure->blocks;
  Array *array = run->view->evaluator->array;
  Diag *diag = diag_error(run->diags, DIAG_INTEGRATION, (Span){0},
                          "integration stopped %s time %.10g: the Jacobian of %d equation%s is singular there, its "
                          "rank drops from %d to %d",
                          point->located ? "at" : "shortly before", point->time, (int)point->size,
                          point->size == 1 ? "" : "s", (int)point->size, (int)point->rank);
  int32_t begin = blocks->start[point->block];
  for (int32_t p = begin; p < begin + point->size && p < begin + SHOWN; p++) {
    uint32_t row = array->row_start[blocks->row[p]],
             column = array->column_start[blocks->column[p]] + (uint32_t)array->d[blocks->column[p]];
    diag_note(run->diags, diag, array_row_span(array, row), "equation `%s`, variable %s",
              array_row_text(array, row, &run->diags->arena), known_name(run, column));
  }
  if (point->size > SHOWN) diag_note(run->diags, diag, (Span){0}, "and %d more equations", (int)(point->size - SHOWN));
  diag_note(run->diags, diag, (Span){0},
            "the solution ends, turns back or branches there: the equations determine no unique continuation");
  return false;
}

static bool start_is_regular(Run *run) {
  if (!run->turning || !turning_at_start(run->turning, &run->turning_point)) return true;
  return report_turning(run);
}

/* Looks whether a Jacobian got singular in the step to t, the last before an event or the end or not. */
static bool watch_turning(Run *run, double t, const double *y, bool last) {
  if (!run->turning) return true;
  TurningStatus status =
      turning_watch(run->turning, run->integrator, run->self, t, y, run->options->stop, last, &run->turning_point);
  if (status == TURNING_POINT) return report_turning(run);
  if (status == TURNING_JUMP && !run->warned) {
    Diag *diag =
        diag_warning(run->diags, (Span){0}, "near time %.10g the determinant of a Jacobian changes its sign", t);
    note_block(run, diag, run->turning_point.block);
    run->warned = true;
  }
  return true;
}

/* What to try where the method has left a high index, which no error control can hide; "" elsewhere. */
static const char *index_hint(const Run *run) {
  const System *system = &run->view->system;
  int32_t index = 1;
  for (int32_t q = 0; q < system->columns && system->column_index; q++)
    if (system->column_index[q] > index) index = system->column_index[q];
  if (index < 3) return "";
  bool radau = run->integrator == integrator_find("radau");
  return arena_printf(&run->diags->arena,
                      "; the system integrated has index %d: use %sa method that reduces it, such as dummy", (int)index,
                      radau ? "" : "solver radau, or ");
}

static bool describe_failure(Run *run, StepStatus status, double t) {
  if (run->turning && turning_explain(run->turning, t, run->options->stop, &run->turning_point))
    return report_turning(run);
  static const char *const what[] = {
      [STEP_TOO_SMALL] = "the step size fell to round-off",
      [STEP_SINGULAR] = "the Jacobian is singular",
      [STEP_EVALUATION] = "the equations could not be evaluated",
  };
  Diag *diag = diag_error(run->diags, DIAG_INTEGRATION, (Span){0}, "integration stopped at time %.10g: %s%s", t,
                          what[status], index_hint(run));
  if (run->view->space && statespace_failure(run->view->space).reason && *statespace_failure(run->view->space).reason) {
    CloseFailure failure = statespace_failure(run->view->space);
    diag_note(run->diags, diag, (Span){0}, "%s in block %d", failure.reason, (int)failure.block + 1);
    note_block(run, diag, failure.block);
  }
  note_domain(run, diag, t, run->integrator->values(run->self));
  return false;
}

/* ---- pivots ---- */

/* The columns at t + ahead by the Taylor series that they are: (j, k) + ahead (j, k + 1) + ... Good enough to
 * judge a choice where the next step will use it rather than where the last one ended. */
static void look_ahead(const Run *run, const double *y, double ahead, double *out) {
  const Array *array = run->view->evaluator->array;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    uint32_t begin = array->column_start[j], end = array->column_start[j + 1];
    for (uint32_t q = end; q-- > begin;) {
      out[q] = y[q];
      double factor = 1;
      for (uint32_t r = q + 1; r < end; r++) out[q] += (factor *= ahead / (double)(r - q)) * y[r];
    }
  }
}

/* The columns that the integrator has reached. */
static void take_values(Run *run) {
  memcpy(run->y, run->integrator->values(run->self), (size_t)run->view->system.columns * sizeof(double));
}

/* Watches the choice of dummies at the end of a step; an exchange is projected to round-off and told to the
 * integrator. */
static bool watch_choice(Run *run, double t) {
  if (!run->view->dummy) return true;
  int32_t block;
  IntegratorStatistics now;
  run->integrator->statistics(run->self, &now);
  double ahead = LOOK_AHEAD * now.step;
  look_ahead(run, run->integrator->values(run->self), ahead, run->y);
  int32_t exchanged = dummy_watch(run->view->dummy, t + ahead, run->y, &block);
  if (exchanged == 0) return true;
  if (exchanged < 0) {
    Diag *diag =
        diag_error(run->diags, DIAG_INTEGRATION, (Span){0},
                   "at time %.10g the Jacobian of block %d is singular for every choice of states", t, (int)block + 1);
    note_block(run, diag, block);
    return false;
  }
  for (int32_t k = 0; k < exchanged; k++) {
    const Exchange *exchange = &dummy_exchanges(run->view->dummy)[k];
    vec_push(run->heap, &run->statistics->pivots, (PivotRecord){t, exchange->out, exchange->in});
  }
  take_values(run);
  /* in the old choice, so that the new states have the accuracy of the old ones */
  if (run->view->system.close(run->view, t, run->y) != EVAL_OK) return describe_failure(run, STEP_EVALUATION, t);
  view_update_links(run->view);
  statespace_choose(run->view->space, dummy_depth(run->view->dummy));
  run->integrator->switch_states(run->self, run->y);
  return true;
}

/* ---- the loop ---- */

/* In place of the one before, if there was one. */
static void create_integrator(Run *run, const Integrator *integrator) {
  IntegratorOptions options = {.relative_tolerance = run->options->tolerance,
                               .absolute_tolerance = run->options->tolerance,
                               .max_step = run->options->max_step};
  const System *system = view_system(run->view, integrator);
  heap_release(run->heap, run->ticket);
  run->integrator = integrator;
  run->self = integrator->create(heap_within(run->heap, &run->ticket), system, &options);
  run->rejected = 0;
  run->statistics->left_out = (uint32_t)(run->view->system.rows - system->rows);
}

static void collect_statistics(Run *run, bool final) {
  IntegratorStatistics part;
  RunStatistics *statistics = run->statistics;
  run->integrator->statistics(run->self, &part);
  statistics->steps += part.steps;
  statistics->rejected += part.rejected_error + part.rejected_convergence;
  statistics->factorizations += part.factorizations;
  if (!final) return;
  const Evaluator *evaluator = run->view->evaluator;
  uint64_t rows = evaluator->row_evaluations - run->rows_before - run->output_rows;
  uint64_t entries = evaluator->entry_evaluations - run->entries_before - run->output_entries;
  statistics->residual_evaluations = evaluator_in_rows(evaluator, rows);
  statistics->output_evaluations = evaluator_in_rows(evaluator, run->output_rows);
  statistics->jacobian_evaluations = evaluator_in_jacobians(evaluator, entries);
  statistics->factorizations += view_factorizations(run->view) - run->output_factorizations;
  statistics->solver = run->integrator->name;
  statistics->end_time = statistics->turning ? statistics->turning->time : run->integrator->time(run->self);
  statistics->constraint_residual = run->constraints->worst;
  statistics->constraint_time = run->constraints->worst_time;
  statistics->constraint_row = run->constraints->worst_row;
  statistics->constraints = run->constraints;
}

/* Leaves the explicit method for an implicit one when it says that the problem is stiff. */
static void leave_if_stiff(Run *run) {
  if (run->options->integrator || !run->integrator->explicit_form) return;
  IntegratorStatistics now;
  run->integrator->statistics(run->self, &now);
  if (!now.stiff) return;
  double t = run->integrator->time(run->self);
  take_values(run);
  collect_statistics(run, false);
  create_integrator(run, integrator_find("radau"));
  run->integrator->start(run->self, t, run->y, run->options->stop);
  run->statistics->solver_reason = "began explicit, found stiff";
}

static const Integrator *first_integrator(Run *run) {
  if (run->options->integrator) {
    run->statistics->solver_reason = "as asked for";
    return run->options->integrator;
  }
  if (run->view->selector) {
    run->statistics->solver_reason = "few evaluations of the whole array";
    return integrator_find("bdf");
  }
  if (run->view->system.rows > LARGE_ROWS) {
    run->statistics->solver_reason = "large and sparse";
    return integrator_find("bdf");
  }
  if (run->view->system.close) {
    run->statistics->solver_reason = "not stiff so far";
    return integrator_find("erk");
  }
  run->statistics->solver_reason = "no state-space form";
  return integrator_find("radau");
}

/* ---- choices by numerical ranks ---- */

static void note_exchanges(Run *run, double t, const Exchange *list, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    vec_push(run->heap, &run->statistics->pivots, (PivotRecord){t, list[k].out, list[k].in});
}

/* A new selection of rows and columns at run->y, and a new integrator for it. */
static bool reselect(Run *run, double t) {
  if (!run->view->selector->reselect(run->view, t, run->y)) return false;
  collect_statistics(run, false);
  create_integrator(run, run->integrator);
  run->integrator->start(run->self, t, run->y, run->options->stop);
  return true;
}

/* Looks at the choice of states at the end of a step: closely if it was rejected before. */
static void watch_selection(Run *run, double t) {
  const Selector *selector = run->view->selector;
  if (!selector) return;
  IntegratorStatistics now;
  run->integrator->statistics(run->self, &now);
  uint64_t rejected = now.rejected_error + now.rejected_convergence;
  bool sure = rejected != run->rejected;
  run->rejected = rejected;
  double ahead = run->structure ? LOOK_AHEAD * now.step : 0;
  const Exchange *list;
  take_values(run);
  look_ahead(run, run->y, ahead, run->output);
  int32_t count =
      selector->exchange(run->view, (Moment){t, run->y}, (ConstMoment){t + ahead, run->output}, sure, &list);
  note_exchanges(run, t, list, count);
  if (count > 0) run->integrator->switch_states(run->self, run->y);
  else if (count < 0) reselect(run, t);
}

/* After a step from t that failed: true if the run goes on with another choice. */
static bool repair_selection(Run *run, double t) {
  const Selector *selector = run->view->selector;
  if (!selector || run->repairs++ == REPAIR_LIMIT) return false;
  const Exchange *list;
  take_values(run);
  int32_t count = selector->exchange(run->view, (Moment){t, run->y}, (ConstMoment){t, run->y}, true, &list);
  note_exchanges(run, t, list, count);
  if (count <= 0) return reselect(run, t);
  run->integrator->start(run->self, t, run->y, run->options->stop);
  return true;
}

/* ---- events ---- */

static bool report_chatter(Run *run, double t, uint32_t mode) {
  Evaluator *evaluator = run->view->evaluator;
  diag_error(run->diags, DIAG_INTEGRATION, (Span){0},
             "at time %.10g the condition %s changes again and again without getting ahead; use noEvent, or a smooth "
             "transition",
             t, model_text(evaluator->model, run->view->switches->modes->relation[mode], &run->diags->arena));
  return false;
}

/* The solution slides along a condition: each of its values leads back to the other. Hysteresis of the size
 * of the tolerance lets the run get ahead. */
static void let_slide(Run *run, double t, uint32_t mode) {
  Switches *switches = run->view->switches;
  if (switches->band[mode] >= run->options->tolerance) return;
  switches_widen(switches, mode, run->options->tolerance);
  diag_warning(
      run->diags, (Span){0},
      "at time %.10g the solution slides along the condition %s, which from here on changes only when passed by the "
      "tolerance; use noEvent, or a smooth transition",
      t, model_text(run->view->evaluator->model, switches->modes->relation[mode], &run->diags->arena));
}

/* Are the ranks, where they choose, still those of the start? */
static bool has_same_ranks(Run *run, double t) {
  const Selector *selector = run->view->selector;
  if (!selector || selector->same_ranks(run->view, t, run->y)) return true;
  diag_error(run->diags, DIAG_INTEGRATION, (Span){0},
             "at the event at time %.10g the ranks of the derivative array change, and with them the number of degrees "
             "of freedom",
             t);
  return false;
}

/* Starts again behind an event, with the choice that suits the modes of now. */
static void restart(Run *run, double t) {
  const Selector *selector = run->view->selector;
  const Exchange *list = NULL;
  int32_t count =
      selector ? selector->exchange(run->view, (Moment){t, run->y}, (ConstMoment){t, run->y}, true, &list) : 0;
  note_exchanges(run, t, list, count);
  if (selector && count <= 0 && reselect(run, t)) return;
  run->integrator->start(run->self, t, run->y, run->options->stop);
}

/* An event at t with the columns in run->y: both sides are recorded, and the integrator starts again. */
static bool handle_event(Run *run, double t, uint32_t mode) {
  bool ahead = t - run->last_event > 1e-9 * (run->options->stop - run->options->start);
  run->chatter = ahead ? 0 : run->chatter + 1;
  run->last_event = t;
  if (run->chatter > CHATTER_LIMIT) return report_chatter(run, t, mode);
  if (run->chatter > SLIDING_LIMIT) let_slide(run, t, mode);
  run->statistics->events++;
  recorder_add(run->recorder, t, run->y);
  bool settled = events_settle(run->view, t, run->y);
  if (!has_same_ranks(run, t)) return false;
  if (run->turning) turning_begin(run->turning, t, run->y);
  if (!start_is_regular(run)) return false;
  if (!settled) return report_chatter(run, t, mode);
  recorder_add(run->recorder, t, run->y);
  if (run->output_count <= run->outputs && output_time(run, run->output_count) == t) run->output_count++;
  restart(run, t);
  return true;
}

/* Ends the step at the first event in it, if there is one. */
static bool find_event(Run *run, double before, double *t, bool *found) {
  uint32_t mode;
  *found = run->view->switches && events_locate(run->view, run->integrator, run->self, before, t, run->y, &mode);
  if (!*found) return true;
  return watch_turning(run, *t, run->y, true) && record_before(run, *t) && handle_event(run, *t, mode);
}

static bool integrate(Run *run) {
  const RunOptions *options = run->options;
  uint64_t steps = 0;
  while (run->integrator->time(run->self) < options->stop) {
    double before = run->integrator->time(run->self);
    StepStatus status = run->integrator->step(run->self, options->stop);
    if (status != STEP_OK && repair_selection(run, before)) continue;
    if (status != STEP_OK) return describe_failure(run, status, before);
    run->repairs = 0;
    double t = run->integrator->time(run->self);
    bool event;
    if (!find_event(run, before, &t, &event)) return false;
    if (!event &&
        !(watch_turning(run, t, run->integrator->values(run->self), t >= options->stop) && record_outputs(run, t)))
      return false;
    if (options->on_step && options->on_step(options->context, t, ++steps)) {
      run->statistics->stopped = true;
      return true;
    }
    if (t >= options->stop) break;
    if (!watch_choice(run, t)) return false;
    leave_if_stiff(run);
    watch_selection(run, t);
  }
  return true;
}

static bool check_constraints(Run *run) {
  const Constraints *constraints = run->constraints;
  double limit = run->options->constraint_tolerance;
  if (constraints->worst_row == MAP_NONE || constraints->worst <= limit) return true;
  Array *array = run->view->original->array;
  const char *text = array_row_text(array, constraints->worst_row, &run->diags->arena);
  Span span = array_row_span(array, constraints->worst_row);
  if (run->options->enforces_constraints) {
    diag_error(run->diags, DIAG_INTEGRATION, span, "the constraint `%s` is violated by %.3g (scaled) at time %.10g",
               text, constraints->worst, constraints->worst_time);
    return false;
  }
  diag_warning(run->diags, span, "the constraint `%s` drifted to %.3g (scaled) at time %.10g", text, constraints->worst,
               constraints->worst_time);
  return true;
}

bool run_integrate(Heap *heap, View *view, const Structure *structure, const double *y, const RunOptions *options,
                   Recorder *recorder, RunStatistics *statistics, Diags *diags) {
  Run run = {.heap = heap,
             .view = view,
             .structure = structure,
             .options = options,
             .recorder = recorder,
             .statistics = statistics,
             .diags = diags};
  size_t columns = (size_t)view->system.columns;
  run.y = heap_array(heap, columns, sizeof(double));
  run.output = heap_array(heap, columns, sizeof(double));
  memcpy(run.y, y, columns * sizeof(double));
  run.outputs = options->intervals;
  run.last_event = -HUGE_VAL;
  run.constraints = constraints_new(heap, view, options->start, y);
  run.rows_before = view->evaluator->row_evaluations;
  run.entries_before = view->evaluator->entry_evaluations;
  if (structure && (run.turning = turning_new(heap, view, structure)) != NULL)
    turning_begin(run.turning, options->start, y);
  create_integrator(&run, first_integrator(&run));
  run.integrator->start(run.self, options->start, run.y, options->stop);
  events_begin(view, options->start, y);
  bool ok = start_is_regular(&run) && record_outputs(&run, options->start) && integrate(&run);
  collect_statistics(&run, true);
  return ok && check_constraints(&run);
}
