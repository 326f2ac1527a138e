/* turns: see turns.h. */
#include "event/turns.h"

#include "base/copy.h"
#include "core/constants.h"
#include "event/events.h"
#include "vary/sensitivity.h"
#include "view/model_jump.h"

#include <math.h>
#include <string.h>

/* With at most this many turns, the cyclic orders that begin with each turn are tried, forwards and backwards; for
 * three turns these are all orders. With more turns, only one order and its reverse are tried, so that every pair of
 * turns occurs in both orders. */
enum { ROTATED = 4 };

typedef struct Turns {
  uint32_t count;
  uint32_t *mode;   /* per turn: the mode that causes its event; MAP_NONE: samples cause it */
  uint32_t *turn;   /* per mode; MAP_NONE: it does not change by itself */
  uint32_t samples; /* the turn of samples that are due; MAP_NONE: no sample is due */
  bool *waits;      /* per mode */
} Turns;

/* Everything that an event changes. */
typedef struct EventState {
  double t, *y, *discretes, *pre, *jump_guesses;
  uint64_t *samples, iterations;
  SwitchesMark *switches;
  SensitivityMoment *sensitivity;
} EventState;

/* ---- stages ---- */

static EventState keep_stage(const View *view, double t, const double *y, Heap *heap) {
  const Evaluator *evaluator = view->evaluator;
  size_t leaves = modes_leaves(view->switches->modes);
  EventState stage = {.t = t, .iterations = view->settle.iterations};
  stage.y = heap_copy(heap, y, (size_t)view->system.columns, sizeof *y);
  stage.discretes = heap_copy(heap, evaluator->discretes, leaves, sizeof(double));
  stage.pre = heap_copy(heap, evaluator->pre, leaves, sizeof(double));
  if (view->model_jump) stage.jump_guesses = model_jump_save(view->model_jump, heap);
  if (view->switches->decisions) stage.samples = decisions_save(view->switches->decisions, heap);
  stage.switches = switches_keep_mark(view->switches, heap);
  stage.sensitivity = sensitivity_keep(view->sensitivity, heap);
  return stage;
}

static void go_back(View *view, const EventState *stage, double *t, double *y) {
  Evaluator *evaluator = view->evaluator;
  size_t leaves = modes_leaves(view->switches->modes);
  *t = stage->t;
  copy_numbers(y, stage->y, (size_t)view->system.columns);
  copy_numbers(evaluator->discretes, stage->discretes, leaves);
  copy_numbers(evaluator->pre, stage->pre, leaves);
  if (view->model_jump) model_jump_restore(view->model_jump, stage->jump_guesses);
  if (view->switches->decisions) decisions_restore(view->switches->decisions, stage->samples);
  switches_go_back(view->switches, stage->switches);
  sensitivity_go_back(view->sensitivity, stage->sensitivity);
  view->settle.iterations = stage->iterations;
  view->settle.undetermined = MAP_NONE;
}

/* Are the current values equal to the values of a stage? */
static bool has_values(const View *view, const double *y, const EventState *stage) {
  const System *system = &view->system;
  const double *discretes = view->evaluator->discretes;
  for (int32_t q = 0; q < system->columns; q++)
    if (!(fabs(y[q] - stage->y[q]) <= SAME * (system->nominal[q] + fabs(y[q])))) return false;
  for (uint32_t d = 0; d < view->evaluator->model->discretes.count; d++)
    if (!(fabs(discretes[d] - stage->discretes[d]) <= SAME * fabs(discretes[d]))) return false;
  return true;
}

/* ---- the turns ---- */

static uint32_t count_marks(const bool *marks, uint32_t count) {
  uint32_t sum = 0;
  for (uint32_t k = 0; k < count; k++) sum += marks[k];
  return sum;
}

