/* kink_modes: see kink_modes.h. */
#include "array/kink_modes.h"

#include "array/branches.h"
#include "array/joint.h"

/* At a kink, the first derivative of an equation jumps. The equation is a constraint on velocities if it has a second derivative.
 * Derivatives with respect to parameters also need the rates of velocities, so the equations count as differentiated once more. In
 * that case an equation that is not differentiated with respect to time counts as differentiated once (DIFFERENTIATED), and only
 * its jumps matter. */
enum { DIFFERENTIATED = 1, JUMPING = 2 };

/* The most rows of all modes that are tried: this takes less than a tenth of a second. */
enum { ROW_LIMIT = 1 << 17 };

static bool is_moving(const Dag *dag, Expr e) {
  return dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_TIME);
}

/* Does this node become a condition with events if its equation is differentiated c times? */
static bool is_opened(const Dag *dag, Expr e, int32_t c) {
  double order = 0;
  if (!is_moving(dag, e)) return false;
  switch (dag_op(dag, e)) {
  case OP_ABS:
  case OP_MIN:
  case OP_MAX:
  case OP_SEMILINEAR: return c >= JUMPING;
  case OP_NOEVENT: return c >= DIFFERENTIATED;
  case OP_SMOOTH: return dag_is_constant(dag, dag_child(dag, e, 0), &order) && c >= order + JUMPING;
  default: return false;
  }
}

/* A smooth() that is kept hides its contents. */
static bool hides(const Dag *dag, Expr e, int32_t c) { return dag_op(dag, e) == OP_SMOOTH && !is_opened(dag, e, c); }

/* ---- how often equations are differentiated ---- */

/* The result for each equation, and the data to analyze each mode. */
typedef struct Most {
  int32_t *times; /* per equation, in the mode that differentiates it most often */
  int32_t *least; /* per unknown: the derivative that the model mentions */
  Arena *arena;
} Most;

/* The structure with the derivatives that the model mentions; unchanged, if that fails. */
static Structure keep_most(const Most *most, const Problem *problem, Structure structure) {
  bool is_beyond = false;
  if (structure.status != STRUCTURE_OK) return structure;
  for (uint32_t j = 0; j < problem->unknowns; j++) is_beyond = is_beyond || most->least[j] > structure.d[j];
  if (is_beyond) structure = structure_raise(most->arena, &problem->incidence, &structure, most->least);
  for (uint32_t i = 0; i < problem->equations; i++)
    if (structure.c[i] > most->times[i]) most->times[i] = structure.c[i];
  return structure;
}

/* The branches of an equation, in their order. */
typedef struct Held {
  uint32_t *branch;
  uint32_t count;
} Held;

/* Per equation. */
static Held *list_held(const Problem *problem, const Branches *branches, Arena *arena) {
  Dag *dag = problem->model->dag;
  Heap *heap = arena->heap;
  Held *held = arena_array(arena, problem->equations, sizeof *held);
  Map number = map_make(heap);
  IndexVec below = {0}, found = {0};
  for (uint32_t k = 0; k < branches->count; k++) map_put(&number, branches->node[k], k);
  for (uint32_t i = 0; i < problem->equations; i++) {
    below.count = found.count = 0;
    dag_below(dag, dag_scratch(dag), &problem->residual[i], 1, &below);
    for (uint32_t p = 0; p < below.count; p++) {
      uint32_t k = map_get(&number, below.data[p]);
      if (k != MAP_NONE) vec_push(heap, &found, k);
    }
    held[i] = (Held){arena_copy_array(arena, found.data, found.count, sizeof *found.data), found.count};
  }
  map_free(&number);
  vec_free(dag_scratch(dag)->heap, &below);
  vec_free(heap, &found);
  return held;
}

static bool holds_branch(const Held *held, uint32_t k) {
  for (uint32_t p = 0; p < held->count; p++)
    if (held->branch[p] == k) return true;
  return false;
}

/* The neighbours of a mode whose structure is known. */
typedef struct Beside {
  const Problem *problem; /* of all modes */
  const Branches *branches;
  const Held *held;    /* per equation */
  Structure structure; /* structure of the known mode */
} Beside;

