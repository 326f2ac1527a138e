/* edges: see edges.h. */
#include "core/edges.h"

#include "core/constants.h"
#include "core/lu.h"

#include <string.h>

/* Takes the place of the number of changes for a mode that chattered but does not slide, while other modes do. */
enum { LED_AWAY = 255 };

/* ---- differences and margins ---- */

double edges_size(double difference) { return fabs(difference) < INFINITE ? fabs(difference) : 0; }

void edges_evaluate(Edges *edges, double t, const double *y) {
  edges->now->time = t;
  if (edges->count) edges->evaluate(edges->host, false, t, y, edges->difference);
}

void edges_evaluate_rates(Edges *edges, double t, const double *y) {
  bool keeps = edges->now->keeps_rates;
  if (!edges->count) return;
  if (keeps) memcpy(edges->slope, edges->rate, (size_t)edges->count * sizeof(double));
  bool some_infinite = edges->evaluate(edges->host, true, t, y, edges->rate);
  for (int m = 0; m < edges->count && (keeps || some_infinite); m++) {
    if (keeps && !edges->condition[m].matters) edges->rate[m] = edges->slope[m];
    if (!isfinite(edges->rate[m])) edges->rate[m] = 0;
  }
}

static double *mode_of(const Edges *edges, int m) { return &edges->mode[m]; }

static ConditionKind kind_of(const Edges *edges, int m) { return edges->condition[m].kind; }

static bool waits(const Edges *edges, int m) { return edges->waits && edges->waits[m]; }

bool edges_slides(const Edges *edges, int m) { return edges->history[m].slides_with != 0; }

/* How fast the difference has moved: its mean rate since the last point that was kept. By the mean value theorem, the rate
 * itself has this value at some time in between. The rate at the kept point may be infinite, like that of log(x) at an event of
 * x > 0. A jump of the difference at an event does not count as a rate. */
static double present_speed(const Edges *edges, int m) {
  double way = edges->now->time - edges->now->kept;
  double come = edges->now->is_located ? edges->place[m].at : edges->difference[m];
  return way > 0 ? edges_size(come - edges->place[m].before) / way : fabs(edges->rate[m]);
}

static double round_off(const Edges *edges, int m) {
  double size = fmax(edges_size(edges->difference[edges->count + m]), edges_size(edges->place[m].before));
  double blur =
      4 * DBL_EPSILON * fabs(edges->now->time) * present_speed(edges, m); /* the effect of round-off of time */
  return fmax(DIFFERENCE_ROUND_OFF * size, blur);
}

double edges_band(const Edges *edges, int m) {
  const EdgeHistory *history = &edges->history[m];
  double slack = history->slack;
  if (slack > 0 && edges->now->time > history->times.last + history->times.hold) slack = 0;
  return fmax(round_off(edges, m), slack);
}

double edges_margin_with(const Edges *edges, int m, double value, double difference) {
  ConditionRange range = condition_range(kind_of(edges, m), value);
  return fmin(difference - range.low, range.high - difference) + edges_band(edges, m);
}

static bool is_undefined(const Edges *edges, int m) {
  return !condition_is_defined(kind_of(edges, m), edges->difference[m]);
}

/* Should events of mode m be searched for? */
static bool is_watched(const Edges *edges, int m) {
  if (edges->condition[m].is_timed || edges_slides(edges, m) || waits(edges, m)) return false;
  return !edges->condition[m].meets || edges->now->looks_inside;
}

double edges_margin(const Edges *edges, int m, double difference) {
  if (!is_watched(edges, m) || !condition_is_defined(kind_of(edges, m), difference)) return HUGE_VAL;
  if (edges->place[m].rests)
    return fabs(difference - condition_edge(kind_of(edges, m), difference)) - edges_band(edges, m);
  return edges_margin_with(edges, m, *mode_of(edges, m), difference);
}

/* The distance of the interval between the differences a and b from the ends of the range of the mode; negative if it leaves the
 * range. */
static double least_depth(const Edges *edges, int m, double a, double b) {
  ConditionRange range = condition_range(kind_of(edges, m), *mode_of(edges, m));
  return fmin(fmin(a, b) - range.low, range.high - fmax(a, b));
}

double edges_least_margin(const Edges *edges, int m, double a, double b) {
  if (!is_watched(edges, m)) return HUGE_VAL;
  if (edges->place[m].rests) return fmin(edges_margin(edges, m, a), edges_margin(edges, m, b));
  return least_depth(edges, m, a, b) + edges_band(edges, m);
}

bool edges_are_off(const Edges *edges, int m, double a, double b) {
  return !is_watched(edges, m) || least_depth(edges, m, a, b) > edges_band(edges, m);
}

bool edges_contradict(const Edges *edges, int m) { return edges_margin(edges, m, edges->difference[m]) < 0; }

