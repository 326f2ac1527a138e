/* effects: see effects.h. */
#include "code/effects.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct EffectCall {
  uint32_t place; /* its place in the order of calls */
  bool is_kept, is_told;
  const char *refusal; /* why it was left out; NULL */
  double *arguments, *results;
} EffectCall;

struct Effects {
  Heap *heap;
  const Model *model;
  EffectCall *calls; /* per function */
  IndexVec numbers;  /* functions whose calls are made once, ascending */
  uint32_t first;    /* the first function that waits; MAP_NONE */
  uint32_t admitted; /* MAP_NONE: none */
  uint32_t failed;   /* the first call that failed; MAP_NONE */
  char reason[200];
  bool waits, is_start, is_held, is_ordered;
};

/* Its address is the key of a heap's effects. */
static const char EFFECTS;

Effects *effects_of(Heap *heap, const Model *model) {
  Effects *effects = heap_guest(heap, &EFFECTS);
  if (effects) return effects;
  effects = heap_alloc(heap, sizeof *effects);
  *effects = (Effects){.heap = heap, .model = model, .first = MAP_NONE, .admitted = MAP_NONE, .failed = MAP_NONE};
  effects->calls = heap_array(heap, model->functions.count, sizeof *effects->calls);
  for (uint32_t f = 0; f < model->functions.count; f++) {
    const Function *function = model->functions.data[f];
    if (!function->is_once) continue;
    effects->calls[f] = (EffectCall){.place = effects->numbers.count};
    effects->calls[f].arguments = heap_array(heap, function->arguments, sizeof(double));
    effects->calls[f].results = heap_array(heap, function->results, sizeof(double));
    vec_push(heap, &effects->numbers, f);
  }
  heap_set_guest(heap, &EFFECTS, effects);
  return effects;
}

bool effects_any(const Effects *effects) { return effects->numbers.count > 0; }

/* ---- order ---- */

/* Sets of calls, named by their places in the text. For each step: its own calls, and the calls that these need. For each call: the
 * calls that it needs. */
typedef struct EffectOrder {
  Effects *effects;
  const Logic *logic;
  const Dag *dag;
  Arena arena;
  DagScratch scratch;
  uint32_t words;     /* of a set */
  uint32_t *step_of;  /* per leaf: its step; MAP_NONE */
  uint64_t **reached; /* per step */
  uint64_t **needed;  /* per call */
} EffectOrder;

static void add_set(const EffectOrder *order, uint64_t *set, const uint64_t *other) {
  for (uint32_t w = 0; w < order->words; w++) set[w] |= other[w];
}

static bool has_call(const uint64_t *set, uint32_t place) { return set[place / 64] >> place % 64 & 1; }

/* The calls that an expression needs: its own, and those of the steps that it reads. */
static uint64_t *find_calls(EffectOrder *order, Expr root) {
  Effects *effects = order->effects;
  uint64_t *others = arena_array(&order->arena, order->words, sizeof *others),
           *own = arena_array(&order->arena, order->words, sizeof *own);
  IndexVec below = {0};
  dag_below(order->dag, &order->scratch, &root, 1, &below);
  for (uint32_t i = 0; i < below.count; i++) {
    Op op = dag_op(order->dag, below.data[i]);
    uint32_t leaf = op == OP_DISCRETE ? dag_index(order->dag, below.data[i]) : MAP_NONE;
    uint32_t step = leaf < order->logic->leaves ? order->step_of[leaf] : MAP_NONE;
    if (step != MAP_NONE && order->reached[step]) add_set(order, others, order->reached[step]);
    if (op != OP_CALL) continue;
    uint32_t number = dag_call_info(order->dag, below.data[i]).function;
    uint32_t place = effects->calls[number].place;
    if (effects->model->functions.data[number]->is_once) own[place / 64] |= (uint64_t)1 << place % 64;
  }
  vec_free(order->scratch.heap, &below);
  for (uint32_t c = 0; c < effects->numbers.count; c++)
    if (has_call(own, c)) add_set(order, order->needed[c], others);
  add_set(order, own, others);
  return own;
}

/* Places the first call in the text, among the remaining ones, that needs no other remaining call; if there is a loop, the first
 * call. */
static uint32_t next_call(const EffectOrder *order, const uint64_t *remaining) {
  uint32_t first = MAP_NONE;
  for (uint32_t c = 0; c < order->effects->numbers.count; c++) {
    if (!has_call(remaining, c)) continue;
    bool waits = false;
    for (uint32_t w = 0; w < order->words; w++) {
      uint64_t others = order->needed[c][w] & remaining[w];
      waits = waits || (w == c / 64 ? others & ~((uint64_t)1 << c % 64) : others);
    }
    if (!waits) return c;
    if (first == MAP_NONE) first = c;
  }
  return first;
}

