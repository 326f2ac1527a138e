/* stepper_instant: singular points that the solution passes. */
#include "run/stepper_internal.h"

#include "base/copy.h"
#include "core/constants.h"
#include "event/instant.h"
#include "init/starts.h"

#include <float.h>
#include <math.h>

void stepper_jump(Stepper *stepper, double t) {
  stepper_add_work(stepper, &stepper->statistics);
  stepper_create_integrator(stepper,
                            stepper->steps.integrator); /* a new integrator does not remember that steps failed */
  steps_restart(&stepper->steps, stepper->now.before, stepper->steps.begin, 0);
  stepper_set_event(stepper, steps_snap(&stepper->steps, t), EVENT_FOLD, MAP_NONE);
  stepper->is_folded = true;
  stepper->t_instant = -INFINITY;
  stepper->tiny = 0;
  stepper->statistics.events++;
}

/* The column with the largest jump from `y` to `beyond`, relative to its size; MAP_NONE if none jumps by more than the tolerance. */
static uint32_t farthest_jump(const Stepper *stepper) {
  const double *nominal = stepper->view->system.nominal;
  uint32_t farthest = MAP_NONE;
  double most = stepper->options.tolerance;
  for (uint32_t q = 0; q < (uint32_t)stepper->view->system.columns; q++) {
    double jump = fabs(stepper->steps.beyond[q] - stepper->steps.y[q]) / (fabs(stepper->steps.y[q]) + nominal[q]);
    if (array_order(stepper->view->evaluator->array, q) == 0 && jump > most) most = jump, farthest = q;
  }
  return farthest;
}

/* The columns at t: states from the last step, or from the rates at its beginning, with the rows solved. Steps that hardly
 * advance do not update rates, because rates do not matter in such steps. */
static void guess_at(Stepper *stepper, double t, bool has_step, double *y) {
  const System *system = &stepper->view->system;
  if (has_step && t >= stepper->now.before) {
    segment_values(stepper->steps.segment, t, y);
    return;
  }
  copy_numbers(y, stepper->steps.begin, (size_t)system->columns);
  for (int32_t k = 0; k < system->links; k++)
    y[system->link_from[k]] += (t - stepper->now.before) * stepper->steps.begin[system->link_to[k]];
}

/* Columns near an instant, by place: states, and guesses for the others. */
static void guess_beside(Stepper *stepper, double singular, double gap, bool has_step, double *const *y) {
  for (InstantPlace place = INSTANT_FAR_BEFORE; place <= INSTANT_FAR_AFTER; place++)
    if (y[place]) guess_at(stepper, instant_time(singular, gap, place), has_step, y[place]);
}

/* The verdict at a distance. The columns right after the instant go to `beyond`. Rates that move states beyond their own size
 * within the distance lead to a pole. */
static Verdict judge_at(Stepper *stepper, double singular, double gap, bool has_step, bool has_before, bool asked) {
  size_t columns = (size_t)stepper->view->system.columns;
  Heap *heap = stepper->heap;
  double *room = heap_array(heap, 4 * columns, sizeof *room), *y[4];
  for (InstantPlace place = INSTANT_FAR_BEFORE; place <= INSTANT_FAR_AFTER; place++)
    y[place] = place >= INSTANT_AFTER || has_before ? room + place * columns : NULL;
  guess_beside(stepper, singular, gap, has_step, y);
  bool is_near = has_step || instant_has_limit(&stepper->view->system, y[INSTANT_AFTER], stepper->steps.begin);
  Verdict verdict = is_near ? instant_judge(stepper->view, singular, gap, asked, y) : VERDICT_SINGULAR;
  copy_numbers(stepper->steps.beyond, y[INSTANT_AFTER], columns);
  heap_free(heap, room);
  return verdict;
}

/* The time scale of a singular point is the time since the last start, because the columns may change as fast as they did at
 * that start. If the run begins at the point, it is the length of the run. */
static double way_to(const Stepper *stepper, double singular) {
  double way = singular - stepper->options.start, span = stepper_span(stepper);
  return way > 0 && way < span ? way : span;
}

/* The time scale of a singular point near the last step, which ends at t. The columns may change within the time since the last
 * event or instant, so the scale is not longer. The parts of the scale that are used are longer than the round-off of t. */
static double way_within(const Stepper *stepper, double singular, double t) {
  double since = fmin(turning_origin(stepper->turning), fmin(singular, stepper->now.before));
  return fmax(fmin(way_to(stepper, singular), t - since), FAR * DBL_EPSILON * fabs(t) / LOCATED);
}

double stepper_crossing_gap(const Stepper *stepper, double singular) { return SLIVER * way_to(stepper, singular); }

/* Does the solution pass the instant? `until`: the columns are known up to this time. *gap: the distance at which the
 * verdict was found. If the rank does not yet drop at the first distance, the time is less accurate than that, or errors
 * of the run hide it. Then two distances must agree. If it drops at no distance, a single equation is small by itself, and
 * the direction that is nearly lost decides. */
