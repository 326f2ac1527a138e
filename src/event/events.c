/* events: see events.h. */
#include "event/events.h"

#include "base/copy.h"
#include "code/past.h"
#include "event/reset.h"
#include "event/when_loop.h"
#include "vary/sensitivity.h"
#include "view/share.h"

#include <math.h>
#include <string.h>

enum {
  LOCATE_LIMIT = 80,
  APPROACHES = 8,
  SETTLE_LIMIT = 30,
  PIVOTS_LIMIT = 300,
  ITERATION_LIMIT = 1000,
  DIG_LIMIT = 24,
  NARROW_LIMIT = 64
};

/* A solution that slides has left its edge when the weight of a mode is beyond 0 or 1 by more than round-off. */
static const double LEFT = 1e-9;

/* Looks at the dense output are at least this part of a step apart, and at most that. */
static const double NEAREST_LOOKS = 1.0 / 1024, FARTHEST_LOOKS = 1.0 / 4;

/* The same where columns have to be solved for, since those interpolated lead to differences that are off by more than this part of
 * the way to an edge. */
static const double FARTHEST_SOLVED = 1.0 / 32, FAITHFUL = 0.1, FAITHFUL_BESIDE = 0.025;

/* A condition that holds for a smaller part of a step is not looked for. */
static const double NARROWEST = 1.0 / 1024;

/* Interpolated columns tell when an event is to about this part of a step. */
static const double NEAR_ENOUGH = 1e-4;

/* A root is looked for next within so many times what it was off; and first to this part of a step, since it is off by about as much. */
static const double ROOM = 4, FIRST_NEAR = 1e-8;

/* In a bracket of this part of a step a root that brings a margin no nearer to zero than this part of what it was at the ends is one
 * of round-off. */
static const double FINE_ENOUGH = 1e-10, NO_NEARER = 0.5;

/* A first event between two times, and the margins of the modes there: nothing contradicts at low, something does at high. */
typedef struct Bracket {
  double low, high;
  double *at_low, *at_high;
} Bracket;

/* The last step, looked at from its beginning to its end. */
typedef struct Search {
  View *view;
  Switches *switches;
  const Integrator *integrator;
  void *self;
  double before, end;
  double *y;
  bool interpolates; /* columns that conditions read have values between the ends of steps */
  Bracket found;
  double *now, *last, *previous; /* margins of the modes at the three last looks */
  double *seen;                  /* at the last look into a bracket, or at t_seen */
  double t_seen;                 /* when nothing contradicted; NAN: this is not known */
  double t_last, t_previous;
  double *pace;      /* largest speed of the margins between two looks so far */
  double *missed[2]; /* what the differences of interpolated columns miss at two times */
  double t_missed[2];
  double farthest; /* part of the step that looks are apart at most */
} Search;

/* The columns at a time inside the step. All rows hold there: a restart would bring back to the constraints
 * what is only interpolated, and that can undo the crossing. */
static bool point_at(Search *search, double t) {
  if (view_point(search->view, search->integrator, search->self, t, search->y) == EVAL_OK)
    return switches_evaluate(search->switches, t, search->y);
  search->switches->time = NAN; /* y is no longer that of the last look */
  return false;
}

static bool any_contradicts(const Switches *switches, uint32_t *mode) {
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    if (!switches_contradict(switches, m)) continue;
    *mode = m;
    return true;
  }
  return false;
}

/* The columns that conditions read, at a time inside the last step, interpolated. */
static void interpolate_watched(const View *view, const Integrator *integrator, void *self, double t, double *y) {
  const IndexVec *watched = &view->watched;
  if (watched->count) integrator->interpolate_some(self, t, watched->data, watched->count, y);
  else integrator->interpolate(self, t, y);
}

/* The conditions at a time inside the step, of columns that are only interpolated. */
static bool peek_at(Search *search, double t) {
  interpolate_watched(search->view, search->integrator, search->self, t, search->y);
  return switches_evaluate(search->switches, t, search->y);
}

static void fill_margins(const Search *search, double *margin) {
  const Switches *switches = search->switches;
  for (uint32_t m = 0; m < switches->modes->count; m++)
    margin[m] = switches_margin(switches, m, switches->difference[m]);
}

/* ---- brackets ---- */

/* The earliest secant root of the margins that contradict at the upper end; at least `near` off the ends. */
static double guess_root(const Search *search, const Bracket *bracket, double near) {
  double low = bracket->low, high = bracket->high, earliest = high;
  for (uint32_t m = 0; m < search->switches->modes->count; m++) {
    double a = fmax(bracket->at_low[m], 0), b = bracket->at_high[m];
    if (b < 0) earliest = fmin(earliest, low + (high - low) * (a / (a - b)));
  }
  return fmin(fmax(earliest, low + near), high - near);
}

/* An end of the bracket that stays twice pulls the secant less (the Illinois method). */
static void halve(const Search *search, double *margin) {
  for (uint32_t m = 0; m < search->switches->modes->count; m++) margin[m] /= 2;
}

/* Is what margins are in the bracket round-off, judged by that of a mode at a root within it? */
static bool is_round_off(const Search *search, const Bracket *bracket, const double *margin, uint32_t m) {
  return bracket->high - bracket->low < FINE_ENOUGH * (search->end - search->before) &&
         fabs(margin[m]) > NO_NEARER * fmin(fabs(bracket->at_low[m]), fabs(bracket->at_high[m]));
}

/* The margins at a time inside of the bracket become those at an end of it; side: 1 the upper, -1 the lower. */
static void move_end(const Search *search, Bracket *bracket, const double *margin, double t, int side) {
  memcpy(side > 0 ? bracket->at_high : bracket->at_low, margin, search->switches->modes->count * sizeof *margin);
  *(side > 0 ? &bracket->high : &bracket->low) = t;
}

/* The first mode with a negative margin. */
static bool any_negative(const Search *search, const double *margin, uint32_t *mode) {
  for (uint32_t m = 0; m < search->switches->modes->count; m++) {
    if (!(margin[m] < 0)) continue;
    *mode = m;
    return true;
  }
  return false;
}

/* Looks at the conditions at a time inside the step. */
typedef bool LookFunction(Search *search, double t);

/* Shrinks the bracket to twice `near`, or to round-off of the margins. */
static void shrink(Search *search, Bracket *bracket, LookFunction *look, double near, uint32_t *mode) {
  int side = 0;
  for (int k = 0; k < LOCATE_LIMIT && bracket->high - bracket->low > 2 * near; k++) {
    bool halves = k % 8 == 7;
    double middle = halves ? bracket->low + (bracket->high - bracket->low) / 2 : guess_root(search, bracket, near);
    if (!(middle > bracket->low && middle < bracket->high) || !look(search, middle)) break;
    fill_margins(search, search->seen);
    int now = any_negative(search, search->seen, mode) ? 1 : -1;
    bool is_last = !halves && is_round_off(search, bracket, search->seen, *mode);
    move_end(search, bracket, search->seen, middle, now);
    if (is_last) break;
    if (now == side) halve(search, now > 0 ? bracket->at_low : bracket->at_high);
    side = now;
  }
}

