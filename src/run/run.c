/* run: see run.h. */
#include "run/run.h"

#include "base/underflow.h"
#include "core/constants.h"
#include "core/outputs.h"
#include "run/advance.h"
#include "run/signs.h"
#include "vary/sensitivity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The part of the lists of a run that one system adds. */
typedef struct RunLists {
  PivotVec pivots;
  EventVec passed;
  TimeSpanVec unproven;
} RunLists;

/* Lists of earlier systems, the most recent first. Once made they never change, because saved states share them. */
typedef struct Earlier {
  const struct Earlier *before;
  RunLists lists;
  uint32_t events, spans; /* up to here */
} Earlier;

struct RunLoop {
  Heap *heap;
  View *view;
  Stepper *stepper;
  const RunOptions *options;
  Recorder *recorder;
  RunStatistics *statistics;
  Diags *diags;
  Constraints *constraints;
  Signs *signs;         /* NULL: nothing to watch, or it was already reported */
  const Structure *own; /* structure of the model */
  double *output;
  Outputs outputs;
  double next_output; /* INFINITY: there is none, or nothing is recorded */
  /* the step passed an event before the current output point: it is taken again, and its rows are removed */
  bool again;
  bool is_inexact;   /* a warning has said that a declared inverse is not one */
  OpenStep step;     /* the work at its end: its event, the choice of states */
  bool once;         /* the caller takes one step */
  double until;      /* the time to which the run advances */
  double now;        /* time reached; earlier than the stepper's time if it lies within the last step */
  double broken_off; /* time within the last step at which the rows cannot be solved; INFINITY: none */
  double *at;        /* all columns at `now`, if it lies within the last step */
  uint64_t steps;
  RunStatistics before; /* statistics of earlier systems, without their lists */
  const Earlier *earlier;
  RunLists lists;                                              /* lists of all systems, which the statistics show */
  uint64_t rows_before, entries_before;                        /* the evaluator's counts at the beginning */
  uint64_t output_rows, output_entries, output_factorizations; /* work spent on output points */
};

/* ---- output ---- */

static void set_output_number(RunLoop *run, uint64_t number) {
  run->outputs.number = number;
  run->next_output = run->recorder ? outputs_next(&run->outputs) : INFINITY;
}

/* Adds a row, with sensitivities if there are any. */
static void add_row(RunLoop *run, double t, const double *y) {
  if (!run->recorder) return;
  Sensitivity *sensitivity = run->view->sensitivity;
  if (sensitivity && run->recorder->directions) run->recorder->variations = sensitivity_at(sensitivity, t, y);
  recorder_add(run->recorder, t, y);
}

/* Reports that the equations cannot be solved at t, within the last step, although the step was accepted. */
static bool fail_within(RunLoop *run, double t) {
  run->broken_off = t;
  return stepper_fail(run->stepper, STEP_EVALUATION, t);
}

/* Called at the ends of steps. A system that is integrated as it is does not stop where the model is singular; this reports
 * it. */
static void look_at_signs(RunLoop *run, double t) {
  SignChange change;
  if (!run->signs) return;
  const double *y = constraints_columns(run->constraints, stepper_values(run->stepper));
  if (!signs_look(run->signs, t, y, &change)) return;
  Diag *diag = diag_warning(
      run->diags, DIAG_WARNING, (Span){0},
      "near time %.10g the determinant of a Jacobian is zero, and this method steps over it: after that, the solution "
      "may be a different one, or not the only one",
      change.time);
  report_block(run->diags, diag, run->view->original, run->own, change.block);
  run->signs = NULL;
}

/* Checks the constraints at a point, and says once if a declared inverse is not one. */
static void check_point(RunLoop *run, double t, const double *y) {
  Constraints *constraints = run->constraints;
  constraints_check(constraints, t, y);
  if (run->is_inexact || constraints->inexact <= run->options->constraint_tolerance) return;
  run->is_inexact = true;
  Evaluator *original = run->view->original;
  diag_warning(
      run->diags, DIAG_REWRITTEN, array_row_span(original->array, constraints->inexact_row),
      "`%s` is solved by the function that the annotation `inverse` names, and misses by %.3g (scaled) at time %.10g",
      evaluator_row_text(original, constraints->inexact_row, &run->diags->arena), constraints->inexact, t);
}