static Verdict judge(Stepper *stepper, double singular, double until, bool has_step, bool has_before, double *gap) {
  double way = has_step ? way_within(stepper, singular, until) : way_to(stepper, singular), first = LOCATED * way;
  bool told = false, judged = false;
  if (!(way > 0)) return VERDICT_SINGULAR; /* a single point has no neighbouring times */
  for (*gap = first; told || *gap <= 2 * SLIVER * way; *gap /= GOOD_PART) {
    if (instant_time(singular, *gap, INSTANT_FAR_AFTER) > until) break;
    Verdict verdict = judge_at(stepper, singular, *gap, has_step, has_before, false);
    if (told || verdict == VERDICT_SINGULAR || verdict == VERDICT_RESTS) return verdict;
    if (verdict == VERDICT_PASSED && *gap == first) return verdict;
    told = verdict == VERDICT_PASSED;
    judged = true;
  }
  *gap *= GOOD_PART;
  bool asks = judged && !told && has_step && stepper->turning_point.size == 1;
  return asks ? judge_at(stepper, singular, *gap, true, has_before, true) : VERDICT_REGULAR;
}

/* Does the solution pass the instant, or rest at it? */
static bool continues(Verdict verdict) { return verdict == VERDICT_PASSED || verdict == VERDICT_RESTS; }

bool stepper_rests(Stepper *stepper, double singular) {
  double gap;
  return !stepper->view->evaluator->past &&
         judge(stepper, singular, stepper_modes_end(stepper), false, false, &gap) == VERDICT_RESTS;
}

bool stepper_is_behind_instant(const Stepper *stepper, double t) {
  double singular = stepper->t_instant;
  return t >= instant_time(singular, LOCATED * way_within(stepper, singular, t), INSTANT_FAR_AFTER);
}

bool stepper_passes_instant(Stepper *stepper, double t) {
  double gap, singular = stepper->t_instant, found = stepper->turning_point.found;
  Verdict verdict = VERDICT_REGULAR;
  stepper->t_instant = -INFINITY;
  if (found > stepper->t_passed) verdict = judge(stepper, found, t, true, true, &gap);
  if (continues(verdict)) singular = found;
  else if (singular != found && singular > stepper->t_passed) verdict = judge(stepper, singular, t, true, true, &gap);
  if (!continues(verdict)) return false;
  stepper->t_passed = singular + gap;
  turning_begin(stepper->turning, stepper->t_passed, stepper->steps.beyond);
  if (verdict == VERDICT_RESTS) turning_rest(stepper->turning);
  return true;
}

/* Sets columns that are not states to their given start values if these differ from the values at the beginning of the run;
 * false: there are none. */
static bool take_start_values(Stepper *stepper, double *y) {
  Evaluator *evaluator = stepper->view->evaluator;
  void *ticket = NULL;
  Heap *heap = heap_within(stepper->heap, &ticket);
  Diags diags = diags_make(heap);
  uint32_t columns = (uint32_t)stepper->view->system.columns;
  InitialColumn *column = heap_array(heap, columns, sizeof *column);
  bool any = false;
  for (uint32_t q = 0; q < columns; q++) column[q] = initial_column();
  if (starts_collect(evaluator, NULL, stepper->options.tolerance, column, &diags))
    for (uint32_t q = 0; q < columns; q++) {
      if (!column[q].given || view_is_state(&stepper->view->system, q)) continue;
      any = any || column[q].start != stepper->steps.begin[q];
      y[q] = column[q].start;
    }
  heap_release(stepper->heap, ticket);
  return any;
}

/* Several solutions may continue from a singular start. Does one of these solutions begin near the given start values, as if
 * these were initial values? Then `beyond` has its columns, at the distance `gap` after the start. That solution, and the one
 * FAR times as far away, both start at the beginning of the run. */
static bool start_values_choose(Stepper *stepper, double singular, double *gap) {
  View *view = stepper->view;
  const System *system = &view->system;
  size_t columns = (size_t)system->columns;
  *gap = FAR * LOCATED * stepper_span(stepper);
  double *far = heap_array(stepper->heap, columns, sizeof *far), *near = stepper->steps.beyond;
  double t = instant_time(singular, *gap, INSTANT_FAR_AFTER);
  guess_at(stepper, t, false, far);
  bool is = singular == stepper->options.start && t <= stepper_modes_end(stepper) && take_start_values(stepper, far) &&
            view->methods->find(view, t, far) == EVAL_OK;
  copy_numbers(near, far, columns);
  guess_at(stepper, t = instant_time(singular, *gap, INSTANT_AFTER), false, near);
  for (uint32_t q = 0; q < columns; q++)
    if (!view_is_state(system, q)) near[q] = stepper->steps.begin[q] + (far[q] - stepper->steps.begin[q]) / FAR;
  is = is && view->methods->find(view, t, near) == EVAL_OK;
  for (uint32_t q = 0; q < columns && is; q++) {
    double way = fabs(far[q] - stepper->steps.begin[q]), left = fabs(near[q] - stepper->steps.begin[q]);
    is = left <= CLEARLY_LESS * way + stepper->options.tolerance * system->nominal[q];
  }
  heap_free(stepper->heap, far);
  return is;
}