/* The margins of interpolated columns at low, where nothing contradicted: of the look before, or to be looked at. */
static bool fill_at_low(Search *search, double low, double *margin) {
  if (low == search->t_last) memcpy(margin, search->last, search->switches->modes->count * sizeof *margin);
  else if (!peek_at(search, low)) return false;
  else fill_margins(search, margin);
  return true;
}

/* Interpolated columns contradict at t, as the last look told, and did not at low. The bracket is shrunk as far as they tell, which costs
 * little; solved ones have the last word, there or at t. */
static bool confirm(Search *search, double low, double t, uint32_t *mode) {
  Bracket *found = &search->found, rough = {low, t, found->at_low, found->at_high};
  double near = NEAR_ENOUGH * (search->end - search->before);
  fill_margins(search, rough.at_high);
  bool is_rough = fill_at_low(search, low, rough.at_low);
  if (is_rough) shrink(search, &rough, peek_at, near, mode);
  found->low = fmax(rough.low - near, low);
  found->high = rough.high + near;
  if (is_rough && found->high < t && point_at(search, found->high) && any_contradicts(search->switches, mode))
    return true;
  if (!is_rough) found->low = low;
  found->high = t;
  return point_at(search, t) && any_contradicts(search->switches, mode);
}

/* Does something contradict at t, and nothing at low? Columns are only interpolated until it seems so, where they can be. Then the bracket
 * of it is found, and the last look was at its upper end. */
static bool look_at(Search *search, double low, double t, uint32_t *mode) {
  search->found.low = low;
  search->found.high = t;
  if (t < search->end && !search->interpolates) return point_at(search, t) && any_contradicts(search->switches, mode);
  bool is_known = t < search->end ? peek_at(search, t)
                                  : switches_evaluate(search->switches, t, search->integrator->values(search->self));
  fill_margins(search, search->seen);
  search->t_seen = t;
  if (!is_known || !any_negative(search, search->seen, mode)) return false;
  search->t_seen = NAN;
  if (search->interpolates) return confirm(search, low, t, mode);
  return point_at(search, t) && any_contradicts(search->switches, mode);
}

/* ---- looking along the step ---- */

/* A margin at a time. */
typedef struct Look {
  double t, margin;
} Look;

/* Does something contradict where a margin is least by interpolated columns, but so small that these may miss it? */
static bool is_deeper(Search *search, double low, Look least, double largest, uint32_t *mode) {
  if (!search->interpolates || search->view->watches_states || !(least.margin < FAITHFUL * largest)) return false;
  search->found.low = low;
  search->found.high = least.t;
  return point_at(search, least.t) && any_contradicts(search->switches, mode);
}

/* The margin of mode m has a least value between two looks, near the one in the middle: looks there until it contradicts, or is so much larger than
 * what it still changes by that it cannot. */
static bool dig(Search *search, uint32_t m, Look left, Look middle, Look right, uint32_t *mode) {
  const double golden = 0.38196601125010515;
  Look inner[2] = {{left.t + golden * (right.t - left.t), 0}, {right.t - golden * (right.t - left.t), 0}};
  double largest = fmax(left.margin, right.margin);
  Look least = left;
  int fresh = 2; /* the inner looks to take: both, or the one of this index */
  for (int k = 0; k < DIG_LIMIT; k++) {
    for (int i = 0; i < 2; i++) {
      if (fresh != 2 && fresh != i) continue;
      if (look_at(search, left.t, inner[i].t, mode)) return true;
      inner[i].margin = switches_margin(search->switches, m, search->switches->difference[m]);
    }
    fresh = inner[1].margin < inner[0].margin;
    least = inner[fresh];
    double known = left.t < middle.t && middle.t < right.t ? fmin(least.margin, middle.margin) : least.margin;
    if (!(known < 0.5 * (fmax(left.margin, right.margin) - known))) break;
    *(fresh ? &left : &right) = inner[1 - fresh];
    inner[1 - fresh] = inner[fresh];
    inner[fresh].t = fresh ? right.t - golden * (right.t - left.t) : left.t + golden * (right.t - left.t);
  }
  return is_deeper(search, left.t, least, largest, mode);
}

/* Does the rate at the beginning of the step lead the difference over its edge before t? */
static bool sets_out_over(const Search *search, uint32_t m, double t) {
  const Switches *switches = search->switches;
  double led = switches->before[m] + switches->rate[m] * (t - search->before);
  return switches_margin(switches, m, led) < 0;
}

/* Does a margin that turns around the last look come near enough to its edge to have passed it? Inside of the step that is
 * judged by the looks on both sides: each slope may go on into the stretch on the other side, however much longer that is. In a stretch
 * between two looks, and in the first and last one of the step, where there is one look only, it is judged by the rate at the beginning and the
 * largest speed, of late or between looks: that of late may be of a time at which the margin turned, too. */
static bool turns_near(const Search *search, uint32_t m, double t) {
  double now = search->now[m], last = search->last[m], previous = search->previous[m];
  if (!isfinite(last) || last < 0 || last > now || last > previous) return false;
  double left = search->t_last - search->t_previous, right = t - search->t_last;
  double speed = fmax(search->switches->speed[m], search->pace[m]);
  if (previous + last < speed * left || last + now < speed * right) return true;
  if (left > 0 && right > 0)
    return last < 0.5 * fmax((now - last) * fmax(1, left / right), (previous - last) * fmax(1, right / left));
  return left == 0 && sets_out_over(search, m, t);
}

static bool dig_where_turning(Search *search, double t, uint32_t *mode) {
  for (uint32_t m = 0; m < search->switches->modes->count; m++) {
    if (!turns_near(search, m, t)) continue;
    Look left = {search->t_previous, search->previous[m]}, right = {t, search->now[m]};
    if (dig(search, m, left, (Look){search->t_last, search->last[m]}, right, mode)) return true;
  }
  return false;
}

static double next_look(const Search *search, double t) {
  double step = search->end - search->before, safe = INFINITY;
  for (uint32_t m = 0; m < search->switches->modes->count; m++)
    if (!search->switches->modes->timed[m]) safe = fmin(safe, switches_safe_time(search->switches, m));
  double next = t + fmin(fmax(safe, NEAREST_LOOKS * step), search->farthest * step);
  return next > t && next + 0.25 * NEAREST_LOOKS * step < search->end ? next : search->end;
}

static void shift_looks(Search *search, double t) {
  double *swap = search->previous, *peak = search->switches->peak;
  for (uint32_t m = 0; m < search->switches->modes->count; m++) {
    if (!(search->now[m] < INFINITY && search->last[m] < INFINITY)) continue; /* it slides */
    peak[m] = fmax(peak[m], search->now[m]);
    search->pace[m] = fmax(search->pace[m], fabs(search->now[m] - search->last[m]) / (t - search->t_last));
  }
  search->previous = search->last;
  search->last = search->now;
  search->now = swap;
  search->t_previous = search->t_last;
  search->t_last = t;
}