/* An equation in a mode. */
static Expr take_row(const Beside *beside, uint32_t i, const bool *holds, Arena *arena) {
  const Held *held = &beside->held[i];
  Branches own = {.count = held->count, .node = arena_array(arena, held->count, sizeof(Expr))};
  bool *takes = arena_array(arena, held->count, sizeof *takes);
  Expr residual = beside->problem->residual[i];
  for (uint32_t p = 0; p < held->count; p++) {
    own.node[p] = beside->branches->node[held->branch[p]];
    takes[p] = holds[held->branch[p]];
  }
  branches_take(beside->problem->model->dag, &own, takes, &residual, 1);
  return residual;
}

/* Are the known offsets valid for a changed equation, and does it still contain its highest derivative? */
static bool row_keeps(const Beside *beside, uint32_t i, Expr residual) {
  const Problem *problem = beside->problem;
  const Structure *structure = &beside->structure;
  Dag *dag = problem->model->dag;
  ExprVec leaves = {0};
  bool is_valid = true, is_matched = false;
  dag_variables(dag, dag_scratch(dag), residual, &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t j = problem->local[dag_index(dag, leaves.data[k])];
    int32_t slack = structure->d[j] - structure->c[i] - (int32_t)dag_order(dag, leaves.data[k]);
    is_valid = is_valid && slack >= 0;
    is_matched = is_matched || (slack == 0 && structure->matching.column_of_row[i] == (int32_t)j);
  }
  vec_free(dag_scratch(dag)->heap, &leaves);
  return is_valid && is_matched;
}

/* Does another branch k leave the offsets valid, with a perfect matching of highest derivatives? Then the smallest offsets of that
 * mode are no larger (Pryce 2001, section 4). */
static bool keeps_offsets(const Beside *beside, uint32_t k, const bool *holds, Arena *arena) {
  bool keeps = beside->structure.status == STRUCTURE_OK;
  for (uint32_t i = 0; i < beside->problem->equations && keeps; i++)
    if (holds_branch(&beside->held[i], k)) keeps = row_keeps(beside, i, take_row(beside, i, holds, arena));
  return keeps;
}

static Structure keep_most_of_mode(const Most *most, const Problem *problem, const Branches *branches,
                                   const bool *holds) {
  Problem narrow = branches_narrow(problem, branches, holds, most->arena);
  return keep_most(most, &narrow, structure_run(most->arena, &narrow.incidence));
}

/* Tries these modes: all if-expressions take their first branches, or all take their second branches; and each of these two modes
 * with one if-expression changed. */
static void keep_most_of_modes(const Most *most, const Problem *problem) {
  Branches branches = branches_find_written(problem, most->arena);
  Beside beside = {problem, &branches, list_held(problem, &branches, most->arena), {0}};
  bool *holds = arena_array(most->arena, branches.count, sizeof *holds);
  uint32_t tries = ROW_LIMIT / (problem->equations + 1);
  for (int first = 0; first < 2 && branches.count; first++) {
    for (uint32_t k = 0; k < branches.count; k++) holds[k] = first;
    beside.structure = keep_most_of_mode(most, problem, &branches, holds);
    for (uint32_t k = 0; k < branches.count && k < tries / 2; k++) {
      holds[k] = !holds[k];
      if (!keeps_offsets(&beside, k, holds, most->arena)) keep_most_of_mode(most, problem, &branches, holds);
      holds[k] = !holds[k];
    }
  }
}

/* Per equation. If structural analysis fails, ranks may differentiate an equation any number of times. */
static int32_t *most_differentiations(const Problem *problem, const Structure *structure, bool all, Arena *arena) {
  int32_t *times = arena_array(arena, problem->equations, sizeof *times);
  int32_t *least = arena_array(arena, problem->unknowns, sizeof *least);
  Most most = {times, least, arena};
  problem_least_orders(problem, least, least);
  Structure whole = keep_most(&most, problem, structure ? *structure : structure_run(arena, &problem->incidence));
  all = all || whole.status != STRUCTURE_OK;
  keep_most_of_modes(&most, problem);
  for (uint32_t i = 0; i < problem->equations && all; i++)
    if (times[i] < JUMPING) times[i] = JUMPING;
  return times;
}

/* ---- opening ---- */

