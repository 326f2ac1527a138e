/* settle: see settle.h. */
#include "core/settle.h"

#include "core/constants.h"
#include "core/rounds.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void keep(const Settle *settle, const double *y, SettleBeginning *begin) {
  memcpy(begin->y, y, (size_t)settle->columns * sizeof(double));
  memcpy(begin->discretes, settle->discretes, (size_t)settle->switching->leaves * sizeof(double));
}

static void go_back(Settle *settle, const SettleBeginning *begin, double *y) {
  memcpy(y, begin->y, (size_t)settle->columns * sizeof(double));
  memcpy(settle->discretes, begin->discretes, (size_t)settle->switching->leaves * sizeof(double));
  edges_forget_slides(settle->switching->edges);
  settle->undetermined = SETTLE_NONE;
}

/* ---- sliding ---- */

/* If the effects of several sliding modes are not additive, no mean of the corners is known to be the solution. Then only one
 * of them slides. */
static bool slide_if_sum(Settle *settle, double t, double *y) {
  Edges *edges = settle->switching->edges;
  int all = edges->now->slides + 1;
  if (all <= 2) return true;
  if (!settle->methods->solve_corner(settle->host, t, y, all) || !edges_add_up(edges, t, y))
    edges_slide_along(edges, 1);
  return settle->methods->solve(settle->host, t, y);
}

/* Both modes of an edge lead back to it. *more: the modes that do not slide must be set again. */
static bool begin_to_slide(Settle *settle, double t, double *y, bool *more) {
  Edges *edges = settle->switching->edges;
  *more = settle->may_slide && edges_slide(edges);
  if (!*more) return true;
  bool is_solved = settle->methods->solve(settle->host, t, y) && slide_if_sum(settle, t, y);
  while (!is_solved || !edges_leads_back(edges)) {
    if (!is_solved && !edges->now->slides) return false;
    if (!is_solved) edges_slide_along(edges, edges->now->slides - 1);
    is_solved = settle->methods->solve(settle->host, t, y);
  }
  *more = edges->now->slides > 0;
  return true;
}

/* Stops sliding: columns that were the mean of both sides become those of the current modes. Otherwise the direction of the
 * rates would depend on the round-off that the mean leaves in them. Returns whether something slid. */
static bool leave_edges(Settle *settle, double t, double *y) {
  if (!edges_slid(settle->switching->edges)) return false;
  keep(settle, y, &settle->begin);
  if (!settle->methods->solve(settle->host, t, y)) memcpy(y, settle->begin.y, (size_t)settle->columns * sizeof(double));
  return true;
}

/* ---- modes ---- */

/* Sets modes and other discrete values, with pre() held, and solves the columns, until nothing changes. */
static bool iterate_rounds(Settle *settle, double t, double *y, WhenLoop *loop) {
  bool is_stale = settle->switching->decide && settle->switching->decide->is_stale;
  settle->switching->edges->now->keeps_rates = !settle->looks_ahead;
  Rounds rounds = {.few = loop ? when_loop_rounds(loop) : settle->switching->edges->now->one_by_one ? MANY : ROUNDS};
  while (rounds_go_on(&rounds, settle->discretes, (size_t)settle->switching->leaves)) {
    bool matter = false;
    if (loop) when_loop_begin(loop);
    edges_evaluate(settle->switching->edges, t, y);
    bool changes = switching_set(settle->switching, t, y, &matter) > 0;
    settle->switching->edges->now->keeps_rates = true;
    if (!changes && !is_stale) return !settle->methods->leaves_structure(settle->host, t, y);
    if (changes && !matter) continue;
    is_stale = false;
    if (loop) when_loop_improve(loop);
    double lag = edges_lag(settle->switching->edges);
    if (lag > 0) settle->methods->drift(settle->host, lag, y);
    if (settle->methods->leaves_structure(settle->host, t, y)) return false;
    settle->disturbed = true;
    if (!settle->methods->solve_at_event(settle->host, t, y)) return false;
  }
  return false;
}

/* Does one more round change anything except Real values of whens? */
static bool goes_round(Settle *settle, double t, double *y) {
  bool matter = false;
  when_loop_begin(settle->loop);
  edges_evaluate(settle->switching->edges, t, y);
  return switching_set(settle->switching, t, y, &matter) && when_loop_is_all(settle->loop);
}

static bool iterate_with_loop(Settle *settle, double t, double *y) {
  keep(settle, y, &settle->round);
  if (iterate_rounds(settle, t, y, 0)) return true;
  if (settle->methods->leaves_structure(settle->host, t, y) || !goes_round(settle, t, y)) return false;
  go_back(settle, &settle->round, y);
  settle->loop->is_begun = false;
  return iterate_rounds(settle, t, y, settle->loop);
}

static bool iterate_modes(Settle *settle, double t, double *y) {
  bool settled = settle->loop ? iterate_with_loop(settle, t, y) : iterate_rounds(settle, t, y, 0);
  settle->switching->edges->now->keeps_rates = false;
  return settled;
}

