/* stepper: see stepper.h. */
#include "core/constants.h"
#include "run/stepper_internal.h"

#include "base/copy.h"
#include "base/number.h"
#include "code/past.h"
#include "event/events.h"
#include "vary/sensitivity.h"
#include "view/branch.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- folds ---- */

/* If the solution ends at a corner, where it folds, the run continues after the fold, with an event. */
static void jump_over(Stepper *stepper, const Fold *fold) {
  uint32_t column = fold->column;
  stepper_jump(stepper, fold->time);
  if (!stepper->warned_fold)
    diag_warning(stepper->diags, DIAG_WARNING, (Span){0},
                 "at time %.10g the branch of the solution ends at a corner of the equations: %s jumps from %.6g to "
                 "%.6g, the next point on the curve of solutions after the fold",
                 fold->time, stepper_known_name(stepper, column), fold->before[column], fold->after[column]);
  stepper->warned_fold = true;
}

static bool pass_fold(Stepper *stepper, double step, double expected) {
  Fold fold;
  bool is_fold = steps_pass_fold(&stepper->steps, step, expected, &fold);
  if (is_fold) jump_over(stepper, &fold);
  return is_fold;
}

/* A determinant may have been zero in the last step, to t. If the step is short, it may have gone around a corner by its error. */
static bool is_near_fold(Stepper *stepper, double t) {
  double step = t - stepper->now.before;
  return step <= stepper->options.tolerance * stepper_span(stepper) && pass_fold(stepper, step, NAN);
}

/* ---- delays ---- */

/* Did each delay read an allowed time at the last evaluation? */
static bool has_delays(Stepper *stepper, double t) {
  Evaluator *evaluator = stepper->view->evaluator;
  const Delays *delays = past_delays(evaluator);
  int fault = delays_fault(delays);
  if (fault < 0) return true;
  double time = delays->channel[fault].time;
  const LogicDelay *delay = &evaluator->code->modes->logic->delays.data[fault];
  DiagCode code = t > stepper->options.start ? DIAG_INTEGRATION : DIAG_INIT;
  const char *text = model_text(evaluator_model(evaluator), delay->written, &stepper->diags->arena);
  if (delay->pipe) {
    diag_error(stepper->diags, code, (Span){0}, "at time %.10g %s %s", t,
               code == DIAG_INIT ? "initialPoints does not ascend from 0 to 1 in" : "x jumps by more than 1 in", text);
    return false;
  }
  diag_error(stepper->diags, code, (Span){0}, "at time %.10g the delay time of %s is %.10g, %s", t, text, time,
             time > 0   ? "above its maximum"
             : time < 0 ? "below zero"
                        : "which only a constant may be");
  return false;
}

/* Keeps the values of the last step that delays will read. */
static bool keep_past(Stepper *stepper) {
  if (!stepper->view->evaluator->past) return true;
  double end = stepper_time(stepper);
  steps_keep_past(&stepper->steps, end, stepper_values(stepper));
  return has_delays(stepper, end);
}

/* ---- steps ---- */

/* The latest time at which the next step must end. */
static double farthest_end(const Stepper *stepper) {
  double stop = stepper->options.stop, begin = stepper->now.before;
  if (stepper->limit < stop) stop = stepper->limit;
  struct Sensitivity *sensitivity = stepper->view->sensitivity;
  if (sensitivity && begin + sensitivity_longest(sensitivity) < stop) stop = begin + sensitivity_longest(sensitivity);
  return steps_end(&stepper->steps, stop);
}

/* Begins a step. Returns true if the branch of the solution ends there. */
static bool begin_at_fold(Stepper *stepper) {
  Fold fold;
  steps_begin(&stepper->steps);
  stepper->is_started = false;
  stepper_take_branch(stepper, stepper->steps.begin);
  bool is_fold = steps_begin_at_fold(&stepper->steps, &fold);
  if (is_fold) jump_over(stepper, &fold);
  return is_fold;
}

/* All steps from the beginning of the last one fail. Is the cause a singular point that the solution passes? */
static bool fails_at_instant(Stepper *stepper) {
  TurningPoint *point = &stepper->turning_point;
  if (!stepper->turning) return false;
  if (turning_explain(stepper->turning, stepper->now.before, stepper_modes_end(stepper), point))
    return stepper_leaps_instant(stepper, fmax(point->time, stepper->now.before));
  return stepper_is_first(stepper) && stepper_leaps_instant(stepper, stepper->now.before);
}

