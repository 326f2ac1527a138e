/* divisors: see divisors.h. Each expression is walked from its root down. A node is `used` if the value of the root
 * depends on it. It is `hidden` if an operator between the root and the node may turn an infinite number into a finite one.
 * Both properties are stored as conditions, because a branch of an if counts only while it is taken. */
#include "array/divisors.h"

#include <math.h>
#include <string.h>

/* A divisor, the condition under which a division by it is hidden, and the place of the first one. */
typedef struct Divisor {
  Expr divisor, hidden;
  bool is_initial; /* it divides in initial equations */
  Span span;
} Divisor;

/* A part of a divisor, and the condition under which it counts. */
typedef struct Part {
  Expr e, hidden;
} Part;

typedef struct Divisors {
  Heap *heap;
  Dag *dag;
  const Modes *modes;
  uint8_t *contents;   /* per node: flags of what the expression contains */
  Expr *used, *hidden; /* per node, during the walk of one root; EXPR_NONE: never */
  Expr *mode_used;     /* per mode */
  Span *mode_span;     /* per mode: the place of its first use */
  IndexVec order;
  Expr always; /* the condition that is true */
  VEC(Divisor) found;
  Map entry[2]; /* divisor -> its place in `found`; the second map: in initial equations */
  Expr
      quotient; /* a root that is rounded to a whole number: its divisor must not be zero, even if it changes between events;
                 * EXPR_NONE: there is none */
  bool is_initial; /* the root is an initial equation */
  Span span;       /* of the root */
} Divisors;

/* Does the value stay the same between events? */
static bool is_held(Dag *dag, Expr e) {
  return !dag_depends(dag, e, OP_VARIABLE) && !dag_depends(dag, e, OP_TIME) &&
         !dag_contains(dag, dag_scratch(dag), e, OP_CALL);
}

/* May the node have a finite value although child c is infinite? */
static bool hides(const Dag *dag, Expr e, uint32_t c) {
  Op op = dag_op(dag, e);
  OpKind kind = op_kind(op);
  if (op == OP_CALL) return true;
  if (op == OP_SUM || op == OP_MULTIPLY || op == OP_SEMILINEAR || op == OP_INPUT) return false;
  if (kind != KIND_SMOOTH && kind != KIND_PIECEWISE && kind != KIND_RELATION) return false;
  bool found = false;
  for (int side = -1; side <= 1 && !found; side += 2) {
    double x[3] = {1.5, 1.5, 1.5}, value;
    for (uint32_t k = 0; k < dag_child_count(dag, e); k++) dag_is_constant(dag, dag_child(dag, e, k), &x[k]);
    x[c] = side * HUGE_VAL;
    found = op_evaluate(op, x, &value) && isfinite(value);
  }
  return found;
}

static bool takes_whole(Op op) { return op == OP_DIV || op == OP_MOD || op == OP_REM; }

/* The divisor of a node; EXPR_NONE: it does not divide. */
static Expr divisor_of(const Dag *dag, Expr e) {
  double exponent;
  switch (dag_op(dag, e)) {
  case OP_DIVIDE:
  case OP_DIV:
  case OP_MOD:
  case OP_REM: return dag_child(dag, e, 1);
  case OP_POWER:
    return dag_is_constant(dag, dag_child(dag, e, 1), &exponent) && exponent < 0 ? dag_child(dag, e, 0) : EXPR_NONE;
  default: return EXPR_NONE;
  }
}

static uint32_t mode_of(const Divisors *divisors, Expr e) {
  if (dag_op(divisors->dag, e) != OP_DISCRETE) return MAP_NONE;
  uint32_t m = dag_index(divisors->dag, e) - divisors->modes->first;
  return dag_index(divisors->dag, e) >= divisors->modes->first && m < divisors->modes->count ? m : MAP_NONE;
}

/* ---- conditions ---- */

static void widen(Dag *dag, Expr *condition, Expr by) {
  *condition = *condition == EXPR_NONE || *condition == by ? by : dag_binary(dag, OP_OR, *condition, by);
}

/* The entry of a divisor, made if it is new. */
static Divisor *entry_of(Divisors *divisors, Expr divisor) {
  uint32_t i = map_get(&divisors->entry[divisors->is_initial], divisor);
  if (i == MAP_NONE) {
    i = divisors->found.count;
    map_put(&divisors->entry[divisors->is_initial], divisor, i);
    vec_push(divisors->heap, &divisors->found, (Divisor){divisor, EXPR_NONE, divisors->is_initial, divisors->span});
  }
  return &divisors->found.data[i];
}

/* The condition under which child c of a node is used, if the node is used under `used`. */
static Expr used_below(Dag *dag, Expr e, uint32_t c, Expr used) {
  Op op = dag_op(dag, e);
  if (c == 0 || used == EXPR_NONE || (op != OP_IF && op != OP_AND && op != OP_OR)) return used;
  Expr first = dag_child(dag, e, 0);
  bool is_other = op == OP_OR || (op == OP_IF && c == 2);
  return dag_binary(dag, OP_AND, used, is_other ? dag_unary(dag, OP_NOT, first) : first);
}

