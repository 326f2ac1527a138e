/* run: see run.h. */
#include "solve/run.h"

#include <string.h>

struct RunLoop {
  Heap *heap;
  View *view;
  Stepper *stepper;
  const RunOptions *options;
  Recorder *recorder;
  RunStatistics *statistics;
  Diags *diags;
  Constraints *constraints;
  double *output;
  uint64_t output_count, outputs;
  bool
      again; /* an event was passed before the output point of now: the step is taken again, what it recorded taken back */
  uint64_t rows_before, entries_before;                        /* the evaluator's counts at the beginning */
  uint64_t output_rows, output_entries, output_factorizations; /* spent on output points */
};

/* ---- output ---- */

static double output_time(const RunLoop *run, uint64_t k) {
  if (k >= run->outputs) return run->options->stop;
  return run->options->start + (double)k * run->options->interval;
}

/* Records the columns at t, within the last step. */
static bool record_point(RunLoop *run, double t) {
  View *view = run->view;
  Evaluator *evaluator = view->evaluator;
  uint64_t rows = evaluator->row_evaluations, entries = evaluator->entry_evaluations;
  uint64_t factorizations = view->methods->factorizations(view);
  if (!stepper_interpolate(run->stepper, t, run->output)) return stepper_fail(run->stepper, STEP_EVALUATION, t);
  if (stepper_passed_event(run->stepper, t, run->output)) {
    run->again = true;
    return true;
  }
  constraints_check(run->constraints, t, run->output);
  run->output_rows += evaluator->row_evaluations - rows;
  run->output_entries += evaluator->entry_evaluations - entries;
  run->output_factorizations += view->methods->factorizations(view) - factorizations;
  recorder_add(run->recorder, t, run->output);
  return true;
}

/* All output points up to t, from the dense output of the last step; those before t only, with `before`. */
static bool record_until(RunLoop *run, double t, bool before) {
  size_t rows = run->recorder->trajectory->rows;
  uint64_t outputs = run->output_count;
  while (run->output_count <= run->outputs) {
    double next = output_time(run, run->output_count);
    if (next > t || (before && next == t)) return true;
    if (!record_point(run, next)) return false;
    if (run->again) {
      trajectory_cut(run->recorder->trajectory, rows);
      run->output_count = outputs;
      return true;
    }
    run->output_count++;
  }
  return true;
}

/* Behind an event; without rows of events only at an output point. */
static void record_behind(RunLoop *run, double t) {
  bool is_output = run->output_count <= run->outputs && output_time(run, run->output_count) == t;
  if (!run->options->no_event_rows || is_output) recorder_add(run->recorder, t, stepper_values(run->stepper));
  run->output_count += is_output;
}

/* Both sides of an event. */
static bool record_event(RunLoop *run, double t) {
  if (!run->options->no_event_rows) recorder_add(run->recorder, t, stepper_values(run->stepper));
  if (!stepper_settle(run->stepper)) return false;
  record_behind(run, t);
  return true;
}

/* ---- the loop ---- */

static bool integrate(RunLoop *run) {
  const RunOptions *options = run->options;
  Stepper *stepper = run->stepper;
  uint64_t steps = 0;
  while (stepper_time(stepper) < options->stop && !stepper_terminated(stepper)) {
    if (!stepper_step(stepper)) return false;
    double t = stepper_time(stepper);
    bool event = stepper_at_event(stepper);
    run->again = false;
    if (!record_until(run, t, event)) return false;
    if (run->again) continue;
    if (event && !record_event(run, t)) return false;
    if (options->on_step && options->on_step(options->context, t, ++steps)) {
      run->statistics->stopped = true;
      return true;
    }
    if (t < options->stop && !stepper_terminated(stepper) && !stepper_prepare(stepper)) return false;
  }
  return true;
}

/* The worst so far. */
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

static void collect_statistics(const RunLoop *run) {
  RunStatistics *statistics = run->statistics;
  const Evaluator *evaluator = run->view->evaluator;
  uint64_t rows = evaluator->row_evaluations - run->rows_before - run->output_rows;
  uint64_t entries = evaluator->entry_evaluations - run->entries_before - run->output_entries;
  StepperStatistics before = statistics->stepper;
  statistics->stepper = stepper_statistics(run->stepper);
  statistics->stepper.factorizations -= run->output_factorizations;
  stepper_statistics_add(&statistics->stepper, &before, run->heap);
  statistics->residual_evaluations += evaluator_in_rows(evaluator, rows);
  statistics->output_evaluations += evaluator_in_rows(evaluator, run->output_rows);
  statistics->jacobian_evaluations += evaluator_in_jacobians(evaluator, entries);
  collect_constraints(run);
}

static bool check_constraints(RunLoop *run) {
  const Constraints *constraints = run->constraints;
  double limit = run->options->constraint_tolerance;
  if (constraints->worst_row == MAP_NONE || constraints->worst <= limit) return true;
  Evaluator *original = run->view->original;
  const char *text = evaluator_row_text(original, constraints->worst_row, &run->diags->arena);
  Span span = array_row_span(original->array, constraints->worst_row);
  if (run->options->enforces_constraints)
    return diag_error(run->diags, DIAG_INTEGRATION, span,
                      "the constraint `%s` is violated by %.3g (scaled) at time %.10g", text, constraints->worst,
                      constraints->worst_time),
           false;
  diag_warning(run->diags, span, "the constraint `%s` drifted to %.3g (scaled) at time %.10g", text, constraints->worst,
               constraints->worst_time);
  return true;
}

RunLoop *run_new(Heap *heap, const RunOptions *options, Recorder *recorder, RunStatistics *statistics, Diags *diags) {
  RunLoop *run = heap_alloc(heap, sizeof *run);
  *run = (RunLoop){.heap = heap, .options = options, .recorder = recorder, .statistics = statistics, .diags = diags};
  run->outputs = options->intervals;
  return run;
}

/* Another system, from (t, y) on. */
static void take_system(RunLoop *run, View *view, const RunPlan *plan, double t, const double *y) {
  const RunOptions *options = run->options;
  StepperOptions stepping = {.start = t,
                             .stop = options->stop,
                             .tolerance = options->tolerance,
                             .max_step = options->max_step,
                             .integrator = options->integrator};
  run->view = view;
  run->stepper = stepper_new(run->heap, view, plan->structure, plan->watched, &stepping, run->diags);
  run->output = heap_array(run->heap, (size_t)view->system.columns, sizeof(double));
  run->constraints = constraints_new(run->heap, view, plan->constraints, t, y);
  run->rows_before = view->evaluator->row_evaluations;
  run->entries_before = view->evaluator->entry_evaluations;
  run->output_rows = run->output_entries = run->output_factorizations = 0;
}

RunStatus run_integrate(RunLoop *run, View *view, const RunPlan *plan, double t, const double *y, bool resumes) {
  take_system(run, view, plan, t, y);
  bool ok = resumes ? stepper_resume(run->stepper, t, y) : stepper_start(run->stepper, t, y);
  if (ok && resumes) record_behind(run, t);
  ok = ok && record_until(run, t, false) && integrate(run);
  collect_statistics(run);
  if (!ok && stepper_restructured(run->stepper)) return stepper_at_event(run->stepper) ? RUN_RESTRUCTURED : RUN_MISLED;
  return ok && check_constraints(run) ? RUN_DONE : RUN_FAILED;
}

double run_event(const RunLoop *run, const double **y) {
  *y = stepper_values(run->stepper);
  return stepper_time(run->stepper);
}