int edges_first_contradiction(const Edges *edges) {
  for (int m = 0; m < edges->count; m++)
    if (edges_contradict(edges, m)) return m;
  return -1;
}

/* Changes the mode to another value that it can have; `back` undoes this. */
static void turn(Edges *edges, int m, bool back) {
  double *mode = mode_of(edges, m);
  *mode = kind_of(edges, m) <= CONDITION_GREATER_EQUAL ? 1 - *mode : *mode + (back ? -1 : 1);
}

/* Does another value of the undefined modes from `first` to `last` change the outcome? */
static bool make_difference(Edges *edges, int first, int last, double t, const double *y) {
  uint64_t outcome = edges->outcome(edges->host, t, y);
  for (int m = first; m <= last; m++)
    if (is_undefined(edges, m)) turn(edges, m, false);
  bool differs = edges->outcome(edges->host, t, y) != outcome;
  for (int m = first; m <= last; m++)
    if (is_undefined(edges, m)) turn(edges, m, true);
  return differs;
}

/* Changes the conditions that are on their edges. */
static bool turn_edges(Edges *edges) {
  bool any = false;
  for (int m = 0; m < edges->count; m++) {
    if (kind_of(edges, m) > CONDITION_GREATER_EQUAL || !(fabs(edges->difference[m]) <= edges_band(edges, m))) continue;
    turn(edges, m, false);
    any = true;
  }
  return any;
}

/* If x > 0 guards sqrt(x) > 1, and x is below zero only by round-off, the guard is about to change. */
static bool are_guarded(Edges *edges, int first, int last, double t, const double *y) {
  bool any = turn_edges(edges), guarded = any && !make_difference(edges, first, last, t, y);
  turn_edges(edges);
  return guarded;
}

int edges_undefined(Edges *edges, double t, const double *y) {
  int first = 0, last = edges->count - 1;
  while (first <= last && !is_undefined(edges, first)) first++;
  while (last > first && !is_undefined(edges, last)) last--;
  if (first > last || !make_difference(edges, first, last, t, y) || are_guarded(edges, first, last, t, y)) return -1;
  for (int m = first; m < last; m++)
    if (is_undefined(edges, m) && make_difference(edges, m, m, t, y)) return m;
  return last;
}

void edges_set_nominal(Edges *edges, double t, const double *nominal) {
  if (edges->count) edges->evaluate(edges->host, false, t, nominal, edges->difference);
  for (int m = 0; m < edges->count; m++) edges->history[m].nominal = edges_size(edges->difference[edges->count + m]);
}

void edges_forget(Edges *edges) {
  edges_forget_slides(edges);
  for (int m = 0; m < edges->count; m++) {
    edges->history[m] = (EdgeHistory){.nominal = edges->history[m].nominal};
    edges->place[m] = (EdgePlace){.at = edges->place[m].at, .changes = edges->place[m].changes};
    edges->rate[m] = 0;
  }
  edges->now->crossing = -1;
  edges->now->has_begun = false;
  edges->now->is_at_start = true;
}

/* ---- during steps ---- */

/* Is the last difference on an edge where the relation contradicts the mode? */
static bool is_open(const Edges *edges, int m) {
  double difference = edges->difference[m], edge = condition_edge(kind_of(edges, m), difference);
  const Condition *condition = &edges->condition[m];
  if (condition->is_timed || condition->meets || edges_slides(edges, m)) return false;
  return fabs(difference - edge) <= edges_band(edges, m) &&
         *mode_of(edges, m) != condition_value(condition->kind, edge);
}

void edges_rest(Edges *edges, double t, const double *y) {
  size_t size = (size_t)edges->count * sizeof(double);
  bool any = false;
  for (int m = 0; m < edges->count; m++) {
    edges->place[m].rests = edges->condition[m].has_rate && edges->history[m].slack == 0 && is_open(edges, m);
    any = any || edges->place[m].rests;
  }
  if (!any) return;
  memcpy(edges->slope, edges->rate, size);
  edges_evaluate_rates(edges, t, y);
  for (int m = 0; m < edges->count; m++) edges->place[m].rests = edges->place[m].rests && edges->rate[m] == 0;
  memcpy(edges->rate, edges->slope, size);
}

/* Keeps the last difference of a mode whose branches meet, and sets the mode from it. */
static void keep_meeting(Edges *edges, int m) {
  *mode_of(edges, m) = condition_value(kind_of(edges, m), edges->difference[m]);
  edges->place[m].before = edges->difference[m];
}

