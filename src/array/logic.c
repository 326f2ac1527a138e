/* logic: see logic.h. */
#include "array/logic.h"

#include "structure/matching.h"

#include <string.h>

typedef struct LogicBuilder {
  Logic *logic;
  Model *model;
  Dag *dag;
  Heap *heap;
  Expr *assigned;    /* per discrete variable: the value that whens assign so far; EXPR_NONE: none */
  Span *where;       /* per discrete variable: the place of the last of these assignments */
  bool *at_start;    /* per discrete variable: one of these whens acts at the start */
  uint32_t *section; /* per discrete variable: the algorithm section of these whens; 0: an equation */
  IndexVec order;    /* the assigned variables, in order of the first assignment */
  uint32_t *step_of; /* per discrete variable: its equation's step, MAP_NONE */
  LogicPut *put;
  const void *problem;
  ExprVec from, to; /* nodes replaced so far, inner ones first */
  const Expr *residual;
  uint32_t residuals;
  bool is_listed;
  ExprVec leaves, values; /* if is_listed: unknowns that an equation determines from discrete values only */
  ExprVec read, made;     /* for the current when: variables of its section, and their values after earlier whens */
} LogicBuilder;

static Expr not_of(Dag *dag, Expr a) { return dag_unary(dag, OP_NOT, a); }

static Expr take_leaf(LogicBuilder *builder) { return dag_discrete(builder->dag, builder->logic->leaves++); }

/* A new leaf for the value. */
static Expr add_step(LogicBuilder *builder, Expr value, Span span) {
  Expr leaf = take_leaf(builder);
  vec_push(builder->heap, &builder->logic->steps,
           (LogicStep){.leaf = dag_index(builder->dag, leaf), .value = value, .span = span});
  return leaf;
}

static Expr pre_of(Dag *dag, Expr leaf) { return dag_pre(dag, dag_index(dag, leaf)); }

/* True if the leaf has become true in this iteration; never at the start. */
static Expr edge_of(LogicBuilder *builder, Expr leaf) {
  Dag *dag = builder->dag;
  Expr before = not_of(dag, pre_of(dag, leaf)), later = not_of(dag, dag_discrete(dag, builder->logic->initial));
  return dag_binary(dag, OP_AND, dag_binary(dag, OP_AND, leaf, before), later);
}

/* ---- discrete values of varying expressions ---- */

/* Can the value change between events? The value of a delay can change, unless a discrete value already stands for the delay. */
static bool is_moving(const LogicBuilder *builder, Expr e) {
  Dag *dag = builder->dag;
  return dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_TIME) ||
         dag_contains(dag, dag_scratch(dag), e, OP_DELAY) || dag_contains(dag, dag_scratch(dag), e, OP_TRANSPORT);
}

/* Relations within noEvent, and all relations in functions, cause events here: otherwise a discrete value would
 * have no time at which to change. */
static Expr without_no_event(LogicBuilder *builder, Expr e) {
  Dag *dag = builder->dag;
  ExprVec from = {0}, to = {0};
  IndexVec below = {0};
  while (dag_contains(dag, dag_scratch(dag), e, OP_NOEVENT)) {
    from.count = to.count = below.count = 0;
    dag_below(dag, dag_scratch(dag), &e, 1, &below);
    for (uint32_t k = 0; k < below.count; k++) {
      if (dag_op(dag, below.data[k]) != OP_NOEVENT) continue;
      vec_push(builder->heap, &from, below.data[k]);
      vec_push(builder->heap, &to, dag_child(dag, below.data[k], 0));
    }
    dag_substitute(dag, from.data, to.data, from.count, &e, 1);
  }
  vec_free(dag_scratch(dag)->heap, &below);
  vec_free(builder->heap, &from, &to);
  return e;
}

/* Is the value computed by a function from changing arguments, without a relation that shows at which times it changes? */
static bool is_called(LogicBuilder *builder, Expr e) {
  const Dag *dag = builder->dag;
  ExprVec open = {0};
  Map seen = map_make(builder->heap);
  bool found = false;
  vec_push(builder->heap, &open, e);
  while (open.count && !found) {
    Expr node = vec_pop(&open);
    Op op = dag_op(dag, node);
    if (!is_moving(builder, node) || op_is_order(op) || op_kind(op) == KIND_PIECEWISE) continue;
    if (map_get(&seen, node) != MAP_NONE) continue;
    map_put(&seen, node, 1);
    found = dag_op(dag, node) == OP_CALL;
    for (uint32_t c = 0; c < dag_child_count(dag, node); c++) vec_push(builder->heap, &open, dag_child(dag, node, c));
  }
  vec_free(builder->heap, &open);
  map_free(&seen);
  return found;
}

