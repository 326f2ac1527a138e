/* logic: see logic.h. */
#include "array/logic.h"

#include <string.h>

typedef struct LogicBuilder {
  Logic *logic;
  Model *model;
  Dag *dag;
  Heap *heap;
  Expr *assigned;    /* per discrete variable: what whens make of it so far; EXPR_NONE: none assigns it */
  Span *where;       /* and the last of them */
  IndexVec order;    /* those assigned, in order of the first assignment */
  uint32_t *step_of; /* per discrete variable: its equation's step, MAP_NONE */
} LogicBuilder;

static Expr not_of(Dag *dag, Expr a) { return dag_unary(dag, OP_NOT, a); }

static Expr take_leaf(LogicBuilder *builder) { return dag_discrete(builder->dag, builder->logic->leaves++); }

/* A leaf of its own for the value. */
static Expr add_step(LogicBuilder *builder, Expr value, Span span) {
  Expr leaf = take_leaf(builder);
  vec_push(builder->heap, &builder->logic->steps,
           (LogicStep){.leaf = dag_index(builder->dag, leaf), .value = value, .span = span});
  return leaf;
}

static Expr pre_of(Dag *dag, Expr leaf) { return dag_pre(dag, dag_index(dag, leaf)); }

/* True where the leaf has become so in this iteration; never at the start. */
static Expr edge_of(LogicBuilder *builder, Expr leaf) {
  Dag *dag = builder->dag;
  Expr before = not_of(dag, pre_of(dag, leaf)), later = not_of(dag, dag_discrete(dag, builder->logic->initial));
  return dag_binary(dag, OP_AND, dag_binary(dag, OP_AND, leaf, before), later);
}

/* ---- whens ---- */

static bool is_text(const Model *model, uint32_t variable) {
  return model->variables.data[variable].type == TYPE_STRING;
}

/* The later assignment holds; a value may speak of what the variable was made before. */
static void add_assignment(LogicBuilder *builder, const Action *action, Expr fires) {
  Dag *dag = builder->dag;
  uint32_t index = builder->model->variables.data[action->target].index;
  if (is_text(builder->model, action->target)) return;
  if (builder->assigned[index] == EXPR_NONE) {
    builder->assigned[index] = dag_pre(dag, index);
    vec_push(builder->heap, &builder->order, index);
  }
  Expr leaf = dag_discrete(dag, index), value = action->value;
  dag_substitute(dag, &leaf, &builder->assigned[index], 1, &value, 1);
  builder->assigned[index] = dag_if(dag, fires, value, builder->assigned[index]);
  builder->where[index] = action->span;
}

static void add_action(LogicBuilder *builder, const Action *action, Expr fires) {
  bool in_when = fires != EXPR_NONE;
  if (fires != EXPR_NONE && action->guard != EXPR_NONE) fires = dag_binary(builder->dag, OP_AND, fires, action->guard);
  else if (fires == EXPR_NONE) fires = action->guard;
  if (action->kind == ACTION_ASSIGN) {
    add_assignment(builder, action, fires);
    return;
  }
  double known;
  bool holds = action->kind == ACTION_ASSERT && dag_is_constant(builder->dag, action->value, &known) && known != 0;
  if (holds) return;
  Expr target = action->kind == ACTION_REINIT ? model_leaf(builder->model, action->target, 0) : EXPR_NONE;
  vec_push(builder->heap, &builder->logic->actions,
           (LogicAction){action->kind, fires, target, action->value, in_when, action});
}

/* Does one of the conditions hold that did not before? initial() counts at the start, and nothing else does. */
static Expr branch_begins(LogicBuilder *builder, const WhenBranch *branch, Span span) {
  Dag *dag = builder->dag;
  Expr any = dag_constant(dag, 0);
  for (uint32_t c = 0; c < branch->conditions.count; c++) {
    Expr condition = branch->conditions.data[c];
    bool is_initial = dag_op(dag, condition) == OP_INITIAL;
    Expr begins = is_initial ? condition : edge_of(builder, add_step(builder, condition, span));
    any = dag_binary(dag, OP_OR, any, begins);
  }
  return any;
}