/* Renumbers the turns without gaps. The mode whose event was located has its own turn. */
static void number_turns(Turns *turns, uint32_t modes, uint32_t mode, uint32_t numbers, Heap *heap) {
  uint32_t *turn_of = heap_array(heap, numbers, sizeof *turn_of);
  turns->mode = heap_array(heap, numbers, sizeof *turns->mode);
  for (uint32_t n = 0; n < numbers; n++) {
    uint32_t first = MAP_NONE;
    for (uint32_t m = modes; m-- > 0;)
      if (turns->turn[m] == n && (first == MAP_NONE || first != mode)) first = m;
    turn_of[n] = turns->count;
    if (first == MAP_NONE && !(n == 0 && turns->samples == 0)) continue;
    turns->mode[turns->count++] = first;
  }
  for (uint32_t m = 0; m < modes; m++)
    if (turns->turn[m] != MAP_NONE) turns->turn[m] = turn_of[turns->turn[m]];
}

/* false: an error is in diags. */
static bool find_turns(View *view, double t, const double *y, uint32_t mode, Turns *turns, Heap *heap) {
  Switches *switches = view->switches;
  uint32_t modes = switches->modes->count, numbers = 0;
  bool is_due = switches->decisions && decide_are_due(&switches->decisions->decide, t);
  bool *marks = heap_array(heap, modes, sizeof *marks);
  *turns = (Turns){.count = 0, .samples = is_due ? 0 : MAP_NONE};
  if (modes) switches_mark_crossing(switches, mode, t, y, marks);
  if (mode != MAP_NONE) marks[mode] = true;
  if (count_marks(marks, modes) + (is_due || mode == MAP_NONE) < 2) return true;
  turns->turn = heap_array(heap, modes, sizeof *turns->turn);
  turns->waits = heap_array(heap, modes, sizeof *turns->waits);
  if (!sensitivity_begin_turns(view->sensitivity, t, y, marks, turns->turn, &numbers)) return false;
  number_turns(turns, modes, mode, numbers, heap);
  return turns->count < 2 || !view->evaluator->inputs ||
         sensitivity_refuse(view->sensitivity, t, "its time varies, and the rates of inputs over time are not known");
}

static const char *turn_text(const View *view, const Turns *turns, uint32_t turn, Arena *arena) {
  uint32_t mode = turns->mode[turn];
  if (mode == MAP_NONE) return "a sample";
  return arena_printf(arena, "`%s`",
                      model_text(evaluator_model(view->evaluator), view->switches->modes->relation[mode], arena));
}

static bool refuse(const View *view, const Turns *turns, double t) {
  Arena arena = arena_make(view->evaluator->heap);
  const char *text = turn_text(view, turns, 0, &arena);
  for (uint32_t k = 1; k < turns->count; k++)
    text =
        arena_printf(&arena, "%s%s%s", text, k + 1 < turns->count ? ", " : " and ", turn_text(view, turns, k, &arena));
  text = arena_printf(&arena, "%s change at this very time, and their order makes a difference", text);
  sensitivity_refuse(view->sensitivity, t, text);
  arena_free(&arena);
  return false;
}

/* ---- orders ---- */

static uint32_t count_orders(uint32_t turns) { return turns > 2 && turns <= ROTATED ? 2 * turns : 2; }

/* The turn at a position of an order. */
static uint32_t turn_at(const Turns *turns, uint32_t order, uint32_t place) {
  uint32_t forwards = (order / 2 + place) % turns->count;
  return order % 2 ? turns->count - 1 - forwards : forwards;
}

/* Makes all turns after the one at `place` wait. */
static void let_wait(View *view, Turns *turns, uint32_t order, uint32_t place) {
  Switches *switches = view->switches;
  memset(turns->waits, 0, switches->modes->count * sizeof *turns->waits);
  if (switches->decisions) switches->decisions->decide.samples_wait = false;
  for (uint32_t later = place + 1; later < turns->count; later++) {
    uint32_t turn = turn_at(turns, order, later);
    for (uint32_t m = 0; m < switches->modes->count; m++)
      if (turns->turn[m] == turn) turns->waits[m] = true;
    if (turn == turns->samples) switches->decisions->decide.samples_wait = true;
  }
  switches->edges.waits = turns->waits;
}