/* Keeps the last differences and rates. */
static void keep(Edges *edges, double t, double step) {
  for (int m = 0; m < edges->count; m++) {
    EdgePlace *place = &edges->place[m];
    double *speed = &edges->history[m].speed;
    if (edges->condition[m].meets) {
      keep_meeting(edges, m);
      continue;
    }
    double mean = step > 0 ? edges_size(edges->difference[m] - place->before) / step : 0;
    *speed = fmax(fmax(fabs(edges->rate[m]), mean), *speed / 2);
    place->before = edges->difference[m];
    place->slid = place->rests = false;
    double margin = edges_margin(edges, m, edges->difference[m]);
    if (margin < HUGE_VAL) place->peak = fmax(place->peak, margin); /* a sliding mode stays on its edge */
  }
  edges->now->kept = t;
  edges->now->has_begun = true;
  edges->now->is_located = false;
}

void edges_keep(Edges *edges, double t, const double *y, double step) {
  edges_evaluate_rates(edges, t, y);
  keep(edges, t, step);
}

void edges_start(Edges *edges, double t, const double *y) {
  for (int m = 0; m < edges->count; m++) edges->place[m].peak = 0;
  edges_keep(edges, t, y, 0);
}

/* A difference has these values and rates at the ends of a step, and one sign at both ends. Does the difference cross zero
 * inside? Uses Hermite's cubic: its slope is a parabola, whose roots are the extremes. */
static bool dips(double left, double left_rate, double right, double right_rate, double step) {
  if (left < 0) return dips(-left, -left_rate, -right, -right_rate, step);
  double a = left_rate * step, b = right_rate * step, rise = right - left;
  if (!(a < 0 && b > 0 && right > 0)) return false;
  double square = a + b - 2 * rise, line = 3 * rise - 2 * a - b; /* left + a s + line s^2 + square s^3 */
  double root = sqrt(fmax(line * line - 3 * a * square, 0));
  double s = -a / (line + root);
  return left + s * (a + s * (line + s * square)) < 0;
}

bool edges_bend(Edges *edges, double t, const double *y) {
  if (!edges->some_meet) return false;
  edges_evaluate(edges, t, y);
  for (int m = 0; m < edges->count; m++)
    if (edges->condition[m].meets && !isnan(edges->difference[m]) &&
        *mode_of(edges, m) != condition_value(kind_of(edges, m), edges->difference[m]))
      return true;
  return false;
}

/* Like edges_dip, but leaves the rates at the end of the step in place. */
static bool dips_until(Edges *edges, double t, const double *y, double step) {
  memcpy(edges->slope, edges->rate, (size_t)edges->count * sizeof(double));
  edges_evaluate_rates(edges, t, y);
  for (int m = 0; m < edges->count; m++)
    if (edges->condition[m].meets &&
        dips(edges->place[m].before, edges->slope[m], edges->difference[m], edges->rate[m], step))
      return true;
  return false;
}

bool edges_dip(Edges *edges, double t, const double *y, double step) {
  bool found = edges->some_meet && dips_until(edges, t, y, step);
  if (edges->some_meet) memcpy(edges->rate, edges->slope, (size_t)edges->count * sizeof(double));
  return found;
}

bool edges_pass(Edges *edges, double t, const double *y, double step) {
  if (!edges->some_meet) edges_evaluate_rates(edges, t, y);
  else if (dips_until(edges, t, y, step)) {
    memcpy(edges->rate, edges->slope, (size_t)edges->count * sizeof(double));
    return false;
  }
  keep(edges, t, step);
  return true;
}

bool edges_may_hide(const Edges *edges, int m, double step) {
  double now = edges->difference[m], before = edges->place[m].before, speed = edges->history[m].speed;
  double margin = edges_least_margin(edges, m, now, before);
  bool is_first = speed == 0 && now != before; /* the difference moves for the first time, so its speed is not known */
  return margin < fabs(now - before) + step * speed || (is_first && isfinite(margin));
}

bool edges_are_far(const Edges *edges, double step) {
  for (int m = 0; m < edges->count; m++)
    if (edges_may_hide(edges, m, step)) return false;
  return true;
}

void edges_note_peaks(Edges *edges, const double *margin) {
  for (int m = 0; m < edges->count; m++)
    if (margin[m] < HUGE_VAL && margin[m] > edges->place[m].peak) edges->place[m].peak = margin[m];
}

void edges_keep_end(Edges *edges, double step) {
  for (int m = 0; m < edges->count; m++) edges->place[m].end = edges->difference[m];
  edges->now->step = step;
}

/* ---- accumulating events ---- */

/* Do the cycles shrink by about the same ratio, so that all remaining cycles would fit into round-off of the run's length? Cycles
 * around a hysteresis do not count. */