/* Steps fail some time before a singular point, because columns bend there. The explicit method can get nearer to the point, so it
 * takes over up to there. */
static bool approach_instant(Stepper *stepper) {
  TurningPoint *point = &stepper->turning_point;
  const Integrator *asked = stepper->steps.integrator;
  if (!stepper->turning || stepper->waiting || asked == &integrator_erk || !stepper->view->system.complete)
    return false;
  if (!turning_explain(stepper->turning, stepper->now.before, stepper_modes_end(stepper), point)) return false;
  if (!steps_solve_begin(&stepper->steps)) return false;
  copy_numbers(stepper->steps.y, stepper->steps.begin, (size_t)stepper->view->system.columns);
  stepper_change_integrator(stepper, &integrator_erk, stepper->now.before);
  stepper->waiting = asked;
  stepper->changed = stepper->now.before;
  return true;
}

/* The explicit method has replaced another one to pass an instant, which caused no event. The other method continues. */
static void leave_instant(Stepper *stepper) {
  if (!stepper->waiting || stepper_is_sliding(stepper) || !(stepper->t_passed > stepper->changed)) return;
  stepper_copy_values(stepper);
  stepper_suit_integrator(stepper, stepper_time(stepper));
}

/* Handles a singular point ahead that steps cannot pass. */
static bool meet_instant(Stepper *stepper) {
  return stepper_leaps_instant(stepper, stepper->t_instant) || stepper_report_turning(stepper);
}

/* Steps would begin at a singular point. Is that possible because the solution rests there? */
static bool starts_at_rest(Stepper *stepper) {
  stepper->starts_singular = false;
  stepper->now.before = stepper->steps.integrator->time(stepper->steps.self);
  stepper_take_values(stepper, stepper->steps.begin);
  if (!stepper_rests(stepper, stepper->now.before)) return false;
  if (stepper->turning) turning_rest(stepper->turning);
  return true;
}

/* Starts after a singular point, if the solution continues there. */
static bool start_behind_instant(Stepper *stepper) {
  return stepper_leaps_instant(stepper, stepper->now.before) || stepper_report_turning(stepper);
}

/* Takes a step. If it fails, the solution is followed around a fold, or another choice of states or another method is tried. */
static bool take_step(Stepper *stepper) {
  StepStatus status;
  if (stepper->starts_singular && !starts_at_rest(stepper)) return start_behind_instant(stepper);
  do {
    if (begin_at_fold(stepper)) return true;
    status = steps_step(&stepper->steps, farthest_end(stepper));
    if (status != STEP_OK && pass_fold(stepper, 0, NAN)) return true;
  } while (status != STEP_OK && (stepper_repair_choice(stepper, stepper->now.before) ||
                                 stepper_try_other(stepper, stepper->now.before) || approach_instant(stepper)));
  if (status != STEP_OK && stepper->t_instant > -INFINITY) return meet_instant(stepper);
  if (status != STEP_OK) return fails_at_instant(stepper) || stepper_fail(stepper, status, stepper->now.before);
  stepper->repairs = 0;
  return true;
}

/* Continues from (t, stepper->steps.y) with steps not longer than `max_step`. */
static void limit_steps(Stepper *stepper, double t, double max_step) {
  double asked = stepper->options.max_step;
  stepper->options.max_step = max_step;
  stepper_change_integrator(stepper, stepper->steps.integrator, t);
  stepper->options.max_step = asked;
}

/* A determinant changed its sign, but not through zero: the step left its branch, and is taken again in parts. false: it has been
 * taken again often enough. */
static bool retake(Stepper *stepper, double t) {
  if (stepper->retakes == ATTEMPTS) return false;
  stepper->retakes++;
  stepper->disputed = t; /* the end of the shortest step so far; later steps may be longer again */
  turning_go_back(stepper->turning);
  copy_numbers(stepper->steps.y, stepper->steps.begin, (size_t)stepper->view->system.columns);
  limit_steps(stepper, stepper->now.before, GOOD_PART * (t - stepper->now.before));
  return true;
}