/* Records a divisor under a condition. A product is zero if one of its factors is zero. So only the factors that are constant
 * between events are recorded; with `all`, every factor is. */
static void note_divisor(Divisors *divisors, Expr divisor, bool all, Expr hidden) {
  Dag *dag = divisors->dag;
  double value;
  const Term *term;
  VEC(Part) open = {0};
  vec_push(divisors->heap, &open, (Part){divisor, hidden});
  while (open.count) {
    Part part = vec_pop(&open);
    Expr e = part.e;
    Op op = dag_op(dag, e);
    uint32_t first = op == OP_IF ? 1 : 0, end = op == OP_MULTIPLY ? 2 : op == OP_IF ? 3 : 1;
    if (dag_is_constant(dag, e, &value) && value != 0) continue;
    if (op == OP_SUM && dag_terms(dag, e, &value, &term) == 1 && value == 0)
      vec_push(divisors->heap, &open, (Part){term[0].node, part.hidden});
    else if (op == OP_MULTIPLY || op == OP_DIVIDE || op == OP_SQRT || op == OP_ABS || op == OP_NOEVENT || op == OP_IF)
      for (uint32_t c = first; c < end; c++)
        vec_push(divisors->heap, &open, (Part){dag_child(dag, e, c), used_below(dag, e, c, part.hidden)});
    else if (all || is_held(dag, e)) widen(dag, &entry_of(divisors, e)->hidden, part.hidden);
  }
  vec_free(divisors->heap, &open);
}

static void walk_node(Divisors *divisors, Expr e) {
  Dag *dag = divisors->dag;
  Op op = dag_op(dag, e);
  Expr used = divisors->used[e], hidden = divisors->hidden[e], divisor = divisor_of(dag, e);
  uint32_t mode = mode_of(divisors, e);
  if (mode != MAP_NONE && divisors->mode_used[mode] == EXPR_NONE) divisors->mode_span[mode] = divisors->span;
  if (mode != MAP_NONE) widen(dag, &divisors->mode_used[mode], used);
  if (takes_whole(op)) hidden = used;
  if (divisor != EXPR_NONE && hidden != EXPR_NONE) note_divisor(divisors, divisor, e == divisors->quotient, hidden);
  for (uint32_t c = 0; c < dag_child_count(dag, e); c++) {
    Expr child = dag_child(dag, e, c);
    if (!divisors->contents[child]) continue;
    widen(dag, &divisors->used[child], used_below(dag, e, c, used));
    Expr below = hides(dag, e, c) ? used : hidden;
    if (below != EXPR_NONE) widen(dag, &divisors->hidden[child], used_below(dag, e, c, below));
  }
}

static void walk(Divisors *divisors, Expr root, Expr used, bool is_hidden, Span span) {
  if (root == EXPR_NONE || used == EXPR_NONE || !divisors->contents[root]) return;
  Dag *dag = divisors->dag;
  divisors->order.count = 0;
  dag_below(dag, dag_scratch(dag), &root, 1, &divisors->order);
  for (uint32_t k = 0; k < divisors->order.count; k++)
    divisors->used[divisors->order.data[k]] = divisors->hidden[divisors->order.data[k]] = EXPR_NONE;
  divisors->used[root] = used;
  if (is_hidden) divisors->hidden[root] = used;
  divisors->span = span;
  for (uint32_t k = divisors->order.count; k-- > 0;)
    if (divisors->used[divisors->order.data[k]] != EXPR_NONE) walk_node(divisors, divisors->order.data[k]);
}

/* ---- the expressions of a problem ---- */

/* Is this difference a quotient that is rounded to a whole number? The whole number is undefined if the divisor is zero. */
static bool is_whole(const Divisors *divisors, uint32_t mode) {
  ConditionKind kind = mode_kind(dag_op(divisors->dag, divisors->modes->relation[mode]));
  return !condition_is_defined(kind, HUGE_VAL) && dag_op(divisors->dag, divisors->modes->written[mode]) == OP_DIVIDE;
}

/* Flags: at or below the node there is a divisor that may be zero; or a mode, which reads its difference. */
enum { DIVIDES = 1, READS_MODE = 2 };

static int contents_of(const Divisors *divisors, Expr e) {
  const Dag *dag = divisors->dag;
  double value;
  Expr divisor = divisor_of(dag, e);
  bool divides = divisor != EXPR_NONE && !(dag_is_constant(dag, divisor, &value) && value != 0);
  int contents = (divides ? DIVIDES : 0) | (mode_of(divisors, e) != MAP_NONE ? READS_MODE : 0);
  for (uint32_t c = 0; c < dag_child_count(dag, e); c++) contents |= divisors->contents[dag_child(dag, e, c)];
  return contents;
}