/* If two arguments are equal, is the first one chosen, as for derivatives? An argument with variables is chosen before
 * one without. If both are functions of time and their difference has a constant rate, the one that holds afterwards is
 * chosen. sign: 1 for the larger argument, -1 for the smaller one. */
static bool takes_first(Dag *dag, Expr first, Expr second, double sign) {
  double rate;
  if (dag_depends(dag, first, OP_VARIABLE)) return true;
  if (dag_depends(dag, second, OP_VARIABLE)) return false;
  Expr difference = dag_subtract(dag, first, second);
  return !dag_is_constant(dag, dag_time_derivative(dag, difference), &rate) || sign * rate > 0;
}

/* Is the first argument the larger one (sign 1), or the smaller one (sign -1)? */
static Expr compare(Dag *dag, Expr first, Expr second, double sign) {
  bool is_weak = takes_first(dag, first, second, sign);
  Op larger = is_weak ? OP_GREATER_EQUAL : OP_GREATER, smaller = is_weak ? OP_LESS_EQUAL : OP_LESS;
  return dag_binary(dag, sign > 0 ? larger : smaller, first, second);
}

/* The expression `then` if e is positive, otherwise `otherwise`. */
static Expr choose_by_sign(Dag *dag, Expr e, Expr then, Expr otherwise) {
  return dag_if(dag, compare(dag, e, dag_constant(dag, 0), 1), then, otherwise);
}

/* The branches of a semiLinear with these children. */
static Expr choose_slope(Dag *dag, const Expr *child) {
  Expr forth = dag_multiply(dag, child[0], child[1]);
  Expr back = dag_multiply(dag, child[0], child[2]);
  return choose_by_sign(dag, child[0], forth, back);
}

/* The node with these children, as a choice between smooth branches. */
static Expr open_node(Dag *dag, Expr e, const Expr *child) {
  switch (dag_op(dag, e)) {
  case OP_ABS: return choose_by_sign(dag, child[0], child[0], dag_negate(dag, child[0]));
  case OP_MIN: return dag_if(dag, compare(dag, child[0], child[1], -1), child[0], child[1]);
  case OP_MAX: return dag_if(dag, compare(dag, child[0], child[1], 1), child[0], child[1]);
  case OP_SEMILINEAR: return choose_slope(dag, child);
  case OP_SMOOTH: return child[1];
  default: return child[0]; /* of noEvent */
  }
}

static bool stops_events(Op op) { return op == OP_NOEVENT || op == OP_SMOOTH; }

static Expr without_events(Dag *dag, Expr e) { return dag_unary(dag, OP_NOEVENT, e); }

/* The relation of an if-expression without events: they are suppressed by a noEvent around the relation or, unless
 * makes_events, around the whole expression. EXPR_NONE: it is another node. */
static Expr closed_relation(const Dag *dag, Expr e, bool makes_events) {
  if (dag_op(dag, e) != OP_IF) return EXPR_NONE;
  Expr condition = dag_child(dag, e, 0);
  bool is_closed = dag_op(dag, condition) == OP_NOEVENT;
  Expr relation = is_closed ? dag_child(dag, condition, 0) : condition;
  return (makes_events && !is_closed) || !op_is_order(dag_op(dag, relation)) ? EXPR_NONE : relation;
}

/* The relation of such an if-expression if nothing jumps at its edge: the branches meet there, with equal slopes if the equation is
 * differentiated more than once. Beyond the edge a branch may be undefined. EXPR_NONE: it is another node. */
static Expr smooth_condition(Dag *dag, Expr e, int32_t c, bool makes_events) {
  Expr relation = c > JUMPING ? EXPR_NONE : closed_relation(dag, e, makes_events);
  if (relation == EXPR_NONE) return EXPR_NONE;
  Expr then = dag_child(dag, e, 1), otherwise = dag_child(dag, e, 2);
  bool meets = c == DIFFERENTIATED ? joint_is_continuous(dag, relation, then, otherwise)
                                   : joint_is_smooth(dag, relation, then, otherwise);
  return meets ? relation : EXPR_NONE;
}