bool stepper_passes_start(Stepper *stepper) {
  double gap, stop = stepper_modes_end(stepper);
  if (stepper->view->evaluator->past) return false;
  return continues(judge(stepper, stepper->now.before, stop, false, false, &gap)) ||
         start_values_choose(stepper, stepper->now.before, &gap);
}

/* Does exactly one solution cross the instant? Then it is in `y`, `gap` before the instant, and in `beyond`, `gap` after it.
 * Otherwise `y` is unchanged: it may hold an event that is about to be settled. */
static bool crosses(Stepper *stepper, double singular, double gap) {
  size_t columns = (size_t)stepper->view->system.columns;
  double *room = heap_array(stepper->heap, 4 * columns, sizeof *room), *y[4];
  for (InstantPlace place = INSTANT_FAR_BEFORE; place <= INSTANT_FAR_AFTER; place++) y[place] = room + place * columns;
  guess_beside(stepper, singular, gap, false, y);
  for (uint32_t q = 0; q < columns; q++)
    if (!view_is_state(&stepper->view->system, q)) y[INSTANT_BEFORE][q] = stepper->steps.origin.y[q];
  bool is = instant_has_limit(&stepper->view->system, y[INSTANT_AFTER], stepper->steps.begin) &&
            instant_crosses(stepper->view, singular, gap, y);
  if (is) copy_numbers(stepper->steps.y, y[INSTANT_BEFORE], columns);
  copy_numbers(stepper->steps.beyond, y[INSTANT_AFTER], columns);
  heap_free(stepper->heap, room);
  return is;
}

/* Do the states reach the columns `beyond`, at t, with the rates at the beginning of the last step? The states reach the columns if
 * the rates stay constant, or the distance is small. */
static bool reaches(const Stepper *stepper, double t) {
  const System *system = &stepper->view->system;
  const double *begin = stepper->steps.begin, *beyond = stepper->steps.beyond;
  for (int32_t k = 0; k < system->links; k++) {
    int32_t c = system->link_from[k], rate = system->link_to[k];
    double missed = 0.5 * (t - stepper->now.before) * fabs(beyond[rate] - begin[rate]);
    if (missed > DEFECT_HARMLESS * stepper->options.tolerance * (fabs(begin[c]) + system->nominal[c])) return false;
  }
  return true;
}

/* Moves to the columns after an instant, at t, because the equations determine none at the instant itself. Such a move never
 * begins at the time at which the last one ended. */
static void leap(Stepper *stepper, double t) {
  stepper->t_passed = t;
  copy_numbers(stepper->steps.y, stepper->steps.beyond, (size_t)stepper->view->system.columns);
  stepper_jump(stepper, t);
}

bool stepper_can_cross(Stepper *stepper, double singular) {
  double gap = stepper_crossing_gap(stepper, singular);
  if (stepper->view->evaluator->past || !(singular > stepper->t_passed)) return false;
  return instant_time(singular, gap, INSTANT_FAR_BEFORE) >= stepper->options.start &&
         instant_time(singular, gap, INSTANT_FAR_AFTER) <= stepper_modes_end(stepper) &&
         crosses(stepper, singular, gap);
}

bool stepper_crosses_instant(Stepper *stepper, double singular) {
  if (!stepper_can_cross(stepper, singular)) return false;
  uint32_t column = farthest_jump(stepper);
  if (column != MAP_NONE && !stepper->warned_fold)
    diag_warning(stepper->diags, DIAG_WARNING, (Span){0},
                 "at time %.10g the equations do not determine %s for an instant: it continues from %.6g to %.6g",
                 singular, stepper_known_name(stepper, column), stepper->steps.y[column],
                 stepper->steps.beyond[column]);
  stepper->warned_fold |= column != MAP_NONE;
  leap(stepper, singular + stepper_crossing_gap(stepper, singular));
  return true;
}

bool stepper_leaps_instant(Stepper *stepper, double singular) {
  double gap, stop = stepper_modes_end(stepper);
  bool is_start = stepper_is_first(stepper) && stepper->now.before == singular;
  if (stepper->view->evaluator->past || !(singular > stepper->t_passed) ||
      (!is_start && !steps_solve_begin(&stepper->steps)))
    return false;
  if (!continues(judge(stepper, singular, stop, false, !is_start, &gap))) {
    if (!start_values_choose(stepper, singular, &gap)) return stepper_crosses_instant(stepper, singular);
    diag_warning(stepper->diags, DIAG_WARNING, (Span){0},
                 "several solutions continue from the start: the one nearest to the start values is used");
  }
  if (!reaches(stepper, singular + gap)) return false;
  leap(stepper, singular + gap);
  return true;
}