static bool settle_once(Settle *settle, double t, double *y, int mode) {
  edges_begin(settle->switching->edges, mode);
  bool more = true;
  for (int round = 0; round < SLIDE_LIMIT && more; round++)
    if (!iterate_modes(settle, t, y) || !begin_to_slide(settle, t, y, &more)) return false;
  return true;
}

/* ---- modes that the iteration does not find ---- */

/* Starts again from the beginning. Do all modes agree with the consequences of a combination? */
static bool try_modes(Settle *settle, double t, double *y, const Trial *trial) {
  go_back(settle, &settle->begin, y);
  edges_flip(settle->switching->edges, trial);
  for (int round = 0;
       settle->switching->decide && round < settle->switching->leaves && decide_set(settle->switching->decide, t, y);
       round++)
    continue;
  if (!settle->methods->solve_at_event(settle->host, t, y)) return false;
  return iterate_modes(settle, t, y) && edges_agree(settle->switching->edges);
}

/* Ideal diodes and switches in one loop must be set together: after changing only one mode there may be no solution, or a cycle.
 * Takes the combination with the fewest changes for which all modes agree with their differences. */
static bool enumerate_modes(Settle *settle, double t, double *y) {
  Trial trial = edges_trial(settle->switching->edges, TRIAL_LIMIT);
  bool found;
  settle->disturbed = true;
  keep(settle, y, &settle->left); /* describes the failure, if nothing else is found */
  do found = try_modes(settle, t, y, &trial);
  while (!found && trial_next(&trial));
  if (!found) go_back(settle, &settle->left, y);
  return found;
}

/* Is the result of settle_once, if there is one, a solution? */
static bool agrees(Settle *settle, bool settled, double t, const double *y) {
  if (!settled || !edges_undecided(settle->switching->edges)) return settled;
  edges_evaluate(settle->switching->edges, t, y);
  return edges_first_contradiction(settle->switching->edges) < 0;
}

/* The equations after a time event may be undefined exactly at the time of the event. */
static bool settle_later(Settle *settle, double *t, double *y, int mode) {
  double behind = switching_behind(*t);
  if (mode >= 0 && !settle->switching->edges->condition[mode].is_timed) return false;
  go_back(settle, &settle->begin, y);
  if (!settle_once(settle, behind, y, mode)) return false;
  *t = behind;
  return true;
}

/* Finds modes and other discrete values with pre() held. If the iteration finds no solution, other ways are tried: The
 * condition of a when may no longer hold once the when has acted, as for a block that begins to slip. Read as an equation, this
 * has no solution. A when that has fired then acts, even if its condition is false afterwards.
 *
 * Modes that all change at once may cycle around a solution, as the modes of a clutch that gets stuck do. Then only the first
 * of the modes that must change changes (the least-index rule of Murty 1974 for complementarity problems).
 *
 * Modes may pass through a cycle of structures, as for a clutch that slips with less torque than it held. Then the first of
 * these structures is used, if pre() can keep the modes there. */
static bool settle_values(Settle *settle, double *t, double *y, int mode) {
  Edges *edges = settle->switching->edges;
  Decide *decide = settle->switching->decide;
  bool may_retract = decide && !decide->latches;
  keep(settle, y, &settle->begin);
  if (may_retract) decide->retracted = false;
  bool settled = settle_once(settle, *t, y, mode);
  if (may_retract && decide->retracted && !settle->restructured && (!settled || edges_undecided(edges))) {
    go_back(settle, &settle->begin, y);
    decide->latches = true;
    settled = settle_once(settle, *t, y, mode);
    decide->latches = false;
  }
  if (!settle->restructured && !edges->now->goes_on && !agrees(settle, settled, *t, y)) {
    go_back(settle, &settle->begin, y);
    edges->now->one_by_one = true;
    settled = settle_once(settle, *t, y, mode);
    edges->now->one_by_one = false;
  }
  bool is_stuck =
      !settled && !settle->restructured && !settle->has_other_structure && settle->undetermined == SETTLE_NONE;
  if (is_stuck) settled = settle_later(settle, t, y, mode) || enumerate_modes(settle, *t, y);
  edges->now->goes_on = false;
  return settled;
}

/* ---- the event ---- */

/* pre() has new values. If pre() chooses between structures and the system is made for all of them, the rows show whether
 * the system has a solution. */
static bool solve_with_new_pre(Settle *settle, double t, double *y) {
  return !settle->has_other_structure || settle->methods->solve_at_event(settle->host, t, y);
}

/* Everything has settled. Do the current rates require a mode on its edge to change? */
static bool leads_on(Settle *settle, double t, const double *y) {
  Edges *edges = settle->switching->edges;
  edges_evaluate(edges, t, y);
  edges_evaluate_rates(edges, t, y);
  return !edges_agree(edges);
}

bool settle_watch(Settle *settle, double t, const double *y) {
  Decide *decide = settle->switching->decide;
  bool resets = false;
  if (!decide) return false;
  decide_act(decide, t, y);
  for (int a = 0; a < decide->plan.actions; a++) {
    const DecideAction *action = &decide->plan.action[a];
    if (!decide_fires(decide, a)) continue;
    resets = resets || action->column >= 0;
    if (action->kind == DECIDE_TERMINATE || (action->kind == DECIDE_ASSERT && decide_value(decide, a) == 0))
      settle->methods->fires(settle->host, a, t, y);
  }
  return resets;
}