static bool accumulates_at(Edges *edges, int m, double t, double span) {
  EventTimes *times = &edges->history[m].times;
  double cycle = t - times->before, ratio = cycle / times->cycle_before;
  bool regular = ratio < 1 && fabs(ratio - times->ratio) < GOOD_PART * ratio;
  times->regular = regular ? times->regular + 1 : 0;
  times->before = times->last;
  times->last = t;
  times->cycle_before = times->cycle;
  times->cycle = cycle;
  times->ratio = ratio;
  if (edges->history[m].slack == 0) times->falls = ratio < 1 && (times->falls || times->regular >= ATTEMPTS);
  bool accumulates = times->regular >= FEW && cycle * ratio < SOLVED * span * (1 - ratio);
  for (int k = 0; k < edges->count && accumulates; k++) accumulates = edges->history[k].slack == 0;
  return accumulates;
}

/* The largest difference of mode m seen so far. */
static double known_range(const Edges *edges, int m) {
  return fmax(edges->history[m].largest, edges_size(edges->difference[edges->count + m]));
}

/* Is the mode, or another one with the same edge, stored by a when or pre()? */
static bool is_edge_remembered(const Edges *edges, int m) {
  const Condition *condition = edges->condition;
  for (int k = 0; k < edges->count; k++)
    if (condition[k].edge == condition[m].edge && condition[k].is_remembered) return true;
  return false;
}

/* Do the modes whose events accumulate come to rest? false: no when or pre() stores one of them. */
static bool let_rest(Edges *edges, double tolerance, double span) {
  bool any = false;
  for (int m = 0; m < edges->count; m++) any = any || (edges->history[m].times.falls && is_edge_remembered(edges, m));
  for (int m = 0; m < edges->count && any; m++) {
    EdgeHistory *history = &edges->history[m];
    if (!history->times.falls) continue;
    history->slack = SEVERAL * SEVERAL * fmax(edges->place[m].peak, history->times.peak);
    history->times.hold = span;
    history->times.range = SEVERAL * SEVERAL * tolerance * fmax(known_range(edges, m), history->nominal);
    edges->place[m].peak = 0;
  }
  return any;
}

int edges_escaped(const Edges *edges, double t, double round_off) {
  for (int m = 0; m < edges->count; m++) {
    const EventTimes *times = &edges->history[m].times;
    if (times->range > 0 && edges->place[m].peak > times->range && fabs(times->last - t) <= round_off) return m;
  }
  return -1;
}

/* Sets how long the next event may be delayed: longer if an earlier delay of the mode did not end the hovering. */
static void set_hold(EventTimes *times, bool hovers, double span) {
  double hold = hovers ? times->hold : 0;
  if (times->last - times->before > hold) hold *= 2;
  times->hold = fmax(hold, NEGLIGIBLE * span);
}

/* Will events accumulate soon? Events do not accumulate if the ratio of cycles approaches 1. A single event that was located less
 * accurately changes the ratio, but not the series. */
static bool will_accumulate(const EventTimes *times, double span) {
  double ratio = times->ratio, last = SOLVED * span * (1 - ratio) / ratio;
  return times->falls && log(last / times->cycle) / log(ratio) < 2 / NEGLIGIBLE;
}

/* Did another stored mode change at a different edge within the last cycle of mode m? The edges of a thermostat
 * alternate, while noise toggles only one mode. */
static bool takes_turns(const Edges *edges, int m) {
  const Condition *condition = edges->condition;
  const EventTimes *own = &edges->history[m].times;
  if (!condition[m].is_remembered) return false;
  for (int k = 0; k < edges->count; k++) {
    double last = edges->history[k].times.last;
    bool is_between = last > own->last - own->cycle && last <= own->last;
    if (is_between && condition[k].edge != condition[m].edge && condition[k].is_remembered) return true;
  }
  return false;
}

/* The edge nearest to the last difference of mode m. */
static double nearest_edge(const Edges *edges, int m) {
  return condition_edge(kind_of(edges, m), edges->difference[m]);
}

/* Does the difference of mode m hover at its edge? Then its hysteresis grows.
 *
 * An event counts as hovering if the difference has stayed within SEVERAL * SEVERAL tolerances of its edge since the event
 * before. These tolerances are relative to the largest value of the difference so far or, if events come fast, to its nominal
 * size. After ATTEMPTS such events in a row, hysteresis grows from a small part of the tolerance up to the tolerance. It starts
 * small because it turns a bend into a jump, around which the solution may cycle. It may be larger than the tolerance only at
 * edges where rates jump anyway.
 *
 * If that does not end the hovering and events are fast, hysteresis doubles after PARTS more events. So the number of events is
 * bounded for each doubling, for any reason that keeps the solution at the edge.
 *
 * A difference may stay beyond its edge by less than the tolerance, and that may have large effects in the equations. So
 * hysteresis delays an event for a limited time only. That time doubles if the delay did not end the hovering.
 *
 * Events of a stored mode that are separated by events of other modes may be counted by the model. They count as hovering only
 * if the hysteresis, or a part of it, causes them. */
