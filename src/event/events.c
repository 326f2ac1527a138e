/* events: see events.h. */
#include "event/events.h"

#include "base/copy.h"
#include "code/past.h"
#include "core/constants.h"
#include "event/reset.h"
#include "vary/sensitivity.h"
#include "view/model_jump.h"

#include <math.h>
#include <string.h>

/* Solves the rows with the columns marked 2 in `held` fixed; states keep their values as far as the rows allow. */
static bool solve_held(View *view, double t, double *y, uint8_t *held) {
  const System *system = &view->system;
  for (int32_t k = 0; k < system->links; k++)
    if (!held[system->link_from[k]]) held[system->link_from[k]] = 1;
  return view->methods->solve_holding(view, t, y, held) == EVAL_OK;
}

static ResetPlan reset_plan(const View *view) {
  return (ResetPlan){view->evaluator->heap, &view->system, view->preferred.data, view->preferred.count};
}

/* The first column that does not have its given value; MAP_NONE: all have it. */
static uint32_t lost_value(const View *view, const double *y, const uint8_t *held, const double *values) {
  for (uint32_t q = 0; q < (uint32_t)view->system.columns; q++)
    if (held[q] && !(fabs(y[q] - values[q]) <= SAME * (fabs(values[q]) + view->system.nominal[q]))) return q;
  return MAP_NONE;
}

uint32_t events_reset(View *view, double t, double *y, const uint8_t *held, const double *values) {
  Heap *heap = view->evaluator->heap;
  size_t columns = (size_t)view->system.columns;
  uint8_t *marks = heap_array(heap, columns, sizeof *marks);
  double *before = heap_copy(heap, y, columns, sizeof *y);
  if (view->model_jump) model_jump_begin(view->model_jump, t, y);
  for (size_t q = 0; q < columns; q++)
    if (held[q]) marks[q] = 2, y[q] = values[q];
  if (!solve_held(view, t, y, marks)) memcpy(y, before, columns * sizeof *y);
  uint32_t lost = lost_value(view, y, held, values);
  if (lost != MAP_NONE) {
    memcpy(y, before, columns * sizeof *y);
    ResetPlan plan = reset_plan(view);
    if (reset_give(&plan, t, marks, values, y)) lost = lost_value(view, y, held, values);
  }
  heap_free_all(heap, marks, before);
  return lost;
}

/* ---- the host of settle.h ---- */

static bool solve(void *host, double t, double *y) {
  View *view = host;
  return view->methods->solve(view, t, y) == EVAL_OK;
}

static bool solve_corner(void *host, double t, double *y, int corner) {
  View *view = host;
  return view->methods->solve_corner(view, t, y, corner) == EVAL_OK;
}

static bool solve_at_event(void *host, double t, double *y) {
  View *view = host;
  return view->methods->solve_at_event(view, t, y) == EVAL_OK;
}

static bool drift(void *host, double by, double *y) { return system_drift(&((View *)host)->system, by, y); }

static bool solve_holding(void *host, double t, double *y, unsigned char *held, const double *before) {
  View *view = host;
  if (!solve_held(view, t, y, held)) return false;
  ResetPlan plan = reset_plan(view);
  reset_keep_preferred(&plan, t, before, held, y);
  return !view->sensitivity || sensitivity_reset(view->sensitivity, t, y);
}

static bool leaves_structure(void *host, double t, const double *y) {
  (void)t;
  (void)y;
  return view_restructured(host);
}

/* Failed assertions, and the end of the run, are left to the caller. */
static void fires(void *host, int action, double t, const double *y) {
  View *view = host;
  (void)t, (void)y;
  vec_push(view->evaluator->heap, &view->fired, (uint32_t)action);
}

static bool agreed(void *host, double t, const double *y) {
  View *view = host;
  return !view->sensitivity || sensitivity_settled(view->sensitivity, t, y);
}

static bool accepted(void *host, double t, const double *y) {
  View *view = host;
  return !view->sensitivity || sensitivity_passed(view->sensitivity, t, y);
}

static void end(void *host, const double *y) {
  View *view = host;
  (void)y;
  if (view->evaluator->past) past_reserve(view->evaluator->past);
}

static Settle *host_settle(View *view) {
  static const SettleMethods methods = {solve, solve_corner, solve_at_event, drift, solve_holding, leaves_structure,
                                        fires, agreed,       accepted,       end};
  Settle *settle = &view->settle;
  settle->methods = &methods;
  settle->host = view;
  settle->heap = view->evaluator->heap;
  settle->switching = &view->switches->switching;
  settle->switching->delays = view->evaluator->past ? past_delays(view->evaluator) : NULL;
  settle->discretes = view->evaluator->discretes;
  settle->columns = view->system.columns;
  settle->may_slide = view->system.complete != NULL;
  settle->has_other_structure = view->conditions && !view->holds;
  return settle;
}

void events_watch(View *view, double t, const double *y) {
  view->fired.count = 0;
  settle_watch(host_settle(view), t, y);
}

void events_begin(View *view, double t, const double *y) {
  if (view->switches) switching_begin(&view->switches->switching, t, y);
}

double events_next_time(View *view, double t, double stop, int *mode) {
  *mode = -1;
  return view->switches ? switching_next_time(host_settle(view)->switching, t, stop, mode) : INFINITY;
}

bool events_settle(View *view, double *t, double *y, uint32_t mode) {
  if (view->sensitivity && !sensitivity_event(view->sensitivity, *t, y, mode)) return false;
  if (view->model_jump) model_jump_begin(view->model_jump, *t, y);
  view->fired.count = 0;
  return settle_event(host_settle(view), t, y, mode == MAP_NONE ? -1 : (int)mode) &&
         (!view->sensitivity || sensitivity_event_end(view->sensitivity, *t, y));
}

bool events_resume(View *view, double *t, double *y) {
  if (view->model_jump) model_jump_begin(view->model_jump, *t, y);
  view->fired.count = 0;
  return settle_resume(host_settle(view), t, y);
}