/* Finds the nodes that are reached without passing a noEvent or smooth. */
static void mark_outside(const Dag *dag, const IndexVec *order, bool *outside) {
  for (uint32_t k = 0; k < order->count; k++) outside[order->data[k]] = k + 1 == order->count;
  for (uint32_t k = order->count; k-- > 0;) {
    Expr e = order->data[k];
    bool passes = outside[e] && !stops_events(dag_op(dag, e));
    for (uint32_t i = 0; i < dag_child_count(dag, e) && passes; i++) outside[dag_child(dag, e, i)] = true;
  }
}

static Expr changed_node(Dag *dag, Expr e, int32_t c, bool makes_events, const ExprVec *child, bool same) {
  if (is_opened(dag, e, c)) return open_node(dag, e, child->data);
  if (hides(dag, e, c)) return e;
  Expr relation = smooth_condition(dag, e, c, makes_events);
  if (relation == EXPR_NONE) return same ? e : dag_rebuild(dag, e, child->data);
  return dag_if(dag, without_events(dag, relation), child->data[1], child->data[2]);
}

/* Children before parents; `changed` and `outside` have a place for each node. */
static Expr open_below(Dag *dag, const IndexVec *order, int32_t c, Expr *changed, bool *outside, Heap *heap) {
  ExprVec child = {0};
  mark_outside(dag, order, outside);
  for (uint32_t k = 0; k < order->count; k++) {
    Expr e = order->data[k];
    bool same = true;
    child.count = 0;
    for (uint32_t i = 0; i < dag_child_count(dag, e); i++) {
      vec_push(heap, &child, changed[dag_child(dag, e, i)]);
      same = same && child.data[i] == dag_child(dag, e, i);
    }
    changed[e] = changed_node(dag, e, c, outside[e], &child, same);
  }
  vec_free(heap, &child);
  return changed[order->data[order->count - 1]];
}

/* An equality changes at a single point and has no edge. */
static bool has_edge(const Dag *dag, Expr condition) {
  Expr relation = dag_op(dag, condition) == OP_NOEVENT ? dag_child(dag, condition, 0) : condition;
  return is_moving(dag, relation) && dag_op(dag, relation) != OP_EQUAL && dag_op(dag, relation) != OP_NOT_EQUAL;
}

/* Does an equation that is differentiated c times have a kink without an event at this node? */
static bool is_kink(Dag *dag, Expr e, int32_t c) {
  if (op_kind(dag_op(dag, e)) == KIND_PIECEWISE) return is_moving(dag, e);
  if (dag_op(dag, e) != OP_IF || !has_edge(dag, dag_child(dag, e, 0))) return false;
  return smooth_condition(dag, e, c, false) == EXPR_NONE;
}

/* Is there such a node below the roots of equations that are differentiated c times? Walks down from the roots, but not into hidden
 * parts or conditions. seen: per node, false on entry and return. */
static bool has_kink(Dag *dag, Expr residual, int32_t c, bool *seen) {
  IndexVec order = {0};
  bool found = false;
  dag_below(dag, dag_scratch(dag), &residual, 1, &order);
  seen[residual] = true;
  for (uint32_t k = order.count; k-- > 0;) {
    Expr e = order.data[k];
    bool passes = seen[e] && !hides(dag, e, c);
    found = found || (seen[e] && is_kink(dag, e, c));
    seen[e] = false;
    for (uint32_t i = dag_op(dag, e) == OP_IF; i < dag_child_count(dag, e) && passes; i++)
      seen[dag_child(dag, e, i)] = true;
  }
  vec_free(dag_scratch(dag)->heap, &order);
  return found;
}

/* Does one of the nodes of these residuals become such a condition, however often its equation is differentiated? */
static bool has_opened(Dag *dag, const Expr *residual, uint32_t count) {
  IndexVec order = {0};
  bool found = false;
  dag_below_nonsmooth(dag, dag_scratch(dag), residual, count, &order);
  for (uint32_t k = 0; k < order.count && !found; k++) found = is_opened(dag, order.data[k], INT32_MAX);
  vec_free(dag_scratch(dag)->heap, &order);
  return found;
}

/* The data for turning jumps without events into conditions with events. */
typedef struct Opening {
  Dag *dag;
  Heap *heap;
  const uint32_t *local;  /* per unknown of the model: its number here */
  const int32_t *highest; /* per unknown: the order of its highest derivative */
  Expr *changed;          /* per node */
  bool *outside;
  Expr residual; /* the equation */
} Opening;