static bool let_hover(Edges *edges, int m, double tolerance, double span) {
  EdgeHistory *history = &edges->history[m];
  EventTimes *times = &history->times;
  double *slack = &history->slack, edge = nearest_edge(edges, m);
  /* The difference has crossed from the former edge to the edge that is nearest now, so it has been half-way between the
   * two. */
  double peak = fmax(edges->place[m].peak, fabs(edge - times->edge) / 2);
  times->edge = edge;
  history->largest = fmax(history->largest, edges_size(peak));
  double size = known_range(edges, m);
  bool is_fast = times->cycle < NEGLIGIBLE * span;
  if (is_fast) size = fmax(size, history->nominal);
  double limit = fmax(tolerance, history->jumps ? NEGLIGIBLE : 0) * size;
  double range = takes_turns(edges, m) ? ATTEMPTS * fmax(*slack, NEGLIGIBLE * tolerance * size)
                                       : SEVERAL * SEVERAL * fmax(*slack, tolerance * size);
  bool hovers = peak <= range && (*slack > 0 || !will_accumulate(times, span));
  set_hold(times, hovers, span);
  bool is_series = times->falls && edges->condition[m].is_remembered && fmax(peak, times->peak) <= range;
  times->range = is_series ? range : 0;
  times->peak = peak;
  edges->place[m].peak = 0;
  history->hovers = hovers ? history->hovers + 1 : 0;
  bool doubles = *slack >= limit;
  if (history->hovers < (doubles ? PARTS : ATTEMPTS) || (doubles && !is_fast)) return false;
  *slack = doubles ? 2 * *slack : fmin(fmax(GROW_MOST * *slack, NEGLIGIBLE * tolerance * size), limit);
  history->is_widened = *slack > tolerance * size;
  history->hovers = 0;
  return true;
}

bool edges_note_event(Edges *edges, int m, double t, double tolerance, double span, EdgesNote *note) {
  const EdgeHistory *history = &edges->history[m];
  bool was_widened = history->is_widened;
  if (accumulates_at(edges, m, t, span) && !let_rest(edges, tolerance, span)) return false;
  note->begins = history->slack == 0;
  note->hovers = let_hover(edges, m, tolerance, span);
  note->begins = note->begins && note->hovers;
  note->widened = note->hovers && history->is_widened && !was_widened;
  return true;
}

/* ---- events ---- */

void edges_begin(Edges *edges, int m) {
  for (int k = 0; k < edges->count && !edges->now->goes_on; k++) edges->place[k].changes = 0;
  edges->now->crossing = m;
}

void edges_locate(Edges *edges, double t, const double *y) {
  edges->now->is_located = true;
  edges_evaluate(edges, t, y);
  for (int k = 0; k < edges->count; k++) edges->place[k].at = edges->difference[k];
}

/* Do the modes change at the same edge, and are their last differences near it? */
static bool share_edge(const Edges *edges, int a, int b) {
  const Condition *condition = edges->condition;
  if (condition[a].edge != condition[b].edge || condition[b].is_timed || condition[b].meets) return false;
  double sign = condition[a].is_mirrored == condition[b].is_mirrored ? 1 : -1;
  return nearest_edge(edges, a) == sign * nearest_edge(edges, b);
}

/* The largest difference of mode m at the ends of the step that contains its event. */
static double way(const Edges *edges, int m) {
  return fmax(edges_size(edges->place[m].before), edges_size(edges->place[m].end));
}

/* Is mode m on the edge whose event was located, or on one that it was sliding along? */
static bool is_on_located_edge(const Edges *edges, int m) {
  int crossing = edges->now->crossing;
  return (crossing >= 0 && share_edge(edges, crossing, m)) || m == crossing || edges->place[m].slid;
}

/* Was the difference of mode m already beyond its edge at the beginning of the step, so that no edge could be located? */
static bool was_beyond(const Edges *edges, int m) {
  double at = edges->place[m].at, edge = condition_edge(kind_of(edges, m), at), before = edges->place[m].before;
  double near = fmax(edges_band(edges, m), PRESENT * way(edges, m));
  return !edges->place[m].slid && fmin(fabs(at - edge), fabs(before - edge)) > near && (at > edge) == (before > edge);
}

/* Is a stored mode off its edge by less than its hysteresis? At an event, of its own or of another mode, such a mode follows its
 * difference. A thermostat that switches at its lower edge has left the upper one; otherwise it would never reach the upper edge
 * again. */
static bool is_off_edge(const Edges *edges, int m) {
  return edges->history[m].slack > 0 && edges->condition[m].is_remembered && !edges->place[m].slid &&
         fabs(edges->difference[m] - nearest_edge(edges, m)) > round_off(edges, m);
}