/* Is a division in the node, or below it, hidden by the node? */
static bool hides_any(const Divisors *divisors, Expr e) {
  const Dag *dag = divisors->dag;
  if (!(divisors->contents[e] & DIVIDES)) return false;
  bool any = takes_whole(dag_op(dag, e));
  for (uint32_t c = 0; c < dag_child_count(dag, e) && !any; c++)
    any = (divisors->contents[dag_child(dag, e, c)] & DIVIDES) && hides(dag, e, c);
  return any;
}

/* Finds what is below each node. Is a division hidden anywhere? Children are made before their parents. */
static bool find_divisions(Divisors *divisors, uint32_t size) {
  bool any = false;
  for (Expr e = 0; e < size; e++) {
    divisors->contents[e] = (uint8_t)contents_of(divisors, e);
    any = any || hides_any(divisors, e);
  }
  for (uint32_t m = 0; m < divisors->modes->count; m++)
    any = any || (divisors->contents[divisors->modes->written[m]] & DIVIDES);
  return any;
}

static void walk_all(Divisors *divisors, const Problem *problem) {
  const Logic *logic = problem->logic;
  const Modes *modes = divisors->modes;
  Expr always = divisors->always;
  for (uint32_t i = 0; i < problem->equations; i++)
    walk(divisors, problem->residual[i], always, false, problem->model->equations.data[problem->equation[i]].span);
  for (uint32_t k = 0; k < logic->steps.count; k++)
    walk(divisors, logic->steps.data[k].value, always, false, logic->steps.data[k].span);
  for (uint32_t k = 0; k < logic->actions.count; k++) {
    const LogicAction *action = &logic->actions.data[k];
    walk(divisors, action->fires, always, false, action->written->span);
    walk(divisors, action->value, action->fires == EXPR_NONE ? always : action->fires, false, action->written->span);
  }
  for (uint32_t m = modes->count; m-- > 0;) {
    divisors->quotient = is_whole(divisors, m) ? modes->written[m] : EXPR_NONE;
    walk(divisors, modes->written[m], divisors->mode_used[m], true, divisors->mode_span[m]);
  }
  divisors->quotient = EXPR_NONE;
  divisors->is_initial = true;
  for (uint32_t i = 0; i < problem->model->initial_equations.count; i++)
    walk(divisors, logic->initial_residual[i], always, false, problem->model->initial_equations.data[i].span);
}

static void add_assertion(const Divisors *divisors, Problem *problem, const Divisor *found, Arena *arena) {
  Model *model = problem->model;
  Dag *dag = model->dag;
  const char *name = model_text(model, modes_restore(divisors->modes, dag, found->divisor), arena),
             *words = "division by zero";
  if (!dag_is_constant(dag, found->divisor, NULL)) words = arena_printf(arena, "%s: %s = 0", words, name);
  Action *action = arena_array(arena, 1, sizeof *action);
  *action = (Action){.kind = ACTION_ASSERT,
                     .guard = EXPR_NONE,
                     .value = dag_binary(dag, OP_NOT_EQUAL, found->divisor, dag_constant(dag, 0)),
                     .message = dag_string(dag, names_add(model->names, words, strlen(words))),
                     .is_initial = found->is_initial,
                     .span = found->span};
  LogicAction added = {.kind = ACTION_ASSERT,
                       .fires = found->hidden == divisors->always ? EXPR_NONE : found->hidden,
                       .target = EXPR_NONE,
                       .value = action->value,
                       .written = action};
  vec_push(model->heap, &problem->logic->actions, added);
}

void divisors_assert(Problem *problem, const Modes *modes, Arena *arena) {
  Heap *heap = arena->heap;
  Divisors divisors = {.heap = heap, .dag = problem->model->dag, .modes = modes, .quotient = EXPR_NONE};
  divisors.always = dag_constant(divisors.dag, 1);
  uint32_t size = dag_size(divisors.dag);
  divisors.contents = heap_array(heap, size, sizeof *divisors.contents);
  if (find_divisions(&divisors, size)) {
    divisors.used = heap_array(heap, size, sizeof *divisors.used);
    divisors.hidden = heap_array(heap, size, sizeof *divisors.hidden);
    divisors.mode_used = heap_array(heap, modes->count, sizeof *divisors.mode_used);
    divisors.mode_span = heap_array(heap, modes->count, sizeof *divisors.mode_span);
    for (uint32_t m = 0; m < modes->count; m++) divisors.mode_used[m] = EXPR_NONE;
    divisors.entry[0] = map_make(heap), divisors.entry[1] = map_make(heap);
    walk_all(&divisors, problem);
    for (uint32_t k = 0; k < divisors.found.count; k++)
      add_assertion(&divisors, problem, &divisors.found.data[k], arena);
    map_free(&divisors.entry[0]);
    map_free(&divisors.entry[1]);
  }
  heap_free_all(heap, divisors.contents, divisors.used, divisors.hidden, divisors.mode_used, divisors.mode_span);
  vec_free(heap, &divisors.found);
  vec_free(dag_heap(divisors.dag), &divisors.order);
}