/* Does an expression depend only on states and time? With other unknowns, the equations of its jump also choose the side. */
static bool is_of_states(const Opening *opening, Expr e) {
  Dag *dag = opening->dag;
  ExprVec leaves = {0};
  bool all = true;
  dag_variables(dag, dag_scratch(dag), e, &leaves);
  for (uint32_t k = 0; k < leaves.count; k++)
    all = all &&
          (int32_t)dag_order(dag, leaves.data[k]) < opening->highest[opening->local[dag_index(dag, leaves.data[k])]];
  vec_free(dag_scratch(dag)->heap, &leaves);
  return all;
}

/* Does the equation jump where a relation changes? A part of the equation may jump although the whole equation does not: an
 * example is the direction of a symmetric transistor. */
static bool residual_jumps(const Opening *opening, Expr relation, bool of_time) {
  Dag *dag = opening->dag;
  Expr value[2];
  for (int side = 0; side < 2; side++) {
    Expr truth = dag_constant(dag, side);
    value[side] = opening->residual;
    dag_substitute(dag, &relation, &truth, 1, &value[side], 1);
  }
  return of_time ? !joint_is_continuous(dag, relation, value[1], value[0])
                 : joint_jumps(dag, relation, value[1], value[0]);
}

/* Are the times at which a relation changes known in advance? A search by bisection compares differences that jump themselves, in
 * each
 * of its steps. */
static bool is_of_time(Dag *dag, Expr relation) {
  return !dag_depends(dag, relation, OP_VARIABLE) && dag_is_smooth(dag, relation);
}

/* The relation of an if-expression without events at which the equation is shown to jump; EXPR_NONE: it is another node. A
 * relation of time also counts if it is not known whether the sides meet. Its events are known in advance, and nothing else
 * would detect them. */
static Expr jumping_condition(const Opening *opening, Expr e) {
  Dag *dag = opening->dag;
  Expr relation = closed_relation(dag, e, opening->outside[e]);
  if (relation == EXPR_NONE || !is_moving(dag, relation) || !is_of_states(opening, relation)) return EXPR_NONE;
  Expr then = dag_child(dag, e, 1), otherwise = dag_child(dag, e, 2);
  bool of_time = is_of_time(dag, relation);
  bool jumps = (of_time || joint_jumps(dag, relation, then, otherwise)) && residual_jumps(opening, relation, of_time);
  return jumps ? relation : EXPR_NONE;
}

/* An expression that contains a jump: the jump causes events, and other parts cause them only if they did before. */
static Expr open_jump(const Opening *opening, Expr e, Expr relation, ExprVec *child) {
  Dag *dag = opening->dag;
  child->count = 0;
  for (uint32_t i = 0; i < dag_child_count(dag, e); i++) {
    Expr own = dag_child(dag, e, i);
    Expr same = opening->outside[e] ? own : without_events(dag, own);
    vec_push(opening->heap, child, opening->changed[own] != EXPR_NONE ? opening->changed[own] : same);
  }
  if (relation != EXPR_NONE)
    child->data[0] = dag_binary(dag, dag_op(dag, relation), without_events(dag, dag_child(dag, relation, 0)),
                                without_events(dag, dag_child(dag, relation, 1)));
  return dag_op(dag, e) == OP_NOEVENT ? child->data[0] : dag_rebuild(dag, e, child->data);
}

/* Works like open_below, children before parents; `changed` is EXPR_NONE for nodes without jumps. A jump needs a mode, because the
 * solution may slide along it. The mode also saves the rejected steps that would locate the jump. */
static Expr open_jumps(const Opening *opening, const IndexVec *order) {
  Dag *dag = opening->dag;
  ExprVec child = {0};
  Expr last = order->data[order->count - 1], *changed = opening->changed;
  mark_outside(dag, order, opening->outside);
  for (uint32_t k = 0; k < order->count; k++) {
    Expr e = order->data[k], relation = jumping_condition(opening, e);
    bool jumps = relation != EXPR_NONE;
    for (uint32_t i = 0; i < dag_child_count(dag, e) && !jumps; i++) jumps = changed[dag_child(dag, e, i)] != EXPR_NONE;
    jumps = jumps && dag_op(dag, e) != OP_SMOOTH;
    changed[e] = jumps ? open_jump(opening, e, relation, &child) : EXPR_NONE;
  }
  vec_free(opening->heap, &child);
  return changed[last] != EXPR_NONE ? changed[last] : last;
}