/* Does anything other than the constraints read the columns of output points? */
static bool reads_columns(const RunLoop *run) {
  return run->recorder->count > 0 || run->view->sensitivity || stepper_has_assertions(run->stepper);
}

/* Records the columns at t, within the last step. */
static bool record_point(RunLoop *run, double t) {
  View *view = run->view;
  Evaluator *evaluator = view->evaluator;
  uint64_t rows = evaluator->row_evaluations, entries = evaluator->entry_evaluations;
  uint64_t factorizations = view->methods->factorizations(view);
  bool is_solved = stepper_interpolate(run->stepper, t, run->output);
  run->again = !is_solved && stepper_passed_fold(run->stepper);
  if (run->again) return true;
  if (!is_solved) return fail_within(run, t);
  if (!stepper_watch(run->stepper, t, run->output)) return false;
  check_point(run, t, run->output);
  run->output_rows += evaluator->row_evaluations - rows;
  run->output_entries += evaluator->entry_evaluations - entries;
  run->output_factorizations += view->methods->factorizations(view) - factorizations;
  add_row(run, t, run->output);
  return true;
}

/* Records all output points up to t from the dense output of the last step; with `before`, only those before t. If nothing reads
 * the columns, the constraints are checked only at the first output point of a step. */
static bool record_until(RunLoop *run, double t, bool before) {
  if (run->next_output > t) return true;
  size_t rows = run->recorder->trajectory->rows;
  uint64_t outputs = run->outputs.number;
  while (run->next_output < t || (run->next_output == t && !before)) {
    if (run->outputs.number > outputs && !reads_columns(run)) add_row(run, run->next_output, run->output);
    else if (!record_point(run, run->next_output)) return false;
    if (run->again) {
      trajectory_cut(run->recorder->trajectory, rows);
      set_output_number(run, outputs);
      return true;
    }
    set_output_number(run, run->outputs.number + 1);
  }
  return true;
}

/* Do events at t have separate rows? Rows begin with the first output point. */
static bool has_event_rows(const RunLoop *run, double t) {
  const RunOptions *options = run->options;
  return !options->no_event_rows && t >= (options->times ? options->times[0] : options->start);
}

/* Records the row after an event; without rows of events, only at an output point. */
static void record_behind(RunLoop *run, double t) {
  bool is_output = run->next_output <= t;
  if (has_event_rows(run, t) || is_output) add_row(run, t, stepper_values(run->stepper));
  if (is_output) set_output_number(run, run->outputs.number + 1);
}

/* Limits the rows of events, which the user did not request. As text, rows take about three times as many bytes as in memory,
 * and both together must stay below the limit of memory. So an excess of events ends the run with a message and its rows so far,
 * before memory runs out. */
static bool has_room_for_event(RunLoop *run, double t) {
  const Trajectory *rows = run->recorder ? run->recorder->trajectory : NULL;
  uint64_t most = heap_budget(run->heap)->most[BUDGET_MEMORY], of_events = rows ? rows->rows - run->outputs.number : 0;
  if (!rows || run->options->no_event_rows) return true;
  if (of_events <= most / (4 * sizeof(double) * (rows->columns + 1))) return true;
  char limit[BUDGET_AMOUNT], more[BUDGET_AMOUNT];
  diag_error(run->diags, DIAG_LIMIT, (Span){0},
             "the rows of %" PRIu64 " events until time %.10g take a quarter of %s bytes of memory; "
             "--no-event-rows leaves them out, --limits memory=%s allows more",
             of_events / 2, t, budget_amount(most, limit), budget_amount(2 * most, more));
  return false;
}

/* Records both sides of an event. */
static bool record_event(RunLoop *run, double t) {
  if (!has_room_for_event(run, t)) return false;
  if (has_event_rows(run, t)) add_row(run, t, stepper_values(run->stepper));
  if (!stepper_settle(run->stepper)) return false;
  record_behind(run, stepper_time(run->stepper));
  return true;
}