/* At a time inside: do interpolated columns lead to the differences that known ones have, or solved ones (values: NULL), but for this part
 * of the way to an edge? */
static bool is_faithful_at(Search *search, double t, const double *values, double part) {
  const Switches *switches = search->switches;
  uint32_t count = switches->modes->count;
  if (!peek_at(search, t)) return false;
  memcpy(search->now, switches->difference, count * sizeof(double));
  if (!(values ? switches_evaluate(search->switches, t, values) : point_at(search, t))) return false;
  for (uint32_t m = 0; m < count; m++) {
    double margin = fabs(switches_margin(switches, m, switches->difference[m]));
    if (fabs(switches->difference[m] - search->now[m]) > part * margin) return false;
  }
  return true;
}

/* The same at points that the step knows anyhow. They are nearer to those that are interpolated through than others are. */
static bool is_faithful_beside(Search *search) {
  StepPoints points = {.count = 0};
  if (search->integrator->points_beside) search->integrator->points_beside(search->self, &points);
  for (int k = 0; k < points.count; k++) {
    double t = search->before + points.part[k] * (search->end - search->before);
    if (!is_faithful_at(search, t, points.values[k], FAITHFUL_BESIDE)) return false;
  }
  return points.count > 0;
}

/* An explicit method does not test the columns that are solved for in each stage: in a long step those that follow an input are
 * interpolated anyhow. Do they lead to about the differences that solved ones have, at some times inside, far from those interpolated
 * through? */
static bool is_faithful(Search *search) {
  double step = search->end - search->before;
  return is_faithful_beside(search) || (is_faithful_at(search, search->before + 0.5 * step, NULL, FAITHFUL) &&
                                        is_faithful_at(search, search->before + 0.9 * step, NULL, FAITHFUL));
}

/* ---- the first of several events ---- */

/* The same search as if the step ended at t, of which `now` is. */
static Search ended_at(const Search *search, double t) {
  Search ended = *search;
  if (t > search->t_last) {
    ended.previous = search->last;
    ended.t_previous = search->t_last;
  }
  ended.last = search->now;
  ended.t_last = t;
  return ended;
}

/* Does a margin turn near its edge on the way from the looks before to t, of which `now` is? */
static bool any_turns_near(const Search *search, double t) {
  Search ended = ended_at(search, t);
  for (uint32_t m = 0; m < search->switches->modes->count; m++)
    if ((t > search->t_last && turns_near(search, m, t)) || turns_near(&ended, m, t)) return true;
  return false;
}

/* Shrinks the bracket found to about what interpolated columns would tell. Its upper end was looked at last, and is again. */
static void narrow(Search *search, uint32_t *mode) {
  Bracket *found = &search->found;
  fill_margins(search, found->at_high);
  if (point_at(search, found->low)) {
    fill_margins(search, found->at_low);
    shrink(search, found, point_at, NEAR_ENOUGH * (search->end - search->before), mode);
  }
  if (search->switches->time != found->high) point_at(search, found->high);
}

/* Digs where margins turn before the bracket that was found. */
static bool dig_before(Search *search, uint32_t *mode) {
  double t = search->found.low;
  if (t > search->t_last && dig_where_turning(search, t, mode)) return true;
  Search ended = ended_at(search, t);
  bool found = t > ended.t_previous && dig_where_turning(&ended, t, mode);
  search->found = ended.found;
  return found;
}

/* Something contradicts at the upper end of the bracket found, where the last look was. A mode that turns on the way there may have changed
 * and changed back: then that is the event. */
static void find_first(Search *search, uint32_t *mode) {
  for (int k = 0; k < DIG_LIMIT; k++) {
    fill_margins(search, search->now);
    if (!any_turns_near(search, search->found.high)) return;
    if (!search->interpolates) narrow(search, mode);
    fill_margins(search, search->now);
    Bracket found = search->found;
    uint32_t first = *mode;
    if (dig_before(search, mode)) continue;
    search->found = found;
    *mode = first;
    point_at(search, found.high);
    return;
  }
}

/* Looks along the step as closely as the rates ask for. */
static bool look_for_any(Search *search, uint32_t *mode) {
  Switches *switches = search->switches;
  uint32_t count = switches->modes->count;
  memcpy(switches->difference, switches->before, count * sizeof(double));
  fill_margins(search, search->last);
  memcpy(search->previous, search->last, count * sizeof(double));
  search->t_last = search->t_previous = search->before;
  search->t_seen = NAN;
  for (double t = search->before; t < search->end;) {
    double next = next_look(search, t);
    if (look_at(search, t, next, mode)) return true;
    if (search->t_seen == next) memcpy(search->now, search->seen, count * sizeof(double));
    else fill_margins(search, search->now);
    if (dig_where_turning(search, next, mode)) return true;
    t = next;
    shift_looks(search, t);
  }
  memcpy(search->now, search->last, count * sizeof(double));
  return dig_where_turning(search, search->end, mode);
}

/* The first event of the step. */
static bool look_along(Search *search, uint32_t *mode) {
  bool found = look_for_any(search, mode);
  if (found) find_first(search, mode);
  return found;
}

/* ---- conditions that hold for a small part of a step only ---- */

static double part_at(const Search *search, double t) { return (t - search->before) / (search->end - search->before); }

/* Stays the k-th such condition as it is between two times, by the bounds of its difference? */
static bool is_clear(Search *search, uint32_t k, double low, double high) {
  Narrow *narrow = search->switches->narrow;
  Interval part = {part_at(search, low), part_at(search, high)};
  Interval bounds = narrow_bounds(narrow, k, part, search->before, search->end - search->before);
  return switches_least_margin(search->switches, narrow_mode(narrow, k), bounds.low, bounds.high) >= 0;
}

/* May one of them change within the step? */
static bool may_be_narrow(Search *search) {
  Narrow *narrow = search->switches->narrow;
  if (!narrow) return false;
  if (narrow_has_opaque(narrow)) return true;
  for (int i = 0; i < NARROW_SAMPLES; i++) {
    double t = search->before + narrow_part[i] * (search->end - search->before);
    interpolate_watched(search->view, search->integrator, search->self, t, search->y);
    narrow_sample(narrow, i, search->y);
  }
  bool all_clear = true;
  for (uint32_t k = 0; k < narrow_count(narrow) && all_clear; k++)
    all_clear = is_clear(search, k, search->before, search->end);
  return !all_clear;
}

/* Stretches from left to right, halved until each is clear or too narrow to halve; one that is not clear is looked at in its middle, up to a
 * number that bounds the cost. The next one begins where the last ended. */
static bool look_along_narrow(Search *search, uint32_t k, double until, uint32_t *mode) {
  double low = search->before, width = until - low, least = NARROWEST * (search->end - search->before);
  for (int looks = 0; looks < NARROW_LIMIT && low < until;) {
    double high = fmin(low + width, until);
    if (width <= least || is_clear(search, k, low, high)) {
      low = high;
      width *= 2;
      continue;
    }
    if (look_at(search, low, low + (high - low) / 2, mode)) return true;
    width = (high - low) / 2;
    looks++;
  }
  return false;
}