static void add_when(LogicBuilder *builder, const When *when) {
  Dag *dag = builder->dag;
  Expr earlier = dag_constant(dag, 0);
  for (uint32_t b = 0; b < when->branches.count; b++) {
    const WhenBranch *branch = &when->branches.data[b];
    Expr begins = branch_begins(builder, branch, when->span);
    Expr fires = add_step(builder, dag_binary(dag, OP_AND, begins, not_of(dag, earlier)), when->span);
    vec_last(&builder->logic->steps).fires = true;
    earlier = dag_binary(dag, OP_OR, earlier, fires);
    for (uint32_t a = 0; a < branch->actions.count; a++) add_action(builder, &branch->actions.data[a], fires);
  }
}

static void add_steps(LogicBuilder *builder) {
  const Model *model = builder->model;
  for (uint32_t i = 0; i < model->discrete_equations.count; i++) {
    const Equation *equation = &model->discrete_equations.data[i];
    uint32_t index = dag_index(builder->dag, equation->left);
    if (is_text(model, model->discretes.data[index])) continue;
    builder->step_of[index] = builder->logic->steps.count;
    vec_push(builder->heap, &builder->logic->steps,
             (LogicStep){.leaf = index, .value = equation->right, .span = equation->span});
  }
  for (uint32_t w = 0; w < model->whens.count; w++) add_when(builder, &model->whens.data[w]);
  for (uint32_t k = 0; k < builder->order.count; k++) {
    uint32_t index = builder->order.data[k];
    vec_push(builder->heap, &builder->logic->steps,
             (LogicStep){.leaf = index, .value = builder->assigned[index], .span = builder->where[index]});
  }
  for (uint32_t a = 0; a < model->asserts.count; a++) add_action(builder, &model->asserts.data[a], EXPR_NONE);
}

/* ---- initial equations for discrete variables ---- */

/* The leaf whose pre() gives a leaf its value at the start: its own, if whens assign it, or what its equation names, as in
 * d = pre(e). */
static uint32_t pre_behind(const LogicBuilder *builder, Expr leaf) {
  const Dag *dag = builder->dag;
  const Logic *logic = builder->logic;
  for (uint32_t k = 0; dag_op(dag, leaf) == OP_DISCRETE && k < logic->steps.count; k++) {
    uint32_t step = builder->step_of[dag_index(dag, leaf)];
    if (step == MAP_NONE) break;
    Expr value = logic->steps.data[step].value;
    if (dag_op(dag, value) != OP_DISCRETE && dag_op(dag, value) != OP_PRE) break;
    leaf = value;
  }
  return dag_index(dag, leaf);
}

/* Does this side say what pre() of a leaf is at the start? One that is fixed, or has a start value, may instead say what variables
 * are. */
static bool names_pre(const Model *model, Expr side, Expr other) {
  const Dag *dag = model->dag;
  if (dag_op(dag, side) != OP_DISCRETE) return dag_op(dag, side) == OP_PRE;
  const Variable *variable = &model->variables.data[model->discretes.data[dag_index(dag, side)]];
  bool is_open = variable->fixed != FIXED_TRUE && variable->start == EXPR_NONE;
  return is_open || !dag_depends(dag, other, OP_VARIABLE);
}

static void add_initial_steps(LogicBuilder *builder) {
  const Model *model = builder->model;
  Logic *logic = builder->logic;
  logic->is_initial_step = heap_array(builder->heap, model->initial_equations.count, sizeof(bool));
  for (uint32_t i = 0; i < model->initial_equations.count; i++) {
    const Equation *equation = &model->initial_equations.data[i];
    bool right = !names_pre(model, equation->left, equation->right);
    if (right && !names_pre(model, equation->right, equation->left)) continue;
    LogicStep step = {.leaf = pre_behind(builder, right ? equation->right : equation->left),
                      .value = right ? equation->left : equation->right,
                      .span = equation->span};
    vec_push(builder->heap, &logic->initial_steps, step);
    logic->is_initial_step[i] = true;
  }
}

/* ---- initial(), sample(), edge() and the like ---- */