/* The value of a discrete variable, or of the condition of a when, as an expression that changes only at events. For a called
 * function the value itself is watched. */
static Expr changing_at_events(LogicBuilder *builder, Expr e, BaseType type) {
  Dag *dag = builder->dag;
  if (type == TYPE_REAL || !is_moving(builder, e)) return e;
  e = without_no_event(builder, e);
  if (!is_called(builder, e)) return e;
  Expr half = dag_constant(dag, 0.5);
  return type == TYPE_BOOLEAN ? dag_binary(dag, OP_GREATER, e, half) : dag_unary(dag, OP_FLOOR, dag_add(dag, e, half));
}

/* ---- whens ---- */

/* The type of a discrete node for which no relation says when it changes: an equality or a call. TYPE_REAL: the node is neither. */
static BaseType unwatched_type(const LogicBuilder *builder, Expr e) {
  Op op = dag_op(builder->dag, e);
  if (op == OP_EQUAL || op == OP_NOT_EQUAL) return TYPE_BOOLEAN;
  BaseType type = op == OP_CALL ? model_call_type(builder->model, e) : TYPE_REAL;
  return type_is_discrete(type) ? type : TYPE_REAL;
}

/* Appends the expressions that are not arithmetic throughout: only these can contain a part that is replaced. */
static void push_nonsmooth(const LogicBuilder *builder, const Expr *e, uint32_t count, ExprVec *list) {
  for (uint32_t i = 0; i < count; i++)
    if (!dag_is_smooth(builder->dag, e[i])) vec_push(builder->heap, list, e[i]);
}

/* Discrete values that functions compute from varying values, and equalities of them, also change at events in continuous
 * equations, unless these are in noEvent. */
static void watch_discrete(LogicBuilder *builder, Expr *residual, uint32_t count) {
  Dag *dag = builder->dag;
  ExprVec open = {0}, from = {0}, to = {0};
  Map seen = map_make(builder->heap);
  push_nonsmooth(builder, residual, count, &open);
  while (open.count) {
    Expr node = vec_pop(&open);
    Op op = dag_op(dag, node);
    if (op == OP_NOEVENT || op == OP_SMOOTH || dag_is_smooth(dag, node) || map_get(&seen, node) != MAP_NONE) continue;
    map_put(&seen, node, 1);
    BaseType type = unwatched_type(builder, node);
    if (type != TYPE_REAL && is_moving(builder, node)) {
      vec_push(builder->heap, &from, node);
      vec_push(builder->heap, &to, changing_at_events(builder, node, type));
      continue;
    }
    for (uint32_t c = 0; c < dag_child_count(dag, node); c++) vec_push(builder->heap, &open, dag_child(dag, node, c));
  }
  if (from.count) dag_substitute(dag, from.data, to.data, from.count, residual, count);
  vec_free(builder->heap, &open, &from, &to);
  map_free(&seen);
}

static bool is_text(const Model *model, uint32_t variable) {
  return model->variables.data[variable].type == TYPE_STRING;
}

/* Statements of an algorithm section take effect one after another: a when reads the values that earlier ones assigned
 * (Modelica 3.6, section 11.1). */
static void begin_when(LogicBuilder *builder, const When *when) {
  builder->read.count = builder->made.count = 0;
  for (uint32_t k = 0; k < builder->order.count && when->algorithm; k++) {
    uint32_t index = builder->order.data[k];
    if (builder->section[index] != when->algorithm) continue;
    vec_push(builder->heap, &builder->read, dag_discrete(builder->dag, index));
    vec_push(builder->heap, &builder->made, builder->assigned[index]);
  }
}

static Expr as_read(LogicBuilder *builder, Expr e) {
  if (builder->read.count && e != EXPR_NONE)
    dag_substitute(builder->dag, builder->read.data, builder->made.data, builder->read.count, &e, 1);
  return e;
}

/* The later assignment counts; its value may use the value of the earlier one. */
static void add_assignment(LogicBuilder *builder, const Action *action, uint32_t section, Expr fires, bool at_start) {
  Dag *dag = builder->dag;
  uint32_t index = builder->model->variables.data[action->target].index;
  if (is_text(builder->model, action->target)) return;
  if (builder->assigned[index] == EXPR_NONE) {
    builder->assigned[index] = dag_pre(dag, index);
    vec_push(builder->heap, &builder->order, index);
  }
  Expr leaf = dag_discrete(dag, index), value = as_read(builder, action->value);
  dag_substitute(dag, &leaf, &builder->assigned[index], 1, &value, 1);
  builder->assigned[index] = dag_if(dag, fires, value, builder->assigned[index]);
  builder->where[index] = action->span;
  builder->at_start[index] = builder->at_start[index] || at_start;
  builder->section[index] = section;
}