/* Conditions on functions that nothing is known of are looked at as often as others at most. */
static bool look_evenly(Search *search, double until, uint32_t *mode) {
  double low = search->before, apart = NARROWEST * (search->end - search->before);
  for (double t = low + apart; t < until; low = t, t += apart)
    if (look_at(search, low, t, mode)) return true;
  return false;
}

/* The first event of one of them, or the one that was found, if one was and it comes first. A look may have met a later pulse: what is before it is looked at again. */
static bool find_narrow(Search *search, bool found, uint32_t *mode) {
  Bracket first = search->found;
  uint32_t first_mode = *mode;
  double until = found ? first.low : search->end, least = NARROWEST * (search->end - search->before);
  for (uint32_t k = 0; k < narrow_count(search->switches->narrow); k++) {
    while (look_along_narrow(search, k, until, mode)) {
      found = true;
      first = search->found;
      first_mode = *mode;
      until = fmax(first.low, first.high - least);
    }
  }
  if (narrow_has_opaque(search->switches->narrow) && look_evenly(search, until, mode)) {
    found = true;
    first = search->found;
    first_mode = *mode;
  }
  search->found = first;
  *mode = first_mode;
  if (found) point_at(search, first.high);
  return found;
}

/* ---- location ---- */

/* What the differences of interpolated columns miss at t, where those of solved ones were looked at last; of two times the k-th. */
static bool find_missed(Search *search, double t, int k) {
  const double *difference = search->switches->difference;
  double *missed = search->missed[k];
  uint32_t count = search->switches->modes->count;
  search->t_missed[k] = t;
  memcpy(missed, difference, count * sizeof(double));
  if (!peek_at(search, t)) return false;
  for (uint32_t m = 0; m < count; m++) {
    missed[m] -= difference[m];
    if (!isfinite(missed[m])) return false;
  }
  return true;
}

/* The same about t, in proportion to the distances from the two times. */
static double missed_at(const Search *search, double t, uint32_t m) {
  const double *at = search->t_missed;
  double part = at[1] != at[0] ? (t - at[0]) / (at[1] - at[0]) : 1;
  return (1 - part) * search->missed[0][m] + part * search->missed[1][m];
}

/* The conditions of interpolated columns, and what these miss. */
static bool peek_corrected(Search *search, double t) {
  if (!peek_at(search, t)) return false;
  for (uint32_t m = 0; m < search->switches->modes->count; m++)
    search->switches->difference[m] += missed_at(search, t, m);
  return true;
}

/* Moves an end of the bracket to where corrected differences lead: solved ones are there, if not round-off, what these are. */
static void jump_to_root(Search *search, double near, uint32_t *mode) {
  Bracket *found = &search->found, inner = {found->low, found->high, search->last, search->now};
  size_t bytes = search->switches->modes->count * sizeof(double);
  memcpy(inner.at_low, found->at_low, bytes);
  memcpy(inner.at_high, found->at_high, bytes);
  shrink(search, &inner, peek_corrected, near, mode);
  if (!(inner.low > found->low && inner.low < found->high) || !point_at(search, inner.low)) return;
  fill_margins(search, search->seen);
  move_end(search, found, search->seen, inner.low, any_negative(search, search->seen, mode) ? 1 : -1);
}

/* Shrinks the bracket to round-off of the step, with solved columns; its upper end has been looked at last. */
static void locate_solved(Search *search, double near, uint32_t *mode) {
  Bracket *found = &search->found;
  double low = found->low;
  fill_margins(search, found->at_high);
  bool is_corrected = search->interpolates && find_missed(search, found->high, 1);
  bool is_known = point_at(search, low);
  if (is_known && any_contradicts(search->switches, mode)) found->low = search->before;
  fill_margins(search, found->at_low);
  if (is_corrected && is_known && found->low == low && find_missed(search, low, 0)) jump_to_root(search, near, mode);
  shrink(search, found, point_at, near, mode);
  if (search->switches->time != found->high) point_at(search, found->high);
}

/* Solves for the columns at t. What interpolated ones miss there is known from now on, and what they missed at the time before.
 * Returns how much a difference is off what was expected. */
static double solve_near_root(Search *search, double t, uint32_t m) {
  double *difference = search->switches->difference, *missed = search->missed[0];
  uint32_t count = search->switches->modes->count;
  double expected = missed_at(search, t, m);
  if (!peek_at(search, t)) return INFINITY;
  expected += difference[m];
  memcpy(missed, difference, count * sizeof *missed);
  if (!point_at(search, t)) return INFINITY;
  for (uint32_t k = 0; k < count; k++) missed[k] = difference[k] - missed[k];
  search->missed[0] = search->missed[1];
  search->t_missed[0] = search->t_missed[1];
  search->missed[1] = missed;
  search->t_missed[1] = t;
  return fabs(difference[m] - expected);
}

/* The margins of corrected differences at both ends of a bracket, whose lower end is moved down until nothing contradicts there. false:
 * there is no bracket. */
static bool look_at_bracket(Search *search, Bracket *bracket, uint32_t *mode) {
  for (;;) {
    if (!peek_corrected(search, bracket->low)) return false;
    fill_margins(search, bracket->at_low);
    if (!any_negative(search, bracket->at_low, mode)) break;
    if (!(bracket->low > search->before)) return false;
    bracket->low = fmax(bracket->low - ROOM * (bracket->high - bracket->low), search->before);
  }
  if (!peek_corrected(search, bracket->high)) return false;
  fill_margins(search, bracket->at_high);
  return any_negative(search, bracket->at_high, mode);
}

/* Is a root that was off by so much as near as it comes? Else it would be by the way of the approach before; what does not get smaller
 * next to it is round-off. */
static bool is_near_enough(double off, double off_before, double near) {
  return off <= near || (off <= ROOM * near && off >= NO_NEARER * off_before);
}

/* The root of interpolated columns, corrected by what they miss next to it, comes so near to that of solved ones that these are
 * looked at a few times only. The upper end of the bracket was looked at last, and is again. false: nothing has come of it. */
static bool approach(Search *search, double near, uint32_t *mode) {
  Bracket *found = &search->found, inner = {found->low, found->high, found->at_low, found->at_high};
  double rough = fmax(FIRST_NEAR * (search->end - search->before), near), off_before = INFINITY;
  if (!search->interpolates || !find_missed(search, found->high, 1)) return false;
  search->t_missed[0] = search->t_missed[1];
  for (int k = 1; k <= APPROACHES && look_at_bracket(search, &inner, mode); k++) {
    double slope = (inner.at_low[*mode] - inner.at_high[*mode]) / (inner.high - inner.low);
    shrink(search, &inner, peek_corrected, rough, mode);
    double t = fmin(inner.high + k * near, found->high), off = solve_near_root(search, t, *mode) / fabs(slope);
    if (rough == near && is_near_enough(off, off_before, near) && any_contradicts(search->switches, mode)) {
      found->low = inner.low;
      found->high = t;
      return true;
    }
    inner.low = fmax(search->before, t - ROOM * (off + rough));
    inner.high = fmin(found->high, t + ROOM * (off + rough));
    rough = near;
    off_before = off;
  }
  return false;
}