/* Does an algebraic unknown occur only in equation i? Nothing else depends on such an output. */
static bool gives_output(const Incidence *incidence, uint32_t i, const uint32_t *uses, const int32_t *highest) {
  for (int32_t e = incidence->row_start[i]; e < incidence->row_start[i + 1]; e++)
    if (uses[incidence->column[e]] == 1 && highest[incidence->column[e]] == 0) return true;
  return false;
}

/* Makes modes of the kinks in equations that are differentiated `times` times with respect to time, and also with respect to
 * parameters if `varies` is set. */
static void open_residuals(Problem *problem, const int32_t *times, bool varies, bool *opened, Heap *heap) {
  Dag *dag = problem->model->dag;
  Expr *changed = heap_array(heap, dag_size(dag), sizeof *changed);
  bool *outside = heap_array(heap, dag_size(dag), sizeof *outside);
  int32_t *highest = heap_array(heap, problem->unknowns, sizeof *highest);
  uint32_t *uses = heap_array(heap, problem->unknowns, sizeof *uses); /* equations that contain each unknown */
  Opening opening = {dag, heap, problem->local, highest, changed, outside, EXPR_NONE};
  const Incidence *incidence = &problem->incidence;
  for (int32_t e = 0; e < incidence->row_start[problem->equations]; e++) {
    int32_t *own = &highest[incidence->column[e]];
    if (incidence->order[e] > *own) *own = incidence->order[e];
    uses[incidence->column[e]]++;
  }
  for (uint32_t i = 0; i < problem->equations; i++) {
    int32_t c = times[i] + varies;
    bool opens_all = c >= (varies ? DIFFERENTIATED : JUMPING);
    if (dag_is_smooth(dag, problem->residual[i])) continue;
    if (!opens_all && gives_output(incidence, i, uses, highest)) continue;
    IndexVec order = {0};
    dag_below(dag, dag_scratch(dag), &problem->residual[i], 1, &order);
    opening.residual = problem->residual[i];
    Expr residual = opens_all ? open_below(dag, &order, c, changed, outside, heap) : open_jumps(&opening, &order);
    opened[i] = residual != problem->residual[i];
    problem->residual[i] = residual;
    vec_free(dag_scratch(dag)->heap, &order);
  }
  heap_free_all(heap, changed, outside, highest, uses);
}

void kink_modes_open(Problem *problem, const Structure *structure, bool all, bool varies, Arena *arena) {
  if (!has_opened(problem->model->dag, problem->residual, problem->equations)) return;
  Arena own = arena_make(arena->heap);
  bool *opened = arena_array(arena, problem->equations, sizeof *opened);
  open_residuals(problem, most_differentiations(problem, structure, all, &own), varies, opened, arena->heap);
  problem->opened = opened;
  arena_free(&own);
}

/* ---- remaining kinks ---- */

/* Does equation i, which is differentiated c times, still have a kink? An equation that was converted already contains
 * derivatives of other equations. */
static bool is_left(const Problem *problem, uint32_t i, int32_t c, bool *seen) {
  bool is_converted = problem->written && problem->residual[i] != problem->written[i];
  int32_t times = c + is_converted;
  return times >= JUMPING && has_kink(problem->model->dag, problem->residual[i], times, seen);
}

uint32_t kink_modes_left(const Problem *problem, const int32_t *c) {
  Dag *dag = problem->model->dag;
  Heap *heap = dag_scratch(dag)->heap;
  const Expr *written = problem->written ? problem->written : problem->residual;
  if (!has_opened(dag, written, problem->equations)) return MAP_NONE;
  bool *seen = heap_array(heap, dag_size(dag), sizeof *seen);
  uint32_t found = MAP_NONE;
  for (uint32_t i = 0; i < problem->equations && found == MAP_NONE; i++)
    if (is_left(problem, i, c[i], seen)) found = i;
  heap_free(heap, seen);
  return found;
}
