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

void events_begin(View *view, double t, const double *y) {
  Switches *switches = view->switches;
  if (!switches) return;
  switches_evaluate(switches, t, y);
  edges_start(&switches->edges, t, y);
}

double events_next_time(View *view, double t, double stop, uint32_t *mode) {
  const Switches *switches = view->switches;
  const Evaluator *evaluator = view->evaluator;
  double next = INFINITY;
  *mode = MAP_NONE;
  if (switches && switches->decisions) next = decide_next_time(&switches->decisions->decide, t);
  if (evaluator->past) next = fmin(next, delays_next_time(past_delays(evaluator), t));
  if (evaluator->inputs) next = fmin(next, inputs_next_time(evaluator->inputs, t));
  if (next > stop) next = INFINITY;
  return switches && switches->schedule ? schedule_next(switches->schedule, t, stop, next, mode) : next;
}

/* Solves the rows with the columns marked 2 in `held` fixed; states keep their values as far as the rows allow. */
static bool solve_held(View *view, double t, double *y, uint8_t *held) {
  const System *system = &view->system;
  view->settle.disturbed = true;
  for (int32_t k = 0; k < system->links; k++)
    if (!held[system->link_from[k]]) held[system->link_from[k]] = 1;
  return view->methods->solve_holding(view, t, y, held) == EVAL_OK;
}

/* The first column that does not have the value given; MAP_NONE: all have it. */
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
    if (reset_give(view, t, marks, values, y)) lost = lost_value(view, y, held, values);
  }
  heap_free_all(heap, marks, before);
  return lost;
}

/* Applies reinit to the columns. false: its values are refused, or the rows cannot be solved with them. */
static bool reset_columns(View *view, double t, double *y) {
  Decide *decide = &view->switches->decisions->decide;
  size_t columns = (size_t)view->system.columns;
  Heap *heap = view->evaluator->heap;
  uint8_t *held = heap_array(heap, columns, sizeof *held);
  double *before = heap_copy(heap, y, columns, sizeof *y);
  decide_reinit(decide, y, held);
  edges_leave(&view->switches->edges); /* a sliding mode may be off its edge now */
  bool ok = decide->refused < 0 && solve_held(view, t, y, held);
  if (ok) reset_keep_preferred(view, t, before, held, y);
  heap_free_all(heap, held, before);
  return ok;
}

/* Records the actions that fire at the values found: assertions that fail, and whether the run must end. Returns whether a reinit
 * fires. */
static bool note_actions(View *view, double t, const double *y) {
  Decisions *decisions = view->switches->decisions;
  bool resets = false;
  const Decide *decide = &decisions->decide;
  decide_act(&decisions->decide, t, y);
  for (int a = 0; a < decide->plan.actions; a++) {
    if (!decide_fires(decide, a)) continue;
    resets = resets || decide->plan.action[a].column >= 0;
    ActionKind kind = decisions->logic->actions.data[a].kind;
    bool failed = kind == ACTION_ASSERT && decide_value(decide, a) == 0;
    if (failed || kind == ACTION_TERMINATE) vec_push(view->evaluator->heap, &view->fired, (uint32_t)a);
  }
  return resets;
}

void events_watch(View *view, double t, const double *y) {
  view->fired.count = 0;
  note_actions(view, t, y);
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

static int set(void *host, double t, const double *y, bool *matter) {
  Switches *switches = ((View *)host)->switches;
  switches->matter = *matter;
  int changed = (int)switches_set(switches, t, y);
  *matter = switches->matter;
  return changed;
}

static bool leaves_structure(void *host, double t, const double *y) {
  (void)t;
  (void)y;
  return view_restructured(host);
}

static bool act(void *host, double t, double *y, bool *is_reset) {
  View *view = host;
  if (view->sensitivity && !sensitivity_settled(view->sensitivity, t, y)) return false;
  if (!view->switches->decisions) return true;
  *is_reset = note_actions(view, t, y);
  if (*is_reset && !reset_columns(view, t, y)) return false;
  return !*is_reset || !view->sensitivity || sensitivity_reset(view->sensitivity, t, y);
}

static bool call(void *host, double t, const double *y) {
  View *view = host;
  return view->switches->decisions && decisions_admit(view->switches->decisions, t, y);
}

static bool accepted(void *host, double t, const double *y) {
  View *view = host;
  if (view->switches->decisions) decisions_accepted(view->switches->decisions);
  return !view->sensitivity || sensitivity_passed(view->sensitivity, t, y);
}

static bool end(void *host, double t, const double *y, bool is_kink) {
  View *view = host;
  if (view->switches->decisions) decisions_end(view->switches->decisions, t, y);
  if (view->evaluator->past) {
    past_note(view->evaluator, t, y, is_kink);
    switches_evaluate(view->switches, t, y);
  }
  edges_keep(&view->switches->edges, t, y, 0);
  return true;
}

static double *loop_room(void *host, int32_t n, int32_t *capacity) {
  return heap_array(((View *)host)->evaluator->heap, secant_room(n, *capacity), sizeof(double));
}

/* false: there are no such values. */
static bool make_loop(View *view, WhenLoop *loop) {
  const Decide *decide = &view->switches->decisions->decide;
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

static bool iterate(View *view, double *t, double *y, uint32_t mode) {
  static const SettleMethods methods = {solve, solve_corner, solve_at_event, set, leaves_structure,
                                        act,   accepted,     call,           end};
  Switches *switches = view->switches;
  Settle *settle = &view->settle;
  Heap *heap = view->evaluator->heap;
  size_t columns = (size_t)view->system.columns, leaves = modes_leaves(switches->modes);
  double *memory = heap_array(heap, 3 * (columns + leaves), sizeof *memory), *next = memory;
  WhenLoop loop = {0};
  settle->methods = &methods;
  settle->host = view;
  settle->edges = &switches->edges;
  settle->decide = switches->decisions ? &switches->decisions->decide : NULL;
  settle->discretes = view->evaluator->discretes;
  settle->columns = (int)columns;
  settle->leaves = (int)leaves;
  settle->may_slide = view->system.complete != NULL;
  settle->has_other_structure = view->conditions && !view->holds;
  settle->loop = settle->decide && make_loop(view, &loop) ? &loop : NULL;
  SettleBeginning *const beginnings[] = {&settle->begin, &settle->left, &settle->round};
  for (size_t k = 0; k < 3; k++, next += columns + leaves)
    *beginnings[k] = (SettleBeginning){.y = next, .discretes = next + columns};
  view->fired.count = 0;
  bool settled = settle_event(settle, t, y, mode == MAP_NONE ? -1 : (int)mode);
  heap_free_all(heap, loop.leaf, loop.before, loop.secant.update, memory);
  return settled;
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
  bool differs = view->evaluator->past && delays_pass(past_delays(view->evaluator), *t, y);
  differs = differs || is_end_of_rows(view);
  if (differs && view->methods->solve_at_event(view, *t, y) != EVAL_OK) return false;
  bool settled = iterate(view, t, y, mode);
  view->settle.disturbed = view->settle.disturbed || differs;
  return settled && (!view->sensitivity || sensitivity_event_end(view->sensitivity, *t, y));
}

bool events_resume(View *view, double *t, double *y) {
  if (view->share) share_begin(view->share, *t, y);
  if (view->switches->decisions) view->switches->decisions->decide.latches = true;
  return iterate(view, t, y, MAP_NONE);
}
