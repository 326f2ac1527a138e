/* schedule: see schedule.h. */
#include "code/schedule.h"

#include "core/switching.h"

#include <float.h>
#include <math.h>

/* The most intervals in one search: where a condition touches its edge again and again, the remaining time is only
 * sampled. */
enum { STRETCH_LIMIT = 4096 };
/* Steps of work for one operation on intervals; intervals examined in a short search. */
enum { INTERVAL_WORK = 6, SHORT_SEARCH = 10 };

static const char SEARCH[] = "the search for time events";

typedef struct Timer {
  uint32_t mode;
  Op op;
  uint32_t size;                /* operations of both bounds */
  Enclosure *difference, *rate; /* rate NULL: without bounds */
  uint32_t held_count;          /* discrete values that the difference depends on */
  double *held;                 /* the discrete values when the difference was last examined */
  double from, until;           /* no event is between these times; from NAN: not searched yet */
  double next;                  /* the next event: at `until`, or INFINITY if nothing happens there either */
} Timer;

struct Schedule {
  Heap *heap;
  Evaluator *evaluator;
  uint32_t count;
  Timer *timer;
  double end; /* end of the run: nothing comes after it */
};

static HeldValues held_values(const Schedule *schedule) {
  const Evaluator *evaluator = schedule->evaluator;
  return (HeldValues){.parameters = evaluator->parameters, .discretes = evaluator->discretes, .pre = evaluator->pre};
}

Schedule *schedule_new(Heap *heap, Evaluator *evaluator) {
  const Modes *modes = evaluator->code->modes;
  const Dag *dag = evaluator->model->dag;
  uint32_t count = 0;
  for (uint32_t m = 0; m < modes->count; m++) count += modes->timed[m];
  if (!count) return NULL;
  Schedule *schedule = heap_alloc(heap, sizeof *schedule);
  schedule->heap = heap;
  schedule->evaluator = evaluator;
  schedule->end = INFINITY;
  schedule->timer = heap_array(heap, count, sizeof *schedule->timer);
  budget_task(heap_budget(heap), SEARCH);
  for (uint32_t m = 0; m < modes->count; m++) {
    if (!modes->timed[m]) continue;
    Timer *timer = &schedule->timer[schedule->count++];
    *timer = (Timer){.mode = m, .op = dag_op(dag, modes->relation[m]), .from = NAN};
    timer->difference = enclosure_new(heap, dag, &evaluator->scratch, modes->difference[m]);
    timer->held_count = enclosure_discretes(timer->difference);
    timer->held = heap_array(heap, timer->held_count, sizeof *timer->held);
    if (enclosure_possible(dag, &evaluator->scratch, modes->rate[m]))
      timer->rate = enclosure_new(heap, dag, &evaluator->scratch, modes->rate[m]);
    timer->size = enclosure_size(timer->difference) + (timer->rate ? enclosure_size(timer->rate) : 0);
    heap_work(heap, SHORT_SEARCH * INTERVAL_WORK * (uint64_t)timer->size);
  }
  budget_task(heap_budget(heap), NULL);
  return schedule;
}

static double difference_at(const Schedule *schedule, const Timer *timer, double t) {
  return enclosure_value(timer->difference, t, held_values(schedule));
}

static double *mode_of(const Schedule *schedule, const Timer *timer) {
  return &schedule->evaluator->discretes[schedule->evaluator->code->modes->first + timer->mode];
}

void schedule_end(Schedule *schedule, double end) { schedule->end = end; }

/* The value of the mode at t. Exception: if t is not before the end of the run, and the difference is exactly on an
 * edge at that end, it is the value there. */
static double value_at(const Schedule *schedule, const Timer *timer, double t) {
  double value = mode_value(timer->op, difference_at(schedule, timer, t));
  if (t < schedule->end) return value;
  double last = difference_at(schedule, timer, schedule->end), as_written = mode_value(timer->op, last);
  if (isnan(as_written)) return value;
  Interval range = mode_range(timer->op, as_written);
  return last == range.low || last == range.high ? as_written : value;
}

/* An undefined difference does not leave its range. */
static bool inside(Interval range, double value) { return !(value < range.low || value > range.high); }

/* May the difference be outside the range of its mode at t only because of round-off? This is so if it does not clearly move there.
 * Sides of a relation that are equal in theory, like sqrt(a/b) and sqrt(a)/sqrt(b), differ by round-off at any time. */
static bool is_round_off(const Schedule *schedule, const Timer *timer, double t) {
  Interval range = mode_range(timer->op, *mode_of(schedule, timer)), at = {t, t};
  HeldValues held = held_values(schedule);
  Interval bounds = enclosure_bounds(timer->difference, at, held);
  if (!timer->rate || bounds.high < range.low || bounds.low > range.high) return false;
  Interval rate = enclosure_bounds(timer->rate, at, held);
  return rate.low < 0 && rate.high > 0; /* a difference that does not move keeps its mode */
}

static bool is_left(const Schedule *schedule, const Timer *timer, Interval range, double t) {
  return !inside(range, difference_at(schedule, timer, t)) && !is_round_off(schedule, timer, t);
}

