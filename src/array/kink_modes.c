/* kink_modes: see kink_modes.h. */
#include "array/kink_modes.h"

#include "array/branches.h"
#include "array/joint.h"

/* The first derivative of an equation jumps at a kink. It is a constraint on velocities where there is a second one. */
enum { JUMPING = 2 };

/* Rows of all modes that are tried: so many take less than a tenth of a second. */
enum { ROW_LIMIT = 1 << 17 };

static bool is_moving(const Dag *dag, Expr e) {
  return dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_TIME);
}

/* A node that is opened where its equation is differentiated c times. */
static bool is_opened(const Dag *dag, Expr e, int32_t c) {
  double order = 0;
  if (!is_moving(dag, e)) return false;
  switch (dag_op(dag, e)) {
  case OP_ABS:
  case OP_MIN:
  case OP_MAX:
  case OP_SEMILINEAR:
  case OP_NOEVENT: return c >= JUMPING;
  case OP_SMOOTH: return dag_is_constant(dag, dag_child(dag, e, 0), &order) && c >= order + JUMPING;
  default: return false;
  }
}

/* smooth that stays hides what is in it. */
static bool hides(const Dag *dag, Expr e, int32_t c) { return dag_op(dag, e) == OP_SMOOTH && !is_opened(dag, e, c); }

/* ---- how often equations are differentiated ---- */

/* Raises most[i] to the differentiations of equation i. false: structure fails. */
static bool keep_most(Arena *arena, const Problem *problem, Structure structure, int32_t *most) {
  if (structure.status != STRUCTURE_OK) return false;
  int32_t *least = arena_array(arena, problem->unknowns, sizeof *least);
  if (problem_least_orders(problem, structure.d, least))
    structure = structure_raise(arena, &problem->incidence, &structure, least);
  for (uint32_t i = 0; i < problem->equations; i++)
    if (structure.c[i] > most[i]) most[i] = structure.c[i];
  return true;
}

static void keep_most_of_mode(Arena *arena, const Problem *problem, const Branches *branches, const bool *holds,
                              int32_t *most) {
  Problem narrow = branches_narrow(problem, branches, holds, arena);
  keep_most(arena, &narrow, structure_run(arena, &narrow.incidence), most);
}

/* In modes that take the first branches, or the second ones, of all if-expressions, or of all but one. */
static void keep_most_of_modes(Arena *arena, const Problem *problem, int32_t *most) {
  Branches branches = branches_find_written(problem, arena);
  bool *holds = arena_array(arena, branches.count, sizeof *holds);
  uint32_t tries = ROW_LIMIT / (problem->equations + 1);
  for (int first = 0; first < 2 && branches.count; first++) {
    for (uint32_t k = 0; k < branches.count; k++) holds[k] = first;
    keep_most_of_mode(arena, problem, &branches, holds, most);
    for (uint32_t k = 0; k < branches.count && k < tries / 2; k++) {
      holds[k] = !holds[k];
      keep_most_of_mode(arena, problem, &branches, holds, most);
      holds[k] = !holds[k];
    }
  }
}

/* Per equation. Where structure fails, by ranks an equation may be differentiated any number of times. */
static int32_t *most_differentiations(const Problem *problem, const Structure *structure, bool all, Arena *arena) {
  int32_t *most = arena_array(arena, problem->equations, sizeof *most);
  Structure whole = structure ? *structure : structure_run(arena, &problem->incidence);
  all = !keep_most(arena, problem, whole, most) || all;
  keep_most_of_modes(arena, problem, most);
  for (uint32_t i = 0; i < problem->equations && all; i++)
    if (most[i] < JUMPING) most[i] = JUMPING;
  return most;
}

/* ---- opening ---- */

/* Is the first of two that are equal taken, as by their derivatives? That is the one with variables; of functions of time whose
 * difference has a constant rate, the one that is taken afterwards. sign: 1 takes the larger one, -1 the smaller one. */
static bool takes_first(Dag *dag, Expr first, Expr second, double sign) {
  double rate;
  if (dag_depends(dag, first, OP_VARIABLE)) return true;
  if (dag_depends(dag, second, OP_VARIABLE)) return false;
  Expr difference = dag_subtract(dag, first, second);
  return !dag_is_constant(dag, dag_time_derivative(dag, difference), &rate) || sign * rate > 0;
}

/* Is the first the larger one, or with sign -1 the smaller one? */
static Expr compare(Dag *dag, Expr first, Expr second, double sign) {
  bool is_weak = takes_first(dag, first, second, sign);
  Op larger = is_weak ? OP_GREATER_EQUAL : OP_GREATER, smaller = is_weak ? OP_LESS_EQUAL : OP_LESS;
  return dag_binary(dag, sign > 0 ? larger : smaller, first, second);
}