static void add_action(LogicBuilder *builder, const Action *action, uint32_t section, Expr fires, bool at_start) {
  bool in_when = fires != EXPR_NONE;
  Expr guard = as_read(builder, action->guard);
  if (fires != EXPR_NONE && guard != EXPR_NONE) fires = dag_binary(builder->dag, OP_AND, fires, guard);
  else if (fires == EXPR_NONE) fires = guard;
  if (action->kind == ACTION_ASSIGN) {
    add_assignment(builder, action, section, fires, at_start);
    return;
  }
  double known;
  bool holds = action->kind == ACTION_ASSERT && dag_is_constant(builder->dag, action->value, &known) && known != 0;
  if (holds) return;
  Expr target = action->kind == ACTION_REINIT ? model_leaf(builder->model, action->target, 0) : EXPR_NONE;
  Expr value = as_read(builder, action->value);
  vec_push(builder->heap, &builder->logic->actions, (LogicAction){action->kind, fires, target, value, in_when, action});
}

/* Does a condition hold now that did not hold before? At the start only initial() counts. */
static Expr branch_begins(LogicBuilder *builder, const WhenBranch *branch, Span span) {
  Dag *dag = builder->dag;
  Expr any = dag_constant(dag, 0);
  for (uint32_t c = 0; c < branch->conditions.count; c++) {
    Expr condition = as_read(builder, branch->conditions.data[c]);
    bool is_initial = dag_op(dag, condition) == OP_INITIAL;
    if (!is_initial) condition = changing_at_events(builder, condition, TYPE_BOOLEAN);
    Expr begins = is_initial ? condition : edge_of(builder, add_step(builder, condition, span));
    any = dag_binary(dag, OP_OR, any, begins);
  }
  return any;
}

static void add_when(LogicBuilder *builder, const When *when) {
  Dag *dag = builder->dag;
  Expr earlier = dag_constant(dag, 0);
  begin_when(builder, when);
  for (uint32_t b = 0; b < when->branches.count; b++) {
    const WhenBranch *branch = &when->branches.data[b];
    Expr begins = branch_begins(builder, branch, when->span);
    Expr fires = add_step(builder, dag_binary(dag, OP_AND, begins, not_of(dag, earlier)), when->span);
    vec_last(&builder->logic->steps).fires = true;
    if (branch->mark) {
      vec_push(builder->heap, &builder->from, dag_string(dag, branch->mark));
      vec_push(builder->heap, &builder->to, fires);
    }
    earlier = dag_binary(dag, OP_OR, earlier, fires);
    /* a separate step, so that each branch reads one value and not the conditions of all earlier branches */
    if (b && b + 1 < when->branches.count) earlier = add_step(builder, earlier, when->span);
    bool at_start = dag_contains(dag, dag_scratch(dag), begins, OP_INITIAL);
    for (uint32_t a = 0; a < branch->actions.count; a++)
      add_action(builder, &branch->actions.data[a], when->algorithm, fires, at_start);
  }
}

static void add_steps(LogicBuilder *builder) {
  const Model *model = builder->model;
  for (uint32_t i = 0; i < model->discrete_equations.count; i++) {
    const Equation *equation = &model->discrete_equations.data[i];
    uint32_t index = dag_index(builder->dag, equation->left);
    if (is_text(model, model->discretes.data[index])) continue;
    builder->step_of[index] = builder->logic->steps.count;
    Expr value = changing_at_events(builder, equation->right, model->variables.data[model->discretes.data[index]].type);
    vec_push(builder->heap, &builder->logic->steps, (LogicStep){.leaf = index, .value = value, .span = equation->span});
  }
  for (uint32_t w = 0; w < model->whens.count; w++) add_when(builder, &model->whens.data[w]);
  builder->read.count = builder->made.count = 0;
  for (uint32_t k = 0; k < builder->order.count; k++) {
    uint32_t index = builder->order.data[k];
    vec_push(builder->heap, &builder->logic->steps,
             (LogicStep){.leaf = index, .value = builder->assigned[index], .span = builder->where[index]});
  }
  for (uint32_t a = 0; a < model->asserts.count; a++) add_action(builder, &model->asserts.data[a], 0, EXPR_NONE, true);
}

/* ---- initial equations for discrete variables ---- */

/* The leaf whose pre() gives a leaf its value at the start: the leaf itself, if whens assign it, or the leaf that its equation
 * names, as in d = pre(e). *is_free: nothing else gives it a value. */
