/* events: see events.h. */
#include "event/events.h"

#include "base/copy.h"
#include "code/past.h"
#include "core/constants.h"
#include "core/rounds.h"
#include "event/reset.h"
#include "event/when_loop.h"
#include "vary/sensitivity.h"
#include "view/share.h"

#include <math.h>
#include <string.h>

bool events_contradict(View *view, double t, const double *y, uint32_t *mode) {
  if (!view->switches) return false;
  switches_evaluate(view->switches, t, y);
  return switches_contradict(view->switches, mode);
}

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
  if (switches && switches->decisions) next = decisions_next_time(switches->decisions, t);
  if (evaluator->past) next = fmin(next, delays_next_time(past_delays(evaluator), t));
  if (evaluator->inputs) next = fmin(next, inputs_next_time(evaluator->inputs, t));
  if (next > stop) next = INFINITY;
  return switches && switches->schedule ? schedule_next(switches->schedule, t, stop, next, mode) : next;
}

/* ---- sliding ---- */

/* Where the rates of several modes that slide do not add up, no mean of the corners is known to be what the solution does: only the
 * first slides. */
static EvalStatus slide_if_sum(View *view, double t, double *y) {
  Switches *switches = view->switches;
  int all = switches->edges.now->slides + 1;
  if (all <= 2) return EVAL_OK;
  EvalStatus status = view->methods->solve_corner(view, t, y, all);
  if (status != EVAL_OK || !edges_add_up(&switches->edges, t, y)) edges_slide_first(&switches->edges, 1);
  return view->methods->solve(view, t, y);
}

/* Both modes of an edge lead back to it. *more: the modes that do not slide are to be looked at again. */
static EvalStatus begin_to_slide(View *view, double t, double *y, bool *more) {
  Switches *switches = view->switches;
  *more = view->system.complete && edges_slide(&switches->edges);
  if (!*more) return EVAL_OK;
  EvalStatus status = view->methods->solve(view, t, y);
  if (status == EVAL_OK) status = slide_if_sum(view, t, y);
  bool is_solved = status == EVAL_OK;
  if (!is_solved) edges_slide_first(&switches->edges, 0);
  while (!is_solved || !edges_leads_back(&switches->edges)) {
    if ((status = view->methods->solve(view, t, y)) != EVAL_OK) return status;
    is_solved = true;
  }
  *more = switches->edges.now->slides > 0;
  return EVAL_OK;
}

/* The columns and all that is discrete where an iteration of an event begins. */
typedef struct Beginning {
  double *y, *discretes;
  size_t columns, leaves;
} Beginning;

static Beginning keep_beginning(const View *view, const double *y) {
  Beginning begin = {.columns = (size_t)view->system.columns, .leaves = modes_leaves(view->switches->modes)};
  begin.y = heap_array(view->evaluator->heap, begin.columns + begin.leaves, sizeof(double));
  begin.discretes = begin.y + begin.columns;
  copy_numbers(begin.y, y, begin.columns);
  copy_numbers(begin.discretes, view->evaluator->discretes, begin.leaves);
  return begin;
}

static void go_back(View *view, const Beginning *begin, double *y) {
  copy_numbers(y, begin->y, begin->columns);
  copy_numbers(view->evaluator->discretes, begin->discretes, begin->leaves);
  edges_forget_slides(&view->switches->edges);
  view->undetermined = MAP_NONE;
}

/* Modes and all else that is discrete, with pre() held, and the columns that they lead to: until nothing changes. */
static bool iterate_rounds(View *view, double t, double *y, WhenLoop *loop) {
  Switches *switches = view->switches;
  bool is_stale = switches->decisions && switches->decisions->is_stale;
  Rounds rounds = {.few = loop ? when_loop_rounds(loop) : switches->edges.now->one_by_one ? MANY : ROUNDS};
  while (rounds_go_on(&rounds, view->evaluator->discretes, modes_leaves(switches->modes))) {
    if (loop) when_loop_begin(loop);
    switches_evaluate(switches, t, y);
    switches->matter = false;
    bool changes = switches_set(switches, t, y);
    if (!changes && !is_stale) return !view_restructured(view);
    if (changes && !switches->matter) continue;
    is_stale = false;
    if (loop) when_loop_improve(loop);
    if (view_restructured(view)) return false;
    view->disturbed = true;
    if (view->methods->solve_at_event(view, t, y) != EVAL_OK) return false;
  }
  return false;
}

/* Do but Real values of whens change in one more round? */
static bool goes_round(View *view, double t, double *y, WhenLoop *loop) {
  when_loop_begin(loop);
  switches_evaluate(view->switches, t, y);
  return switches_set(view->switches, t, y) && when_loop_is_all(loop);
}

