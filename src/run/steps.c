/* steps: see steps.h. */
#include "run/steps.h"

#include "core/constants.h"

#include <float.h>
#include <math.h>
#include <string.h>

double steps_span(const Steps *steps) { return steps->stop - steps->start; }

static bool is_sliding(const Steps *steps) { return steps->edges && steps->edges->now->slides > 0; }

static void copy(const Steps *steps, double *to, const double *from) {
  memcpy(to, from, (size_t)steps->system->columns * sizeof *to);
}

void steps_forget(Steps *steps) {
  steps->now->t_doubt = steps->now->t_kink = steps->now->t_fold = HUGE_VAL;
  steps->looks.rejected = -HUGE_VAL;
  if (steps->kinks) kinks_forget(steps->kinks);
}

/* ---- around steps ---- */

void steps_take_segment(Steps *steps) {
  const Integrator *method = steps->integrator;
  segment_take(steps->segment, &method->segment, steps->self, steps->now->before, steps->begin,
               method->time(steps->self), method->values(steps->self));
}

void steps_rest_segment(Steps *steps) {
  const Integrator *method = steps->integrator;
  double t = method->time(steps->self);
  const double *y = method->values(steps->self);
  segment_take(steps->segment, &method->segment, steps->self, t, y, t, y);
}

void steps_restart(Steps *steps, double t, const double *y, double step) {
  steps->integrator->start(steps->self, t, y, steps->stop > t ? steps->stop : t + 1);
  steps_rest_segment(steps);
  if (step > 0) steps->integrator->suggest(steps->self, step);
}

static void keep_point(const Steps *steps, Moment *to, double t, const double *y) {
  to->t = t;
  copy(steps, to->y, y);
}

void steps_begin_branch(Steps *steps, double t, const double *y) {
  if (steps->keeps_branch) {
    keep_point(steps, &steps->recent, t, y);
    keep_point(steps, &steps->origin, t, y);
  }
  if (steps->methods->starts) steps->methods->starts(steps->host, t, y);
}

void steps_start(Steps *steps, double t, const double *y, double step) {
  steps_begin_branch(steps, t, y);
  steps_restart(steps, t, y, step);
}

void steps_repeat(Steps *steps, double step) {
  if (steps->integrator->repeat(steps->self, step)) {
    steps_take_segment(steps);
    steps_begin_branch(steps, steps->now->before, steps->begin);
  } else steps_start(steps, steps->now->before, steps->begin, step);
}

void steps_pass_event(Steps *steps, double t, const double *y, int mode) {
  bool is_one_step = steps->integrator->is_one_step;
  steps_start(steps, t, y, stretches_begin(&steps->stretches, steps->edges, mode, t, steps_span(steps), is_one_step));
}

void steps_note_sizes(Steps *steps, double t, const double *y) {
  SizesStep step = {.begin = steps->now->before,
                    .end = t,
                    .start = steps->start,
                    .span = steps_span(steps),
                    .tolerance = steps->tolerance,
                    .is_sliding = is_sliding(steps)};
  sizes_note(steps->sizes, &step, y);
}

static double round_off(const Steps *steps) { return 16 * DBL_EPSILON * fmax(fabs(steps->stop), fabs(steps->start)); }

double steps_snap(const Steps *steps, double t) { return fabs(steps->stop - t) <= round_off(steps) ? steps->stop : t; }

void steps_plan_timed(Steps *steps, double t, double until) {
  StepsNow *now = steps->now;
  now->t_timed = steps_snap(steps, steps->methods->next_time(steps->host, t, until + round_off(steps), &now->timed));
}

/* ---- folds ---- */

/* Searches for a fold from the beginning of the last step. The other columns are taken from that point or, if steps
 * have moved them off the solution, from an earlier point. */
static bool find_fold(Steps *steps, double longest, Fold *fold) {
  const System *system = steps->system;
  FoldSearch search = {steps->heap, system, {steps->origin.t, steps->origin.y}, steps->methods->find, steps->host};
  if (steps->folds->pass(&search, (ConstMoment){steps->now->before, steps->begin}, longest, fold)) return true;
  copy(steps, steps->ahead, steps->origin.y);
  for (int32_t k = 0; k < system->links; k++) steps->ahead[system->link_from[k]] = steps->begin[system->link_from[k]];
  return steps->folds->pass(&search, (ConstMoment){steps->now->before, steps->ahead}, longest, fold);
}