/* then where an expression is positive, else the other one. */
static Expr choose_by_sign(Dag *dag, Expr e, Expr then, Expr otherwise) {
  return dag_if(dag, compare(dag, e, dag_constant(dag, 0), 1), then, otherwise);
}

/* Of a semiLinear with these children. */
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

/* The relation of an if-expression in noEvent whose branches meet, and their slopes too: no velocity jumps there, and a branch may not be
 * defined beyond the edge. EXPR_NONE: it is another node. */
static Expr smooth_condition(Dag *dag, Expr e, int32_t c, bool makes_events) {
  if (dag_op(dag, e) != OP_IF || c > JUMPING) return EXPR_NONE;
  Expr condition = dag_child(dag, e, 0);
  bool is_closed = dag_op(dag, condition) == OP_NOEVENT;
  Expr relation = is_closed ? dag_child(dag, condition, 0) : condition;
  if ((makes_events && !is_closed) || !op_is_order(dag_op(dag, relation))) return EXPR_NONE;
  return joint_is_smooth(dag, relation, dag_child(dag, e, 1), dag_child(dag, e, 2)) ? relation : EXPR_NONE;
}

/* Which nodes are reached without passing a noEvent or smooth. */
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
  return dag_if(dag, dag_unary(dag, OP_NOEVENT, relation), child->data[1], child->data[2]);
}

/* Children before parents; `changed` and `outside` have a place for each node. */
static void open_below(Dag *dag, const IndexVec *order, int32_t c, Expr *changed, bool *outside, Heap *heap) {
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
}

/* A condition that something is equal is that of a point, not of an edge. */
static bool has_edge(const Dag *dag, Expr condition) {
  Expr relation = dag_op(dag, condition) == OP_NOEVENT ? dag_child(dag, condition, 0) : condition;
  return is_moving(dag, relation) && dag_op(dag, relation) != OP_EQUAL && dag_op(dag, relation) != OP_NOT_EQUAL;
}

/* A node at which an equation that is differentiated c times has a kink that makes no event. */
static bool is_kink(Dag *dag, Expr e, int32_t c) {
  if (op_kind(dag_op(dag, e)) == KIND_PIECEWISE) return is_moving(dag, e);
  if (dag_op(dag, e) != OP_IF || !has_edge(dag, dag_child(dag, e, 0))) return false;
  return smooth_condition(dag, e, c, false) == EXPR_NONE;
}

/* Is a node below one of these, where equations are differentiated c times? Walked from the roots down, but not into what is hidden, nor into
 * conditions. seen: per node, false on entry and return. */
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

/* Is a node below opened, however often equations are differentiated? */
static bool has_opened(Dag *dag, const Expr *residual, uint32_t count) {
  IndexVec order = {0};
  bool found = false;
  dag_below(dag, dag_scratch(dag), residual, count, &order);
  for (uint32_t k = 0; k < order.count && !found; k++) found = is_opened(dag, order.data[k], INT32_MAX);
  vec_free(dag_scratch(dag)->heap, &order);
  return found;
}

/* The residuals of equations that are differentiated so often. */
static void open_residuals(Problem *problem, const int32_t *c, bool *opened, Heap *heap) {
  Dag *dag = problem->model->dag;
  Expr *changed = heap_array(heap, dag_size(dag), sizeof *changed);
  bool *outside = heap_array(heap, dag_size(dag), sizeof *outside);
  for (uint32_t i = 0; i < problem->equations; i++) {
    if (c[i] < JUMPING) continue;
    IndexVec order = {0};
    dag_below(dag, dag_scratch(dag), &problem->residual[i], 1, &order);
    open_below(dag, &order, c[i], changed, outside, heap);
    opened[i] = changed[problem->residual[i]] != problem->residual[i];
    problem->residual[i] = changed[problem->residual[i]];
    vec_free(dag_scratch(dag)->heap, &order);
  }
  heap_free_all(heap, changed, outside);
}

void kink_modes_open(Problem *problem, const Structure *structure, bool all, Arena *arena) {
  if (!has_opened(problem->model->dag, problem->residual, problem->equations)) return;
  Arena own = arena_make(arena->heap);
  bool *opened = arena_array(arena, problem->equations, sizeof *opened);
  open_residuals(problem, most_differentiations(problem, structure, all, &own), opened, arena->heap);
  problem->opened = opened;
  arena_free(&own);
}

/* ---- what is left ---- */

/* Of an equation that is differentiated c times; a converted one holds derivatives of others already. */
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
