/* timed: conditions whose differences are linear in time, so that they are known in advance, and the next time event. */
#include "solver.h"

#include <float.h>
#include <math.h>

static bool has_timed(const Model *model) {
  for (int m = 0; m < model->modes; m++)
    if (model->mode[m].is_timed) return true;
  return false;
}

static int set(void *host, double t, double at, const double *y) {
  Solver *solver = host;
  const Model *model = solver->model;
  int changed = 0;
  (void)t;
  if (!has_timed(model)) return 0;
  program_run(solver, model->conditions, at, y, solver->values);
  for (int m = 0; m < model->modes; m++) {
    if (!model->mode[m].is_timed || !isfinite(solver->values[m])) continue;
    double value = condition_value(model->mode[m].kind, solver->values[m]);
    changed += value != solver->edges.mode[m];
    solver->edges.mode[m] = value;
  }
  return changed;
}

static int find_changed(void *host, double t, const double *y) {
  Solver *solver = host;
  const Model *model = solver->model;
  if (!has_timed(model)) return -1;
  program_run(solver, model->conditions, t, y, solver->values);
  for (int m = 0; m < model->modes; m++)
    if (model->mode[m].is_timed && isfinite(solver->values[m]) &&
        condition_value(model->mode[m].kind, solver->values[m]) != solver->edges.mode[m])
      return m;
  return -1;
}

/* Is the difference of a timed mode outside of its range at t? */
static bool is_left(Solver *solver, int m, ConditionRange range, double t) {
  program_run(solver, solver->model->conditions, t, solver->y, solver->values);
  return solver->values[m] < range.low || solver->values[m] > range.high;
}

/* The first time near t at which the difference is outside of the range; if the last time inside is exactly on the edge, that
 * time. */
static double locate_timed(Solver *solver, int m, ConditionRange range, double least, double t) {
  double low = t, high = t;
  for (double way = DBL_EPSILON * fabs(t); !is_left(solver, m, range, high) && way < HUGE_VAL; way *= 2) high = t + way;
  for (double way = DBL_EPSILON * fabs(t); low > least && is_left(solver, m, range, low); way *= 2)
    low = fmax(t - way, least);
  for (;;) {
    double middle = low + (high - low) / 2;
    if (!(middle > low && middle < high)) break;
    if (is_left(solver, m, range, middle)) high = middle;
    else low = middle;
  }
  is_left(solver, m, range, low);
  return solver->values[m] == range.low || solver->values[m] == range.high ? low : high;
}

/* A mode that is linear in time changes when its difference reaches the edge of its range. Only a change before `first` counts. */
static double next_change(Solver *solver, int m, double t, double rate, double difference, double first) {
  ConditionRange range = condition_range(solver->model->mode[m].kind, solver->edges.mode[m]);
  double edge = rate > 0 ? range.high : range.low, least = switching_behind(t);
  if (rate == 0 || !isfinite(edge) || !isfinite(difference)) return HUGE_VAL;
  double next = fmax(least + (edge - difference) / rate, least);
  return next < first ? locate_timed(solver, m, range, least, next) : next;
}

static double find_next(void *host, double t, double until, double first, int *mode) {
  Solver *solver = host;
  const Model *model = solver->model;
  (void)until;
  if (!has_timed(model)) return first;
  edges_evaluate_rates(&solver->edges, t, solver->y);
  program_run(solver, model->conditions, switching_behind(t), solver->y, solver->differences);
  for (int m = 0; m < model->modes; m++) {
    double difference = solver->differences[m];
    double next =
        model->mode[m].is_timed ? next_change(solver, m, t, solver->edges.rate[m], difference, first) : HUGE_VAL;
    if (next < first) first = next, *mode = m;
  }
  return first;
}

static void write_differences(void *host, double t, const double *y, double *out) {
  program_run(host, ((Solver *)host)->model->written, t, y, out);
}

const SwitchingHost timed_methods = {write_differences, set, find_changed, find_next, 0};