static uint32_t pre_behind(const LogicBuilder *builder, Expr leaf, bool *is_free) {
  const Dag *dag = builder->dag;
  const Logic *logic = builder->logic;
  for (uint32_t k = 0; dag_op(dag, leaf) == OP_DISCRETE && k < logic->steps.count; k++) {
    uint32_t step = builder->step_of[dag_index(dag, leaf)];
    if (step == MAP_NONE) break;
    Expr value = logic->steps.data[step].value;
    if (dag_op(dag, value) != OP_DISCRETE && dag_op(dag, value) != OP_PRE) break;
    leaf = value;
  }
  uint32_t index = dag_index(dag, leaf);
  *is_free = dag_op(dag, leaf) == OP_PRE || (builder->assigned[index] != EXPR_NONE && !builder->at_start[index]);
  return index;
}

/* Does the expression contain something for which initialization solves: a variable, or a Real parameter with fixed = false? */
static bool has_unknown(const LogicBuilder *builder, Expr e) {
  const Model *model = builder->model;
  if (dag_depends(builder->dag, e, OP_VARIABLE)) return true;
  if (!dag_depends(builder->dag, e, OP_PARAMETER)) return false;
  IndexVec nodes = {0};
  bool found = false;
  dag_below(builder->dag, dag_scratch(builder->dag), &e, 1, &nodes);
  for (uint32_t k = 0; k < nodes.count && !found; k++) {
    if (dag_op(builder->dag, nodes.data[k]) != OP_PARAMETER) continue;
    const Variable *variable = &model->variables.data[model->parameters.data[dag_index(builder->dag, nodes.data[k])]];
    found = variable_is_sought(variable) && variable->type == TYPE_REAL;
  }
  vec_free(builder->heap, &nodes);
  return found;
}

/* The leaf whose pre() an initial equation with this side can determine; STRUCTURE_NONE: none. If the other side
 * contains an unknown, the equation may determine that instead, unless nothing else gives the leaf its value. */
static int32_t determined_leaf(const LogicBuilder *builder, Expr side, Expr other) {
  Op op = dag_op(builder->dag, side);
  if (op != OP_PRE && op != OP_DISCRETE) return STRUCTURE_NONE;
  bool is_free;
  uint32_t leaf = pre_behind(builder, side, &is_free);
  const Model *model = builder->model;
  if (leaf < model->discretes.count && model->variables.data[model->discretes.data[leaf]].fixed == FIXED_TRUE)
    is_free = false;
  return is_free || !has_unknown(builder, other) ? (int32_t)leaf : STRUCTURE_NONE;
}

/* For each initial equation, the leaves that either of its sides can determine. */
static Pattern initial_pattern(const LogicBuilder *builder, Arena *arena) {
  const Model *model = builder->model;
  uint32_t rows = model->initial_equations.count;
  int32_t *start = arena_array(arena, rows + 1, sizeof *start), *leaf = arena_array(arena, 2 * rows, sizeof *leaf);
  for (uint32_t i = 0; i < rows; i++) {
    const Equation *equation = &model->initial_equations.data[i];
    int32_t left = determined_leaf(builder, equation->left, equation->right),
            right = determined_leaf(builder, equation->right, equation->left);
    start[i + 1] = start[i];
    if (left != STRUCTURE_NONE) leaf[start[i + 1]++] = left;
    if (right != STRUCTURE_NONE) leaf[start[i + 1]++] = right;
  }
  return (Pattern){(int32_t)rows, (int32_t)model->discretes.count, start, leaf};
}

/* A parameter with fixed = false that is not Real gets its value by an assignment: equations cannot be solved for it. */
static bool is_assigned_parameter(const LogicBuilder *builder, Expr side) {
  const Model *model = builder->model;
  if (dag_op(builder->dag, side) != OP_PARAMETER) return false;
  const Variable *variable = &model->variables.data[model->parameters.data[dag_index(builder->dag, side)]];
  return variable_is_sought(variable) && variable->type != TYPE_REAL && variable->type != TYPE_STRING;
}