/* A mode that contradicts its difference always changes, with one exception: if its event was located, it is beyond the edge only
 * by the error of that location. If no row depends on the mode, its rate is the same on both sides. Then the rate cannot lead back
 * to a side that is contradicted; if it seems to, errors in the columns are the cause. */
double edges_wanted(const Edges *edges, int m) {
  ConditionKind kind = kind_of(edges, m);
  double difference = edges->difference[m], edge = condition_edge(kind, difference), rate = edges->rate[m];
  if (is_undefined(edges, m)) return *mode_of(edges, m);
  if (is_off_edge(edges, m)) return condition_value(kind, difference);
  bool is_located = is_on_located_edge(edges, m) && !was_beyond(edges, m) &&
                    fabs(difference - edges->place[m].at) <= edges_band(edges, m);
  bool on_edge = is_located || fabs(difference - edge) <= edges_band(edges, m);
  if (edges->now->is_at_start) return condition_value(kind, on_edge ? edge : difference);
  bool moves = on_edge && fabs(rate) > STUCK * edges->history[m].speed, contradicts = edges_contradict(edges, m);
  double ahead = condition_value(kind, edge + copysign(0.5, rate));
  bool may_lead = edges->condition[m].matters || edges_margin_with(edges, m, ahead, difference) >= 0;
  if (moves && may_lead && (is_located || !contradicts || ahead != *mode_of(edges, m))) return ahead;
  if (on_edge && edges->place[m].rests) return condition_value(kind, edge);
  if (!on_edge || contradicts) return condition_value(kind, difference);
  return edges->now->has_begun ? *mode_of(edges, m) : condition_value(kind, edge);
}

bool edges_agree(const Edges *edges) {
  for (int m = 0; m < edges->count; m++)
    if (!edges->condition[m].is_timed && !waits(edges, m) && edges_wanted(edges, m) != *mode_of(edges, m)) return false;
  return true;
}

bool edges_all_agree(const Edges *edges) {
  for (int m = 0; m < edges->count; m++)
    if (edges_margin_with(edges, m, *mode_of(edges, m), edges->difference[m]) < 0) return false;
  return edges_agree(edges);
}

/* Modes on which the relation of mode m depends have changed. Its earlier changes do not count as chattering. */
static void count_anew(Edges *edges, int m) {
  int *changes = &edges->place[m].changes;
  if (*changes > 1 && *changes != LED_AWAY && edges->condition[m].has_inner) *changes = 1;
}

void edges_enter_start(Edges *edges, double t, const double *y) {
  edges->now->is_at_start = true;
  if (!edges->count) return;
  edges_evaluate(edges, t, y);
  edges->now->is_at_start = edges_agree(edges);
}

int edges_leave_start(Edges *edges, double t, const double *y) {
  edges->now->is_at_start = false;
  if (!edges->count) return -1;
  edges_evaluate(edges, t, y);
  edges_evaluate_rates(edges, t, y);
  for (int m = 0; m < edges->count; m++) {
    const Condition *condition = &edges->condition[m];
    if (!condition->is_timed && !condition->meets && edges_wanted(edges, m) != edges->mode[m]) return m;
  }
  return -1;
}

int edges_set(Edges *edges, double t, const double *y, bool others, bool *matter) {
  int changed = 0, limit = edges->now->one_by_one ? NEXT_STEPS : CHANGE_LIMIT;
  edges_evaluate_rates(edges, t, y);
  for (int m = 0; m < edges->count; m++) {
    if (edges->condition[m].is_timed || edges_slides(edges, m) || waits(edges, m)) continue;
    if (others || changed) count_anew(edges, m);
    if (edges->place[m].changes >= limit) continue;
    double value = edges_wanted(edges, m);
    if (value == *mode_of(edges, m)) continue;
    edges->place[m].changes++;
    *mode_of(edges, m) = value;
    *matter = *matter || edges->condition[m].matters;
    changed++;
    if (edges->now->one_by_one) break;
  }
  return changed;
}

double edges_lag(const Edges *edges) {
  double lag = 0;
  for (int m = 0; m < edges->count; m++) {
    if (!edges->place[m].changes || edges->condition[m].is_timed || is_undefined(edges, m)) continue;
    ConditionRange range = condition_range(kind_of(edges, m), *mode_of(edges, m));
    double off = fmax(range.low - edges->difference[m], edges->difference[m] - range.high);
    if (off > 0 && off <= round_off(edges, m)) lag = fmax(lag, 2 * off / fabs(edges->rate[m]));
  }
  return lag;
}

bool edges_undecided(const Edges *edges) {
  for (int m = 0; m < edges->count; m++)
    if (edges->place[m].changes >= CHANGE_LIMIT) return true;
  return false;
}