static bool iterate_modes(View *view, double t, double *y) {
  WhenLoop *loop = when_loop_new(view);
  if (!loop) return iterate_rounds(view, t, y, NULL);
  Beginning begin = keep_beginning(view, y);
  bool settled = iterate_rounds(view, t, y, NULL);
  if (!settled && !view_restructured(view) && goes_round(view, t, y, loop)) {
    go_back(view, &begin, y);
    settled = iterate_rounds(view, t, y, loop);
  }
  when_loop_free(loop);
  heap_free(view->evaluator->heap, begin.y);
  return settled;
}

static bool settle_once(View *view, double t, double *y, uint32_t mode) {
  edges_begin(&view->switches->edges, (int)mode);
  bool more = true;
  for (int round = 0; round < SLIDE_LIMIT && more; round++)
    if (!iterate_modes(view, t, y) || begin_to_slide(view, t, y, &more) != EVAL_OK) return false;
  return true;
}

/* ---- modes that iterating does not find ---- */

/* From the beginning: do all modes agree with what follows from a combination? */
static bool try_modes(View *view, double t, double *y, const Beginning *begin, const Trial *trial) {
  go_back(view, begin, y);
  edges_flip(&view->switches->edges, trial);
  switches_follow_modes(view->switches, t, y);
  if (view->methods->solve_at_event(view, t, y) != EVAL_OK) return false;
  return iterate_modes(view, t, y) && edges_agree(&view->switches->edges);
}

/* Ideal diodes and switches in one loop decide together: a mode set alone may have no solution, or lead round in a circle. The
 * combination with the fewest changes in which all agree is taken. */
static bool enumerate_modes(View *view, double t, double *y, const Beginning *begin) {
  Trial trial = edges_trial(&view->switches->edges, TRIAL_LIMIT);
  Beginning left = keep_beginning(view, y); /* tells what the failure is, if it is one */
  bool found;
  view->disturbed = true;
  do found = try_modes(view, t, y, begin, &trial);
  while (!found && trial_next(&trial));
  if (!found) go_back(view, &left, y);
  heap_free(view->evaluator->heap, left.y);
  return found;
}

/* Is what settle_once left, if anything, a solution? */
static bool agrees(View *view, bool settled, double t, const double *y) {
  uint32_t mode;
  return settled && !(edges_undecided(&view->switches->edges) && events_contradict(view, t, y, &mode));
}

/* The equations behind an event of time may have no value at its very time. */
static bool settle_behind(View *view, double t, double *y, uint32_t mode, const Beginning *begin) {
  if (mode != MAP_NONE && !view->switches->modes->timed[mode]) return false;
  go_back(view, begin, y);
  return settle_once(view, schedule_behind(t), y, mode);
}

/* Modes and all else that is discrete, with pre() held, and other ways where iterating does not lead to a solution. A when whose
 * condition no longer holds once it has acted, as that of a block that slips, has none if it is taken as an equation: then what
 * fires acts, and what follows from it does not undo it. Modes that all change at once may cycle around a solution, as those of a
 * clutch that gets stuck: then only the first that must change does so at a time (the least-index rule of Murty 1974 for
 * complementarity problems). Modes that lead round in a circle of structures, as that of a clutch that slips with less torque than it held, are
 * taken where they lead first: what pre() remembers of it may hold them there. */
static bool settle_values(View *view, double *at, double *y, uint32_t mode) {
  Switches *switches = view->switches;
  double t = *at;
  Decisions *decisions = switches->decisions;
  bool may_retract = decisions && decisions->fires && !decisions->latches;
  Beginning begin = keep_beginning(view, y);
  if (may_retract) decisions->retracted = false;
  bool settled = settle_once(view, t, y, mode);
  if (may_retract && decisions->retracted && !view->restructured && (!settled || edges_undecided(&switches->edges))) {
    go_back(view, &begin, y);
    decisions->latches = true;
    settled = settle_once(view, t, y, mode);
    decisions->latches = false;
  }
  if (!view->restructured && !switches->edges.now->goes_on && !agrees(view, settled, t, y)) {
    go_back(view, &begin, y);
    switches->edges.now->one_by_one = true;
    settled = settle_once(view, t, y, mode);
    switches->edges.now->one_by_one = false;
  }
  bool has_other_structure = view->conditions && !view->holds;
  bool is_stuck = !settled && !view->restructured && !has_other_structure && view->undetermined == MAP_NONE;
  if (is_stuck && settle_behind(view, t, y, mode, &begin)) {
    *at = schedule_behind(t);
    settled = true;
  } else if (is_stuck) settled = enumerate_modes(view, t, y, &begin);
  switches->edges.now->goes_on = false;
  heap_free(view->evaluator->heap, begin.y);
  return settled;
}

/* Solves the rows with the columns held that have a mark, 2; states stay as far as the rows allow. */
static bool solve_held(View *view, double t, double *y, uint8_t *held) {
  const System *system = &view->system;
  view->disturbed = true;
  for (int32_t k = 0; k < system->links; k++)
    if (!held[system->link_from[k]]) held[system->link_from[k]] = 1;
  return view->methods->solve_holding(view, t, y, held) == EVAL_OK;
}