/* ---- the loop ---- */

static bool has_ended(const RunLoop *run) { return run->statistics->stopped || stepper_terminated(run->stepper); }

/* Does the work after the last step: the event that ends it, and preparations for the next step. */
static bool close_step(RunLoop *run) {
  const RunOptions *options = run->options;
  double t = stepper_time(run->stepper);
  run->step.is_open = false;
  run->step.pauses = run->once;
  if (run->view->sensitivity) sensitivity_accept(run->view->sensitivity);
  if (stepper_at_event(run->stepper) && !record_event(run, t)) return false;
  if (!stepper_watch_end(run->stepper, run->output)) return false;
  if (options->on_step && options->on_step(options->context, t, ++run->steps)) run->statistics->stopped = true;
  return t >= options->stop || has_ended(run) || stepper_prepare(run->stepper, t);
}

/* The next time at which the solution is read. A caller that advances step by step may read it anywhere. */
static double next_look(const RunLoop *run) {
  if (run->once) return -INFINITY;
  return run->next_output < run->until ? run->next_output : run->until;
}

static bool is_over(void *host) { return has_ended(host); }

static bool take_step(void *host) {
  RunLoop *run = host;
  stepper_expect(run->stepper, next_look(run));
  if (!stepper_step(run->stepper)) return false;
  double end = stepper_time(run->stepper);
  run->again = false;
  if (!record_until(run, end, stepper_at_event(run->stepper))) return false;
  look_at_signs(run, end);
  run->step.is_open = !run->again;
  if (run->step.is_open) run->step.end = end;
  return true;
}

/* If an event was passed before t, the step is taken again. */
static bool stay_within(void *host, double t) {
  RunLoop *run = host;
  bool is_solved = stepper_interpolate(run->stepper, t, run->at);
  run->step.is_open = is_solved || !stepper_passed_fold(run->stepper);
  run->step.end = stepper_time(run->stepper);
  if (!run->step.is_open) return true;
  if (!is_solved) return fail_within(run, t);
  check_point(run, t, run->at);
  run->now = t;
  return true;
}

static bool finish_step(void *host) { return close_step(host); }

/* Handles terminal(). */
static bool end(RunLoop *run) {
  bool any;
  if (!stepper_end(run->stepper, &any)) return false;
  if (any) record_behind(run, stepper_time(run->stepper));
  return true;
}

/* A step beyond the requested time is useless if an input gets a new value there. */
static bool move_to(RunLoop *run, double until, bool once) {
  static const AdvanceHost methods = {is_over, take_step, stay_within, finish_step};
  stepper_limit(run->stepper, inputs_are_given(run->view->evaluator->inputs) ? until : INFINITY);
  run->until = until;
  run->once = once;
  run->step.end = stepper_time(run->stepper);
  if (!advance(&methods, run, &run->step, until)) return false;
  if (run->step.is_open && !has_ended(run)) return true;
  run->now = stepper_time(run->stepper);
  return !run_is_over(run) || run->statistics->stopped || end(run);
}

/* Collects the worst violations so far. */
static void collect_constraints(const RunLoop *run) {
  RunStatistics *statistics = run->statistics;
  const Constraints *constraints = run->constraints;
  statistics->constraints = constraints;
  bool first = !statistics->constraint_array;
  if (!first && (constraints->worst_row == MAP_NONE || constraints->worst <= statistics->constraint_residual)) return;
  statistics->constraint_residual = constraints->worst;
  statistics->constraint_time = constraints->worst_time;
  statistics->constraint_row = constraints->worst_row;
  statistics->constraint_array = run->view->original;
}

static void append_lists(Heap *heap, RunLists *lists, const RunLists *more) {
  for (uint32_t k = 0; k < more->pivots.count; k++) vec_push(heap, &lists->pivots, more->pivots.data[k]);
  for (uint32_t k = 0; k < more->passed.count; k++) vec_push(heap, &lists->passed, more->passed.data[k]);
  for (uint32_t k = 0; k < more->unproven.count; k++) vec_push(heap, &lists->unproven, more->unproven.data[k]);
}