/* After the disputed time, restores the step size. */
static void end_retakes(Stepper *stepper) {
  if (!stepper->retakes || stepper->at_event) return;
  double t = stepper_time(stepper);
  if (t < stepper->disputed) return;
  stepper->retakes = 0;
  stepper_copy_values(stepper);
  limit_steps(stepper, t, stepper->options.max_step);
}

/* Evaluates the divisors of rewritten equations at a point; NAN: unknown. */
static void find_divisors(Stepper *stepper, double t, const double *y, double *divisor) {
  Evaluator *evaluator = stepper->view->evaluator;
  Point point = evaluator_point(evaluator, t, y);
  if (workspace_run(stepper->divisors, &point, divisor) == EVAL_OK) return;
  for (uint32_t k = 0; k < evaluator->code->divisor.count; k++) divisor[k] = NAN;
}

/* Did no divisor pass zero in the step to t? Errors grow without bound before a zero, but the step control sees only the
 * errors of single steps. */
static bool divisors_hold(Stepper *stepper, double t) {
  if (!stepper->divisors) return true;
  find_divisors(stepper, stepper->now.before, stepper->steps.begin, stepper->divisor_before);
  find_divisors(stepper, t, stepper->steps.integrator->values(stepper->steps.self), stepper->divisor);
  for (uint32_t k = 0; k < stepper->view->evaluator->code->divisor.count; k++)
    if (stepper->divisor_before[k] * stepper->divisor[k] < 0) return stepper_report_divisor(stepper, t, k);
  return true;
}

/* t: the end of the last step. */
static bool gets_ahead(Stepper *stepper, double t) {
  double tiny = stepper->options.is_converted ? STUCK : DBL_EPSILON;
  bool is_tiny = t - stepper->now.before < tiny * stepper_span(stepper);
  stepper->tiny = is_tiny ? stepper->tiny + 1 : 0;
  return stepper->tiny <= MANY;
}

/* If the step to t has left its branch, or the branch cannot be followed along the step, repeats the step from the branch with a
 * smaller size. */
static bool leaves_branch(Stepper *stepper, double t) {
  if (!stepper->view->branch || stepper_is_sliding(stepper)) return false;
  double shorter = (t - stepper->now.before) / 4;
  BranchStatus status = branch_follow(stepper->view->branch, stepper->steps.segment);
  if (status == BRANCH_KEPT) return false;
  if (shorter < VANISHED * stepper_span(stepper)) {
    certificate_lose_branch(stepper->certificate);
    return false;
  }
  stepper->now.t_doubt = stepper->now.before + shorter;
  branch_forget(stepper->view->branch);
  steps_restart(&stepper->steps, stepper->now.before, branch_begin(stepper->view->branch), shorter);
  return true;
}

/* Ends the step at the first event in it, if there is one; most steps have none. false: an error is in diags. */
static bool find_event(Stepper *stepper) {
  StepEnd end = steps_find_end(&stepper->steps);
  stepper->at_event = false;
  if (end.is_undefined)
    return stepper_report_condition(stepper, end.mode, end.t, stepper->now.before, stepper->steps.ahead);
  bool is_repeated = !end.is_event && steps_are_repeated(&stepper->steps);
  if (is_repeated && end.mode >= 0) stepper->statistics.rejected++;
  if (end.is_event) stepper_meet_states(stepper, end.t, end.mode);
  else if (!is_repeated && end.t >= stepper->now.t_timed) stepper_meet_time(stepper);
  if (stepper->at_event) certificate_end(stepper->certificate, stepper->t_event);
  return true;
}

/* Undoes the step, and the event that ends it if there is one. */
static void undo_step(Stepper *stepper, double shorter) {
  if (stepper->at_event && stepper->t_event < stepper->now.t_timed) stepper->statistics.events--;
  else if (stepper->at_event) stepper->statistics.time_events--;
  stepper->at_event = false;
  stepper->statistics.rejected++;
  steps_start(&stepper->steps, stepper->now.before, stepper->steps.begin, shorter);
  events_begin(stepper->view, stepper->now.before, stepper->steps.begin);
}

/* Follows the variations over the last step. A step that does not resolve them is undone, and the next one is shorter. false: an
 * error is in diags. */