Trial edges_trial(const Edges *edges, int limit) {
  Trial trial = {.count = 0};
  for (int changed = 1; changed >= 0; changed--)
    for (int m = 0; m < edges->count && trial.count < limit; m++)
      if (edges->condition[m].may_try && !edges->condition[m].meets && !waits(edges, m) &&
          (edges->place[m].changes > 0) == changed)
        trial.mode[trial.count++] = m;
  return trial;
}

/* Gosper's next larger number with the same number of bits. */
bool trial_next(Trial *trial) {
  uint32_t set = trial->flipped, lowest = set & -set, ripple = set + lowest;
  set = lowest ? ripple | ((set ^ ripple) / lowest) >> 2 : UINT32_MAX;
  if (set >> trial->count) set = (UINT32_C(1) << ++trial->changes) - 1;
  trial->flipped = set;
  return trial->changes <= trial->count;
}

void edges_flip(Edges *edges, const Trial *trial) {
  edges_begin(edges, edges->now->crossing);
  for (int k = 0; k < trial->count; k++) {
    double mode = *mode_of(edges, trial->mode[k]);
    edges_hold(edges, trial->mode[k], trial->flipped >> k & 1 ? mode == 0 : mode);
  }
}

void edges_hold(Edges *edges, int m, double value) {
  *mode_of(edges, m) = value;
  edges->place[m].changes = CHANGE_LIMIT;
}

/* ---- sliding ---- */

/* Did the mode chatter on its edge? */
static bool is_torn(const Edges *edges, int m) {
  int changes = edges->place[m].changes;
  if (changes < CHANGE_LIMIT || changes == LED_AWAY || !edges->condition[m].has_rate) return false;
  double off = fabs(edges->difference[m] - nearest_edge(edges, m));
  return edges->place[m].slid || off <= PRESENT * way(edges, m);
}

static void add_slide(Edges *edges, int m) {
  edges->now->slide[edges->now->slides++] = (Slide){.mode = m, .weight = 0.5};
  for (int k = 0; k < edges->count; k++)
    if (!edges_slides(edges, k) && share_edge(edges, m, k)) edges->history[k].slides_with = 1 + m;
}

bool edges_slide(Edges *edges) {
  int before = edges->now->slides;
  for (int m = 0; m < edges->count && edges->now->slides < SLIDE_LIMIT; m++)
    if (!edges_slides(edges, m) && is_torn(edges, m)) add_slide(edges, m);
  return edges->now->slides > before;
}

/* Does mode m slide along the edge of the k-th slide? */
static bool is_along(const Edges *edges, int m, int k) {
  return edges->history[m].slides_with == 1 + edges->now->slide[k].mode;
}

/* Sets all modes of the k-th slide to their values above its edge, or below. */
static void set_side(const Edges *edges, int k, bool is_above) {
  const Condition *condition = edges->condition, *first = &condition[edges->now->slide[k].mode];
  for (int m = 0; m < edges->count; m++) {
    if (!is_along(edges, m, k)) continue;
    bool is_up = is_above == (condition[m].is_mirrored == first->is_mirrored);
    *mode_of(edges, m) = condition_value(condition[m].kind, nearest_edge(edges, m) + (is_up ? 0.5 : -0.5));
  }
}

/* Ends the k-th slide. */
static void drop_slide(Edges *edges, int k) {
  EdgesNow *now = edges->now;
  for (int m = 0; m < edges->count; m++)
    if (is_along(edges, m, k)) edges->history[m].slides_with = 0;
  now->slides--;
  memmove(&now->slide[k], &now->slide[k + 1], (size_t)(now->slides - k) * sizeof(Slide));
}

/* Sets the modes of the k-th slide from their last differences. */
static void set_as_they_are(const Edges *edges, int k) {
  for (int m = 0; m < edges->count; m++)
    if (is_along(edges, m, k)) *mode_of(edges, m) = condition_value(kind_of(edges, m), edges->difference[m]);
}

/* Keeps the modes of the k-th slide from sliding until the current event is over. Modes that no row depends on
 * chattered only because of other modes, and follow those. */
static void lead_away(Edges *edges, int k, bool are_led) {
  for (int m = 0; m < edges->count; m++)
    if (is_along(edges, m, k)) edges->place[m].changes = are_led ? 0 : LED_AWAY;
}

/* Returns by how much the rate of the k-th slide is larger above its edge than below; if that is negative, both rates lead back
 * to the edge. */
static double jump_of(const EdgesNow *now, int k) { return now->slide[k].rate[k + 1] - now->slide[k].rate[0]; }

/* The distance by which the weight of the k-th slide is outside of [0, 1]. It does not slide at all if its rates do not jump, or
 * lead away from the edge on both sides. */
static double fails_by(const Edges *edges, int k) {
  const Slide *slide = &edges->now->slide[k];
  bool jumps = edges->history[slide->mode].jumps && jump_of(edges->now, k) < 0;
  return jumps ? fmax(-slide->weight, slide->weight - 1) : INFINITY;
}