/* Shrinks the bracket to round-off of the step. Its upper end has been looked at last. */
static void locate(Search *search, uint32_t *mode) {
  double near = 2e-16 * fabs(search->found.high) + 5e-15 * (search->end - search->before);
  if (approach(search, near, mode)) return;
  if (search->switches->time != search->found.high || search->interpolates) point_at(search, search->found.high);
  locate_solved(search, near, mode);
}

/* ---- steps without events ---- */

/* The last step, from (before, begin) on. */
typedef struct LastStep {
  View *view;
  const Integrator *integrator;
  void *self;
  double before, step;
  const double *begin;
  bool is_unread; /* it was taken as if nobody looked inside */
  double *y;      /* for any columns */
} LastStep;

/* The points of the last step that cost no evaluation: those of the method's, or the ends and so many parts of it. Values that are NULL
 * are to be interpolated. */
static StepPoints known_points(const LastStep *last, int parts) {
  StepPoints points = {.count = parts + 1};
  if (last->integrator->points) {
    last->integrator->points(last->self, &points);
    return points;
  }
  for (int k = 0; k <= parts; k++) points.part[k] = (double)k / parts;
  points.values[0] = last->begin;
  points.values[parts] = last->integrator->values(last->self);
  return points;
}

/* Looks at the conditions at both ends of the step, and keeps what they are at its beginning. */
static bool look_at_ends(Switches *switches, double before, const double *begin, double end, const double *values) {
  if (switches->kept != before) {
    if (!switches_evaluate(switches, before, begin)) return false;
    switches_keep(switches, before, begin, 0);
  }
  return switches_evaluate(switches, end, values);
}

/* The same at all points behind the first, the last at last. */
static bool look_at_points(const LastStep *last, const StepPoints *points) {
  Switches *switches = last->view->switches;
  switches_sample(switches, 0);
  for (int k = 1; k < points->count; k++) {
    double t = last->before + points->part[k] * last->step;
    const double *values = points->values[k] ? points->values[k] : last->y;
    if (!points->values[k]) interpolate_watched(last->view, last->integrator, last->self, t, last->y);
    if (!switches_evaluate(switches, t, values)) return false;
    switches_sample(switches, k);
  }
  return points->count > 1;
}

/* Does the method test how well a column that is no state is followed? Not so with rates and with what no rate depends on, which may have
 * pulses that are narrower than a step. */
static bool is_followed(const System *system, uint32_t column) {
  if (system->spare && system->spare[column]) return false;
  for (int32_t k = 0; k < system->links; k++)
    if (system->link_to[k] == (int32_t)column) return false;
  return true;
}

/* The degree of the polynomials that all differences follow where columns are interpolated; 0: they do not. So it is with sums of
 * columns. A step that is not as good inside as at its end tells nothing of them. */
static int degree_of_differences(const LastStep *last) {
  const View *view = last->view;
  if (!view->switches->quiet || !last->integrator->degree || !view->watched.count) return 0;
  bool of_states = false;
  for (uint32_t k = 0; k < view->watched.count; k++) {
    bool is_state = view_is_state(&view->system, view->watched.data[k]);
    if (!is_state && !is_followed(&view->system, view->watched.data[k])) return 0;
    of_states = of_states || is_state;
  }
  int degree = last->integrator->degree(last->self, of_states);
  bool may_be_coarse = degree && last->is_unread && last->integrator->is_coarse;
  return may_be_coarse && last->integrator->is_coarse(last->self) ? 0 : degree;
}

/* May a condition on columns that no state follows pass its edge where interpolated columns do not? Explicit methods test these. */
static bool grazes(const View *view, const Integrator *integrator, double step) {
  return view->system.watched && !integrator->explicit_form && switches_graze(view->switches, step);
}

/* May a mode change within the step? Implicit methods of one step may step over a whole turn of a column that no state follows: then what it is at the ends tells nothing of how
 * fast it is. */
static bool may_hide(const View *view, const Integrator *integrator, double step) {
  bool is_long = view->system.watched && !integrator->explicit_form && integrator->suggest;
  return is_long || switches_hide(view->switches, step);
}

/* Does no mode change at or between the points of the step? Polynomials are bounded by their coefficients: a search, which looks at the
 * same ones, finds nothing either. Else sums of states alone are told of by the points, since the error test of steps is one of theirs,
 * too. Conditions on functions of columns may be narrower than a step. */
static bool is_ruled_out(const LastStep *last) {
  Switches *switches = last->view->switches;
  int degree = degree_of_differences(last);
  if (!degree && !(switches->quiet && last->view->watches_states)) return false;
  StepPoints points = known_points(last, degree ? degree : 2);
  if (!look_at_points(last, &points)) return false;
  if (degree) return switches_stay(switches, points.count, points.part, last->step);
  return switches_rule_out(switches, points.count, points.part, last->before + last->step,
                           last->integrator->values(last->self), last->step);
}

static double margin_within(const void *switches, uint32_t m, Interval bounds) {
  return switches_least_margin(switches, m, bounds.low, bounds.high);
}

bool events_rule_out(View *view, const Integrator *integrator, void *self, double before, const double *begin,
                     bool is_unread, double *y) {
  Switches *switches = view->switches;
  double end = integrator->time(self);
  LastStep last = {view, integrator, self, before, end - before, begin, is_unread, y};
  const double *values = integrator->values(self);
  if (!look_at_ends(switches, before, begin, end, values)) return false;
  if (switches->narrow && !narrow_is_far(switches->narrow, view->system.successor, before, begin, last.step, values,
                                         margin_within, switches))
    return false;
  if (may_hide(view, integrator, last.step)) {
    uint32_t mode;
    if (any_contradicts(switches, &mode) || grazes(view, integrator, last.step) || !is_ruled_out(&last)) return false;
  }
  return switches_pass(switches, end, values, last.step);
}

/* Looks at solved columns between the ends of the step. */
static bool look_between(Search *search, uint32_t *mode) {
  enum { PARTS = 4 };
  for (int k = 1; k < PARTS; k++) {
    double t = search->before + (search->end - search->before) * k / PARTS;
    search->found.low = search->before;
    search->found.high = t;
    if (point_at(search, t) && any_contradicts(search->switches, mode)) return true;
  }
  return false;
}

/* Room for the margins of three looks and of a bracket, and for what its ends miss; to be freed. */
static double *make_margins(Search *search) {
  size_t count = search->switches->modes->count;
  double *margins = heap_array(search->view->evaluator->heap, 9 * count, sizeof *margins), *next = margins;
  double **const own[] = {&search->now,          &search->last,          &search->previous,
                          &search->found.at_low, &search->found.at_high, &search->missed[0],
                          &search->missed[1],    &search->pace,          &search->seen};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++, next += count) *own[k] = next;
  return margins;
}