static void add_initial_steps(LogicBuilder *builder) {
  const Model *model = builder->model;
  Logic *logic = builder->logic;
  Arena arena = arena_make(builder->heap);
  logic->is_initial_step = heap_array(builder->heap, model->initial_equations.count, sizeof(bool));
  logic->initial_residual = heap_array(builder->heap, model->initial_equations.count, sizeof(Expr));
  for (uint32_t i = 0; i < model->initial_equations.count; i++)
    logic->initial_residual[i] = model->initial_equations.data[i].residual;
  Pattern pattern = initial_pattern(builder, &arena);
  Matching matching = matching_maximum(&arena, &pattern);
  for (uint32_t i = 0; i < model->initial_equations.count; i++) {
    const Equation *equation = &model->initial_equations.data[i];
    int32_t leaf = matching.column_of_row[i];
    bool is_parameter = is_assigned_parameter(builder, equation->left);
    if (leaf == STRUCTURE_NONE && !is_parameter) continue;
    bool left = is_parameter || leaf == determined_leaf(builder, equation->left, equation->right);
    LogicStep step = {.leaf = is_parameter ? dag_index(builder->dag, equation->left) : (uint32_t)leaf,
                      .value = left ? equation->right : equation->left,
                      .span = equation->span,
                      .is_parameter = is_parameter};
    vec_push(builder->heap, &logic->initial_steps, step);
    logic->is_initial_step[i] = true;
  }
  arena_free(&arena);
}

/* ---- delays ---- */

/* Lists unknowns that an equation gives from only discrete values, like a Real converted from an Integer. */
static void list_held(LogicBuilder *builder) {
  Dag *dag = builder->dag;
  ExprVec variables = {0};
  builder->is_listed = true;
  for (uint32_t i = 0; i < builder->residuals; i++) {
    Expr residual = builder->residual[i], slope, rest;
    variables.count = 0;
    if (dag_depends(dag, residual, OP_TIME)) continue;
    dag_variables(dag, dag_scratch(dag), residual, &variables);
    if (variables.count != 1 || dag_order(dag, variables.data[0])) continue;
    if (!dag_linear(dag, residual, variables.data[0], &slope, &rest)) continue;
    Expr value = dag_negate(dag, dag_divide(dag, rest, slope));
    if (is_moving(builder, value)) continue;
    vec_push(builder->heap, &builder->leaves, variables.data[0]);
    vec_push(builder->heap, &builder->values, value);
  }
  vec_free(dag_heap(dag), &variables);
}

/* The polynomial that a delay by a variable time reads, in powers of the distance of `at` from its centre. */
static Expr expansion(Dag *dag, uint32_t leaf, Expr at) {
  Expr beyond = dag_subtract(dag, at, dag_discrete(dag, leaf + PIECE_DEGREE + 1));
  Expr sum = dag_discrete(dag, leaf + PIECE_DEGREE);
  for (uint32_t k = PIECE_DEGREE; k-- > 0;) {
    Expr term = dag_multiply(dag, dag_scale(dag, 1.0 / (k + 1), beyond), sum);
    sum = dag_add(dag, dag_discrete(dag, leaf + k), term);
  }
  return sum;
}

static Expr delay_leaf(LogicBuilder *builder, Expr e) {
  Dag *dag = builder->dag;
  Logic *logic = builder->logic;
  Expr parts[2] = {dag_child(dag, e, 0), dag_child(dag, e, 1)};
  dag_substitute(dag, builder->from.data, builder->to.data, builder->from.count, parts, 2);
  LogicDelay delay = {.value = builder->put(builder->problem, parts[0]),
                      .time = builder->put(builder->problem, parts[1]),
                      .longest = dag_child(dag, e, dag_child_count(dag, e) - 1),
                      .written = e,
                      .leaf = logic->leaves};
  delay.is_fixed = !is_moving(builder, delay.time) && !dag_depends(dag, delay.time, OP_DISCRETE) &&
                   !dag_depends(dag, delay.time, OP_PRE);
  Expr held = delay.value;
  if (!builder->is_listed) list_held(builder);
  dag_substitute(dag, builder->leaves.data, builder->values.data, builder->leaves.count, &held, 1);
  delay.is_discrete = delay.is_fixed && !is_moving(builder, held);
  if (delay.is_discrete) delay.value = held;
  logic->leaves += delay.is_discrete ? 1 : DELAY_LEAVES;
  vec_push(builder->heap, &logic->delays, delay);
  if (delay.is_discrete) {
    Expr initial = dag_discrete(dag, logic->initial), late = dag_discrete(dag, delay.leaf);
    Expr at_once = dag_binary(dag, OP_LESS_EQUAL, delay.time, dag_constant(dag, 0));
    return add_step(builder, dag_if(dag, dag_binary(dag, OP_OR, initial, at_once), held, late), (Span){0});
  }
  if (delay.is_fixed) return dag_delayed(dag, delay.leaf, 0);
  return expansion(dag, delay.leaf, dag_subtract(dag, dag_time(dag), delay.time));
}

