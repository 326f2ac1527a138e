/* modes: see modes.h. */
#include "array/modes.h"

#include <math.h>
#include <string.h>

static bool stops_events(Op op) { return op == OP_NOEVENT || op == OP_SMOOTH; }

/* Does the value change along a solution? */
static bool is_moving(Dag *dag, Expr e) { return dag_depends(dag, e, OP_VARIABLE) || dag_depends(dag, e, OP_TIME); }

/* Finds the nodes of `order` that are reached without passing a noEvent, from the roots down. */
static bool *mark_outside(Dag *dag, const IndexVec *order, const uint32_t *slot, const Expr *roots, uint32_t count,
                          Heap *heap) {
  bool *outside = heap_array(heap, order->count, sizeof *outside);
  for (uint32_t r = 0; r < count; r++) outside[slot[roots[r]]] = true;
  for (uint32_t k = order->count; k-- > 0;) {
    Expr e = order->data[k];
    if (!outside[k] || stops_events(dag_op(dag, e))) continue;
    for (uint32_t c = 0; c < dag_child_count(dag, e); c++) outside[slot[dag_child(dag, e, c)]] = true;
  }
  return outside;
}

typedef struct Extraction {
  Heap *heap;
  const Model *model;
  Dag *dag;
  uint32_t first;
  ExprVec relations, differences, sizes;
  ExprVec children;
} Extraction;

Expr modes_sum_sizes(Dag *dag, Expr e) {
  const Term *term;
  double constant;
  if (dag_op(dag, e) != OP_SUM) return dag_unary(dag, OP_ABS, e);
  uint32_t count = dag_terms(dag, e, &constant, &term);
  Expr size = dag_constant(dag, fabs(constant));
  for (uint32_t k = 0; k < count; k++) {
    Expr factor = dag_constant(dag, fabs(term[k].coefficient)), node = dag_child(dag, e, k);
    size = dag_add(dag, size, dag_multiply(dag, factor, dag_unary(dag, OP_ABS, node)));
    dag_terms(dag, e, &constant, &term); /* new nodes may have moved them */
  }
  return size;
}

/* The size of the terms of left - right, to which its round-off is relative. */
static Expr size_of(Dag *dag, Expr left, Expr right) {
  return dag_unary(dag, OP_NOEVENT, dag_add(dag, modes_sum_sizes(dag, left), modes_sum_sizes(dag, right)));
}

static Expr add_mode(Extraction *extraction, Expr relation, Expr difference, Expr size) {
  uint32_t mode = extraction->relations.count;
  vec_push(extraction->heap, &extraction->relations, relation);
  vec_push(extraction->heap, &extraction->differences, difference);
  vec_push(extraction->heap, &extraction->sizes, size);
  return dag_discrete(extraction->dag, extraction->first + mode);
}

/* The mode of an integer function or sign of the argument. */
static Expr add_step(Extraction *extraction, Expr relation, Expr argument) {
  return add_mode(extraction, relation, argument, size_of(extraction->dag, argument, dag_constant(extraction->dag, 0)));
}

/* a - b times the mode of the whole quotient, for mod and rem. */
static Expr add_remainder(Extraction *extraction, Expr e, Expr a, Expr b) {
  Dag *dag = extraction->dag;
  Expr dividend = dag_child(dag, e, 0), divisor = dag_child(dag, e, 1), quotient = dag_divide(dag, dividend, divisor);
  bool is_mod = dag_op(dag, e) == OP_MOD;
  Expr whole = is_mod ? dag_unary(dag, OP_FLOOR, quotient) : dag_binary(dag, OP_DIV, dividend, divisor);
  Expr mode = add_step(extraction, whole, dag_divide(dag, a, b));
  return dag_subtract(dag, a, dag_multiply(dag, b, mode));
}

/* A kink in a function of time is a mode that no equation uses: steps end there. */
static void add_kink(Extraction *extraction, Expr a, Expr b) {
  Dag *dag = extraction->dag;
  Expr relation = dag_binary(dag, OP_GREATER_EQUAL, a, b);
  if (dag_is_constant(dag, relation, NULL)) return;
  add_mode(extraction, relation, dag_subtract(dag, a, b), size_of(dag, a, b));
}

/* Is the expression an Integer that a function gives? */
static bool is_whole_call(const Extraction *extraction, Expr e) {
  return dag_op(extraction->dag, e) == OP_CALL && model_call_type(extraction->model, e) == TYPE_INTEGER;
}

