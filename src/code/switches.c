/* switches: see switches.h. */
#include "code/switches.h"

#include "base/map.h"
#include <math.h>
#include <string.h>

static int evaluate(void *host, bool rates, double t, const double *y, double *out) {
  const Switches *switches = host;
  if (rates && !switches->rates) return 0; /* they stay 0 */
  Point point = evaluator_point(switches->evaluator, t, y);
  return workspace_run(rates ? switches->rates : switches->workspace, &point, out) != EVAL_OK;
}

static uint64_t outcome(void *host, double t, const double *y) {
  const Switches *switches = host;
  Evaluator *evaluator = switches->evaluator;
  uint32_t rows = evaluator->array->rows, modes = switches->modes->count;
  double *values = heap_array(evaluator->heap, (size_t)rows + 2 * (size_t)modes, sizeof *values);
  evaluator_rows(evaluator, t, y, values);
  evaluate(host, false, t, y, values + rows);
  for (uint32_t m = 0; m < modes; m++)
    values[rows + m] = condition_value(switches->edges.condition[m].kind, values[rows + m]);
  uint64_t hash = hash_bytes(values, ((size_t)rows + modes) * sizeof *values);
  heap_free(evaluator->heap, values);
  return switches->decisions ? decide_hash(&switches->decisions->decide, hash, t, y) : hash;
}

/* Does the difference contain discrete values of functions? */
static bool is_jumping(Evaluator *evaluator, Expr difference) {
  const Model *model = evaluator->model;
  Dag *dag = model->dag;
  IndexVec below = {0};
  bool found = false;
  if (dag_depends(dag, difference, OP_VARIABLE) || dag_depends(dag, difference, OP_TIME))
    dag_below(dag, &evaluator->scratch, &difference, 1, &below);
  for (uint32_t k = 0; k < below.count && !found; k++)
    found = dag_op(dag, below.data[k]) == OP_CALL && model_call_type(model, below.data[k]) != TYPE_REAL;
  vec_free(evaluator->scratch.heap, &below);
  return found;
}

Condition switches_condition(Evaluator *evaluator, uint32_t m) {
  const ArrayCode *code = evaluator->code;
  const Modes *modes = code->modes;
  const Dag *dag = evaluator->model->dag;
  Op op = dag_op(dag, modes->relation[m]);
  bool is_timed = modes->timed[m];
  return (Condition){.kind = mode_kind(op),
                     .is_timed = is_timed,
                     .may_try = op_is_order(op) && !is_timed,
                     .matters = code->matters[modes->first + m],
                     .is_remembered = code->remembered[modes->first + m],
                     .has_rate = code->has_rate[m],
                     .has_inner = dag_depends(dag, modes->difference[m], OP_DISCRETE),
                     .meets = modes->meets[m],
                     .jumps = !is_timed && !modes->meets[m] && is_jumping(evaluator, modes->difference[m]),
                     .edge = (int)modes->edge[m],
                     .is_mirrored = modes->is_mirrored[m]};
}

static void make_edges(Heap *heap, Switches *switches) {
  const Modes *modes = switches->modes;
  Edges *edges = &switches->edges;
  Condition *condition = heap_array(heap, modes->count, sizeof *condition);
  bool has_rates = false;
  for (uint32_t m = 0; m < modes->count; m++) {
    condition[m] = switches_condition(switches->evaluator, m);
    has_rates = has_rates || condition[m].has_rate;
    edges->some_meet = edges->some_meet || condition[m].meets;
  }
  if (modes->count) switches->workspace = workspace_new(heap, switches->evaluator->code->conditions);
  if (has_rates) switches->rates = workspace_new(heap, switches->evaluator->code->rates);
  edges->condition = condition;
  edges->count = (int)modes->count;
  edges->evaluate = evaluate;
  edges->outcome = outcome;
  edges->host = switches;
  edges->mode = switches->evaluator->discretes + modes->first;
  edges->now = heap_alloc(heap, sizeof *edges->now);
  edges->now->is_at_start = true;
  edges->now->crossing = -1;
  edges->history = heap_array(heap, modes->count, sizeof *edges->history);
  edges->place = heap_array(heap, modes->count, sizeof *edges->place);
  edges->difference = heap_array(heap, 2 * (size_t)modes->count, sizeof(double));
  edges->rate = heap_array(heap, modes->count, sizeof(double));
  edges->slope = heap_array(heap, modes->count, sizeof(double));
}

/* Steps of work for a search in a few intervals. */
enum { SHORT_SEARCH = 60 };