/* A curve that returns to its earlier points has not folded: it branches there. */
static bool is_expected(const Steps *steps, const Fold *fold, double expected) {
  return !(fabs(fold->time - expected) > NEGLIGIBLE * steps_span(steps)) && fold->jump > steps->tolerance;
}

/* The search writes to `y`, which may hold an event: if there is no fold, that is restored. */
bool steps_pass_fold(Steps *steps, double step, double expected, Fold *fold) {
  double longest = fmax(4 * step, NEGLIGIBLE * steps_span(steps));
  *fold = (Fold){.before = steps->y, .after = steps->beyond};
  if (!steps->folds) return false;
  double *kept = heap_array(steps->heap, (size_t)steps->system->columns, sizeof *kept);
  copy(steps, kept, steps->y);
  bool is_fold = find_fold(steps, longest, fold) && is_expected(steps, fold, expected);
  if (!is_fold) copy(steps, steps->y, kept);
  else steps->now->t_doubt = steps->now->t_fold = HUGE_VAL;
  heap_free(steps->heap, kept);
  return is_fold;
}

/* Keeps the points at a distance from each other, because the errors of steps may already have carried the last ones beyond the
 * end of the branch. */
static void keep_branch(Steps *steps) {
  if (!steps->keeps_branch || steps->now->before - steps->recent.t < NEGLIGIBLE * steps_span(steps)) return;
  Moment swap = steps->origin;
  steps->origin = steps->recent;
  steps->recent = swap;
  keep_point(steps, &steps->recent, steps->now->before, steps->begin);
}

bool steps_begin_at_fold(Steps *steps, Fold *fold) {
  bool may_end = steps->now->before >= steps->now->t_fold;
  if (may_end) steps->now->t_fold = HUGE_VAL;
  if (may_end && steps_pass_fold(steps, 0, NAN, fold)) return true;
  keep_branch(steps);
  return false;
}

/* ---- a step ---- */

void steps_begin(Steps *steps) {
  StepsNow *now = steps->now;
  now->before = steps->integrator->time(steps->self);
  copy(steps, steps->begin, steps->integrator->values(steps->self));
  if (now->before < now->t_kink) return;
  steps->integrator->suggest(steps->self, now->across);
  now->t_kink = HUGE_VAL;
}

/* The times are not NaN, so a comparison can replace fmin, which would be a call. */
double steps_end(const Steps *steps, double stop) {
  const StepsNow *now = steps->now;
  stop = stretches_end(&steps->stretches, now->before, stop);
  if (now->t_timed < stop) stop = now->t_timed;
  return now->t_doubt < stop ? now->t_doubt : stop;
}

/* Takes a step that is not longer than the delays and in which nothing passes through a whole pipe. Otherwise the step is taken
 * again, shorter. */
static StepStatus step_within_delays(Steps *steps, double stop) {
  const Integrator *method = steps->integrator;
  double before = steps->now->before, longest = delays_longest_step(steps->delays, before, steps->begin), moved;
  for (int k = 0; k < ROUNDS; k++) {
    StepStatus status = method->step(steps->self, fmin(stop, before + longest));
    if (status != STEP_OK) return status;
    double t = method->time(steps->self);
    moved = delays_moved(steps->delays, t, method->values(steps->self));
    if (moved <= 1) return status;
    longest = 0.5 * (t - before) / moved;
    steps_repeat(steps, longest);
  }
  return method->step(steps->self, fmin(stop, before + longest));
}

/* Keeps the step size that suits the first step after an event. */
static void note_first_step(Steps *steps) {
  IntegratorStatistics found;
  if (!steps->stretches.is_first) return;
  steps->integrator->statistics(steps->self, &found);
  stretches_note_step(&steps->stretches, found.next);
}

StepStatus steps_step(Steps *steps, double stop) {
  StepStatus status = steps->delays ? step_within_delays(steps, stop) : steps->integrator->step(steps->self, stop);
  steps_take_segment(steps);
  if (status == STEP_OK) note_first_step(steps);
  return status;
}