/* Appends the stepper's lists to the earlier ones, in a copy, because the stepper continues with its own after a restore. */
static void keep_lists(RunLoop *run) {
  StepperStatistics now = stepper_statistics(run->stepper);
  uint32_t events = run->earlier ? run->earlier->events : 0, spans = run->earlier ? run->earlier->spans : 0;
  if (now.unproven.count > LISTED - spans) now.unproven.count = LISTED - spans;
  if (!now.pivots.count && !now.passed.count && !now.unproven.count) return;
  Earlier *kept = heap_alloc(run->heap, sizeof *kept);
  *kept = (Earlier){.before = run->earlier, .events = events + now.passed.count, .spans = spans + now.unproven.count};
  append_lists(run->heap, &kept->lists, &(RunLists){now.pivots, now.passed, now.unproven});
  run->earlier = kept;
}

/* Joins the earlier lists and the current ones in lists that belong to the statistics. */
static void collect_lists(RunLoop *run) {
  StepperStatistics *statistics = &run->statistics->stepper;
  VEC(const Earlier *) earlier = {0};
  RunLists *lists = &run->lists;
  lists->pivots.count = lists->passed.count = lists->unproven.count = 0;
  for (const Earlier *each = run->earlier; each; each = each->before) vec_push(run->heap, &earlier, each);
  for (uint32_t k = earlier.count; k-- > 0;) append_lists(run->heap, lists, &earlier.data[k]->lists);
  append_lists(run->heap, lists, &(RunLists){statistics->pivots, statistics->passed, statistics->unproven});
  statistics->pivots = lists->pivots;
  statistics->passed = lists->passed;
  statistics->unproven = lists->unproven;
  vec_free(run->heap, &earlier);
}

static void collect_counts(RunLoop *run) {
  RunStatistics *statistics = run->statistics;
  const Evaluator *evaluator = run->view->evaluator;
  uint64_t rows = evaluator->row_evaluations - run->rows_before - run->output_rows;
  uint64_t entries = evaluator->entry_evaluations - run->entries_before - run->output_entries;
  const RunStatistics *before = &run->before;
  statistics->stepper = stepper_statistics(run->stepper);
  statistics->stepper.factorizations -= run->output_factorizations;
  if (run->broken_off < statistics->stepper.time) statistics->stepper.time = run->broken_off;
  stepper_statistics_add(&statistics->stepper, &before->stepper);
  statistics->residual_evaluations = before->residual_evaluations + evaluator_in_rows(evaluator, rows);
  statistics->output_evaluations = before->output_evaluations + evaluator_in_rows(evaluator, run->output_rows);
  statistics->jacobian_evaluations = before->jacobian_evaluations + evaluator_in_jacobians(evaluator, entries);
  collect_constraints(run);
}

void run_collect(RunLoop *run) {
  collect_counts(run);
  collect_lists(run);
}

static bool check_constraints(RunLoop *run) {
  const RunStatistics *worst = run->statistics;
  double limit = run->options->constraint_tolerance;
  if (worst->constraint_row == MAP_NONE || worst->constraint_residual <= limit) return true;
  Evaluator *original = worst->constraint_array;
  const char *text = evaluator_row_text(original, worst->constraint_row, &run->diags->arena);
  Span span = array_row_span(original->array, worst->constraint_row);
  if (run->options->enforces_constraints)
    return diag_error(run->diags, DIAG_CONSTRAINT_VIOLATED, span,
                      "the constraint `%s` is violated by %.3g (scaled) at time %.10g", text,
                      worst->constraint_residual, worst->constraint_time),
           false;
  diag_warning(run->diags, DIAG_DRIFT, span, "the constraint `%s` drifted to %.3g (scaled) at time %.10g", text,
               worst->constraint_residual, worst->constraint_time);
  return true;
}