SchedulePlan switches_schedule(Heap *heap, Evaluator *evaluator) {
  const Modes *modes = evaluator->code->modes;
  const Dag *dag = evaluator->model->dag;
  TimerPlan *timers = heap_array(heap, modes->count, sizeof *timers);
  SchedulePlan plan = {.timer = timers};
  for (uint32_t m = 0; m < modes->count; m++) {
    if (!modes->timed[m]) continue;
    TimerPlan *timer = &timers[plan.count++];
    *timer = (TimerPlan){.mode = (int)m, .kind = mode_kind(dag_op(dag, modes->relation[m]))};
    timer->difference = enclosure_plan(heap, dag, &evaluator->scratch, modes->difference[m]);
    timer->held = enclosure_discretes(&timer->difference);
    if (enclosure_possible(dag, &evaluator->scratch, modes->rate[m]))
      timer->rate = enclosure_plan(heap, dag, &evaluator->scratch, modes->rate[m]);
    heap_work(heap, SHORT_SEARCH * ((uint64_t)timer->difference.count + timer->rate.count));
    plan.held += timer->held;
    if (timer->difference.count > plan.room) plan.room = timer->difference.count;
    if (timer->rate.count > plan.room) plan.room = timer->rate.count;
  }
  return plan;
}

static void make_schedule(Heap *heap, Switches *switches) {
  Evaluator *evaluator = switches->evaluator;
  budget_task(heap_budget(heap), "the search for time events");
  SchedulePlan plan = switches_schedule(heap, evaluator);
  switches->end = INFINITY;
  switches->schedule = (Schedule){.plan = plan,
                                  .timer = heap_array(heap, plan.count, sizeof(Timer)),
                                  .held = heap_array(heap, plan.held, sizeof(double)),
                                  .room = heap_array(heap, plan.room, sizeof(Interval)),
                                  .heap = heap,
                                  .parameters = evaluator->parameters,
                                  .pre = evaluator->pre,
                                  .discretes = evaluator->discretes,
                                  .first = (int)switches->modes->first,
                                  .end = &switches->end};
  schedule_forget(&switches->schedule);
  budget_task(heap_budget(heap), NULL);
}

void switches_adopt(Switches *switches, const Switches *before) {
  for (int m = 0; m < switches->edges.count; m++) {
    EdgeHistory *to = &switches->edges.history[m], own = *to;
    *to = before->edges.history[m];
    to->hovers = own.hovers;
    to->slides_with = own.slides_with;
    to->jumps = own.jumps;
  }
}

void switches_go_on(Switches *switches, const Switches *before) {
  for (int m = 0; m < switches->edges.count; m++) switches->edges.place[m].changes = before->edges.place[m].changes;
  switches->edges.now->goes_on = true;
}

/* ---- kept and restored ---- */

struct SwitchesState {
  EdgeHistory *history;
  Slide slide[SLIDE_LIMIT];
  int slides;
};

SwitchesState *switches_save(const Switches *switches, Heap *heap) {
  const Edges *edges = &switches->edges;
  SwitchesState *state = heap_alloc(heap, sizeof *state);
  state->history = heap_copy(heap, edges->history, (size_t)edges->count, sizeof *edges->history);
  memcpy(state->slide, edges->now->slide, sizeof state->slide);
  state->slides = edges->now->slides;
  return state;
}

void switches_restore(Switches *switches, const SwitchesState *state) {
  Edges *edges = &switches->edges;
  memcpy(edges->now->slide, state->slide, sizeof state->slide);
  edges->now->slides = state->slides;
  if (edges->count) memcpy(edges->history, state->history, (size_t)edges->count * sizeof *edges->history);
}

void switches_transfer(const Switches *switches, SwitchesState *state, Transfer *transfer) {
  int modes = switches->edges.count;
  transfer_array(transfer, state->history, (size_t)modes, sizeof *state->history);
  for (int m = 0; m < modes; m++)
    transfer_require(transfer, state->history[m].slides_with >= 0 && state->history[m].slides_with <= modes);
  transfer_array(transfer, state->slide, SLIDE_LIMIT, sizeof(Slide));
  transfer_value(transfer, &state->slides);
  transfer_require(transfer, state->slides >= 0 && state->slides <= SLIDE_LIMIT);
  for (int k = 0; k < state->slides && k < SLIDE_LIMIT; k++)
    transfer_require(transfer, state->slide[k].mode >= 0 && state->slide[k].mode < modes);
}

/* ---- setting all ---- */

bool switches_contradict(const Switches *switches, uint32_t *mode) {
  int first = edges_first_contradiction(&switches->edges);
  if (first >= 0) *mode = (uint32_t)first;
  return first >= 0;
}

/* Timed modes may also depend on variables that no state moves. They follow these variables, except on their edges, where
 * the schedule decides. */
