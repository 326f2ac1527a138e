/* switching: see switching.h. */
#include "core/switching.h"

#include "core/constants.h"
#include "core/rounds.h"

#include <float.h>
#include <math.h>

double switching_behind(double t) { return t + fmax(8 * DBL_EPSILON * fabs(t), 1e-15); }

static int set_timed(Switching *switching, double t, const double *y) {
  double at = switching->edges->now->is_at_start ? t : switching_behind(t);
  return switching->methods->set_timed(switching->host, t, at, y);
}

int switching_set(Switching *switching, double t, const double *y, bool *matter) {
  Decide *decide = switching->decide;
  int changed = set_timed(switching, t, y);
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
    matter = set_timed(switching, t, y); /* these count even if other values are undefined at the guess */
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
  now->is_at_start = now->is_at_start && switching->methods->timed_change(switching->host, t, y) < 0;
}

int switching_leave_start(Switching *switching, double t, const double *y) {
  int mode = edges_leave_start(switching->edges, t, y);
  return mode >= 0 ? mode : switching->methods->timed_change(switching->host, switching_behind(t), y);
}

void switching_begin(Switching *switching, double t, const double *y) {
  edges_evaluate(switching->edges, t, y);
  edges_start(switching->edges, t, y);
}

double switching_next_time(Switching *switching, double t, double until, int *mode) {
  double first = switching->decide ? decide_next_time(switching->decide, t) : HUGE_VAL;
  if (switching->delays) first = fmin(first, delays_next_time(switching->delays, t));
  *mode = -1;
  return switching->methods->next_timed(switching->host, t, until, first <= until ? first : HUGE_VAL, mode);
}