bool events_find(View *view, const Integrator *integrator, void *self, double before, double *y, uint32_t *mode,
                 EventBracket *bracket) {
  Switches *switches = view->switches;
  double end = integrator->time(self);
  Search search = {view, switches, integrator, self, before, end, y, .interpolates = false};
  const double *values = integrator->values(self);
  if (switches->kept != before && point_at(&search, before)) switches_keep(switches, before, y, 0);
  if (!switches_evaluate(switches, end, values)) return false;
  switches_rest(switches, end, values);
  bool hides = may_hide(view, integrator, end - before), is_narrow = may_be_narrow(&search);
  if (!hides && !is_narrow && switches_pass(switches, end, values, end - before)) return false;
  switches->looks_inside = !(hides || is_narrow) || switches_dip(switches, end, values, end - before);
  bool inside = !any_contradicts(switches, mode), is_grazing = inside && grazes(view, integrator, end - before);
  memcpy(switches->end, switches->difference, switches->modes->count * sizeof(double));
  switches->step = end - before;
  double *margins = make_margins(&search);
  search.interpolates =
      !integrator->explicit_form || view->watches_states || (view_interpolates_watched(view) && is_faithful(&search));
  search.farthest = search.interpolates ? FARTHEST_LOOKS : FARTHEST_SOLVED;
  bool found = look_along(&search, mode);
  if (is_narrow) found = find_narrow(&search, found, mode);
  if (!found && is_grazing) found = look_between(&search, mode);
  if (!found) {
    switches_evaluate(switches, end, values);
    switches_keep(switches, end, values, end - before);
  }
  *bracket =
      (EventBracket){before, search.found.low, search.found.high, inside, switches->looks_inside, search.interpolates};
  switches->looks_inside = false;
  heap_free(view->evaluator->heap, margins);
  return found;
}

double events_locate(View *view, const Integrator *integrator, void *self, const EventBracket *bracket, double *y,
                     uint32_t *mode) {
  Search search = {view,
                   view->switches,
                   integrator,
                   self,
                   bracket->before,
                   integrator->time(self),
                   y,
                   .interpolates = bracket->interpolates,
                   .found = {.low = bracket->low, .high = bracket->high}};
  double *margins = make_margins(&search);
  view->switches->looks_inside = bracket->looks_inside;
  locate(&search, mode);
  view->switches->looks_inside = false;
  heap_free(view->evaluator->heap, margins);
  return search.found.high;
}

bool events_contradict(View *view, double t, const double *y, uint32_t *mode) {
  return view->switches && switches_evaluate(view->switches, t, y) && any_contradicts(view->switches, mode);
}

void events_begin(View *view, double t, const double *y) {
  Switches *switches = view->switches;
  if (!switches || !switches_evaluate(switches, t, y)) return;
  memset(switches->peak, 0, switches->modes->count * sizeof(double));
  switches_keep(switches, t, y, 0);
}

double events_next_time(View *view, double t, double stop, uint32_t *mode) {
  const Switches *switches = view->switches;
  double next = INFINITY, sample = INFINITY;
  *mode = MAP_NONE;
  if (switches && switches->schedule) next = schedule_next(switches->schedule, t, stop, mode);
  if (switches && switches->decisions) sample = decisions_next_time(switches->decisions, t);
  double known = fmin(sample, view->evaluator->past ? past_next_time(view->evaluator->past, t) : INFINITY);
  if (view->evaluator->inputs) known = fmin(known, inputs_next_time(view->evaluator->inputs, t));
  if (known >= next || known > stop) return next;
  *mode = MAP_NONE;
  return known;
}

/* ---- leaving edges ---- */

/* How far the weights of modes that slide are outside of [0, 1] at t, with the columns in search->y; negative: inside. */
static double outside_at(Search *search, double t) {
  uint32_t mode;
  return point_at(search, t) ? switches_leaving(search->switches, &mode) : -INFINITY;
}

/* Weights turn towards the inside between two times: looks there until they are outside at *t, or so far inside that what they still change by
 * does not lead out. */
static bool dig_outside(Search *search, double left, double right, double *t) {
  const double golden = 0.38196601125010515;
  double first = fmin(outside_at(search, left), outside_at(search, right));
  for (int k = 0; k < DIG_LIMIT; k++) {
    double at[2] = {left + golden * (right - left), right - golden * (right - left)};
    double outside[2] = {outside_at(search, at[0]), outside_at(search, at[1])};
    int most = outside[1] > outside[0];
    *t = at[most];
    if (outside[most] > LEFT) return true;
    if (!(-outside[most] < 0.5 * (outside[most] - first))) return false;
    *(most ? &left : &right) = at[1 - most];
  }
  return false;
}

/* Is the solution off its edges at a time of the step? There is none before *low, and it is at *high. They may be left and come back to within
 * the step: so it is looked at along it, close at its ends, where only one side tells whether weights turn. */
static bool find_outside(Search *search, double *low, double *high) {
  static const double parts[] = {0, 1.0 / 32, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 31.0 / 32, 1};
  enum { LOOKS = sizeof parts / sizeof *parts };
  double t[LOOKS], outside[LOOKS];
  for (int k = 0; k < LOOKS; k++) {
    t[k] = k + 1 < LOOKS ? search->before + parts[k] * (search->end - search->before) : search->end;
    outside[k] = outside_at(search, t[k]);
    *low = t[k ? k - 1 : 0];
    *high = t[k];
    if (k && outside[k] > LEFT) return true;
    bool turns = k > 1 && outside[k - 1] >= outside[k] && outside[k - 1] >= outside[k - 2];
    if (!turns) continue;
    *low = t[k - 2];
    if (dig_outside(search, t[k - 2], t[k], high)) return true;
  }
  return false;
}

bool events_leave(View *view, const Integrator *integrator, void *self, double before, double *t, double *y) {
  Search search = {view, view->switches, integrator, self, before, *t, y, .interpolates = false};
  double low, high;
  if (!find_outside(&search, &low, &high)) {
    outside_at(&search, *t);
    return false;
  }
  for (int k = 0; k < LOCATE_LIMIT && high - low > 1e-14 * (search.end - before); k++) {
    double middle = low + (high - low) / 2;
    *(outside_at(&search, middle) <= LEFT ? &low : &high) = middle;
  }
  outside_at(&search, high);
  *t = high;
  return true;
}

/* Where the rates of several modes that slide do not add up, no mean of the corners is known to be what the solution does: only the
 * first slides. */
static EvalStatus slide_if_sum(View *view, double t, double *y) {
  Switches *switches = view->switches;
  uint32_t all = switches->slides + 1;
  if (all <= 2) return EVAL_OK;
  EvalStatus status = view->methods->solve_corner(view, t, y, all);
  if (status != EVAL_OK || !switches_add_up(switches, t, y)) switches_slide_first(switches, 1);
  return view->methods->solve(view, t, y);
}