/* What stands for the node; EXPR_NONE: the node itself. */
static Expr leaf_for(LogicBuilder *builder, Expr e) {
  Dag *dag = builder->dag;
  switch (dag_op(dag, e)) {
  case OP_INITIAL: return dag_discrete(dag, builder->logic->initial);
  case OP_TERMINAL: return dag_discrete(dag, builder->logic->terminal);
  case OP_SAMPLE: {
    Expr leaf = take_leaf(builder);
    vec_push(builder->heap, &builder->logic->samples,
             (LogicSample){dag_index(dag, leaf), dag_child(dag, e, 0), dag_child(dag, e, 1)});
    return leaf;
  }
  case OP_EDGE:
  case OP_CHANGE: {
    Expr of = dag_child(dag, e, 0), leaf = dag_op(dag, of) == OP_DISCRETE ? of : add_step(builder, of, (Span){0});
    if (dag_op(dag, e) == OP_CHANGE) return dag_binary(dag, OP_NOT_EQUAL, leaf, pre_of(dag, leaf));
    return dag_binary(dag, OP_AND, leaf, not_of(dag, pre_of(dag, leaf)));
  }
  default: return EXPR_NONE;
  }
}

/* Replaces these nodes in the residuals and in all expressions of the logic. */
static void replace_nodes(LogicBuilder *builder, Expr *residual, uint32_t count) {
  Dag *dag = builder->dag;
  Heap *heap = builder->heap;
  ExprVec roots = {0}, from = {0}, to = {0};
  PlaceVec places = {0};
  IndexVec below = {0};
  logic_places(builder->logic, heap, &places);
  for (uint32_t k = 0; k < places.count; k++) vec_push(heap, &roots, *places.data[k]);
  for (uint32_t i = 0; i < count; i++) vec_push(heap, &roots, residual[i]);
  dag_below(dag, dag_scratch(dag), roots.data, roots.count, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    Expr leaf = leaf_for(builder, below.data[k]);
    if (leaf == EXPR_NONE) continue;
    vec_push(heap, &from, below.data[k]);
    vec_push(heap, &to, leaf);
  }
  places.count = 0; /* edge() may have made steps */
  logic_places(builder->logic, heap, &places);
  for (uint32_t k = 0; from.count && k < places.count; k++)
    dag_substitute(dag, from.data, to.data, from.count, places.data[k], 1);
  if (from.count) dag_substitute(dag, from.data, to.data, from.count, residual, count);
  vec_free(heap, &roots);
  vec_free(heap, &from);
  vec_free(heap, &to);
  vec_free(heap, &places);
  vec_free(dag_heap(dag), &below);
}

void logic_places(Logic *logic, Heap *heap, PlaceVec *places) {
  for (uint32_t k = 0; k < logic->steps.count; k++) vec_push(heap, places, &logic->steps.data[k].value);
  for (uint32_t k = 0; k < logic->initial_steps.count; k++) vec_push(heap, places, &logic->initial_steps.data[k].value);
  for (uint32_t k = 0; k < logic->actions.count; k++) {
    LogicAction *action = &logic->actions.data[k];
    Expr *const parts[] = {&action->fires, &action->target, &action->value};
    for (int i = 0; i < 3; i++)
      if (*parts[i] != EXPR_NONE) vec_push(heap, places, parts[i]);
  }
}

/* ---- the whole ---- */

Logic *logic_make(Model *model, Expr *residual, uint32_t count, LogicPut *put, const void *problem) {
  Heap *heap = model->heap;
  uint32_t own = model->discretes.count;
  LogicBuilder builder = {.logic = heap_alloc(heap, sizeof(Logic)), .model = model, .dag = model->dag, .heap = heap};
  Logic *logic = builder.logic;
  logic->leaves = own;
  logic->initial = logic->leaves++;
  logic->terminal = logic->leaves++;
  builder.assigned = heap_array(heap, own, sizeof *builder.assigned);
  builder.where = heap_array(heap, own, sizeof *builder.where);
  builder.step_of = heap_array(heap, own, sizeof *builder.step_of);
  for (uint32_t d = 0; d < own; d++) builder.assigned[d] = EXPR_NONE, builder.step_of[d] = MAP_NONE;
  add_steps(&builder);
  add_initial_steps(&builder);
  replace_nodes(&builder, residual, count);
  PlaceVec places = {0};
  logic_places(logic, heap, &places);
  for (uint32_t k = 0; k < places.count; k++) *places.data[k] = put(problem, *places.data[k]);
  vec_free(heap, &places);
  vec_free(heap, &builder.order);
  heap_free(heap, builder.assigned);
  heap_free(heap, builder.where);
  heap_free(heap, builder.step_of);
  return logic;
}