bool steps_solve_begin(Steps *steps) {
  copy(steps, steps->ahead, steps->begin);
  if (!steps->methods->find(steps->host, steps->now->before, steps->ahead)) return false;
  copy(steps, steps->begin, steps->ahead);
  return true;
}

/* ---- kinks ---- */

/* Does the last step end at its first kink? Steps of one-step methods end there, unless they are repeated. */
static bool ends_at_kink(const Steps *steps) {
  return steps->integrator->is_one_step && steps->now->t_doubt == HUGE_VAL &&
         kinks_end_steps(steps->kinks, steps->segment);
}

/* Repeats the last step up to a time where the branch of the solution may end. If that is where the step begins, it is repeated
 * with a part of its length, in case the branch does not end there. */
static void end_at_fold(Steps *steps, double t) {
  StepsNow *now = steps->now;
  double end = steps->segment->t1;
  bool is_inside = t - now->before >= integrator_least_step(now->before, end);
  now->t_fold = is_inside ? t : now->before;
  now->t_doubt = is_inside ? t : now->before + (end - now->before) / SEVERAL;
  steps_repeat(steps, now->t_doubt - now->before);
}

/* Repeats a step across a kink, up to the kink, if its method ends steps there or if the step violates the rows, because the branch
 * of the solution may end there. */
static bool end_at_kink(Steps *steps, bool is_wrong) {
  StepsNow *now = steps->now;
  Kink kink;
  bool ends = ends_at_kink(steps);
  double t = steps->segment->t1;
  if (!kinks_find(steps->kinks, steps->segment, &kink)) return false;
  if (is_wrong) return end_at_fold(steps, kink.low), true;
  double least = integrator_least_step(now->before, t); /* a kink at the beginning, up to round-off, is passed */
  if (!ends || !(kink.high - now->before >= least && kink.high < t)) return false;
  now->t_doubt = now->t_kink = kink.high;
  now->across = t - now->before;
  steps_repeat(steps, kink.high - now->before);
  return true;
}

/* ---- the defect ---- */

/* Has the method rejected steps here, or is there a kink near? */
static DefectDoubt doubt(Steps *steps) {
  const Segment *segment = steps->segment;
  IntegratorStatistics found;
  steps->integrator->statistics(steps->self, &found);
  uint64_t rejections = found.rejected_error + found.rejected_convergence;
  bool is_doubtful = defect_is_in_doubt(&steps->looks, segment, rejections, found.next);
  if (steps->kinks && kinks_are_near(steps->kinks, segment)) return DEFECT_AT_END;
  return is_doubtful ? DEFECT_INSIDE : DEFECT_SELDOM;
}

/* Repeats the last step from a consistent point, with a part of its length. */
static void shorten(Steps *steps) {
  StepsNow *now = steps->now;
  double step = (steps->segment->t1 - now->before) / SEVERAL;
  steps_solve_begin(steps);
  now->t_doubt = now->before + step;
  steps_start(steps, now->before, steps->begin, step);
}

bool steps_miss_rows(Steps *steps, double *found) {
  const Integrator *method = steps->integrator;
  const Segment *segment = steps->segment;
  int every = steps->looks.is_rough ? method->look_every_rough : method->look_every;
  *found = -1;
  if (!steps->defect || !(segment->t1 > segment->t0)) return false;
  bool misses =
      defect_is_too_large(steps->defect, &steps->looks, steps->segment, every, doubt(steps), steps->ahead, found);
  bool is_new = steps->now->t_doubt == HUGE_VAL;
  if (misses && !(is_new && steps->kinks && end_at_kink(steps, true))) shorten(steps);
  return misses;
}

/* An event may be an error of the dense output if only the dense output shows it, or if it is early in a step of a collocation
 * method. One example is a transient that a stiff method steps over. The step is taken again, up to that point. false: the event is
 * certain, or the step was already taken again, or it would hardly advance. */
