/* schedule: the times at which modes that depend only on time change. Their times are found in advance, by bounds over
 * intervals of time, so that even the shortest pulse is not missed. The integrator stops at them and never searches.
 *
 * The host owns all memory. Exported solvers contain this file unchanged. */
#pragma once

#include "base/heap.h"
#include "core/switching.h"
#include "expr/enclosure.h"

/* A timed mode: the part that belongs to the plan. */
typedef struct TimerPlan {
  int mode;
  ConditionKind kind;
  Enclosure difference, rate; /* a rate without steps has no bounds */
  uint32_t held;              /* number of discrete values on which the difference depends */
} TimerPlan;

typedef struct SchedulePlan {
  uint32_t count;
  const TimerPlan *timer;
  uint32_t room, held; /* largest number of steps of a difference or a rate; number of discrete values of all timers */
} SchedulePlan;

typedef struct Timer {
  double from, until; /* no event is between these times; `from` NAN: not searched yet */
  double next;        /* the next event: at `until`, or HUGE_VAL if nothing happens there either */
} Timer;

typedef struct Schedule {
  SchedulePlan plan;
  Timer *timer;
  double *held; /* the discrete values when each difference was last examined */
  Interval *room;
  Heap *heap; /* counts the work */
  const double *parameters, *pre;
  double *discretes;
  int first; /* the discrete value of mode 0 */
  /* The end of the run. A relation that would change only after it does not change: at the end `time > end` is false. */
  const double *end;
} Schedule;

/* The methods of switching.h; the object is a Schedule. */
extern const SwitchingTimed schedule_timed;

/* Forgets all searches: a run begins, or parameters have changed. */
static inline void schedule_forget(Schedule *schedule) {
  for (uint32_t k = 0; k < schedule->plan.count; k++) schedule->timer[k].from = NAN;
}

/* Marks the modes whose values at t differ from their present ones. */
void schedule_mark_changes(const Schedule *schedule, double t, bool *marks);

/* A lower bound for the number of events from `begin` to `stop`. O(modes). */
double schedule_expected(const Schedule *schedule, double begin, double stop);

/* Searches for the first event of each mode after `begin` only to count the work. A search that costs too much is refused before
 * the run, whose events search in the same way. */
void schedule_count_work(const Schedule *schedule, double begin, double stop);