static bool follow_variations(Stepper *stepper) {
  struct Sensitivity *sensitivity = stepper->view->sensitivity;
  double t = stepper_time(stepper);
  if (!sensitivity || !(t > stepper->now.before)) return true;
  if (!sensitivity_step(sensitivity, stepper->steps.integrator, stepper->steps.self, stepper->steps.segment, t))
    return false;
  if (sensitivity_is_coarse(sensitivity)) undo_step(stepper, sensitivity_longest(sensitivity));
  return true;
}

/* Warns about an equation that is infinite within the last step, to t. false: with it the rate of a state is infinite, and the
 * solution ends. */
static bool watch_poles(Stepper *stepper, double t) {
  ConstMoment begin = {stepper->now.before, stepper->steps.begin}, end = {t, stepper_values(stepper)};
  Pole pole;
  if (!stepper->poles || !(t > stepper->now.before)) return true;
  while (poles_find(stepper->poles, stepper->steps.segment, begin, end, &pole)) {
    int32_t state = poles_end_state(stepper->poles, stepper->steps.segment, &pole);
    if (state >= 0) return stepper_report_pole(stepper, &pole, (uint32_t)state);
    stepper_warn_pole(stepper, &pole);
  }
  return true;
}

/* Searches for singular points up to t, and examines the singular points that the last step has passed. Returns TURNING_POINT if
 * the solution does not continue after one of them. */
static TurningStatus watch_singular(Stepper *stepper, double t, bool event) {
  for (;;) {
    TurningPoint *point = &stepper->turning_point, waiting = *point;
    bool is_stuck = t - stepper->now.before < LOCATED * stepper_span(stepper);
    if (!stepper_is_behind_instant(stepper, t))
      return is_stuck && !stepper_leaps_instant(stepper, stepper->t_instant) ? TURNING_POINT : TURNING_NONE;
    bool waits = stepper->t_instant > -INFINITY, is_last = event || t >= stepper->options.stop;
    TurningStatus status =
        turning_watch(stepper->turning, stepper->steps.segment, t, stepper_values(stepper), is_last, point);
    if (status == TURNING_SUSPECT && !waits && point->found < INFINITY) {
      stepper->t_instant = point->found;
      if (is_stuck && !stepper_is_behind_instant(stepper, t) && stepper_leaps_instant(stepper, point->found))
        return TURNING_NONE;
      if (stepper_passes_instant(stepper, t)) continue;
    }
    if (status == TURNING_SUSPECT && is_near_fold(stepper, t)) return TURNING_NONE;
    if (status == TURNING_SUSPECT)
      status = turning_follow(stepper->turning, t, stepper_values(stepper), stepper_modes_end(stepper), point);
    if (status != TURNING_POINT && !waits) return status;
    if (waits && (status != TURNING_POINT || waiting.found <= point->found)) *point = waiting;
    stepper->t_instant = point->time;
    bool is_behind = stepper_is_behind_instant(stepper, t);
    if (is_behind && stepper_passes_instant(stepper, t)) continue;
    bool is_fold = pass_fold(stepper, t - stepper->now.before, point->time);
    return is_fold || !is_behind ? TURNING_NONE : TURNING_POINT;
  }
}

/* If a step goes over a singular point that exactly one solution crosses, repeats it up to just before the point, where the
 * states are known. */
static bool ends_before_instant(Stepper *stepper) {
  double gap = stepper_crossing_gap(stepper, stepper->turning_point.time), end = stepper->turning_point.time - gap;
  if (!(end - stepper->now.before > gap) || !stepper_can_cross(stepper, stepper->turning_point.time)) return false;
  undo_step(stepper, end - stepper->now.before);
  turning_begin(stepper->turning, stepper->now.before, stepper->steps.begin);
  stepper->t_instant = -INFINITY;
  stepper->now.t_doubt = end;
  return true;
}