/* A sum of such Integers jumps from one whole number to another: it is never between them, and 0 is an ordinary value. */
static bool is_whole_sum(const Extraction *extraction, Expr e) {
  const Dag *dag = extraction->dag;
  double constant;
  const Term *term;
  if (dag_op(dag, e) != OP_SUM) return is_whole_call(extraction, e);
  uint32_t count = dag_terms(dag, e, &constant, &term);
  bool is_whole = constant == floor(constant);
  for (uint32_t k = 0; k < count && is_whole; k++)
    is_whole = term[k].coefficient == floor(term[k].coefficient) && is_whole_call(extraction, dag_child(dag, e, k));
  return is_whole;
}

/* The difference of a relation: 0 is its edge; a difference of whole numbers stays half a number away from it. */
static Expr difference_of(const Extraction *extraction, Op op, Expr left, Expr right) {
  Dag *dag = extraction->dag;
  Expr difference = dag_subtract(dag, left, right);
  if (!is_whole_sum(extraction, difference)) return difference;
  bool is_above_at_zero = op == OP_GREATER_EQUAL || op == OP_LESS;
  return dag_add(dag, difference, dag_constant(dag, is_above_at_zero ? 0.5 : -0.5));
}

static Expr replace_moving(Extraction *extraction, Expr e, const Expr *child) {
  Dag *dag = extraction->dag;
  Op op = dag_op(dag, e);
  bool of_time = !dag_depends(dag, e, OP_VARIABLE);
  switch (op) {
  case OP_LESS:
  case OP_LESS_EQUAL:
  case OP_GREATER:
  case OP_GREATER_EQUAL:
    return add_mode(extraction, e, difference_of(extraction, op, child[0], child[1]), size_of(dag, child[0], child[1]));
  case OP_FLOOR:
  case OP_CEIL:
  case OP_INTEGER:
  case OP_SIGN: return add_step(extraction, e, child[0]);
  case OP_DIV: return add_step(extraction, e, dag_divide(dag, child[0], child[1]));
  case OP_MOD:
  case OP_REM:
    if (child[1] == dag_constant(dag, 0)) break; /* it has no value */
    return add_remainder(extraction, e, child[0], child[1]);
  case OP_ABS:
    if (of_time) add_kink(extraction, child[0], dag_constant(dag, 0));
    break;
  case OP_MIN:
  case OP_MAX:
    if (of_time) add_kink(extraction, child[0], child[1]);
    break;
  default: break;
  }
  return dag_rebuild(dag, e, child);
}

static Expr replace_node(Extraction *extraction, Expr e, const Expr *changed, const uint32_t *slot) {
  Dag *dag = extraction->dag;
  uint32_t count = dag_child_count(dag, e);
  if (count == 0 || stops_events(dag_op(dag, e))) return e;
  bool same = true;
  extraction->children.count = 0;
  for (uint32_t c = 0; c < count; c++) {
    Expr child = dag_child(dag, e, c), now = changed[slot[child]];
    same = same && child == now;
    vec_push(extraction->heap, &extraction->children, now);
  }
  OpKind kind = op_kind(dag_op(dag, e));
  if ((kind == KIND_RELATION || kind == KIND_PIECEWISE) && is_moving(dag, e))
    return replace_moving(extraction, e, extraction->children.data);
  return same ? e : dag_rebuild(dag, e, extraction->children.data);
}

/* ---- variables that equations give explicitly ---- */

/* Equations are peeled: if all variables of an equation except one are known, and the equation is linear in that one, the equation
 * gives it. At first only time is known; then the variables whose derivatives occur, so that the remaining ones depend on states.
 */
typedef struct Peeling {
  Heap *heap;
  Dag *dag;
  Problem *problem;
  bool *known, *used;     /* per unknown of the model; per equation */
  int32_t *highest;       /* per unknown of the model: the order of its highest derivative in the equations */
  ExprVec leaves, values; /* the variables given, in this order */
} Peeling;

/* Is a leaf known, with its time derivative among the columns? A derivative below the highest one of a state is also a state. */
static bool is_known(const Peeling *peeling, Expr leaf) {
  uint32_t unknown = dag_index(peeling->dag, leaf);
  int32_t order = (int32_t)dag_order(peeling->dag, leaf);
  return peeling->known[unknown] && (order == 0 || order < peeling->highest[unknown]);
}

