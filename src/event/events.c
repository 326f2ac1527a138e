/* events: see events.h. */
#include "event/events.h"

#include "base/copy.h"
#include "code/past.h"
#include "core/constants.h"
#include "event/reset.h"
#include "vary/sensitivity.h"
#include "view/share.h"

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
  if (view->share) share_begin(view->share, t, y);
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

static double *loop_room(void *host, int32_t n, int32_t *capacity) {
  return heap_array(((View *)host)->evaluator->heap, secant_room(n, *capacity), sizeof(double));
}

/* false: there are no such values. */
static bool make_loop(View *view, WhenLoop *loop) {
  const Decide *decide = view->switches->switching.decide;
  Heap *heap = view->evaluator->heap;
  size_t count = (size_t)when_loop_count(decide), all = (size_t)decide->plan.all;
  if (!count) return false;
  double *memory = heap_array(heap, all + 3 * count, sizeof *memory);
  *loop = (WhenLoop){.decide = decide, .room = loop_room, .host = view, .before = memory};
  loop->leaf = heap_array(heap, count, sizeof *loop->leaf);
  loop->step = memory + all;
  loop->next = loop->step + count;
  loop->weight = loop->next + count;
  when_loop_list(loop);
  return true;
}

static Settle *host_settle(View *view) {
  static const SettleMethods methods = {solve, solve_corner, solve_at_event, drift, solve_holding, leaves_structure,
                                        fires, agreed,       accepted,       end};
  Settle *settle = &view->settle;
  settle->methods = &methods;
  settle->host = view;
  settle->switching = &view->switches->switching;
  settle->switching->delays = view->evaluator->past ? past_delays(view->evaluator) : NULL;
  settle->discretes = view->evaluator->discretes;
  settle->columns = view->system.columns;
  settle->may_slide = view->system.complete != NULL;
  settle->has_other_structure = view->conditions && !view->holds;
  return settle;
}

static bool iterate(View *view, double *t, double *y, int mode, bool resumes) {
  Settle *settle = host_settle(view);
  Heap *heap = view->evaluator->heap;
  size_t columns = (size_t)settle->columns, leaves = (size_t)settle->switching->leaves;
  double *memory = heap_array(heap, 3 * (columns + leaves), sizeof *memory), *next = memory;
  WhenLoop loop = {0};
  view->fired.count = 0;
  settle->loop = settle->switching->decide && make_loop(view, &loop) ? &loop : NULL;
  settle->held = heap_array(heap, columns, sizeof *settle->held);
  SettleBeginning *const beginnings[] = {&settle->begin, &settle->left, &settle->round};
  for (size_t k = 0; k < 3; k++, next += columns + leaves)
    *beginnings[k] = (SettleBeginning){.y = next, .discretes = next + columns};
  bool settled = resumes ? settle_resume(settle, t, y) : settle_event(settle, t, y, mode);
  heap_free_all(heap, loop.leaf, loop.before, loop.secant.update, settle->held, memory);
  return settled;
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
  if (view->share) share_begin(view->share, *t, y);
  return iterate(view, t, y, mode == MAP_NONE ? -1 : (int)mode, false) &&
         (!view->sensitivity || sensitivity_event_end(view->sensitivity, *t, y));
}

bool events_resume(View *view, double *t, double *y) {
  if (view->share) share_begin(view->share, *t, y);
  return iterate(view, t, y, -1, true);
}
