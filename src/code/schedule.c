/* schedule: see schedule.h. */
#include "code/schedule.h"

#include <float.h>
#include <math.h>

/* The most intervals in one search: if a condition touches its edge again and again, the remaining time is only sampled. */
enum { STRETCH_LIMIT = 4096 };
/* Steps of work for one operation on intervals. */
enum { INTERVAL_WORK = 6 };

static const char SEARCH[] = "the search for time events";

static HeldValues held_values(const Schedule *schedule) {
  return (HeldValues){schedule->parameters, schedule->discretes, schedule->pre};
}

static double difference_at(const Schedule *schedule, const TimerPlan *plan, double t) {
  return enclosure_value(&plan->difference, t, held_values(schedule), schedule->room);
}

static Interval bounds(const Schedule *schedule, const Enclosure *enclosure, Interval time) {
  return enclosure_bounds(enclosure, time, held_values(schedule), schedule->room);
}

static double *mode_of(const Schedule *schedule, const TimerPlan *plan) {
  return &schedule->discretes[schedule->first + plan->mode];
}

static Interval range_of(const TimerPlan *plan, double value) {
  ConditionRange range = condition_range(plan->kind, value);
  return (Interval){range.low, range.high};
}

/* The value of the mode at t. Exception: if t is not before the end of the run, and the difference is exactly on an edge at the
 * end, it is the value at the end. */
static double value_at(const Schedule *schedule, const TimerPlan *plan, double t) {
  double value = condition_value(plan->kind, difference_at(schedule, plan, t));
  if (t < *schedule->end) return value;
  double last = difference_at(schedule, plan, *schedule->end), as_written = condition_value(plan->kind, last);
  if (isnan(as_written)) return value;
  Interval range = range_of(plan, as_written);
  return last == range.low || last == range.high ? as_written : value;
}

/* An undefined difference does not leave its range. */
static bool inside(Interval range, double value) { return !(value < range.low || value > range.high); }

/* May the difference be outside the range of its mode at t only because of round-off? This is the case if the difference does
 * not clearly change there.
 * Sides of a relation that are equal in theory, like sqrt(a/b) and sqrt(a)/sqrt(b), differ by round-off at any time. */
static bool is_round_off(const Schedule *schedule, const TimerPlan *plan, double t) {
  Interval range = range_of(plan, *mode_of(schedule, plan)), at = {t, t};
  Interval difference = bounds(schedule, &plan->difference, at);
  if (!plan->rate.count || difference.high < range.low || difference.low > range.high) return false;
  Interval rate = bounds(schedule, &plan->rate, at);
  return rate.low < 0 && rate.high > 0; /* a difference that does not move keeps its mode */
}

static bool is_left(const Schedule *schedule, const TimerPlan *plan, Interval range, double t) {
  return !inside(range, difference_at(schedule, plan, t)) && !is_round_off(schedule, plan, t);
}

/* Does the mode have a different value at t? A condition has the value of its relation as written. */
static bool is_other(const Schedule *schedule, uint32_t k, double t, double *value) {
  const TimerPlan *plan = &schedule->plan.timer[k];
  *value = value_at(schedule, plan, t);
  return !isnan(*value) && *value != *mode_of(schedule, plan) &&
         (isnan(schedule->timer[k].from) || !is_round_off(schedule, plan, t));
}

static int find_change(const void *self, double t) {
  const Schedule *schedule = self;
  double value;
  for (uint32_t k = 0; k < schedule->plan.count; k++)
    if (is_other(schedule, k, t, &value)) return schedule->plan.timer[k].mode;
  return -1;
}

void schedule_mark_changes(const Schedule *schedule, double t, bool *marks) {
  double value;
  for (uint32_t k = 0; k < schedule->plan.count; k++)
    if (is_other(schedule, k, t, &value)) marks[schedule->plan.timer[k].mode] = true;
}

static int set(void *self, double t, const bool *waits) {
  Schedule *schedule = self;
  int changed = 0;
  double value;
  for (uint32_t k = 0; k < schedule->plan.count; k++) {
    const TimerPlan *plan = &schedule->plan.timer[k];
    if ((waits && waits[plan->mode]) || !is_other(schedule, k, t, &value)) continue;
    *mode_of(schedule, plan) = value;
    schedule->timer[k].from = NAN;
    changed++;
  }
  return changed;
}