static bool step_to_event(Stepper *stepper) {
  end_retakes(stepper);
  for (;;) {
    bool event;
    double t;
    do {
      if (!take_step(stepper)) return false;
      if (stepper->is_folded) return true;
      t = stepper->steps.integrator->time(stepper->steps.self);
      if (!gets_ahead(stepper, t)) return stepper_fail(stepper, STEP_TOO_SMALL, stepper->now.before);
      if (!divisors_hold(stepper, t)) return false;
      if (!find_event(stepper) || !follow_variations(stepper)) return false;
      event = stepper->at_event;
      if (!event && !stepper_misses_no_event(stepper)) return false;
      t = stepper_time(stepper);
    } while (!event && t == stepper->now.before);
    if (event || t >= stepper->now.t_doubt) stepper->now.t_doubt = INFINITY;
    if (!watch_poles(stepper, t)) return false;
    if (!stepper->turning) return true;
    TurningStatus status = watch_singular(stepper, t, event);
    if (stepper->is_folded) return true;
    if (status == TURNING_POINT && ends_before_instant(stepper)) continue;
    if (status == TURNING_POINT)
      return stepper_crosses_instant(stepper, stepper->turning_point.time) || stepper_report_turning(stepper);
    if (status == TURNING_SMALL) stepper_warn_turning(stepper, "is nearly zero");
    if (status != TURNING_JUMP && status != TURNING_ASTRAY) return true;
    if (!event && retake(stepper, t)) continue;
    if (status == TURNING_ASTRAY) return stepper_report_astray(stepper);
    if (!event && pass_fold(stepper, t - stepper->now.before, NAN)) return true;
    certificate_lose_branch(stepper->certificate);
    stepper_warn_turning(stepper, "changes its sign");
    return true;
  }
}

bool stepper_step(Stepper *stepper) {
  certificate_accept(stepper->certificate, stepper_time(stepper));
  stepper_note_sizes(stepper, stepper_time(stepper), stepper_values(stepper));
  if (!stepper->is_folded) leave_instant(stepper);
  return stepper->is_folded || (step_to_event(stepper) && keep_past(stepper));
}

bool stepper_passed_fold(Stepper *stepper) {
  return pass_fold(stepper, stepper_time(stepper) - stepper->now.before, NAN);
}

void stepper_limit(Stepper *stepper, double limit) { stepper->limit = limit; }

/* Delays read the inside of every step. Conditions read it, too, unless they are far from their edges and steps can be
 * repeated. Sensitivities use the stages. */
void stepper_expect(Stepper *stepper, double time) {
  bool looks = stepper->view->switches && !stepper->steps.integrator->is_one_step;
  stepper->unread = looks || stepper->near || stepper->view->evaluator->past ? -INFINITY : time;
  if (stepper->near) stepper->near--;
}

bool stepper_terminated(const Stepper *stepper) { return stepper->terminated; }

bool stepper_at_event(const Stepper *stepper) { return stepper->at_event; }

bool stepper_has_assertions(const Stepper *stepper) { return stepper->watches; }

/* Are there assertions to check in this step? */
static bool watches(const Stepper *stepper) { return stepper->watches || isfinite(stepper_failed_since(stepper)); }

bool stepper_watch(Stepper *stepper, double t, const double *y) {
  if (!watches(stepper)) return true;
  events_watch(stepper->view, t, y);
  return stepper_report_fired(stepper, t, y);
}

/* The iteration of a step does not wait for columns on which no rate depends, so the integrator's values of them may be far from
 * their equations. An assertion that fails with such a value is checked again with the columns solved. */
bool stepper_watch_end(Stepper *stepper, double *solved) {
  double t = stepper_time(stepper);
  const double *y = stepper_values(stepper);
  if (!watches(stepper)) return true;
  events_watch(stepper->view, t, y);
  if (stepper->view->fired.count && !stepper->at_event && stepper_interpolate(stepper, t, solved)) y = solved;
  return stepper_watch(stepper, t, y);
}

bool stepper_prepare(Stepper *stepper, double t) {
  if (!stepper_watch_choice(stepper, t)) return false;
  stepper_leave_if_stiff(stepper);
  return true;
}

/* Refuses `count` events or steps that need this much work each; the format has places for their number and the limit. */
static void refuse_many(Heap *heap, double count, double work, const char *format, const char *what) {
  Budget *budget = heap_budget(heap);
  char number[NUMBER_SIZE], *task;
  if (!(count * work > (double)budget->most[BUDGET_WORK])) return;
  number_format(count, 6, number);
  task = heap_alloc(heap, BUDGET_MESSAGE);
  snprintf(task, BUDGET_MESSAGE, format, what, number);
  budget_task(budget, task);
  heap_work(heap, UINT64_MAX);
}