void switches_follow(Switches *switches, Workspace *written, double t, const double *y) {
  Edges *edges = &switches->edges;
  Point point = evaluator_point(switches->evaluator, t, y);
  workspace_run(written, &point, edges->difference);
  for (int m = 0; m < edges->count; m++) {
    const Condition *condition = &edges->condition[m];
    double difference = edges->difference[m];
    if (!condition_is_defined(condition->kind, difference)) continue;
    if (!condition->is_timed || edges_margin_with(edges, m, edges->mode[m], difference) < 0)
      edges->mode[m] = condition_value(condition->kind, difference);
  }
}

void switches_follow_modes(Switches *switches, double t, const double *y) {
  Decide *decide = switches->switching.decide;
  for (uint32_t round = 0; decide && round < modes_leaves(switches->modes) && decide_set(decide, t, y); round++)
    continue;
}

/* ---- the host of switching.h ---- */

static void write_differences(void *host, double t, const double *y, double *out) {
  const Switches *switches = host;
  Evaluator *evaluator = switches->evaluator;
  Point point = evaluator_point(evaluator, t, y);
  Workspace *written = workspace_new(evaluator->heap, evaluator->code->written);
  workspace_run(written, &point, out);
}

static int set_inputs(void *host, double t) {
  Inputs *inputs = ((Switches *)host)->evaluator->inputs;
  return inputs ? (int)inputs_pass(inputs, t) : 0;
}

static double next_input(void *host, double t) {
  const Inputs *inputs = ((Switches *)host)->evaluator->inputs;
  return inputs ? inputs_next_time(inputs, t) : INFINITY;
}

static bool call(void *host, double t, const double *y) {
  const Switches *switches = host;
  return switches->decisions && decisions_admit(switches->decisions, t, y);
}

static void make_switching(Switches *switches) {
  static const SwitchingHost methods = {write_differences, set_inputs, next_input, call};
  switches->switching = (Switching){.methods = &methods,
                                    .host = switches,
                                    .timed = switches->schedule.plan.count ? &schedule_timed : NULL,
                                    .schedule = &switches->schedule,
                                    .edges = &switches->edges,
                                    .decide = switches->decisions ? &switches->decisions->decide : NULL,
                                    .discretes = switches->evaluator->discretes,
                                    .leaves = (int)modes_leaves(switches->modes)};
}

Switches *switches_new(Heap *heap, Evaluator *evaluator) {
  const Modes *modes = evaluator->code->modes;
  Decisions *decisions = decisions_new(heap, evaluator);
  if (!modes->count && !decisions && !evaluator->inputs) return NULL;
  Switches *switches = heap_alloc(heap, sizeof *switches);
  *switches = (Switches){.modes = modes, .evaluator = evaluator, .decisions = decisions};
  make_schedule(heap, switches);
  make_edges(heap, switches);
  make_switching(switches);
  return switches;
}

/* ---- modes that change by themselves at an event ---- */

void switches_mark_crossing(Switches *switches, uint32_t m, double t, const double *y, bool *marks) {
  Edges *edges = &switches->edges;
  edges_begin(edges, (int)m);
  edges_locate(edges, t, y);
  edges_evaluate(edges, t, y);
  edges_evaluate_rates(edges, t, y);
  schedule_mark_changes(&switches->schedule, edges->now->is_at_start ? t : switching_behind(t), marks);
  for (int k = 0; k < edges->count; k++) {
    const Condition *condition = &edges->condition[k];
    if (!condition->is_timed && !condition->meets && !edges_slides(edges, k))
      marks[k] = edges_wanted(edges, k) != edges->mode[k];
  }
}

struct SwitchesMark {
  EdgeHistory *history;
  EdgePlace *place;
  double *rate, kept;
};

SwitchesMark *switches_keep_mark(const Switches *switches, Heap *heap) {
  const Edges *edges = &switches->edges;
  size_t modes = (size_t)edges->count;
  SwitchesMark *mark = heap_alloc(heap, sizeof *mark);
  *mark = (SwitchesMark){.history = heap_copy(heap, edges->history, modes, sizeof *edges->history),
                         .place = heap_copy(heap, edges->place, modes, sizeof *edges->place),
                         .rate = heap_copy(heap, edges->rate, modes, sizeof(double)),
                         .kept = edges->now->kept};
  return mark;
}

void switches_go_back(Switches *switches, const SwitchesMark *mark) {
  Edges *edges = &switches->edges;
  edges_forget_slides(edges);
  edges->now->kept = mark->kept;
  for (int m = 0; m < edges->count; m++) {
    EdgePlace *place = &edges->place[m];
    const EdgePlace *marked = &mark->place[m];
    edges->rate[m] = mark->rate[m];
    edges->history[m].speed = mark->history[m].speed;
    place->before = marked->before;
    place->peak = marked->peak;
    place->slid = marked->slid;
    place->rests = marked->rests;
  }
}
