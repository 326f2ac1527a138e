/* switching: see switching.h. */
#include "core/switching.h"

#include "core/constants.h"
#include "core/rounds.h"

#include <float.h>
#include <math.h>

double switching_behind(double t) { return t + fmax(8 * DBL_EPSILON * fabs(t), 1e-15); }

/* Sets the conditions that depend only on time to their values just after an event at t, and the inputs. */
static int set_timed(Switching *switching, double t) {
  const Edges *edges = switching->edges;
  int changed = 0;
  if (switching->timed)
    changed =
        switching->timed->set(switching->schedule, edges->now->is_at_start ? t : switching_behind(t), edges->waits);
  if (switching->methods->set_inputs) changed += switching->methods->set_inputs(switching->host, t);
  return changed;
}

/* The first condition on time whose value at t is not its present one; -1: none. */
static int timed_change(const Switching *switching, double t) {
  return switching->timed ? switching->timed->find_change(switching->schedule, t) : -1;
}

int switching_set(Switching *switching, double t, const double *y, bool *matter) {
  Decide *decide = switching->decide;
  int changed = set_timed(switching, t);
  *matter = *matter || changed;
  changed += edges_set(switching->edges, t, y, changed, matter);
  if (!decide) return changed;
  decide->matter = false;
  changed += decide_set(decide, t, y);
  *matter = *matter || decide->matter;
  return changed;
}

bool switching_guess(Switching *switching, double t, const double *y) {
  bool matter = false;
  if (switching->edges->count) {
    matter = set_timed(switching, t); /* these are set even if other values are undefined at the guess */
    switching->methods->written(switching->host, t, y, switching->edges->difference);
  }
  switching_set(switching, t, y, &matter);
  return matter;
}

bool switching_settle(Switching *switching, double t, const double *y) {
  bool (*call)(void *host, double t, const double *y) = switching->methods->call;
  bool matter = false;
  for (int round = 0; round <= switching->leaves && !matter; round++) {
    edges_evaluate(switching->edges, t, y);
    if (!switching_set(switching, t, y, &matter) && !(call && call(switching->host, t, y))) return false;
  }
  return matter;
}

SwitchingStart switching_start(Switching *switching, const SwitchingColumns *columns, double t) {
  Rounds rounds = {.few = ROUNDS};
  bool has_failed = false;
  while (rounds_go_on(&rounds, switching->discretes, (size_t)switching->leaves)) {
    const double *y;
    bool is_solved = columns->solve(columns->host, t, has_failed, &y);
    bool has_moved = switching->delays && delays_guess(switching->delays, t, y);
    has_failed = has_failed || !is_solved;
    if (!is_solved && !switching_guess(switching, t, y)) return START_FAILS;
    if (is_solved && !has_moved && !switching_settle(switching, t, y)) return START_AGREES;
  }
  return START_CHANGES;
}

void switching_enter_start(Switching *switching, double t, const double *y) {
  EdgesNow *now = switching->edges->now;
  edges_enter_start(switching->edges, t, y);
  now->is_at_start = now->is_at_start && timed_change(switching, t) < 0;
}

int switching_leave_start(Switching *switching, double t, const double *y) {
  int mode = edges_leave_start(switching->edges, t, y);
  return mode >= 0 ? mode : timed_change(switching, switching_behind(t));
}

void switching_begin(Switching *switching, double t, const double *y) {
  edges_evaluate(switching->edges, t, y);
  edges_start(switching->edges, t, y);
}

double switching_next_time(Switching *switching, double t, double until, int *mode) {
  const SwitchingHost *methods = switching->methods;
  double first = switching->decide ? decide_next_time(switching->decide, t) : HUGE_VAL;
  if (switching->delays) first = fmin(first, delays_next_time(switching->delays, t));
  if (methods->next_input) first = fmin(first, methods->next_input(switching->host, t));
  if (first > until) first = HUGE_VAL;
  *mode = -1;
  return switching->timed ? switching->timed->find_next(switching->schedule, t, until, first, mode) : first;
}