/* A leaf that changes when the relation sign*place < -sign*x changes. */
static uint32_t arrival_leaf(LogicBuilder *builder, uint32_t leaf, Expr x) {
  Dag *dag = builder->dag;
  Expr sign = dag_discrete(dag, leaf + PIPE_SIGN), place = dag_discrete(dag, leaf + PIPE_BREAK);
  Expr arrives = dag_binary(dag, OP_LESS, dag_multiply(dag, sign, place), dag_multiply(dag, sign, dag_negate(dag, x)));
  return dag_index(dag, add_step(builder, arrives, (Span){0}));
}

/* The value at place 0 of a pipe: the inflow there, or the contents of the pipe. */
static Expr pipe_leaf(LogicBuilder *builder, Expr e) {
  Dag *dag = builder->dag;
  Logic *logic = builder->logic;
  Expr part[TRANSPORT_SCALARS];
  LogicPipe *pipe = heap_alloc(builder->heap, sizeof *pipe);
  pipe->count = (dag_child_count(dag, e) - TRANSPORT_SCALARS) / 2;
  pipe->points = heap_array(builder->heap, 2 * (size_t)pipe->count, sizeof *pipe->points);
  pipe->values = pipe->points + pipe->count;
  for (uint32_t i = 0; i < 2 * pipe->count; i++) pipe->points[i] = dag_child(dag, e, TRANSPORT_SCALARS + i);
  for (uint32_t i = 0; i < TRANSPORT_SCALARS; i++) part[i] = dag_child(dag, e, i);
  dag_substitute(dag, builder->from.data, builder->to.data, builder->from.count, part, TRANSPORT_SCALARS);
  for (uint32_t i = 0; i < TRANSPORT_SCALARS; i++) part[i] = builder->put(builder->problem, part[i]);
  pipe->x = part[TRANSPORT_X];
  pipe->positive = part[TRANSPORT_POSITIVE];
  Expr enters = dag_if(dag, pipe->positive, part[TRANSPORT_IN0], part[TRANSPORT_IN1]), zero = dag_constant(dag, 0);
  LogicDelay delay = {
      .value = enters, .time = zero, .longest = zero, .written = e, .pipe = pipe, .leaf = logic->leaves};
  logic->leaves += PIPE_LEAVES;
  pipe->arrival = arrival_leaf(builder, delay.leaf, pipe->x);
  vec_push(builder->heap, &logic->delays, delay);
  Expr contained = expansion(dag, delay.leaf, dag_negate(dag, pipe->x));
  return dag_if(dag, pipe->positive, part[TRANSPORT_IN0], contained);
}

uint32_t logic_delay_leaves(const LogicDelay *delay) {
  return delay->pipe ? PIPE_LEAVES : delay->is_discrete ? 1 : DELAY_LEAVES;
}

void logic_put_start(const Logic *logic, Dag *dag, Heap *heap, Expr *roots, uint32_t count) {
  ExprVec from = {0}, to = {0};
  for (uint32_t k = 0; k < logic->delays.count; k++) {
    const LogicDelay *delay = &logic->delays.data[k];
    Expr value = delay->value;
    if (delay->is_discrete) continue;
    if (delay->pipe) value = dag_negate(dag, delay->pipe->x);
    if (from.count) dag_substitute(dag, from.data, to.data, from.count, &value, 1);
    if (delay->pipe) { /* its contents are known, but not their place */
      vec_push(heap, &from, dag_discrete(dag, delay->leaf + PIECE_DEGREE + 1));
      vec_push(heap, &to, value);
      continue;
    }
    for (uint32_t order = 0; order <= PIECE_DEGREE; order++) {
      Expr now = order ? dag_constant(dag, 0) : value;
      vec_push(heap, &from,
               delay->is_fixed ? dag_delayed(dag, delay->leaf, order) : dag_discrete(dag, delay->leaf + order));
      vec_push(heap, &to, now);
    }
  }
  if (from.count) dag_substitute(dag, from.data, to.data, from.count, roots, count);
  vec_free(heap, &from);
  vec_free(heap, &to);
}

/* ---- initial(), sample(), edge() and similar ---- */

/* The replacement of a node; EXPR_NONE: the node itself. */
static Expr leaf_for(LogicBuilder *builder, Expr e) {
  Dag *dag = builder->dag;
  switch (dag_op(dag, e)) {
  case OP_INITIAL:
  case OP_TERMINAL:
    builder->logic->is_asked = true;
    if (dag_op(dag, e) == OP_TERMINAL) builder->logic->asks_terminal = true;
    return dag_discrete(dag, dag_op(dag, e) == OP_INITIAL ? builder->logic->initial : builder->logic->terminal);
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
  case OP_DELAY: return delay_leaf(builder, e);
  case OP_TRANSPORT: return pipe_leaf(builder, e);
  case OP_LEFT: {
    Expr leaf = take_leaf(builder);
    vec_push(builder->heap, &builder->logic->lefts, (LogicLeft){dag_index(dag, leaf), dag_child(dag, e, 0)});
    return leaf;
  }
  default: return EXPR_NONE;
  }
}