/* The first column that has not the value given; MAP_NONE: all have. */
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

/* What reinit does to the columns. false: its values are refused, or the rows cannot be solved with them. */
static bool reset_columns(View *view, double t, double *y) {
  Decisions *decisions = view->switches->decisions;
  size_t columns = (size_t)view->system.columns;
  Heap *heap = view->evaluator->heap;
  uint8_t *held = heap_array(heap, columns, sizeof *held);
  double *before = heap_copy(heap, y, columns, sizeof *y);
  decisions_reinit(decisions, y, held);
  edges_leave(&view->switches->edges); /* what slid may be off its edge now */
  bool ok = !decisions->refused && solve_held(view, t, y, held);
  if (ok) reset_keep_preferred(view, t, before, held, y);
  heap_free_all(heap, held, before);
  return ok;
}

/* Notes what fires at the values found: assertions that do not hold, and whether the run is to end. Returns whether a reinit fires. */
static bool note_actions(View *view, double t, const double *y) {
  Decisions *decisions = view->switches->decisions;
  bool resets = false;
  decisions_act(decisions, t, y);
  for (uint32_t a = 0; a < decisions->logic->actions.count; a++) {
    if (!decisions_fires(decisions, a)) continue;
    resets = resets || decisions->column[a] != MAP_NONE;
    ActionKind kind = decisions->logic->actions.data[a].kind;
    bool failed = kind == ACTION_ASSERT && decisions_value(decisions, a) == 0;
    if (failed || kind == ACTION_TERMINATE) vec_push(view->evaluator->heap, &view->fired, a);
  }
  return resets;
}

void events_watch(View *view, double t, const double *y) {
  view->fired.count = 0;
  note_actions(view, t, y);
}

/* What slid goes on in the modes of now: columns that were the mean of both sides become those of these modes. Else what a mean leaves of the
 * rates, round-off, would say where they lead. Returns whether something slid. */
static bool leave_edges(View *view, double t, double *y) {
  if (!edges_slid(&view->switches->edges)) return false;
  Beginning begin = keep_beginning(view, y);
  if (view->methods->solve(view, t, y) != EVAL_OK) copy_numbers(y, begin.y, begin.columns);
  heap_free(view->evaluator->heap, begin.y);
  return true;
}

/* pre() has other values: where it chooses between structures, and the system is made for all of them, the rows tell whether it has one. */
static bool solve_with_new_pre(View *view, double t, double *y) {
  bool has_other_structure = view->conditions && !view->holds;
  return !has_other_structure || view->methods->solve_at_event(view, t, y) == EVAL_OK;
}

static bool iterate(View *view, double *at, double *y, uint32_t mode) {
  Decisions *decisions = view->switches->decisions;
  view->disturbed = leave_edges(view, *at, y);
  edges_locate(&view->switches->edges, (int)mode, *at, y);
  view->fired.count = 0;
  Rounds rounds = {.few = MANY};
  while (rounds_go_on(&rounds, view->evaluator->discretes, modes_leaves(view->switches->modes))) {
    bool reset = false;
    view->iterations++;
    bool settled = settle_values(view, at, y, mode);
    double t = *at;
    if (decisions) decisions->latches = false;
    if (!settled || (decisions && decisions->undefined)) return false;
    if (view->sensitivity && !sensitivity_settled(view->sensitivity, t, y)) return false;
    if (decisions) {
      reset = note_actions(view, t, y);
      if (reset && !reset_columns(view, t, y)) return false;
      if (reset && view->sensitivity && !sensitivity_reset(view->sensitivity, t, y)) return false;
    }
    bool goes_on = decisions && (decisions_accept(decisions, t, y) || reset);
    if (view->sensitivity && !sensitivity_passed(view->sensitivity, t, y)) return false;
    if (goes_on && !solve_with_new_pre(view, t, y)) return false;
    if (goes_on) continue;
    if (edges_undefined(&view->switches->edges, t, y) >= 0) return false;
    if (decisions) decisions_end(decisions, t, y);
    if (view->evaluator->past) {
      past_note(view->evaluator, t, y, view->disturbed || mode != MAP_NONE);
      switches_evaluate(view->switches, t, y);
    }
    edges_keep(&view->switches->edges, t, y, 0);
    return true;
  }
  return false;
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
  view->disturbed = view->disturbed || differs;
  return settled && (!view->sensitivity || sensitivity_event_end(view->sensitivity, *t, y));
}

bool events_resume(View *view, double *t, double *y) {
  if (view->share) share_begin(view->share, *t, y);
  if (view->switches->decisions) view->switches->decisions->latches = true;
  return iterate(view, t, y, MAP_NONE);
}