/* A whole number changes at least as often as its values at both ends differ; a relation that differs at the end changes once. */
double schedule_expected(const Schedule *schedule, double begin, double stop) {
  double events = 0;
  for (uint32_t k = 0; k < schedule->plan.count; k++) {
    const TimerPlan *plan = &schedule->plan.timer[k];
    if (plan->held) continue;
    double apart = fabs(condition_value(plan->kind, difference_at(schedule, plan, stop)) -
                        condition_value(plan->kind, difference_at(schedule, plan, begin)));
    if (isfinite(apart)) events += apart;
  }
  return events;
}

/* The first time in (low, high] at which the difference is outside of the range, which it leaves once between them.
 * If it is exactly on the edge at the last time inside, returns that time. */
static double locate(const Schedule *schedule, const TimerPlan *plan, Interval range, double low, double high) {
  for (;;) {
    double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) break;
    if (is_left(schedule, plan, range, middle)) high = middle;
    else low = middle;
  }
  double last = difference_at(schedule, plan, low);
  return last == range.low || last == range.high ? low : high;
}

/* Can the mode change within the interval, and if so, is the difference monotone there? */
static bool may_leave(const Schedule *schedule, const TimerPlan *plan, Interval range, Interval stretch,
                      bool *monotone) {
  heap_work(schedule->heap, INTERVAL_WORK * ((uint64_t)plan->difference.count + plan->rate.count));
  Interval difference = bounds(schedule, &plan->difference, stretch);
  if (difference.low >= range.low && difference.high <= range.high) return false;
  Interval rate = plan->rate.count ? bounds(schedule, &plan->rate, stretch) : INTERVAL_WHOLE;
  *monotone = rate.low >= 0 || rate.high <= 0;
  return true;
}

/* Goes through intervals from left to right. Each interval is halved until the answer is clear, or the interval is so narrow that
 * its ends are one event. The next one begins where the last ended and is as long as its place in the tree allows. */
static double find_exit(const Schedule *schedule, const TimerPlan *plan, double from, double stop) {
  Interval range = range_of(plan, *mode_of(schedule, plan));
  double width = stop - from, low = from;
  for (uint32_t looks = 0; low < stop; looks++) {
    double high = fmin(low + width, stop);
    bool monotone = false, narrow = width < 2 * (switching_behind(high) - high) || looks > STRETCH_LIMIT;
    if (!may_leave(schedule, plan, range, (Interval){low, high}, &monotone)) {
      width *= 2;
    } else if (monotone || narrow) {
      if (is_left(schedule, plan, range, high)) return locate(schedule, plan, range, low, high);
      width = looks > STRETCH_LIMIT ? fmax(width, (stop - from) / STRETCH_LIMIT) : 2 * width;
    } else {
      width /= 2;
      continue;
    }
    low = high;
  }
  return INFINITY;
}

void schedule_count_work(const Schedule *schedule, double begin, double stop) {
  budget_task(heap_budget(schedule->heap), SEARCH);
  for (uint32_t k = 0; k < schedule->plan.count; k++)
    find_exit(schedule, &schedule->plan.timer[k], switching_behind(begin), stop);
  budget_task(heap_budget(schedule->heap), NULL);
}

/* If discrete values have changed, they may change again, so a search up to the first event of all modes is enough. */
static double find_next(void *self, double t, double stop, double first, int *mode) {
  Schedule *schedule = self;
  double value, *held = schedule->held;
  *mode = -1;
  for (uint32_t k = 0; k < schedule->plan.count; k++) {
    const TimerPlan *plan = &schedule->plan.timer[k];
    Timer *timer = &schedule->timer[k];
    double end = fmin(first, stop);
    bool same = enclosure_hold(&plan->difference, held_values(schedule), held);
    bool is_known = same && timer->from <= t && t < timer->until && timer->until >= fmin(timer->next, end);
    held += plan->held;
    if (!is_known) {
      if (same) end = stop;
      timer->next = find_exit(schedule, plan, switching_behind(t), end);
      timer->from = t;
      timer->until = fmin(timer->next, end);
    }
    bool is_behind = timer->next == *schedule->end && !is_other(schedule, k, *schedule->end, &value);
    bool is_first = timer->next < first || (timer->next == first && first <= stop && *mode < 0);
    if (!is_first || is_behind) continue;
    first = timer->next;
    *mode = plan->mode;
  }
  return first;
}

const SwitchingTimed schedule_timed = {set, find_change, find_next};