static void count_samples(Heap *heap, Decisions *decisions, double begin, double stop) {
  char first[NUMBER_SIZE], between[NUMBER_SIZE], what[3 * NUMBER_SIZE];
  double start, interval, events = decisions_expected(decisions, begin, stop, &start, &interval);
  if (!(events > 0)) return;
  number_format(start, 6, first), number_format(interval, 6, between);
  snprintf(what, sizeof what, "sample(%s, %s)", first, between);
  refuse_many(heap, events, SELDOM, "%s has %s events", what);
}

static void count_timed(Heap *heap, const Schedule *schedule, double begin, double stop) {
  double each = SELDOM * (1 + (double)schedule->plan.count);
  refuse_many(heap, schedule_expected(schedule, begin, stop), each, "%s has %s events", "a condition on time");
}

static void count_delayed(Heap *heap, Evaluator *evaluator, double span) {
  char time[NUMBER_SIZE], what[2 * NUMBER_SIZE];
  double shortest = past_shortest(evaluator);
  number_format(shortest, 6, time);
  snprintf(what, sizeof what, "a delay by %s", time);
  refuse_many(heap, span / shortest, SELDOM, "%s needs %s steps", what);
}

/* Events and steps that are known in advance count as work. Events that a run finds do not count: the end of the run is known,
 * and the run can be interrupted. */
static void begin_work(Heap *heap, const View *view, const StepperOptions *options) {
  const Switches *switches = view->switches;
  if (isfinite(options->stop)) {
    if (switches && switches->decisions) count_samples(heap, switches->decisions, options->start, options->stop);
    if (switches) {
      count_timed(heap, &switches->schedule, options->start, options->stop);
      schedule_count_work(&switches->schedule, options->start, options->stop);
    }
    if (view->evaluator->past) count_delayed(heap, view->evaluator, options->stop - options->start);
  }
  heap_budget(heap)->most[BUDGET_WORK] = UINT64_MAX;
}

/* ---- the host of steps.h ---- */

static bool find(void *host, double t, double *y) {
  View *view = ((Stepper *)host)->view;
  return view->methods->find(view, t, y) == EVAL_OK;
}

static bool point(void *host, const Segment *segment, double t, double *y) {
  return view_point(((Stepper *)host)->view, segment, t, y) == EVAL_OK;
}

static void starts(void *host, double t, const double *y) {
  (void)t, (void)y;
  if (((Stepper *)host)->view->branch) branch_forget(((Stepper *)host)->view->branch);
}

static void begin_conditions(void *host, double t, const double *y) { events_begin(((Stepper *)host)->view, t, y); }

static double next_time(void *host, double t, double until, int *mode) {
  return events_next_time(((Stepper *)host)->view, t, until, mode);
}

static void reserve_past(void *host) { past_reserve(((Stepper *)host)->view->evaluator->past); }

static bool accepts(void *host) {
  double t = ((const Stepper *)host)->steps.segment->t1;
  return !stepper_misses_rows(host, t) && !leaves_branch(host, t);
}

static StepInside inside(const void *host) {
  const Stepper *stepper = host;
  if (stepper->steps.segment->t1 <= stepper->unread) return INSIDE_UNREAD;
  return stepper->steps.segment->methods->is_costly ? INSIDE_COSTLY : INSIDE_KNOWN;
}

/* Repeats a step that was taken without dense output, because its inside is not accurate enough. */
static bool reads_again(void *host) {
  Stepper *stepper = host;
  double t = stepper->steps.segment->t1;
  stepper->near = NEXT_STEPS;
  if (!(t <= stepper->unread) || !stepper->steps.integrator->is_coarse(stepper->steps.self)) return false;
  stepper->unread = -INFINITY;
  steps_repeat(&stepper->steps, t - stepper->now.before);
  return true;
}