bool logic_is_empty(const Logic *logic) {
  return !logic->steps.count && !logic->actions.count && !logic->samples.count;
}

/* ---- order ---- */

typedef struct Sorter {
  const Model *model;
  Heap *heap;
  const Logic *logic;
  uint32_t *step_of; /* per leaf: its step, MAP_NONE */
  uint32_t *waits;   /* per step: steps that it reads and that are not placed */
} Sorter;

/* The steps that the value of step k reads. */
static void collect_read(Sorter *sorter, uint32_t k, IndexVec *below, IndexVec *read) {
  const Dag *dag = sorter->model->dag;
  below->count = read->count = 0;
  if (!dag_depends(dag, sorter->logic->steps.data[k].value, OP_DISCRETE)) return;
  dag_below(dag, dag_scratch(sorter->model->dag), &sorter->logic->steps.data[k].value, 1, below);
  for (uint32_t i = 0; i < below->count; i++) {
    Expr e = below->data[i];
    if (dag_op(dag, e) != OP_DISCRETE || dag_index(dag, e) >= sorter->logic->leaves) continue;
    uint32_t step = sorter->step_of[dag_index(dag, e)];
    if (step != MAP_NONE) vec_push(sorter->heap, read, step);
  }
}

typedef struct StepLink {
  uint32_t reader, next;
} StepLink;

void logic_sort(Logic *logic, const Model *model) {
  Heap *heap = model->heap;
  uint32_t count = logic->steps.count, placed = 0;
  Arena arena = arena_make(heap);
  Sorter sorter = {.model = model, .heap = heap, .logic = logic};
  sorter.step_of = arena_array(&arena, logic->leaves, sizeof(uint32_t));
  sorter.waits = arena_array(&arena, count, sizeof(uint32_t));
  uint32_t *first = arena_array(&arena, count, sizeof *first);
  VEC(StepLink) links = {0};
  IndexVec below = {0}, read = {0}, order = {0};
  for (uint32_t l = 0; l < logic->leaves; l++) sorter.step_of[l] = MAP_NONE;
  for (uint32_t k = 0; k < count; k++) sorter.step_of[logic->steps.data[k].leaf] = k, first[k] = MAP_NONE;
  for (uint32_t k = 0; k < count; k++) {
    collect_read(&sorter, k, &below, &read);
    sorter.waits[k] = read.count;
    for (uint32_t i = 0; i < read.count; i++) {
      vec_push(heap, &links, (StepLink){k, first[read.data[i]]});
      first[read.data[i]] = links.count - 1;
    }
  }
  for (uint32_t k = 0; k < count; k++)
    if (!sorter.waits[k]) vec_push(heap, &order, k);
  logic->level_start.count = 0;
  vec_push(heap, &logic->level_start, 0);
  while (placed < order.count) {
    uint32_t end = order.count;
    for (; placed < end; placed++)
      for (uint32_t l = first[order.data[placed]]; l != MAP_NONE; l = links.data[l].next)
        if (--sorter.waits[links.data[l].reader] == 0) vec_push(heap, &order, links.data[l].reader);
    vec_push(heap, &logic->level_start, placed);
  }
  for (uint32_t k = 0; k < count; k++)
    if (sorter.waits[k]) vec_push(heap, &order, k);
  if (order.count > placed) vec_push(heap, &logic->level_start, order.count);
  LogicStep *sorted = heap_array(heap, count, sizeof *sorted);
  for (uint32_t k = 0; k < count; k++) sorted[k] = logic->steps.data[order.data[k]];
  if (count) memcpy(logic->steps.data, sorted, count * sizeof *sorted);
  heap_free(heap, sorted);
  vec_free(heap, &links);
  vec_free(dag_heap(model->dag), &below);
  vec_free(heap, &read);
  vec_free(heap, &order);
  arena_free(&arena);
}