static void wait_no_more(View *view) {
  view->switches->edges.waits = NULL;
  if (view->switches->decisions) view->switches->decisions->decide.samples_wait = false;
}

/* Handles one event after another. Collects the actions that fired in any of them, and whether something was disturbed. */
static bool pass_in_order(View *view, Turns *turns, uint32_t order, double *t, double *y, SensitivityMoment *sizes,
                          Heap *heap) {
  IndexVec fired = {0};
  bool settled = true, disturbed = false;
  for (uint32_t place = 0; place < turns->count && settled; place++) {
    let_wait(view, turns, order, place);
    settled = events_settle(view, t, y, turns->mode[turn_at(turns, order, place)]);
    for (uint32_t k = 0; k < view->fired.count; k++) vec_push(heap, &fired, view->fired.data[k]);
    disturbed = disturbed || view->settle.disturbed;
    sensitivity_note_sizes(view->sensitivity, sizes);
  }
  wait_no_more(view);
  view->settle.disturbed = disturbed;
  view->fired.count = 0;
  for (uint32_t k = 0; k < fired.count; k++) vec_push(view->evaluator->heap, &view->fired, fired.data[k]);
  return settled;
}

/* Handles the event as in a run without sensitivities. */
static bool pass_at_once(View *view, double *t, double *y, uint32_t mode) {
  struct Sensitivity *sensitivity = view->sensitivity;
  view->sensitivity = NULL;
  bool settled = events_settle(view, t, y, mode);
  view->sensitivity = sensitivity;
  return settled;
}

/* Tries all orders. The values must equal the values after the event handled at once, and all derivatives must agree. */
static bool pass_in_turns(View *view, Turns *turns, double *t, double *y, uint32_t mode, Heap *heap) {
  EventState begin = keep_stage(view, *t, y, heap);
  SensitivityMoment *sizes = sensitivity_keep(view->sensitivity, heap);
  if (!pass_at_once(view, t, y, mode)) return false;
  bool slides = view->switches->edges.now->slides > 0;
  EventState end = keep_stage(view, *t, y, heap);
  if (slides) {
    go_back(view, &begin, t, y);
    return events_settle(view, t, y, mode); /* this call reports the failure */
  }
  for (uint32_t order = 0; order < count_orders(turns->count); order++) {
    go_back(view, &begin, t, y);
    bool settled = pass_in_order(view, turns, order, t, y, sizes, heap);
    if (sensitivity_failed(view->sensitivity)) return false;
    if (!settled || !has_values(view, y, &end)) return refuse(view, turns, begin.t);
    if (order == 0) end.sensitivity = sensitivity_keep(view->sensitivity, heap);
    else if (!sensitivity_agrees(view->sensitivity, end.sensitivity, sizes)) return refuse(view, turns, begin.t);
  }
  return true;
}

bool turns_settle(View *view, double *t, double *y, uint32_t mode) {
  Turns turns;
  void *ticket;
  if (!view->sensitivity) return events_settle(view, t, y, mode);
  Heap *heap = heap_within(view->evaluator->heap, &ticket);
  const Decisions *decisions = view->switches->decisions;
  bool settled = find_turns(view, *t, y, mode, &turns, heap);
  if (settled && turns.count > 1) {
    if (decisions) effects_hold(decisions->effects, true);
    settled = pass_in_turns(view, &turns, t, y, mode, heap);
    if (decisions) effects_hold(decisions->effects, false);
  } else if (settled) settled = events_settle(view, t, y, turns.count ? turns.mode[0] : mode);
  sensitivity_end_turns(view->sensitivity);
  heap_release(view->evaluator->heap, ticket);
  return settled;
}