/* Both modes of an edge lead back to it. *more: the modes that do not slide are to be looked at again. */
static EvalStatus begin_to_slide(View *view, double t, double *y, bool *more) {
  Switches *switches = view->switches;
  *more = view->system.complete && switches_slide(switches);
  if (!*more) return EVAL_OK;
  EvalStatus status = view->methods->solve(view, t, y);
  if (status == EVAL_OK) status = slide_if_sum(view, t, y);
  bool is_solved = status == EVAL_OK;
  if (!is_solved) switches_slide_first(switches, 0);
  while (!is_solved || !switches_leads_back(switches)) {
    if ((status = view->methods->solve(view, t, y)) != EVAL_OK) return status;
    is_solved = true;
  }
  *more = switches->slides > 0;
  return EVAL_OK;
}

/* The columns and all that is discrete where an iteration of an event begins. */
typedef struct Beginning {
  double *y, *discretes;
  size_t columns, leaves;
} Beginning;

static Beginning keep_beginning(const View *view, const double *y) {
  Beginning begin = {.columns = (size_t)view->system.columns, .leaves = modes_leaves(view->switches->modes)};
  begin.y = heap_array(view->evaluator->heap, begin.columns + begin.leaves, sizeof(double));
  begin.discretes = begin.y + begin.columns;
  copy_numbers(begin.y, y, begin.columns);
  copy_numbers(begin.discretes, view->evaluator->discretes, begin.leaves);
  return begin;
}

static void go_back(View *view, const Beginning *begin, double *y) {
  copy_numbers(y, begin->y, begin->columns);
  copy_numbers(view->evaluator->discretes, begin->discretes, begin->leaves);
  switches_forget_slides(view->switches);
  view->undetermined = MAP_NONE;
}

/* Modes and all else that is discrete, with pre() held, and the columns that they lead to: until nothing changes. */
static bool iterate_rounds(View *view, double t, double *y, WhenLoop *loop) {
  Switches *switches = view->switches;
  uint32_t solved = 0, solves = loop ? when_loop_rounds(loop) : switches->one_by_one ? PIVOTS_LIMIT : SETTLE_LIMIT;
  for (uint32_t round = 0; round < solves + modes_leaves(switches->modes) && solved < solves; round++) {
    if (loop) when_loop_begin(loop);
    if (!switches_evaluate(switches, t, y)) return false;
    switches->matter = false;
    if (!switches_set(switches, t, y)) return !view_restructured(view);
    if (!switches->matter) continue;
    if (loop) when_loop_improve(loop);
    if (view_restructured(view)) return false;
    view->disturbed = true;
    solved++;
    if (view->methods->solve_at_event(view, t, y) != EVAL_OK) return false;
  }
  return false;
}

/* Do but Real values of whens change in one more round? */
static bool goes_round(View *view, double t, double *y, WhenLoop *loop) {
  when_loop_begin(loop);
  return switches_evaluate(view->switches, t, y) && switches_set(view->switches, t, y) && when_loop_is_all(loop);
}

static bool iterate_modes(View *view, double t, double *y) {
  WhenLoop *loop = when_loop_new(view);
  if (!loop) return iterate_rounds(view, t, y, NULL);
  Beginning begin = keep_beginning(view, y);
  bool settled = iterate_rounds(view, t, y, NULL);
  if (!settled && !view_restructured(view) && goes_round(view, t, y, loop)) {
    go_back(view, &begin, y);
    settled = iterate_rounds(view, t, y, loop);
  }
  when_loop_free(loop);
  heap_free(view->evaluator->heap, begin.y);
  return settled;
}

static bool settle_once(View *view, double t, double *y, uint32_t mode) {
  switches_begin(view->switches, mode);
  bool more = true;
  for (int round = 0; round < SLIDE_LIMIT && more; round++)
    if (!iterate_modes(view, t, y) || begin_to_slide(view, t, y, &more) != EVAL_OK) return false;
  return true;
}

/* ---- modes that iterating does not find ---- */

/* From the beginning: do all modes agree with what follows from a combination? */
static bool try_modes(View *view, double t, double *y, const Beginning *begin, const Trial *trial) {
  go_back(view, begin, y);
  switches_try(view->switches, trial, t, y);
  if (view->methods->solve_at_event(view, t, y) != EVAL_OK) return false;
  return iterate_modes(view, t, y) && switches_agree(view->switches);
}

/* Ideal diodes and switches in one loop decide together: a mode set alone may have no solution, or lead round in a circle. The
 * combination with the fewest changes in which all agree is taken. */
static bool enumerate_modes(View *view, double t, double *y, const Beginning *begin) {
  Trial trial = switches_trial(view->switches, TRIAL_LIMIT);
  Beginning left = keep_beginning(view, y); /* tells what the failure is, if it is one */
  bool found;
  view->disturbed = true;
  do found = try_modes(view, t, y, begin, &trial);
  while (!found && trial_next(&trial));
  if (!found) go_back(view, &left, y);
  heap_free(view->evaluator->heap, left.y);
  return found;
}

/* Is what settle_once left, if anything, a solution? */
static bool agrees(View *view, bool settled, double t, const double *y) {
  uint32_t mode;
  return settled && !(switches_undecided(view->switches) && events_contradict(view, t, y, &mode));
}

/* The equations behind an event of time may have no value at its very time. */
static bool settle_behind(View *view, double t, double *y, uint32_t mode, const Beginning *begin) {
  if (mode != MAP_NONE && !view->switches->modes->timed[mode]) return false;
  go_back(view, begin, y);
  return settle_once(view, schedule_behind(t), y, mode);
}

/* Modes and all else that is discrete, with pre() held, and other ways where iterating does not lead to a solution. A when whose
 * condition no longer holds once it has acted, as that of a block that slips, has none if it is taken as an equation: then what
 * fires acts, and what follows from it does not undo it. Modes that all change at once may cycle around a solution, as those of a
 * clutch that gets stuck: then only the first that must change does so at a time (the least-index rule of Murty 1974 for
 * complementarity problems). Modes that lead round in a circle of structures, as that of a clutch that slips with less torque than it held, are
 * taken where they lead first: what pre() remembers of it may hold them there. */
static bool settle_values(View *view, double *at, double *y, uint32_t mode) {
  Switches *switches = view->switches;
  double t = *at;
  Decisions *decisions = switches->decisions;
  bool may_retract = decisions && decisions->fires && !decisions->latches;
  Beginning begin = keep_beginning(view, y);
  if (may_retract) decisions->retracted = false;
  bool settled = settle_once(view, t, y, mode);
  if (may_retract && decisions->retracted && !view->restructured && (!settled || switches_undecided(switches))) {
    go_back(view, &begin, y);
    decisions->latches = true;
    settled = settle_once(view, t, y, mode);
    decisions->latches = false;
  }
  if (!view->restructured && !switches->goes_on && !agrees(view, settled, t, y)) {
    go_back(view, &begin, y);
    switches->one_by_one = true;
    settled = settle_once(view, t, y, mode);
    switches->one_by_one = false;
  }
  bool has_other_structure = view->conditions && !view->holds;
  bool is_stuck = !settled && !view->restructured && !has_other_structure && view->undetermined == MAP_NONE;
  if (is_stuck && settle_behind(view, t, y, mode, &begin)) {
    *at = schedule_behind(t);
    settled = true;
  } else if (is_stuck) settled = enumerate_modes(view, t, y, &begin);
  switches->goes_on = false;
  heap_free(view->evaluator->heap, begin.y);
  return settled;
}