/* false: the values of reinit are refused, or the rows cannot be solved with them. */
static bool reset_columns(Settle *settle, double t, double *y) {
  Decide *decide = settle->switching->decide;
  double *before = settle->left.y;
  memcpy(before, y, (size_t)settle->columns * sizeof *y);
  memset(settle->held, 0, (size_t)settle->columns);
  decide_reinit(decide, y, settle->held);
  edges_leave(settle->switching->edges); /* a sliding mode may be off its edge now */
  settle->disturbed = true;
  return decide->refused < 0 && settle->methods->solve_holding(settle->host, t, y, settle->held, before);
}

static bool act(Settle *settle, double t, double *y, bool *is_reset) {
  if (settle->methods->agreed && !settle->methods->agreed(settle->host, t, y)) return false;
  *is_reset = settle_watch(settle, t, y);
  return !*is_reset || reset_columns(settle, t, y);
}

/* Finds discrete values with pre() held, until no call is left to make. A when whose call was made has acted, and nothing
 * can undo that. */
static bool settle_calls(Settle *settle, double *t, double *y, int mode) {
  const Switching *switching = settle->switching;
  bool settled = settle_values(settle, t, y, mode);
  while (settled && switching->methods->call && switching->methods->call(switching->host, *t, y)) {
    switching->decide->latches = true;
    settled = settle_values(settle, t, y, mode);
  }
  return settled;
}

static bool end(Settle *settle, double t, const double *y, bool is_kink) {
  const Switching *switching = settle->switching;
  if (switching->decide) decide_end(switching->decide, t, y);
  if (settle->methods->end) settle->methods->end(settle->host, y);
  if (switching->delays) {
    if (!delays_have_room(switching->delays)) return false;
    delays_note(switching->delays, t, y, is_kink);
    edges_evaluate(switching->edges, t, y);
  }
  edges_keep(switching->edges, t, y, 0);
  return true;
}

static bool iterate(Settle *settle, double *t, double *y, int mode) {
  Edges *edges = settle->switching->edges;
  Decide *decide = settle->switching->decide;
  settle->looks_ahead = true;
  settle->disturbed = leave_edges(settle, *t, y);
  edges_locate(edges, *t, y);
  Rounds rounds = {.few = MANY};
  while (rounds_go_on(&rounds, settle->discretes, (size_t)settle->switching->leaves)) {
    bool is_reset = false;
    settle->iterations++;
    bool settled = settle_calls(settle, t, y, mode);
    if (decide) decide->latches = false;
    if (!settled || (decide && decide->undefined) || !act(settle, *t, y, &is_reset)) return false;
    bool goes_on = decide && (decide_accept(decide, *t, y) || is_reset);
    if (settle->methods->accepted && !settle->methods->accepted(settle->host, *t, y)) return false;
    if (goes_on && !solve_with_new_pre(settle, *t, y)) return false;
    bool has_looked = settle->looks_ahead;
    settle->looks_ahead = !goes_on && (has_looked || leads_on(settle, *t, y));
    if (goes_on || (!has_looked && settle->looks_ahead)) continue;
    return edges_undefined(edges, *t, y) < 0 && end(settle, *t, y, settle->disturbed || mode >= 0);
  }
  return false;
}

static void get_memory(Settle *settle) {
  SettleBeginning *const beginnings[] = {&settle->begin, &settle->left, &settle->round};
  size_t columns = (size_t)settle->columns, leaves = (size_t)settle->switching->leaves;
  double *next = heap_array(settle->heap, 3 * (columns + leaves), sizeof *next);
  for (size_t k = 0; k < 3; k++, next += columns + leaves) *beginnings[k] = (SettleBeginning){next, next + columns};
  settle->held = heap_array(settle->heap, columns, sizeof *settle->held);
  settle->loop = settle->switching->decide ? when_loop_new(settle->heap, settle->switching->decide) : 0;
}

static void free_memory(Settle *settle) {
  if (settle->loop) when_loop_free(settle->heap, settle->loop);
  heap_free_all(settle->heap, settle->begin.y, settle->held);
}

bool settle_event(Settle *settle, double *t, double *y, int mode) {
  const Switching *switching = settle->switching;
  if (switching->decide) decide_begin(switching->decide, *t, y);
  bool differs = switching->delays && delays_pass(switching->delays, *t, y);
  differs = differs || (switching->decide && decide_is_end(switching->decide));
  if (differs && !settle->methods->solve_at_event(settle->host, *t, y)) return false;
  get_memory(settle);
  bool settled = iterate(settle, t, y, mode);
  free_memory(settle);
  settle->disturbed = settle->disturbed || differs;
  return settled;
}

bool settle_resume(Settle *settle, double *t, double *y) {
  if (settle->switching->decide) settle->switching->decide->latches = true;
  get_memory(settle);
  bool settled = iterate(settle, t, y, -1);
  free_memory(settle);
  return settled;
}