static void make_steps(Stepper *stepper) {
  static const StepsHost methods = {find,         point,   starts, begin_conditions, next_time,
                                    reserve_past, accepts, inside, reads_again};
  Heap *heap = stepper->heap;
  View *view = stepper->view;
  const System *system = &view->system;
  const Evaluator *evaluator = view->evaluator;
  const StepperOptions *options = &stepper->options;
  Steps *steps = &stepper->steps;
  *steps = (Steps){.methods = &methods,
                   .host = stepper,
                   .heap = view->evaluator->heap,
                   .now = &stepper->now,
                   .system = system,
                   .start = options->start,
                   .stop = options->stop,
                   .tolerance = options->tolerance,
                   .segment = segment_new(heap, system->columns),
                   .watcher = certificate_watch(heap, stepper->certificate),
                   .sizes = sizes_new(heap, system, evaluator->is_sized, evaluator->is_signed, view->size, view->seen),
                   .kinks = bends_watch(heap, view, options->start, options->tolerance),
                   .edges = view->switches ? &view->switches->edges : NULL,
                   .delays = evaluator->past ? past_delays(evaluator) : NULL};
  bool has_corners = steps->kinks || evaluator->code->is_rough;
  steps->folds = has_corners && !view->methods->reselect && !evaluator->past ? &folds : NULL;
  steps->keeps_branch = steps->folds || stepper->turning;
  heap_numbers(heap, (size_t)system->columns, &steps->y, &steps->ahead, &steps->begin, &steps->beyond);
  if (steps->keeps_branch) heap_numbers(heap, (size_t)system->columns, &steps->recent.y, &steps->origin.y);
  steps->stretches.expected = INFINITY;
  if (view->switches)
    steps->stretches.list = heap_array(heap, 2 * ((size_t)view->switches->modes->count + 1), sizeof(Stretch));
  stepper_make_defect(stepper);
}

Stepper *stepper_new(Heap *heap, View *view, const Structure *structure, const TurningPlan *watched,
                     const StepperOptions *options, Diags *diags) {
  Stepper *stepper = heap_alloc(heap, sizeof *stepper);
  begin_work(heap, view, options);
  *stepper = (Stepper){.heap = heap, .view = view, .structure = structure, .options = *options, .diags = diags};
  if (view->switches) view->switches->end = options->stop;
  if (view->switches) edges_set_nominal(&view->switches->edges, options->start, view->system.nominal);
  stepper->limit = INFINITY;
  stepper->unread = -INFINITY;
  stepper->watches = view->switches && view->switches->decisions && view->switches->decisions->watches;
  if (watched) stepper->turning = turning_new(heap, view, watched);
  const ArrayCode *code = view->evaluator->code;
  if (code->divisors) {
    stepper->divisors = workspace_new(heap, code->divisors);
    heap_numbers(heap, code->divisor.count, &stepper->divisor_before, &stepper->divisor);
  }
  view->branch = branch_new(heap, view);
  stepper->certificate = certificate_new(heap, view);
  make_steps(stepper);
  stepper->poles = poles_new(heap, view, options->start, options->stop, options->tolerance);
  return stepper;
}

/* Handles the event at the start itself: whens, and samples that are due at once. */
static bool begin_discrete(Stepper *stepper, double t) {
  Switches *switches = stepper->view->switches;
  if (!switches || !switches->decisions) return true;
  switching_enter_start(&switches->switching, t, stepper->steps.y);
  if (!decisions_run(switches->decisions, t, stepper->diags)) return false;
  const ArrayCode *code = stepper->view->evaluator->code;
  if (code->matters[code->modes->logic->initial]) { /* initial() was true when the columns were solved */
    stepper->view->methods->solve(stepper->view, t, stepper->steps.y);
    steps_restart(&stepper->steps, t, stepper->steps.y, 0);
  }
  stepper_set_event(stepper, t, EVENT_START, MAP_NONE);
  switches->decisions->decide.is_starting = true;
  bool ok = stepper_settle(stepper);
  switches->decisions->decide.is_starting = false;
  return ok;
}