/* The only unknown leaf of an equation; EXPR_NONE if no or several unknown leaves occur, or a highest derivative. */
static Expr only_unknown(const Peeling *peeling, Expr residual) {
  ExprVec variables = {0};
  Expr found = EXPR_NONE;
  uint32_t count = 0;
  dag_variables(peeling->dag, dag_scratch(peeling->dag), residual, &variables);
  for (uint32_t v = 0; v < variables.count; v++) {
    if (is_known(peeling, variables.data[v])) continue;
    count += dag_order(peeling->dag, variables.data[v]) > 0 ? 2 : 1;
    found = variables.data[v];
  }
  vec_free(dag_scratch(peeling->dag)->heap, &variables);
  return count == 1 ? found : EXPR_NONE;
}

static bool peel_equation(Peeling *peeling, uint32_t i) {
  Dag *dag = peeling->dag;
  Expr residual = peeling->problem->residual[i], slope, rest, leaf = only_unknown(peeling, residual);
  if (leaf == EXPR_NONE || !dag_linear(dag, residual, leaf, &slope, &rest)) return false;
  if (is_moving(dag, slope) || dag_depends(dag, slope, OP_DISCRETE)) return false;
  Expr value = dag_negate(dag, dag_divide(dag, rest, slope));
  vec_push(peeling->heap, &peeling->leaves, leaf);
  vec_push(peeling->heap, &peeling->values, value);
  peeling->known[dag_index(dag, leaf)] = peeling->used[i] = true;
  return true;
}

static void peel(Peeling *peeling) {
  enum { ROUNDS = 8 };
  bool again = true;
  for (int round = 0; round < ROUNDS && again; round++) {
    again = false;
    for (uint32_t i = 0; i < peeling->problem->equations; i++)
      if (!peeling->used[i] && peel_equation(peeling, i)) again = true;
  }
}

/* Substitutes the expressions of given variables in the differences; a value contains only variables given before it. */
static void expand(Peeling *peeling, ExprVec *differences) {
  enum { ROUNDS = 16 };
  Dag *dag = peeling->dag;
  for (int round = 0; round < ROUNDS && peeling->leaves.count; round++) {
    bool same = true;
    for (uint32_t m = 0; m < differences->count; m++) {
      Expr before = differences->data[m];
      if (dag_depends(dag, before, OP_VARIABLE))
        dag_substitute(dag, peeling->leaves.data, peeling->values.data, peeling->leaves.count, &differences->data[m],
                       1);
      same = same && before == differences->data[m];
    }
    if (same) break;
  }
}

/* Differences that depend only on time contain no variable that equations could give. */
static void expand_differences(Problem *problem, Heap *heap, ExprVec *differences) {
  bool any = false;
  for (uint32_t m = 0; m < differences->count; m++)
    any = any || dag_depends(problem->model->dag, differences->data[m], OP_VARIABLE);
  if (!any) return;
  Peeling peeling = {.heap = heap, .dag = problem->model->dag, .problem = problem};
  peeling.known = heap_array(heap, problem->model->unknowns.count, sizeof(bool));
  peeling.used = heap_array(heap, problem->equations, sizeof(bool));
  peeling.highest = heap_array(heap, problem->model->unknowns.count, sizeof(int32_t));
  const Incidence *incidence = &problem->incidence;
  peel(&peeling);
  for (int32_t e = 0; e < incidence->row_start[problem->equations]; e++) {
    uint32_t unknown = (uint32_t)problem->unknown[incidence->column[e]];
    if (incidence->order[e] > peeling.highest[unknown]) peeling.highest[unknown] = incidence->order[e];
    if (incidence->order[e] > 0) peeling.known[unknown] = true;
  }
  peel(&peeling);
  expand(&peeling, differences);
  vec_free(heap, &peeling.leaves, &peeling.values);
  heap_free_all(heap, peeling.known, peeling.used, peeling.highest);
}

/* ---- the modes ---- */

static Modes make_modes(const Extraction *extraction, const ExprVec *expanded, Arena *arena) {
  Dag *dag = extraction->dag;
  Modes modes = {.count = extraction->relations.count, .first = extraction->first};
  modes.relation = arena_array(arena, modes.count, sizeof(Expr));
  modes.written = arena_array(arena, modes.count, sizeof(Expr));
  modes.difference = arena_array(arena, modes.count, sizeof(Expr));
  modes.size = arena_array(arena, modes.count, sizeof(Expr));
  modes.rate = arena_array(arena, modes.count, sizeof(Expr));
  modes.timed = arena_array(arena, modes.count, sizeof(bool));
  modes.meets = arena_array(arena, modes.count, sizeof(bool));
  for (uint32_t m = 0; m < modes.count; m++) {
    Expr difference = expanded->data[m];
    modes.relation[m] = extraction->relations.data[m];
    modes.written[m] = extraction->differences.data[m];
    modes.difference[m] = difference;
    bool same = difference == modes.written[m];
    modes.size[m] = same ? extraction->sizes.data[m] : size_of(dag, difference, dag_constant(dag, 0));
    modes.rate[m] = dag_time_derivative(dag, difference);
    modes.timed[m] = enclosure_possible(dag, dag_scratch(dag), difference);
  }
  return modes;
}