bool edges_leads_back(Edges *edges) {
  EdgesNow *now = edges->now;
  int worst = 0;
  for (int k = 0; k < now->slides; k++) {
    int m = now->slide[k].mode;
    double jump = jump_of(now, k);
    edges->history[m].jumps =
        jump != 0 && (edges->place[m].slid || fabs(jump) * now->step >= NEGLIGIBLE * way(edges, m));
    if (fails_by(edges, k) > fails_by(edges, worst)) worst = k;
  }
  if (!now->slides || fails_by(edges, worst) < 0) return true;
  if (now->slides > 1 && fails_by(edges, worst) < INFINITY) set_side(edges, worst, now->slide[worst].weight > 0.5);
  else set_as_they_are(edges, worst);
  if (now->slides > 1) lead_away(edges, worst, jump_of(now, worst) == 0);
  drop_slide(edges, worst);
  return false;
}

void edges_slide_along(Edges *edges, int count) {
  const EdgesNow *now = edges->now;
  while (now->slides > count) {
    int least = now->slides - 1;
    for (int k = now->slides - 1; k >= 0; k--)
      if (jump_of(now, k) > jump_of(now, least)) least = k;
    set_as_they_are(edges, least);
    lead_away(edges, least, false);
    drop_slide(edges, least);
  }
}

void edges_set_corner(Edges *edges, int corner) {
  int slides = edges->now->slides;
  for (int k = 0; k < slides; k++) set_side(edges, k, corner == k + 1 || corner > slides);
}

void edges_keep_corner(Edges *edges, int corner, double t, const double *y) {
  EdgesNow *now = edges->now;
  edges_evaluate_rates(edges, t, y);
  for (int k = 0; k < now->slides; k++) now->slide[k].rate[corner] = edges->rate[now->slide[k].mode];
}

/* Finds the weights for which all rates are zero: a linear system. false: it is singular, so no mean stays on all edges. */
static bool weigh(Edges *edges) {
  double matrix[SLIDE_LIMIT * SLIDE_LIMIT], weight[SLIDE_LIMIT];
  int n = edges->now->slides, pivot[SLIDE_LIMIT];
  for (int i = 0; i < n; i++) {
    const double *rate = edges->now->slide[i].rate;
    for (int j = 0; j < n; j++) matrix[i + j * n] = rate[0] - rate[j + 1];
    weight[i] = rate[0];
  }
  if (lu_factor(n, matrix, pivot)) return false;
  lu_solve(n, matrix, pivot, weight);
  for (int k = 0; k < n; k++) edges->now->slide[k].weight = weight[k];
  return true;
}

/* Adds differences of corners, so that columns that are equal at all corners, such as states, do not change, however large the
 * weights are. */
bool edges_mean(Edges *edges, const double *corners, int columns, double *y) {
  const EdgesNow *now = edges->now;
  if (!weigh(edges)) return false;
  memcpy(y, corners, (size_t)columns * sizeof *y);
  for (int k = 1; k <= now->slides; k++)
    for (int q = 0; q < columns; q++) y[q] += now->slide[k - 1].weight * (corners[k * columns + q] - corners[q]);
  return true;
}

bool edges_add_up(Edges *edges, double t, const double *y) {
  const EdgesNow *now = edges->now;
  edges_evaluate_rates(edges, t, y);
  for (int i = 0; i < now->slides; i++) {
    const double *rate = now->slide[i].rate;
    double off = edges->rate[now->slide[i].mode] - rate[0], size = fabs(off);
    for (int k = 1; k <= now->slides; k++) {
      off -= rate[k] - rate[0];
      size += fabs(rate[k] - rate[0]);
    }
    if (fabs(off) > PRESENT * size) return false;
  }
  return true;
}

double edges_leaving(const Edges *edges, int *mode) {
  double most = -HUGE_VAL;
  for (int k = 0; k < edges->now->slides; k++) {
    double weight = edges->now->slide[k].weight, outside = fmax(-weight, weight - 1);
    if (!(outside > most)) continue;
    most = outside;
    *mode = edges->now->slide[k].mode;
  }
  return most;
}

void edges_forget_slides(Edges *edges) {
  while (edges->now->slides) drop_slide(edges, edges->now->slides - 1);
}

void edges_leave(Edges *edges) {
  for (int k = 0; k < edges->now->slides; k++) set_side(edges, k, edges->now->slide[k].weight > 0.5);
  for (int m = 0; m < edges->count; m++) {
    if (!edges_slides(edges, m)) continue;
    edges->place[m].slid = true;
    edges->place[m].at = edges->difference[m];
  }
  edges_forget_slides(edges);
}

bool edges_slid(const Edges *edges) {
  for (int m = 0; m < edges->count; m++)
    if (edges->place[m].slid) return true;
  return false;
}