RunLoop *run_new(Heap *heap, const RunOptions *options, Recorder *recorder, RunStatistics *statistics, Diags *diags) {
  RunLoop *run = heap_alloc(heap, sizeof *run);
  *run = (RunLoop){.heap = heap, .options = options, .recorder = recorder, .statistics = statistics, .diags = diags};
  run->broken_off = INFINITY;
  run->outputs = (Outputs){.times = options->times,
                           .start = options->start,
                           .interval = options->interval,
                           .stop = options->stop,
                           .last = options->times ? options->time_count - 1 : options->intervals};
  set_output_number(run, recorder ? 0 : run->outputs.last + 1);
  return run;
}

/* Starts another system at (t, y). */
static void note_event(void *context, const EventRecord *event) {
  RunLoop *run = context;
  if (run->options->on_event(run->options->context, event)) run->statistics->stopped = true;
}

/* Given absolute tolerances replace nominal values. A variable that is constant, or that the current equations do not have, needs
 * none. */
static void give_tolerances(const RunOptions *options, View *view) {
  Evaluator *evaluator = view->evaluator;
  for (uint32_t k = 0; k < options->absolute_count; k++) {
    uint32_t column = array_variable_column(evaluator->array, options->absolute[k].unknown);
    if (column == MAP_NONE) continue;
    view->size[column] = evaluator->size[column] = options->absolute[k].value / options->tolerance;
    evaluator->is_sized[column] = evaluator->is_signed[column] = false;
  }
}

static void take_system(RunLoop *run, View *view, const RunPlan *plan, double t, const double *y) {
  const RunOptions *options = run->options;
  StepperOptions stepping = {.start = options->start,
                             .stop = options->stop,
                             .tolerance = options->tolerance,
                             .max_step = options->max_step,
                             .integrator = options->integrator,
                             .is_converted = plan->is_converted,
                             .lists_few = options->no_event_rows,
                             .on_event = options->on_event ? note_event : NULL,
                             .context = run};
  if (run->stepper) keep_lists(run);
  stepping.listed = run->earlier ? run->earlier->events : 0;
  run->view = view;
  Heap *heap = view->evaluator->heap;
  give_tolerances(options, view);
  run->stepper = stepper_new(heap, view, plan->structure, plan->watched, &stepping, run->diags);
  run->output = heap_array(heap, (size_t)view->system.columns, sizeof(double));
  run->at = heap_array(heap, (size_t)view->system.columns, sizeof(double));
  run->step.is_open = false;
  run->before = *run->statistics;
  run->constraints = constraints_new(heap, view, plan->constraints, t, y);
  run->statistics->constraints = run->constraints;
  run->own = plan->own;
  const DeterminantPlan *moving = plan->outside ? turning_moving(plan->outside) : NULL;
  run->signs = moving && moving->program ? signs_new(heap, view, moving) : NULL;
  run->rows_before = view->evaluator->row_evaluations;
  run->entries_before = view->evaluator->entry_evaluations;
  run->output_rows = run->output_entries = run->output_factorizations = 0;
}

/* Removes the rows after the last point that is known to be on the solution, because some failures are noticed only several steps
 * later. */
static void cut_rows(RunLoop *run) {
  const StepperStatistics *statistics = &run->statistics->stepper;
  double sound = statistics->turning ? statistics->turning->sound : statistics->time;
  sound = fmin(sound, stepper_failed_since(run->stepper));
  Trajectory *trajectory = run->recorder ? run->recorder->trajectory : NULL;
  size_t rows = trajectory ? trajectory->rows : 0;
  while (rows && trajectory_time(trajectory, rows - 1) > sound) rows--;
  if (trajectory) trajectory_cut(trajectory, rows);
}

/* The status of a call that succeeded or failed. */
static RunStatus status_of(RunLoop *run, bool ok) {
  bool is_restructured = !ok && stepper_restructured(run->stepper);
  if (is_restructured) collect_counts(run); /* the lists of all systems are joined once, after the last system */
  else if (!ok) stepper_report_failure(run->stepper), run_collect(run), cut_rows(run);
  return ok ? RUN_DONE : is_restructured ? RUN_RESTRUCTURED : RUN_FAILED;
}