/* Finds which modes change at the same edges. */
static void find_edges(Modes *modes, Dag *dag, Arena *arena) {
  modes->edge = arena_array(arena, modes->count, sizeof(uint32_t));
  modes->is_mirrored = arena_array(arena, modes->count, sizeof(bool));
  Expr *negative = heap_array(arena->heap, modes->count, sizeof(Expr));
  for (uint32_t m = 0; m < modes->count; m++) negative[m] = dag_negate(dag, modes->difference[m]);
  uint32_t *first =
      heap_array(arena->heap, dag_size(dag), sizeof *first); /* 0: no mode; otherwise the number of the mode plus one */
  for (uint32_t m = 0; m < modes->count; m++) {
    Expr own = modes->difference[m];
    modes->is_mirrored[m] = !first[own] && first[negative[m]];
    uint32_t found = modes->is_mirrored[m] ? first[negative[m]] : first[own];
    modes->edge[m] = found ? found - 1 : m;
    if (!found) first[own] = m + 1;
  }
  heap_free_all(arena->heap, negative, first);
}

/* Lists the places of all expressions that can cause events: residuals, and expressions of the logic. Assertions outside of whens
 * are checked, but cause no events. */
static void list_roots(const Problem *problem, Heap *heap, PlaceVec *roots) {
  Dag *dag = problem->model->dag;
  PlaceVec places = {0};
  logic_places(problem->logic, heap, &places);
  for (uint32_t i = 0; i < problem->equations; i++) vec_push(heap, &places, &problem->residual[i]);
  for (uint32_t k = 0; k < places.count; k++)
    if (dag_has_event(dag, *places.data[k])) vec_push(heap, roots, places.data[k]);
  vec_free(heap, &places);
}

/* The expression that passes zero where a node has a kink without an event; EXPR_NONE: it has none. The remaining relations are
 * within noEvent or smooth; abs, min and max of only time have modes. */
static Expr kink_of(Dag *dag, Expr e) {
  Op op = dag_op(dag, e);
  bool compares = op == OP_MIN || op == OP_MAX || op_is_order(op);
  bool bends = compares || op == OP_ABS || op == OP_SIGN || op == OP_SEMILINEAR;
  if (!bends || !dag_depends(dag, e, OP_VARIABLE)) return EXPR_NONE;
  Expr left = dag_child(dag, e, 0);
  Expr argument = compares ? dag_subtract(dag, left, dag_child(dag, e, 1)) : left;
  return dag_depends(dag, argument, OP_VARIABLE) ? argument : EXPR_NONE;
}

/* Lists the kinks of the equations, from which the modes have been extracted. */
static void list_kinks(Modes *modes, const Problem *problem, Arena *arena) {
  Dag *dag = problem->model->dag;
  IndexVec order = {0};
  ExprVec kinks = {0};
  dag_below_nonsmooth(dag, dag_scratch(dag), problem->residual, problem->equations, &order);
  for (uint32_t k = 0; k < order.count; k++) {
    Expr kink = kink_of(dag, order.data[k]);
    if (kink != EXPR_NONE) vec_push(arena->heap, &kinks, kink);
  }
  modes->kinks = kinks.count;
  modes->kink = arena_array(arena, kinks.count, sizeof(Expr));
  modes->kink_rate = arena_array(arena, kinks.count, sizeof(Expr));
  modes->kink_size = arena_array(arena, kinks.count, sizeof(Expr));
  for (uint32_t k = 0; k < kinks.count; k++) {
    modes->kink[k] = kinks.data[k];
    modes->kink_rate[k] = dag_time_derivative(dag, kinks.data[k]);
    modes->kink_size[k] = size_of(dag, kinks.data[k], dag_constant(dag, 0));
  }
  vec_free(arena->heap, &kinks);
  vec_free(arena->heap, &order);
}