/* Does the mode have a different value at t? The value of a condition is that of its relation as written. */
static bool is_other(const Schedule *schedule, const Timer *timer, double t, double *value) {
  *value = value_at(schedule, timer, t);
  return !isnan(*value) && *value != *mode_of(schedule, timer) &&
         (isnan(timer->from) || !is_round_off(schedule, timer, t));
}

uint32_t schedule_changes(const Schedule *schedule, double t) {
  double value;
  for (uint32_t k = 0; k < schedule->count; k++)
    if (is_other(schedule, &schedule->timer[k], t, &value)) return schedule->timer[k].mode;
  return MAP_NONE;
}

void schedule_mark_changes(const Schedule *schedule, double t, bool *marks) {
  double value;
  for (uint32_t k = 0; k < schedule->count; k++)
    if (is_other(schedule, &schedule->timer[k], t, &value)) marks[schedule->timer[k].mode] = true;
}

uint32_t schedule_set(Schedule *schedule, double t, const bool *waits) {
  uint32_t changed = 0;
  double value;
  for (uint32_t k = 0; k < schedule->count; k++) {
    Timer *timer = &schedule->timer[k];
    if ((waits && waits[timer->mode]) || !is_other(schedule, timer, t, &value)) continue;
    *mode_of(schedule, timer) = value;
    timer->from = NAN;
    changed++;
  }
  return changed;
}

uint32_t schedule_count(const Schedule *schedule) { return schedule->count; }

/* The number of changes of a whole number is at least the difference of its values at both ends; a relation that differs at
 * the end changes once. */
double schedule_expected(const Schedule *schedule, double begin, double stop) {
  double events = 0;
  for (uint32_t k = 0; k < schedule->count; k++) {
    const Timer *timer = &schedule->timer[k];
    if (timer->held_count) continue;
    double apart = fabs(mode_value(timer->op, difference_at(schedule, timer, stop)) -
                        mode_value(timer->op, difference_at(schedule, timer, begin)));
    if (isfinite(apart)) events += apart;
  }
  return events;
}

/* The first time in (low, high] at which the difference is outside of the range, which it leaves once between them.
 * If it is exactly on the edge at the last time inside, returns that time. */
static double locate(const Schedule *schedule, const Timer *timer, Interval range, double low, double high) {
  for (;;) {
    double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) break;
    if (is_left(schedule, timer, range, middle)) high = middle;
    else low = middle;
  }
  double last = difference_at(schedule, timer, low);
  return last == range.low || last == range.high ? low : high;
}

/* Can the mode change within the interval, and if so, is the difference monotone there? */
static bool may_leave(const Schedule *schedule, const Timer *timer, Interval range, Interval stretch, bool *monotone) {
  HeldValues held = held_values(schedule);
  heap_work(schedule->heap, INTERVAL_WORK * (uint64_t)timer->size);
  Interval bounds = enclosure_bounds(timer->difference, stretch, held);
  if (bounds.low >= range.low && bounds.high <= range.high) return false;
  Interval rate = {-INFINITY, INFINITY};
  if (timer->rate) rate = enclosure_bounds(timer->rate, stretch, held);
  *monotone = rate.low >= 0 || rate.high <= 0;
  return true;
}

/* Goes through intervals from left to right, halved until each is clear or so narrow that its ends are one event. The next one
 * begins where the last ended and is as long as its place in the tree allows. */
static double find_exit(const Schedule *schedule, const Timer *timer, double from, double stop) {
  Interval range = mode_range(timer->op, *mode_of(schedule, timer));
  double width = stop - from, low = from;
  for (uint32_t looks = 0; low < stop; looks++) {
    double high = fmin(low + width, stop);
    bool monotone = false, narrow = width < 2 * (switching_behind(high) - high) || looks > STRETCH_LIMIT;
    if (!may_leave(schedule, timer, range, (Interval){low, high}, &monotone)) {
      width *= 2;
    } else if (monotone || narrow) {
      if (is_left(schedule, timer, range, high)) return locate(schedule, timer, range, low, high);
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
  for (uint32_t k = 0; k < schedule->count; k++)
    find_exit(schedule, &schedule->timer[k], switching_behind(begin), stop);
  budget_task(heap_budget(schedule->heap), NULL);
}

/* If discrete values have changed, they may change again, so a search up to the first event of all modes is enough. */
double schedule_next(Schedule *schedule, double t, double stop, double first, uint32_t *mode) {
  double value;
  *mode = MAP_NONE;
  for (uint32_t k = 0; k < schedule->count; k++) {
    Timer *timer = &schedule->timer[k];
    double end = fmin(first, stop);
    bool same = enclosure_hold(timer->difference, held_values(schedule), timer->held);
    bool is_known = same && timer->from <= t && t < timer->until && timer->until >= fmin(timer->next, end);
    if (!is_known) {
      if (same) end = stop;
      timer->next = find_exit(schedule, timer, switching_behind(t), end);
      timer->from = t;
      timer->until = fmin(timer->next, end);
    }
    bool is_behind = timer->next == schedule->end && !is_other(schedule, timer, schedule->end, &value);
    bool is_first = timer->next < first || (timer->next == first && first <= stop && *mode == MAP_NONE);
    if (!is_first || is_behind) continue;
    first = timer->next;
    *mode = timer->mode;
  }
  return first;
}