static void find_order(EffectOrder *order) {
  Effects *effects = order->effects;
  const Logic *logic = order->logic;
  uint32_t count = effects->numbers.count;
  uint64_t *remaining = arena_array(&order->arena, order->words, sizeof *remaining);
  for (uint32_t l = 0; l < logic->leaves; l++) order->step_of[l] = MAP_NONE;
  for (uint32_t k = 0; k < logic->steps.count; k++) order->step_of[logic->steps.data[k].leaf] = k;
  for (uint32_t c = 0; c < count; c++) {
    order->needed[c] = arena_array(&order->arena, order->words, sizeof **order->needed);
    remaining[c / 64] |= (uint64_t)1 << c % 64;
  }
  for (uint32_t k = 0; k < logic->steps.count; k++) order->reached[k] = find_calls(order, logic->steps.data[k].value);
  for (uint32_t a = 0; a < logic->actions.count; a++)
    if (logic->actions.data[a].value != EXPR_NONE) find_calls(order, logic->actions.data[a].value);
  for (uint32_t place = 0; place < count; place++) {
    uint32_t c = next_call(order, remaining);
    effects->calls[effects->numbers.data[c]].place = place;
    remaining[c / 64] &= ~((uint64_t)1 << c % 64);
  }
}

void effects_order(Effects *effects, const Logic *logic, const Dag *dag) {
  uint32_t count = effects->numbers.count;
  if (!count || effects->is_ordered) return;
  effects->is_ordered = true;
  EffectOrder order = {.effects = effects,
                       .logic = logic,
                       .dag = dag,
                       .arena = arena_make(effects->heap),
                       .scratch = dag_scratch_make(effects->heap),
                       .words = (count + 63) / 64};
  order.step_of = arena_array(&order.arena, logic->leaves, sizeof *order.step_of);
  order.reached = arena_array(&order.arena, logic->steps.count, sizeof *order.reached);
  order.needed = arena_array(&order.arena, count, sizeof *order.needed);
  find_order(&order);
  dag_scratch_free(&order.scratch);
  arena_free(&order.arena);
}

/* ---- events ---- */

void effects_wait(Effects *effects, bool is_start) {
  effects->waits = true;
  effects->is_start = is_start;
}

void effects_wait_no_more(Effects *effects) { effects->waits = false; }

void effects_begin(Effects *effects) {
  if (effects->is_held) return;
  effects->first = effects->admitted = MAP_NONE;
  for (uint32_t c = 0; c < effects->numbers.count; c++) effects->calls[effects->numbers.data[c]].is_kept = false;
}

void effects_hold(Effects *effects, bool holds) { effects->is_held = holds; }

bool effects_are_waiting(const Effects *effects) { return effects->first != MAP_NONE; }

void effects_look(Effects *effects) { effects->first = MAP_NONE; }

bool effects_admit(Effects *effects) {
  effects->admitted = effects->first;
  effects->first = MAP_NONE;
  return effects->admitted != MAP_NONE;
}

/* ---- calls ---- */

/* Does its when fire, and does the condition inside hold? */
static bool is_asked(const double *conditions) {
  for (int k = 0; k < ONCE_CONDITIONS; k++)
    if (isnan(conditions[k]) || conditions[k] == 0) return false;
  return true;
}

EffectTurn effects_turn(Effects *effects, uint32_t number, const double *arguments) {
  const Function *function = effects->model->functions.data[number];
  const EffectCall *call = &effects->calls[number];
  if (!effects->waits) {
    bool is_same =
        !function->arguments || memcmp(call->arguments, arguments, function->arguments * sizeof *arguments) == 0;
    return call->is_kept && is_same ? EFFECT_KEPT : EFFECT_MADE;
  }
  if (call->is_kept) return EFFECT_KEPT;
  bool counts = (!function->is_initial || effects->is_start) && is_asked(arguments + function->arguments);
  if (counts && effects->admitted == number) return EFFECT_MADE;
  if (counts && (effects->first == MAP_NONE || call->place < effects->calls[effects->first].place))
    effects->first = number;
  return EFFECT_WAITS;
}

void effects_keep(Effects *effects, uint32_t number, const double *arguments, const double *results) {
  const Function *function = effects->model->functions.data[number];
  EffectCall *call = &effects->calls[number];
  call->is_kept = true;
  if (function->arguments) memcpy(call->arguments, arguments, function->arguments * sizeof *arguments);
  memcpy(call->results, results, function->results * sizeof *results);
}

void effects_fail(Effects *effects, uint32_t number, const char *reason, bool is_refusal) {
  EffectCall *call = &effects->calls[number];
  call->is_kept = true;
  for (uint32_t r = 0; r < effects->model->functions.data[number]->results; r++) call->results[r] = NAN;
  if (is_refusal && !call->refusal) call->refusal = heap_copy(effects->heap, reason, strlen(reason) + 1, 1);
  if (is_refusal || effects->failed != MAP_NONE) return;
  effects->failed = number;
  snprintf(effects->reason, sizeof effects->reason, "%s", reason);
}

uint32_t effects_refused(Effects *effects, const char **reason) {
  for (uint32_t c = 0; c < effects->numbers.count; c++) {
    EffectCall *call = &effects->calls[effects->numbers.data[c]];
    if (!call->refusal || call->is_told) continue;
    call->is_told = true;
    *reason = call->refusal;
    return effects->numbers.data[c];
  }
  return MAP_NONE;
}

uint32_t effects_failed(const Effects *effects, const char **reason) {
  *reason = effects->reason;
  return effects->failed;
}

void effects_forget_failure(Effects *effects) { effects->failed = MAP_NONE; }

const double *effects_kept(const Effects *effects, uint32_t number) { return effects->calls[number].results; }