static Modes extract(Problem *problem, const PlaceVec *places, Arena *arena) {
  Dag *dag = problem->model->dag;
  Heap *heap = arena->heap;
  ExprVec roots = {0};
  IndexVec order = {0};
  for (uint32_t k = 0; k < places->count; k++) vec_push(heap, &roots, *places->data[k]);
  dag_below(dag, dag_scratch(dag), roots.data, roots.count, &order);
  uint32_t *slot = heap_array(heap, dag_size(dag), sizeof *slot);
  for (uint32_t k = 0; k < order.count; k++) slot[order.data[k]] = k;
  bool *outside = mark_outside(dag, &order, slot, roots.data, roots.count, heap);
  Expr *changed = heap_array(heap, order.count, sizeof *changed);
  Extraction extraction = {.heap = heap, .model = problem->model, .dag = dag, .first = problem->logic->leaves};
  for (uint32_t k = 0; k < order.count; k++)
    changed[k] = outside[k] ? replace_node(&extraction, order.data[k], changed, slot) : order.data[k];
  for (uint32_t k = 0; k < places->count; k++) *places->data[k] = changed[slot[roots.data[k]]];
  ExprVec expanded = {0};
  for (uint32_t m = 0; m < extraction.differences.count; m++) vec_push(heap, &expanded, extraction.differences.data[m]);
  if (expanded.count) expand_differences(problem, heap, &expanded);
  Modes modes = make_modes(&extraction, &expanded, arena);
  find_edges(&modes, dag, arena);
  vec_free(heap, &expanded, &extraction.relations, &extraction.differences, &extraction.sizes, &extraction.children,
           &roots);
  vec_free(heap, &order);
  heap_free_all(heap, slot, outside, changed);
  return modes;
}

/* Replaces discrete variables that are only a relation, such as `heat = T < limit`, by this relation in all equations. The solution
 * can then slide along the edge of the relation. */
static void read_relations(Problem *problem, Heap *heap) {
  Dag *dag = problem->model->dag;
  ExprVec leaves = {0}, relations = {0};
  for (uint32_t k = 0; k < problem->logic->steps.count; k++) {
    const LogicStep *step = &problem->logic->steps.data[k];
    bool is_relation = op_kind(dag_op(dag, step->value)) == KIND_RELATION &&
                       dag_depends(dag, step->value, OP_VARIABLE) && !dag_depends(dag, step->value, OP_DISCRETE) &&
                       !dag_depends(dag, step->value, OP_PRE);
    if (!is_relation || step->fires || step->is_parameter) continue;
    vec_push(heap, &leaves, dag_discrete(dag, step->leaf));
    vec_push(heap, &relations, step->value);
  }
  if (leaves.count)
    dag_substitute(dag, leaves.data, relations.data, leaves.count, problem->residual, problem->equations);
  vec_free(heap, &leaves, &relations);
}

Modes modes_extract(Problem *problem, Arena *arena) {
  PlaceVec places = {0};
  read_relations(problem, arena->heap);
  list_roots(problem, arena->heap, &places);
  Modes modes = {.first = problem->logic->leaves};
  if (places.count) modes = extract(problem, &places, arena);
  list_kinks(&modes, problem, arena);
  modes.logic = problem->logic;
  modes.has_inputs = problem->model->inputs.count > 0;
  logic_sort(problem->logic, problem->model);
  vec_free(arena->heap, &places);
  return modes;
}

bool modes_make_events(const Modes *modes) {
  return modes->count || modes->has_inputs || !logic_is_empty(modes->logic);
}

uint32_t modes_leaves(const Modes *modes) { return modes->first + modes->count; }

/* A relation contains only modes made before it. */
const LogicDelay *modes_pipe(const Modes *modes, const Dag *dag, uint32_t mode) {
  const Logic *logic = modes->logic;
  for (uint32_t s = 0; s < logic->steps.count; s++) {
    const LogicStep *step = &logic->steps.data[s];
    if (dag_op(dag, step->value) != OP_DISCRETE || dag_index(dag, step->value) != modes->first + mode) continue;
    for (uint32_t k = 0; k < logic->delays.count; k++) {
      const LogicPipe *pipe = logic->delays.data[k].pipe;
      if (pipe && pipe->arrival == step->leaf) return &logic->delays.data[k];
    }
  }
  return NULL;
}

Expr modes_restore(const Modes *modes, Dag *dag, Expr e) {
  for (uint32_t m = modes->count; m-- > 0 && dag_depends(dag, e, OP_DISCRETE);) {
    Expr mode = dag_discrete(dag, modes->first + m);
    dag_substitute(dag, &mode, &modes->relation[m], 1, &e, 1);
  }
  return e;
}