/* Replaces these nodes in the residuals, in initial equations and in all expressions of the logic. */
static void replace_nodes(LogicBuilder *builder, Expr *residual, uint32_t count) {
  Dag *dag = builder->dag;
  Heap *heap = builder->heap;
  ExprVec roots = {0}, *from = &builder->from, *to = &builder->to;
  PlaceVec places = {0};
  IndexVec below = {0};
  logic_places(builder->logic, heap, &places);
  for (uint32_t k = 0; k < places.count; k++) vec_push(heap, &roots, *places.data[k]);
  push_nonsmooth(builder, residual, count, &roots);
  uint32_t initial_count = builder->model->initial_equations.count;
  Expr *initial = builder->logic->initial_residual;
  push_nonsmooth(builder, initial, initial_count, &roots);
  dag_below_nonsmooth(dag, dag_scratch(dag), roots.data, roots.count, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    Expr leaf = leaf_for(builder, below.data[k]);
    if (leaf == EXPR_NONE) continue;
    vec_push(heap, from, below.data[k]);
    vec_push(heap, to, leaf);
  }
  places.count = roots.count = 0; /* edge() may have made steps */
  logic_places(builder->logic, heap, &places);
  for (uint32_t k = 0; k < places.count; k++) vec_push(heap, &roots, *places.data[k]);
  if (from->count) dag_substitute(dag, from->data, to->data, from->count, roots.data, roots.count);
  for (uint32_t k = 0; k < places.count; k++) *places.data[k] = roots.data[k];
  if (from->count) dag_substitute(dag, from->data, to->data, from->count, residual, count);
  if (from->count) dag_substitute(dag, from->data, to->data, from->count, initial, initial_count);
  vec_free(heap, &roots);
  vec_free(heap, from);
  vec_free(heap, to);
  vec_free(heap, &places);
  vec_free(dag_heap(dag), &below);
}

void logic_places(Logic *logic, Heap *heap, PlaceVec *places) {
  for (uint32_t k = 0; k < logic->steps.count; k++) vec_push(heap, places, &logic->steps.data[k].value);
  for (uint32_t k = 0; k < logic->initial_steps.count; k++) vec_push(heap, places, &logic->initial_steps.data[k].value);
  for (uint32_t k = 0; k < logic->lefts.count; k++) vec_push(heap, places, &logic->lefts.data[k].value);
  for (uint32_t k = 0; k < logic->delays.count; k++) {
    vec_push(heap, places, &logic->delays.data[k].value);
    LogicPipe *pipe = logic->delays.data[k].pipe;
    vec_push(heap, places, &logic->delays.data[k].time);
    if (pipe) vec_push(heap, places, &pipe->x);
    if (pipe) vec_push(heap, places, &pipe->positive);
  }
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
  LogicBuilder builder = {.logic = heap_alloc(heap, sizeof(Logic)),
                          .model = model,
                          .dag = model->dag,
                          .heap = heap,
                          .put = put,
                          .problem = problem};
  Logic *logic = builder.logic;
  logic->leaves = own;
  logic->initial = logic->leaves++;
  logic->terminal = logic->leaves++;
  builder.assigned = heap_array(heap, own, sizeof *builder.assigned);
  builder.where = heap_array(heap, own, sizeof *builder.where);
  builder.at_start = heap_array(heap, own, sizeof *builder.at_start);
  builder.section = heap_array(heap, own, sizeof *builder.section);
  builder.step_of = heap_array(heap, own, sizeof *builder.step_of);
  for (uint32_t d = 0; d < own; d++) builder.assigned[d] = EXPR_NONE, builder.step_of[d] = MAP_NONE;
  add_steps(&builder);
  add_initial_steps(&builder);
  watch_discrete(&builder, residual, count);
  builder.residual = residual;
  builder.residuals = count;
  replace_nodes(&builder, residual, count);
  PlaceVec places = {0};
  logic_places(logic, heap, &places);
  for (uint32_t k = 0; k < places.count; k++) *places.data[k] = put(problem, *places.data[k]);
  for (uint32_t i = 0; i < model->initial_equations.count; i++)
    logic->initial_residual[i] = put(problem, logic->initial_residual[i]);
  vec_free(heap, &places);
  vec_free(heap, &builder.order);
  vec_free(heap, &builder.read, &builder.made);
  vec_free(heap, &builder.leaves);
  vec_free(heap, &builder.values);
  heap_free(heap, builder.assigned);
  heap_free(heap, builder.where);
  heap_free(heap, builder.at_start);
  heap_free(heap, builder.section);
  heap_free(heap, builder.step_of);
  return logic;
}