bool stepper_start_at(Stepper *stepper, double t, const double *y) {
  copy_numbers(stepper->steps.y, y, (size_t)stepper->view->system.columns);
  copy_numbers(stepper->steps.begin, y, (size_t)stepper->view->system.columns);
  stepper->now.before = t;
  sizes_begin(stepper->steps.sizes);
  stepper_note_sizes(stepper, t, y);
  stepper->is_started = true;
  stepper->t_event = -HUGE_VAL;
  stepper->t_instant = stepper->t_passed = -INFINITY;
  steps_forget(&stepper->steps);
  stepper->starts_singular = false;
  stepper->at_event = false;
  stepper->near = 0;
  certificate_begin(stepper->certificate);
  if (stepper->poles) poles_forget(stepper->poles);
  if (stepper->turning) turning_begin(stepper->turning, t, stepper->steps.y);
  stepper_create_integrator(stepper,
                            stepper->steps.integrator ? stepper->steps.integrator : stepper_first_integrator(stepper));
  steps_restart(&stepper->steps, t, stepper->steps.y, 0);
  steps_begin_branch(&stepper->steps, t, stepper->steps.y);
  if (stepper->view->switches) stepper->view->switches->edges.now->is_at_start = false;
  events_begin(stepper->view, t, stepper->steps.y);
  stepper_plan_timed(stepper, t);
  return stepper_start_is_regular(stepper) &&
         (!stepper->starts_singular || stepper_passes_start(stepper) || stepper_report_turning(stepper));
}

bool stepper_start(Stepper *stepper, double t, const double *y) {
  Evaluator *evaluator = stepper->view->evaluator;
  if (evaluator->past) delays_begin(past_delays(evaluator), t, y);
  return stepper_start_at(stepper, t, y) && (!evaluator->past || has_delays(stepper, t)) && begin_discrete(stepper, t);
}

bool stepper_leave_start(Stepper *stepper, bool *any) {
  View *view = stepper->view;
  double t = stepper_time(stepper);
  int first = view->switches ? switching_leave_start(&view->switches->switching, t, stepper_values(stepper)) : -1;
  uint32_t mode = (uint32_t)first;
  *any = mode != MAP_NONE && !stepper->terminated;
  if (!*any) return true;
  stepper_copy_values(stepper);
  copy_numbers(stepper->steps.begin, stepper->steps.y, (size_t)view->system.columns);
  stepper_set_event(stepper, t, EVENT_CONDITION, mode);
  if (view->switches->modes->timed[mode]) stepper->statistics.time_events++;
  else stepper->statistics.events++;
  return stepper_finish_event(stepper, events_settle(view, &stepper->t_event, stepper->steps.y, MAP_NONE));
}

bool stepper_end(Stepper *stepper, bool *any) {
  View *view = stepper->view;
  const Logic *logic = view->evaluator->code->modes->logic;
  double *terminal = &view->evaluator->discretes[logic->terminal];
  *any = logic->asks_terminal && *terminal == 0;
  if (!*any) return true;
  stepper_copy_values(stepper);
  stepper_set_event(stepper, stepper_time(stepper), EVENT_END, MAP_NONE);
  *terminal = 1;
  return stepper_settle(stepper);
}

bool stepper_resume(Stepper *stepper, double t, const double *y) {
  if (!stepper_start_at(stepper, t, y)) return false;
  stepper_set_event(stepper, t, EVENT_STRUCTURE, MAP_NONE);
  copy_numbers(stepper->steps.begin, stepper->steps.y, (size_t)stepper->view->system.columns);
  return stepper_finish_event(stepper, events_resume(stepper->view, &stepper->t_event, stepper->steps.y));
}

double stepper_begin(const Stepper *stepper) { return stepper->now.before; }

bool stepper_go_back(Stepper *stepper, double t, const double *y) {
  stepper_add_work(stepper, &stepper->statistics);
  return stepper_start_at(stepper, t, y);
}

bool stepper_disturb(Stepper *stepper, const uint8_t *held, const double *values) {
  View *view = stepper->view;
  double t = stepper_time(stepper);
  stepper_copy_values(stepper);
  copy_numbers(stepper->steps.begin, stepper->steps.y, (size_t)view->system.columns);
  stepper_set_event(stepper, t, EVENT_CALLER, MAP_NONE);
  stepper->statistics.time_events++;
  if (stepper_is_sliding(stepper)) edges_leave(&view->switches->edges);
  uint32_t lost = held ? events_reset(view, t, stepper->steps.y, held, values) : MAP_NONE;
  if (lost != MAP_NONE) return stepper_report_lost(stepper, t, lost, values[lost]);
  bool settled = !view->switches || events_settle(view, &stepper->t_event, stepper->steps.y, MAP_NONE);
  view->settle.disturbed = true;
  return stepper_finish_event(stepper, settled);
}