/* Solves the rows with the columns held that have a mark, 2; states stay as far as the rows allow. */
static bool solve_held(View *view, double t, double *y, uint8_t *held) {
  const System *system = &view->system;
  view->disturbed = true;
  for (int32_t k = 0; k < system->links; k++)
    if (!held[system->link_from[k]]) held[system->link_from[k]] = 1;
  return view->methods->solve_holding(view, t, y, held) == EVAL_OK;
}

/* The first column that has not the value given; MAP_NONE: all have. */
static uint32_t lost_value(const View *view, const double *y, const uint8_t *held, const double *values) {
  static const double same = 1e-8; /* of its size */
  for (uint32_t q = 0; q < (uint32_t)view->system.columns; q++)
    if (held[q] && !(fabs(y[q] - values[q]) <= same * (fabs(values[q]) + view->system.nominal[q]))) return q;
  return MAP_NONE;
}

uint32_t events_reset(View *view, double t, double *y, const uint8_t *held, const double *values) {
  Heap *heap = view->evaluator->heap;
  size_t columns = (size_t)view->system.columns;
  uint8_t *marks = heap_array(heap, columns, sizeof *marks);
  double *before = heap_copy(heap, y, columns, sizeof *y);
  if (view->share) share_begin(view->share, t, y);
  for (size_t q = 0; q < columns; q++)
    if (held[q]) marks[q] = 2, y[q] = values[q];
  if (!solve_held(view, t, y, marks)) memcpy(y, before, columns * sizeof *y);
  uint32_t lost = lost_value(view, y, held, values);
  if (lost != MAP_NONE) {
    memcpy(y, before, columns * sizeof *y);
    if (reset_give(view, t, marks, values, y)) lost = lost_value(view, y, held, values);
  }
  heap_free_all(heap, marks, before);
  return lost;
}

/* What reinit does to the columns. false: the rows cannot be solved with it. */
static bool reset_columns(View *view, double t, double *y, bool *any) {
  const Decisions *decisions = view->switches->decisions;
  const System *system = &view->system;
  Heap *heap = view->evaluator->heap;
  uint8_t *held = NULL;
  double *before = NULL;
  for (uint32_t a = 0; a < decisions->logic->actions.count; a++) {
    uint32_t column = decisions->column[a];
    double value = decisions_value(decisions, a);
    if (column == MAP_NONE || !decisions_fires(decisions, a) || isnan(value)) continue;
    if (!held) {
      held = heap_array(heap, (size_t)system->columns, sizeof *held);
      before = heap_copy(heap, y, (size_t)system->columns, sizeof *y);
    }
    held[column] = 2;
    y[column] = decisions->sign[a] * value;
  }
  *any = held != NULL;
  if (!held) return true;
  switches_leave(view->switches); /* what slid may be off its edge now */
  bool ok = solve_held(view, t, y, held);
  if (ok) reset_keep_preferred(view, t, before, held, y);
  heap_free_all(heap, held, before);
  return ok;
}

/* What fires besides, at the values found: the last assertion that does not hold, and whether the run is to end. */
static void note_actions(View *view, double t, const double *y) {
  Decisions *decisions = view->switches->decisions;
  decisions_act(decisions, t, y);
  for (uint32_t a = 0; a < decisions->logic->actions.count; a++) {
    if (!decisions_fires(decisions, a)) continue;
    ActionKind kind = decisions->logic->actions.data[a].kind;
    bool failed = kind == ACTION_ASSERT && decisions_value(decisions, a) == 0;
    if (failed || kind == ACTION_TERMINATE) vec_push(view->evaluator->heap, &view->fired, a);
  }
}

void events_watch(View *view, double t, const double *y) {
  view->fired.count = 0;
  note_actions(view, t, y);
}

/* What slid goes on in the modes of now: columns that were the mean of both sides become those of these modes. Else what a mean leaves of the
 * rates, round-off, would say where they lead. Returns whether something slid. */
static bool leave_edges(View *view, double t, double *y) {
  if (!switches_slid(view->switches)) return false;
  Beginning begin = keep_beginning(view, y);
  if (view->methods->solve(view, t, y) != EVAL_OK) copy_numbers(y, begin.y, begin.columns);
  heap_free(view->evaluator->heap, begin.y);
  return true;
}

static bool iterate(View *view, double *at, double *y, uint32_t mode) {
  Decisions *decisions = view->switches->decisions;
  view->disturbed = leave_edges(view, *at, y);
  switches_locate(view->switches, mode, *at, y);
  view->fired.count = 0;
  for (int iteration = 0; iteration < ITERATION_LIMIT; iteration++) {
    bool reset = false;
    view->iterations++;
    bool settled = settle_values(view, at, y, mode);
    double t = *at;
    if (decisions) decisions->latches = false;
    if (!settled || (decisions && decisions->undefined)) return false;
    if (view->sensitivity && !sensitivity_settled(view->sensitivity, t, y)) return false;
    if (decisions) {
      note_actions(view, t, y);
      if (!reset_columns(view, t, y, &reset)) return false;
      if (reset && view->sensitivity && !sensitivity_reset(view->sensitivity, t, y)) return false;
    }
    bool goes_on = decisions && (decisions_accept(decisions, t, y) || reset);
    if (view->sensitivity && !sensitivity_passed(view->sensitivity, t, y)) return false;
    if (goes_on) continue;
    if (decisions) decisions_end(decisions, t, y);
    if (view->evaluator->past) {
      past_note(view->evaluator, t, y, view->disturbed || mode != MAP_NONE);
      switches_evaluate(view->switches, t, y);
    }
    switches_keep(view->switches, t, y, 0);
    return true;
  }
  return false;
}

/* Is terminal() true now, and do rows depend on it? */
static bool is_end_of_rows(const View *view) {
  const ArrayCode *code = view->evaluator->code;
  uint32_t terminal = code->modes->logic->terminal;
  return view->evaluator->discretes[terminal] != 0 && code->matters[terminal];
}

bool events_settle(View *view, double *t, double *y, uint32_t mode) {
  if (view->sensitivity && !sensitivity_event(view->sensitivity, *t, y, mode)) return false;
  if (view->share) share_begin(view->share, *t, y);
  if (view->switches->decisions) decisions_begin(view->switches->decisions, *t, y);
  bool differs = view->evaluator->past && past_pass(view->evaluator, *t, y);
  differs = differs || is_end_of_rows(view);
  if (differs && view->methods->solve_at_event(view, *t, y) != EVAL_OK) return false;
  bool settled = iterate(view, t, y, mode);
  view->disturbed = view->disturbed || differs;
  return settled && (!view->sensitivity || sensitivity_event_end(view->sensitivity, *t, y));
}

bool events_resume(View *view, double *t, double *y) {
  if (view->share) share_begin(view->share, *t, y);
  if (view->switches->decisions) view->switches->decisions->latches = true;
  return iterate(view, t, y, MAP_NONE);
}