bool logic_is_empty(const Logic *logic) {
  return !logic->steps.count && !logic->actions.count && !logic->samples.count && !logic->delays.count &&
         !logic->initial_steps.count && !logic->is_asked;
}

/* ---- order ---- */

typedef struct StepLink {
  uint32_t reader, next;
} StepLink;

typedef struct Sorter {
  Heap *heap;
  const Model *model;
  const Logic *logic;
  uint32_t *step_of; /* per leaf: its step, MAP_NONE */
  uint32_t *waits;   /* per step: the number of steps whose values it reads and that have no place yet */
  uint32_t *first;   /* per step: the first of its readers in the list of links, MAP_NONE */
  VEC(StepLink) links;
  IndexVec order; /* steps placed */
} Sorter;

/* The steps that the value of step k reads. */
static void find_read(Sorter *sorter, uint32_t k, IndexVec *below) {
  Dag *dag = sorter->model->dag;
  Expr value = sorter->logic->steps.data[k].value;
  below->count = 0;
  if (dag_depends(dag, value, OP_DISCRETE)) dag_below(dag, dag_scratch(dag), &value, 1, below);
  for (uint32_t i = 0; i < below->count; i++) {
    Expr e = below->data[i];
    if (dag_op(dag, e) != OP_DISCRETE || dag_index(dag, e) >= sorter->logic->leaves) continue;
    uint32_t read = sorter->step_of[dag_index(dag, e)];
    if (read == MAP_NONE) continue;
    vec_push(sorter->heap, &sorter->links, (StepLink){k, sorter->first[read]});
    sorter->first[read] = sorter->links.count - 1;
    sorter->waits[k]++;
  }
}

/* Steps that wait for no other step form a level. Steps that wait only for earlier levels form the next level, and so on. */
static void place_levels(Sorter *sorter, IndexVec *level_start) {
  uint32_t placed = 0, count = sorter->logic->steps.count;
  for (uint32_t k = 0; k < count; k++)
    if (!sorter->waits[k]) vec_push(sorter->heap, &sorter->order, k);
  level_start->count = 0;
  vec_push(sorter->heap, level_start, 0);
  while (placed < sorter->order.count) {
    for (uint32_t end = sorter->order.count; placed < end; placed++)
      for (uint32_t l = sorter->first[sorter->order.data[placed]]; l != MAP_NONE; l = sorter->links.data[l].next)
        if (--sorter->waits[sorter->links.data[l].reader] == 0)
          vec_push(sorter->heap, &sorter->order, sorter->links.data[l].reader);
    vec_push(sorter->heap, level_start, placed);
  }
  for (uint32_t k = 0; k < count; k++)
    if (sorter->waits[k]) vec_push(sorter->heap, &sorter->order, k);
  if (sorter->order.count > placed) vec_push(sorter->heap, level_start, sorter->order.count);
}

void logic_sort(Logic *logic, const Model *model) {
  Heap *heap = model->heap;
  uint32_t count = logic->steps.count;
  Arena arena = arena_make(heap);
  Sorter sorter = {.heap = heap, .model = model, .logic = logic};
  sorter.step_of = arena_array(&arena, logic->leaves, sizeof(uint32_t));
  sorter.waits = arena_array(&arena, count, sizeof(uint32_t));
  sorter.first = arena_array(&arena, count, sizeof(uint32_t));
  for (uint32_t l = 0; l < logic->leaves; l++) sorter.step_of[l] = MAP_NONE;
  for (uint32_t k = 0; k < count; k++) sorter.step_of[logic->steps.data[k].leaf] = k, sorter.first[k] = MAP_NONE;
  IndexVec below = {0};
  for (uint32_t k = 0; k < count; k++) find_read(&sorter, k, &below);
  place_levels(&sorter, &logic->level_start);
  LogicStep *unsorted = arena_array(&arena, count, sizeof *unsorted);
  if (count) memcpy(unsorted, logic->steps.data, count * sizeof *unsorted);
  for (uint32_t k = 0; k < count; k++) logic->steps.data[k] = unsorted[sorter.order.data[k]];
  vec_free(heap, &sorter.links, &sorter.order);
  vec_free(dag_heap(model->dag), &below);
  arena_free(&arena);
}