/* Handles the event right after the start, if there is one; the row before it belongs to the start. */
static bool leave_start(RunLoop *run) {
  bool any;
  if (!stepper_leave_start(run->stepper, &any)) return false;
  if (any) record_behind(run, stepper_time(run->stepper));
  return true;
}

RunStatus run_begin(RunLoop *run, View *view, const RunPlan *plan, double t, const double *y, bool resumes) {
  take_system(run, view, plan, t, y);
  bool ok = resumes ? stepper_resume(run->stepper, t, y) : stepper_start(run->stepper, t, y);
  if (ok && resumes) record_behind(run, stepper_time(run->stepper));
  ok = ok && record_until(run, t, false) && (resumes || leave_start(run));
  if (ok) look_at_signs(run, t);
  run->now = stepper_time(run->stepper);
  return status_of(run, ok);
}

RunStatus run_advance(RunLoop *run, double until, bool once) {
  Underflow before = underflow_flush();
  RunStatus status = status_of(run, move_to(run, until, once));
  underflow_restore(before);
  return status;
}

RunStatus run_end(RunLoop *run) {
  run_collect(run);
  stepper_warn_widened(run->stepper);
  return check_constraints(run) ? RUN_DONE : RUN_FAILED;
}

bool run_is_over(const RunLoop *run) { return has_ended(run) || run->now >= run->options->stop; }

double run_time(const RunLoop *run) { return run->now; }

const double *run_values(const RunLoop *run) {
  return run->now < stepper_time(run->stepper) ? run->at : stepper_values(run->stepper);
}

bool run_interpolate(RunLoop *run, double t, double *y) {
  if (t == run->now) memcpy(y, run_values(run), (size_t)run->view->system.columns * sizeof *y);
  return t == run->now || (t < run->now && t >= stepper_begin(run->stepper) && stepper_interpolate(run->stepper, t, y));
}

/* ---- states ---- */

struct RunState {
  RunLoop loop; /* the loop, where the run was */
  StepperState *reached;
};

/* Restarts the stepper at the time reached. */
static bool go_back(RunLoop *run) {
  if (!(run->now < stepper_time(run->stepper))) return !run->step.is_open || close_step(run);
  run->step.is_open = false;
  return stepper_go_back(run->stepper, run->now, run->at);
}

RunStatus run_disturb(RunLoop *run, const uint8_t *held, const double *values) {
  return status_of(run, go_back(run) && stepper_disturb(run->stepper, held, values));
}

RunState *run_save(RunLoop *run, Heap *heap) {
  if (!go_back(run)) return NULL;
  RunState *state = heap_alloc(heap, sizeof *state);
  state->reached = stepper_save(run->stepper, heap);
  state->loop = *run;
  return state->reached ? state : NULL;
}

bool run_restore(RunLoop *run, const RunState *state) {
  RunLists lists = run->lists;
  *run = state->loop;
  run->lists = lists;
  return stepper_restore(run->stepper, state->reached);
}

bool run_adopt(RunLoop *run, View *view, const RunPlan *plan, const RunState *state) {
  const Stepper *from = state->loop.stepper;
  take_system(run, view, plan, stepper_time(from), stepper_values(from));
  run->now = stepper_time(from);
  return stepper_restore(run->stepper, state->reached);
}

static void pass_loop(RunLoop *run, Transfer *transfer) {
  transfer_same(transfer, run->options->start);
  transfer_same(transfer, run->options->times ? run->options->time_count : run->options->interval);
  transfer_value(transfer, &run->outputs.number);
  set_output_number(run, run->outputs.number);
}

void run_write(RunLoop *run, Transfer *transfer) {
  pass_loop(run, transfer);
  stepper_write(run->stepper, transfer);
}

bool run_read(RunLoop *run, Transfer *transfer) {
  pass_loop(run, transfer);
  if (transfer->is_broken || !stepper_read(run->stepper, transfer)) return false;
  run->now = stepper_time(run->stepper);
  return true;
}

double run_event(const RunLoop *run, const double **y) {
  *y = stepper_values(run->stepper);
  return stepper_time(run->stepper);
}