static bool take_again(Steps *steps, const EventBracket *bracket) {
  StepsNow *now = steps->now;
  const Segment *segment = steps->segment;
  double step = segment->t1 - now->before, part = bracket->high - now->before;
  if (!bracket->inside && !(segment->methods->is_collocation && part < EARLY * step)) return false;
  if (now->t_doubt < HUGE_VAL || !(part > fmax(PRESENT * step, ROUND_OFF * fabs(bracket->high)))) return false;
  now->t_doubt = bracket->high;
  steps->taken_again++;
  steps_repeat(steps, part);
  steps->methods->begin_conditions(steps->host, now->before, steps->begin);
  return true;
}

static void find_event(Steps *steps, const WatchedStep *step, StepEnd *end) {
  EventBracket bracket;
  bool found = watcher_find(steps->watcher, step, steps->y, &bracket);
  if (found && take_again(steps, &bracket)) return;
  if (found) end->t = watcher_locate(steps->watcher, step, &bracket, steps->y, &end->mode);
  if (is_sliding(steps) && watcher_leaves(steps->watcher, step, &end->t, steps->y)) {
    found = true;
    edges_leaving(steps->edges, &end->mode);
  }
  if (found) end->t = steps_snap(steps, end->t);
  end->is_event = found;
}

/* Undoes a step to a point where a condition is undefined although its value matters there, and makes the next one shorter. */
static void examine_conditions(Steps *steps, StepEnd *end) {
  StepsNow *now = steps->now;
  double t = steps->segment->t1, shorter = (t - now->before) / 2;
  if (!steps->edges || !(t > now->before) || steps->edges->now->time != t) return;
  int mode = edges_undefined(steps->edges, t, steps->segment->end);
  if (mode < 0) return;
  end->mode = mode;
  end->is_undefined = shorter < LOCATED * steps_span(steps);
  copy(steps, steps->ahead, steps->segment->end);
  steps_start(steps, now->before, steps->begin, shorter);
  steps->methods->begin_conditions(steps->host, now->before, steps->begin);
  if (!end->is_undefined) now->t_doubt = now->before + shorter;
}

StepEnd steps_find_end(Steps *steps) {
  const StepsHost *host = steps->methods;
  StepEnd end = {.t = steps->segment->t1, .mode = -1};
  if (!host->accepts(steps->host)) return end;
  if (steps->kinks && ends_at_kink(steps) && end_at_kink(steps, false)) return end;
  WatchedStep step = {steps->segment, host->inside(steps->host), end.t >= steps->now->t_timed};
  if (!watcher_rules_out(steps->watcher, &step) && !host->reads_again(steps->host)) find_event(steps, &step, &end);
  if (!end.is_event && !step.is_timed && !steps_are_repeated(steps)) examine_conditions(steps, &end);
  return end;
}

bool steps_widen_sizes(Steps *steps) {
  if (steps->integrator->explicit_form || !sizes_widen(steps->sizes)) return false;
  steps_note_sizes(steps, steps->now->before, steps->begin);
  return true;
}

typedef struct PastStep {
  Steps *steps;
  double end;
  const double *y;
} PastStep;

/* The columns at a time of the last step. */
static const double *values_at(void *context, double t) {
  const PastStep *step = context;
  Steps *steps = step->steps;
  if (t == steps->now->before) return steps->begin;
  if (t == step->end) return step->y;
  if (!steps->methods->point(steps->host, steps->segment, t, steps->ahead))
    segment_values(steps->segment, t, steps->ahead);
  return steps->ahead;
}

static void reserve_past(void *context) {
  Steps *steps = ((PastStep *)context)->steps;
  steps->methods->reserve_past(steps->host);
}

bool steps_keep_past(Steps *steps, double end, const double *y) {
  PastStep context = {steps, end, y};
  DelaysStep step = {steps->now->before,
                     end,
                     steps->tolerance,
                     values_at,
                     steps->methods->reserve_past ? reserve_past : NULL,
                     &context};
  bool is_smooth;
  if (!delays_keep_step(steps->delays, &step, &is_smooth)) return false;
  if (!is_smooth) return true;
  steps_plan_timed(steps, steps->now->before, steps->stop);
  steps->methods->begin_conditions(steps->host, end, y);
  return true;
}

int steps_lost_event(const Steps *steps) {
  return steps->edges ? edges_escaped(steps->edges, steps->stretches.begin, round_off(steps)) : -1;
}
