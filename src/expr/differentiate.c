/* differentiate: total time derivative, partials, gradient, linear split, substitution. All these operations are sweeps over the
 * graph below the roots, children first, or backwards for adjoints. The rules of the operators are in ops.def.
 *
 * Selectors (if, min, max, noEvent, smooth, homotopy) are not treated as partial times derivative: that would compute 0 * infinity
 * where an inactive branch has no derivative, and would take relations out of their noEvent. Their derivative is the same selection
 * among the derivatives of their arguments. */
#include "expr/dag_internal.h"

#include <math.h>
#include <string.h>

/* ---- the table's rules, over the graph ---- */

static Expr squares(Dag *dag, Expr x, Expr y) {
  Expr first = dag_multiply(dag, x, x), second = dag_multiply(dag, y, y);
  return dag_add(dag, first, second);
}

/* Partial derivative of an operator of fixed arity with respect to its argument `position`. */
static Expr table_partial(Dag *dag, Expr self, uint32_t position) {
  Expr x[3] = {EXPR_ZERO, EXPR_ZERO, EXPR_ZERO};
  for (uint32_t i = 0, count = dag_child_count(dag, self); i < count && i < 3; i++) x[i] = dag_child(dag, self, i);
  switch (dag_op(dag, self)) {
#define A x[0]
#define B x[1]
#define C x[2]
#define SELF self
#define CONST(v) dag_constant(dag, v)
#define NONE EXPR_ZERO
#define ADD(u, v) dag_add(dag, u, v)
#define SUB(u, v) dag_subtract(dag, u, v)
#define MUL(u, v) dag_multiply(dag, u, v)
#define DIV(u, v) dag_divide(dag, u, v)
#define NEG(u) dag_negate(dag, u)
#define SQUARES(u, v) squares(dag, u, v)
#define FN1(op, u) dag_unary(dag, OP_##op, u)
#define FN2(op, u, v) dag_binary(dag, OP_##op, u, v)
#define SELECT(condition, u, v) dag_if(dag, condition, u, v)
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) \
  case OP_##id:                                              \
    return position == 0 ? (d1) : position == 1 ? (d2) : (d3);
#include "expr/ops.def"
#undef OP
#undef A
#undef B
#undef C
#undef SELF
#undef CONST
#undef NONE
#undef ADD
#undef SUB
#undef MUL
#undef DIV
#undef NEG
#undef SQUARES
#undef FN1
#undef FN2
#undef SELECT
  default: return EXPR_ZERO;
  }
}

/* A call's partial is the same call with one more entry in its ascending list of partials. */
static Expr call_partial(Dag *dag, Expr self, uint32_t position) {
  const Expr *arguments;
  CallInfo call = dag_call_info(dag, self);
  uint32_t count = dag_arguments(dag, self, &arguments), before = 0;
  uint32_t *partials = heap_array(dag->heap, call.partial_count + 1, sizeof *partials);
  while (before < call.partial_count && call.partials[before] <= position) before++;
  memcpy(partials, call.partials, before * sizeof *partials);
  partials[before] = position;
  memcpy(partials + before + 1, call.partials + before, (call.partial_count - before) * sizeof *partials);
  Expr e = dag_call(dag, call.function, call.output, partials, call.partial_count + 1, arguments, count);
  heap_free(dag->heap, partials);
  return e;
}

static Expr local_partial(Dag *dag, Expr self, uint32_t position) {
  return dag_op(dag, self) == OP_CALL ? call_partial(dag, self, position) : table_partial(dag, self, position);
}

/* ---- forward: the derivative of a node from those of its children ---- */

/* smooth(p, u) is p times differentiable, and its derivative p - 1 times. */
static Expr select_smooth(Dag *dag, Expr order, Expr derivative) {
  double p;
  if (!dag_is_constant(dag, order, &p) || p < 1) return derivative;
  return dag_binary(dag, OP_SMOOTH, dag_constant(dag, p - 1), derivative);
}

/* Does min or max select its first argument? The order of the arguments in the text does not matter. If both are equal, the
 * argument with variables is selected. If both are functions of time (with time derivatives d), the one that min or max selects
 * just after this time is taken. */
static Expr selects_first(Dag *dag, Expr self, const Expr *d) {
  bool is_min = dag_op(dag, self) == OP_MIN;
  Op strictly = is_min ? OP_LESS : OP_GREATER, weakly = is_min ? OP_LESS_EQUAL : OP_GREATER_EQUAL;
  Expr first = dag_child(dag, self, 0), second = dag_child(dag, self, 1);
  if (dag_depends(dag, first, OP_VARIABLE)) return dag_binary(dag, weakly, first, second);
  Expr before = dag_binary(dag, strictly, first, second);
  if (dag_depends(dag, second, OP_VARIABLE)) return before;
  Expr equal = dag_binary(dag, weakly, first, second), later = dag_binary(dag, strictly, d[0], d[1]);
  return dag_binary(dag, OP_OR, before, dag_binary(dag, OP_AND, equal, later));
}

static Expr select_derivative(Dag *dag, Expr self, const Expr *d) {
  Expr first = dag_child(dag, self, 0);
  switch (dag_op(dag, self)) {
  case OP_IF: return dag_if(dag, first, d[1], d[2]);
  case OP_NOEVENT: return dag_unary(dag, OP_NOEVENT, d[0]);
  case OP_HOMOTOPY: return dag_binary(dag, OP_HOMOTOPY, d[0], d[1]);
  case OP_SMOOTH: return select_smooth(dag, first, d[1]);
  case OP_MIN:
  case OP_MAX: return dag_if(dag, dag_unary(dag, OP_NOEVENT, selects_first(dag, self, d)), d[0], d[1]);
  default: return EXPR_ZERO;
  }
}

static Expr derive_sum(Dag *dag, Expr self, const Expr *d) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(dag, self, &constant, &terms);
  Term *derived = heap_array(dag->heap, count, sizeof *derived);
  for (uint32_t i = 0; i < count; i++) derived[i] = (Term){terms[i].coefficient, d[i]};
  Expr e = dag_sum(dag, 0, derived, count);
  heap_free(dag->heap, derived);
  return e;
}

/* (a/b)' = (a' - (a/b) b') / b, which keeps the quotient shared. */
static Expr derive_quotient(Dag *dag, Expr self, const Expr *d) {
  Expr b = dag_child(dag, self, 1), shift = dag_multiply(dag, self, d[1]);
  return dag_divide(dag, dag_subtract(dag, d[0], shift), b);
}

/* factor * d. If d is a selection that can be zero, the factor is moved into it, because the factor may be undefined where the
 * selection is zero. An example is the derivative of sqrt(max(u, 0)) at 0. */
static Expr scale_derivative(Dag *dag, Expr factor, Expr d) {
  if (dag_op(dag, d) != OP_IF) return dag_multiply(dag, factor, d);
  Expr then = dag_child(dag, d, 1), otherwise = dag_child(dag, d, 2);
  if (then != EXPR_ZERO && otherwise != EXPR_ZERO) return dag_multiply(dag, factor, d);
  return dag_if(dag, dag_child(dag, d, 0), dag_multiply(dag, factor, then), dag_multiply(dag, factor, otherwise));
}

/* Is the expression an even power, or an even power divided by a positive number? */
static bool is_square(const Dag *dag, Expr e) {
  double number;
  Op op = dag_op(dag, e);
  if ((op != OP_POWER && op != OP_DIVIDE) || !dag_is_constant(dag, dag_child(dag, e, 1), &number)) return false;
  if (op == OP_DIVIDE) return number > 0 && is_square(dag, dag_child(dag, e, 0));
  return number >= 2 && fmod(number, 2) == 0;
}

/* Is the expression zero only where its derivatives are zero, too? */
static bool is_sum_of_squares(const Dag *dag, Expr e) {
  double constant;
  const Term *terms;
  if (dag_op(dag, e) == OP_DIVIDE && dag_is_constant(dag, dag_child(dag, e, 1), &constant))
    return constant > 0 && is_sum_of_squares(dag, dag_child(dag, e, 0));
  if (dag_op(dag, e) != OP_SUM) return false;
  uint32_t count = dag_terms(dag, e, &constant, &terms);
  for (uint32_t k = 0; k < count; k++)
    if (!(terms[k].coefficient > 0) || !is_square(dag, terms[k].node)) return false;
  return constant == 0;
}

/* The partial derivative with respect to an argument. At zero a norm (the root of a sum of squares) has no unique slope. Models
 * start there, for example with all currents zero. Its slope is then taken as 0, the middle of the slopes around it. */
static Expr partial_of(Dag *dag, Expr self, uint32_t position) {
  Expr partial = local_partial(dag, self, position);
  if (dag_op(dag, self) != OP_SQRT || !is_sum_of_squares(dag, dag_child(dag, self, 0))) return partial;
  Expr is_positive = dag_binary(dag, OP_GREATER, dag_child(dag, self, 0), EXPR_ZERO);
  return dag_if(dag, dag_unary(dag, OP_NOEVENT, is_positive), partial, EXPR_ZERO);
}

/* The chain rule: sum of partial times derivative of the argument. */
static Expr derive_operator(Dag *dag, Expr self, const Expr *d, uint32_t count) {
  Term *parts = heap_array(dag->heap, count, sizeof *parts);
  uint32_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (d[i] == EXPR_ZERO) continue;
    Expr partial = partial_of(dag, self, i);
    parts[used++] = (Term){1, scale_derivative(dag, partial, d[i])};
  }
  Expr e = dag_sum(dag, 0, parts, used);
  heap_free(dag->heap, parts);
  return e;
}

/* d/dt u(t - T) = u'(t - T) (1 - T') */
static Expr derive_delay(Dag *dag, Expr self, const Expr *d) {
  const Expr *old;
  uint32_t count = dag_arguments(dag, self, &old);
  Expr *arguments = heap_copy(dag->heap, old, count, sizeof *arguments);
  arguments[0] = d[0];
  Expr delayed = dag_nary(dag, OP_DELAY, arguments, count);
  heap_free(dag->heap, arguments);
  Expr rate = dag_subtract(dag, EXPR_ONE, count > 1 ? d[1] : EXPR_ZERO);
  return d[0] == EXPR_ZERO ? EXPR_ZERO : dag_multiply(dag, delayed, rate);
}

/* The time derivative of the outflow is the derivative of the pipe's content against the flow, times the velocity
 * x'. That derivative moves through the pipe as well: in'/x' enters, and between the initial points it is constant. */
static Expr derive_transport(Dag *dag, Expr self, const Expr *d) {
  const Expr *old;
  uint32_t count = dag_arguments(dag, self, &old), points = (count - TRANSPORT_SCALARS) / 2, twice = 2 * points - 2;
  Expr rate = d[TRANSPORT_X];
  if (rate == EXPR_ZERO) return dag_if(dag, old[TRANSPORT_POSITIVE], d[TRANSPORT_IN0], EXPR_ZERO);
  Expr *kept = heap_copy(dag->heap, old, count, sizeof *kept);
  Expr *arguments = heap_array(dag->heap, TRANSPORT_SCALARS + 2 * (size_t)twice, sizeof *arguments);
  const Expr *point = kept + TRANSPORT_SCALARS, *value = point + points;
  Expr *slope = arguments + TRANSPORT_SCALARS + twice;
  for (uint32_t i = 0; i < TRANSPORT_SCALARS; i++)
    arguments[i] = i < TRANSPORT_X ? dag_divide(dag, d[i], rate) : kept[i];
  for (uint32_t k = 0; k + 1 < points; k++) {
    Expr length = dag_subtract(dag, point[k + 1], point[k]), fall = dag_subtract(dag, value[k], value[k + 1]);
    Expr part = length == EXPR_ZERO ? EXPR_ZERO : dag_divide(dag, fall, length);
    for (uint32_t i = 0; i < 2; i++) {
      arguments[TRANSPORT_SCALARS + 2 * k + i] = point[k + i];
      slope[2 * k + i] = part;
    }
  }
  Expr moved = dag_nary(dag, OP_TRANSPORT, arguments, TRANSPORT_SCALARS + 2 * twice);
  heap_free(dag->heap, arguments);
  heap_free(dag->heap, kept);
  return dag_multiply(dag, rate, moved);
}

/* The next derivative; only time occurs below the node. */
static Expr derive_delayed(Dag *dag, Expr self, const Expr *d) {
  double first = dag_value(dag, dag_child(dag, self, 0)), order = dag_value(dag, dag_child(dag, self, 1));
  return d[2] == EXPR_ZERO ? EXPR_ZERO : dag_delayed(dag, (uint32_t)first, (uint32_t)order + 1);
}

/* The leaves of an input's derivatives come after the leaf of its value; the derivative of the last one is 0. */
static Expr derive_input(Dag *dag, Expr self) {
  double more = dag_value(dag, dag_child(dag, self, 2));
  if (!(more > 0)) return EXPR_ZERO;
  uint32_t leaf = dag_index(dag, dag_child(dag, self, 0));
  Expr arguments[] = {dag_parameter(dag, leaf + 1), dag_time(dag), dag_constant(dag, more - 1)};
  return dag_nary(dag, OP_INPUT, arguments, 3);
}

static Expr derive_node(Dag *dag, Expr self, const Expr *d, uint32_t count, bool in_time) {
  Op op = dag_op(dag, self);
  if (op_is_selector(op)) return select_derivative(dag, self, d);
  switch (op) {
  case OP_SUM: return derive_sum(dag, self, d);
  case OP_DIVIDE: return derive_quotient(dag, self, d);
  case OP_INPUT: return in_time ? derive_input(dag, self) : EXPR_ZERO;
  case OP_DELAY: return in_time ? derive_delay(dag, self, d) : EXPR_ZERO;
  case OP_DELAYED: return derive_delayed(dag, self, d);
  case OP_TRANSPORT: return in_time ? derive_transport(dag, self, d) : EXPR_ZERO;
  default: return derive_operator(dag, self, d, count);
  }
}

/* ---- time derivative ---- */

static void memo_grow(Dag *dag) {
  uint32_t more = dag->pools.nodes.count - dag->derivatives.count;
  if (more) memset(vec_extend(dag->heap, &dag->derivatives, more), 0xff, more * sizeof(Expr));
}

/* The time derivative if it is known without looking at children; EXPR_NONE otherwise. */
static Expr time_derivative_known(Dag *dag, Expr e) {
  if (!(dag_flags(dag, e) & (1u << OP_VARIABLE | 1u << OP_TIME))) return EXPR_ZERO;
  if (dag_op(dag, e) == OP_TIME) return EXPR_ONE;
  if (dag_op(dag, e) == OP_VARIABLE) return dag_variable(dag, dag_index(dag, e), dag_order(dag, e) + 1);
  return e < dag->derivatives.count ? dag->derivatives.data[e] : EXPR_NONE;
}

/* A node whose derivative is being made, and the child whose derivative is next. */
typedef struct DerivedFrame {
  Expr node;
  uint32_t next;
} DerivedFrame;

Expr dag_time_derivative(Dag *dag, Expr e) {
  VEC(DerivedFrame) stack = {0};
  ExprVec d = {0};
  vec_push(dag->heap, &stack, (DerivedFrame){e, 0});
  while (stack.count) {
    DerivedFrame *top = &vec_last(&stack);
    Expr self = top->node;
    if (time_derivative_known(dag, self) == EXPR_NONE) {
      uint32_t count = dag_child_count(dag, self);
      if (top->next < count) {
        Expr child = dag_child(dag, self, top->next++);
        if (time_derivative_known(dag, child) == EXPR_NONE) vec_push(dag->heap, &stack, (DerivedFrame){child, 0});
        continue;
      }
      d.count = 0;
      for (uint32_t i = 0; i < count; i++) vec_push(dag->heap, &d, time_derivative_known(dag, dag_child(dag, self, i)));
      Expr derived = derive_node(dag, self, d.data, count, true);
      memo_grow(dag);
      dag->derivatives.data[self] = derived;
    }
    stack.count--;
  }
  vec_free(dag->heap, &stack, &d);
  return time_derivative_known(dag, e);
}

/* ---- partial with respect to one leaf ---- */

Expr dag_partial(Dag *dag, Expr e, Expr leaf) {
  IndexVec order = {0};
  ExprVec d = {0};
  dag_walk(dag, &dag->scratch, (Walk){.mask = dag_flags(dag, leaf)}, &e, 1, &order);
  Expr *derived = heap_array(dag->heap, order.count + 1, sizeof *derived);
  for (uint32_t i = 0; i < order.count; i++) {
    Expr self = order.data[i];
    uint32_t count = dag_child_count(dag, self);
    bool depends = false;
    d.count = 0;
    for (uint32_t k = 0; k < count; k++) {
      Expr child = dag_child(dag, self, k);
      vec_push(dag->heap, &d, dag_was_met(&dag->scratch, child) ? derived[dag->scratch.slots.data[child]] : EXPR_ZERO);
      depends = depends || vec_last(&d) != EXPR_ZERO;
    }
    derived[i] = self == leaf ? EXPR_ONE : depends ? derive_node(dag, self, d.data, count, false) : EXPR_ZERO;
  }
  Expr result = order.count ? derived[order.count - 1] : EXPR_ZERO;
  heap_free(dag->heap, derived);
  vec_free(dag->heap, &order, &d);
  return result;
}

/* ---- gradient ---- */

/* A nonzero of a gradient. */
typedef struct GradientEntry {
  Expr leaf, partial;
} GradientEntry;
typedef VEC(GradientEntry) GradientEntryVec;

/* A contribution to the adjoint of a node; contributions are linked lists. */
typedef struct Contribution {
  Term term;
  uint32_t next; /* 1 + index, 0 ends */
} Contribution;

/* A column for sorting by (index, order). */
typedef struct SortedEntry {
  uint64_t key;
  GradientEntry entry;
} SortedEntry;

/* A gradient sweep. The gradients of selectors are stored, children first; reverse mode is used between selectors. */
struct GradientSweep {
  Dag *dag;
  Map ranges;               /* selector -> position in begins */
  IndexVec begins;          /* entries of selector number i: [begins[i], begins[i + 1]) */
  GradientEntryVec entries; /* stored gradients, ascending by leaf node */
  GradientEntryVec result;  /* gradient of the last region swept */
  IndexVec order;           /* walk of a region */
  IndexVec heads;           /* per position in `order`: list of contributions */
  VEC(Contribution) contributions;
  TermVec terms;
  VEC(SortedEntry) columns;
};

static void contribute(GradientSweep *g, Expr node, double coefficient, Expr adjoint) {
  if (!dag_was_met(&g->dag->scratch, node) || adjoint == EXPR_ZERO) return;
  uint32_t *head = &g->heads.data[g->dag->scratch.slots.data[node]];
  vec_push(g->dag->heap, &g->contributions, (Contribution){{coefficient, adjoint}, *head});
  *head = g->contributions.count;
}

/* The adjoint of the node at a position: all contributions in one sum. */
static Expr collect_adjoint(GradientSweep *g, uint32_t position) {
  g->terms.count = 0;
  for (uint32_t i = g->heads.data[position]; i; i = g->contributions.data[i - 1].next)
    vec_push(g->dag->heap, &g->terms, g->contributions.data[i - 1].term);
  return dag_sum(g->dag, 0, g->terms.data, g->terms.count);
}

/* Passes an adjoint on to the leaves of a selector whose gradient is stored. */
static void spread_stored(GradientSweep *g, uint32_t selector, Expr adjoint) {
  for (uint32_t i = g->begins.data[selector]; i < g->begins.data[selector + 1]; i++) {
    GradientEntry entry = g->entries.data[i];
    contribute(g, entry.leaf, 1, scale_derivative(g->dag, adjoint, entry.partial));
  }
}

static void spread_sum(GradientSweep *g, Expr e, Expr adjoint) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(g->dag, e, &constant, &terms);
  for (uint32_t i = 0; i < count; i++) contribute(g, terms[i].node, terms[i].coefficient, adjoint);
}

static void spread_operator(GradientSweep *g, Expr e, Expr adjoint) {
  if (dag_op(g->dag, e) == OP_DELAY || dag_op(g->dag, e) == OP_TRANSPORT) return;
  for (uint32_t i = 0, count = dag_child_count(g->dag, e); i < count; i++) {
    Expr child = dag_child(g->dag, e, i);
    if (!dag_was_met(&g->dag->scratch, child)) continue;
    Expr partial = partial_of(g->dag, e, i);
    contribute(g, child, 1, dag_multiply(g->dag, adjoint, partial));
  }
}

static int compare_entries(const void *a, const void *b) {
  Expr x = ((const GradientEntry *)a)->leaf, y = ((const GradientEntry *)b)->leaf;
  return (x > y) - (x < y);
}

/* The walk of a region: the nodes above the selectors, and all leaves of the selectors, which receive adjoints from them. */
static void region_walk(GradientSweep *g, Expr root) {
  Dag *dag = g->dag;
  IndexVec roots = {0};
  g->order.count = g->contributions.count = 0;
  dag_walk(dag, &dag->scratch, (Walk){.mask = 1u << OP_VARIABLE, .shallow = true}, &root, 1, &g->order);
  for (uint32_t i = 0; i < g->order.count; i++) {
    uint32_t selector = map_get(&g->ranges, g->order.data[i]);
    if (selector == MAP_NONE) continue;
    for (uint32_t k = g->begins.data[selector]; k < g->begins.data[selector + 1]; k++)
      vec_push(dag->heap, &roots, g->entries.data[k].leaf);
  }
  if (roots.count) {
    vec_push(dag->heap, &roots, root);
    g->order.count = 0;
    dag_walk(dag, &dag->scratch, (Walk){.mask = 1u << OP_VARIABLE, .shallow = true}, roots.data, roots.count,
             &g->order);
  }
  vec_free(dag->heap, &roots);
}

/* Gradient of `root` into g->result, ascending by leaf node, without zeros. The gradients of all selectors at or below the root
 * are already stored. */
static void region_sweep(GradientSweep *g, Expr root) {
  Dag *dag = g->dag;
  region_walk(g, root);
  g->result.count = g->heads.count = 0;
  if (!g->order.count) return;
  heap_work(dag->heap, 2 * (uint64_t)g->order.count);
  memset(vec_extend(dag->heap, &g->heads, g->order.count), 0, g->order.count * sizeof(uint32_t));
  contribute(g, root, 1, EXPR_ONE);
  for (uint32_t i = g->order.count; i-- > 0;) {
    Expr e = g->order.data[i], adjoint = collect_adjoint(g, i);
    uint32_t selector = map_get(&g->ranges, e);
    if (adjoint == EXPR_ZERO) continue;
    if (dag_op(dag, e) == OP_VARIABLE) vec_push(dag->heap, &g->result, (GradientEntry){e, adjoint});
    else if (selector != MAP_NONE) spread_stored(g, selector, adjoint);
    else if (dag_op(dag, e) == OP_SUM) spread_sum(g, e, adjoint);
    else spread_operator(g, e, adjoint);
  }
  if (g->result.count) dag_sort(dag->heap, g->result.data, g->result.count, sizeof(GradientEntry), compare_entries);
}

/* Joins the gradients of up to three arguments leaf by leaf, with the selection of `self`, and stores the result. */
static void selector_join(GradientSweep *g, Expr self, GradientEntryVec *parts, uint32_t count) {
  Dag *dag = g->dag;
  uint32_t next[3] = {0};
  for (;;) {
    Expr leaf = EXPR_NONE, d[3] = {EXPR_ZERO, EXPR_ZERO, EXPR_ZERO};
    for (uint32_t i = 0; i < count; i++)
      if (next[i] < parts[i].count && parts[i].data[next[i]].leaf < leaf) leaf = parts[i].data[next[i]].leaf;
    if (leaf == EXPR_NONE) break;
    for (uint32_t i = 0; i < count; i++)
      if (next[i] < parts[i].count && parts[i].data[next[i]].leaf == leaf) d[i] = parts[i].data[next[i]++].partial;
    Expr partial = select_derivative(dag, self, d);
    if (partial != EXPR_ZERO) vec_push(dag->heap, &g->entries, (GradientEntry){leaf, partial});
  }
}

static void selector_store(GradientSweep *g, Expr self) {
  Dag *dag = g->dag;
  GradientEntryVec parts[3] = {{0}};
  uint32_t count = dag_child_count(dag, self);
  for (uint32_t i = 0; i < count; i++) {
    if (dag_op(dag, self) == OP_IF && i == 0) continue;
    region_sweep(g, dag_child(dag, self, i));
    GradientEntryVec swap = parts[i];
    parts[i] = g->result, g->result = swap;
  }
  map_put(&g->ranges, self, g->begins.count - 1);
  selector_join(g, self, parts, count);
  vec_push(dag->heap, &g->begins, g->entries.count);
  for (uint32_t i = 0; i < count; i++) vec_free(dag->heap, &parts[i]);
}

static void store_selectors(GradientSweep *g, Expr e) {
  IndexVec all = {0};
  g->begins.count = g->entries.count = 0;
  if (g->ranges.count) map_free(&g->ranges);
  if (dag_is_smooth(g->dag, e)) return;
  dag_below_nonsmooth(g->dag, &g->dag->scratch, &e, 1, &all);
  vec_push(g->dag->heap, &g->begins, 0);
  for (uint32_t i = 0; i < all.count; i++)
    if (op_is_selector(dag_op(g->dag, all.data[i])) && dag_depends(g->dag, all.data[i], OP_VARIABLE))
      selector_store(g, all.data[i]);
  vec_free(g->dag->heap, &all);
}

static int compare_columns(const void *a, const void *b) {
  uint64_t x = ((const SortedEntry *)a)->key, y = ((const SortedEntry *)b)->key;
  return (x > y) - (x < y);
}

static void append_result(GradientSweep *g, ExprVec *leaves, ExprVec *partials) {
  Dag *dag = g->dag;
  g->columns.count = 0;
  for (uint32_t i = 0; i < g->result.count; i++) {
    GradientEntry entry = g->result.data[i];
    SortedEntry column = {(uint64_t)dag_index(dag, entry.leaf) << 16 | dag_order(dag, entry.leaf), entry};
    vec_push(dag->heap, &g->columns, column);
  }
  if (g->columns.count)
    dag_sort(dag->heap, g->columns.data, g->columns.count, sizeof *g->columns.data, compare_columns);
  for (uint32_t i = 0; i < g->columns.count; i++) {
    vec_push(dag->heap, leaves, g->columns.data[i].entry.leaf);
    vec_push(dag->heap, partials, g->columns.data[i].entry.partial);
  }
}

void dag_gradient(Dag *dag, Expr e, ExprVec *leaves, ExprVec *partials) {
  if (!dag->gradient) {
    dag->gradient = heap_alloc(dag->heap, sizeof *dag->gradient);
    *dag->gradient = (GradientSweep){.dag = dag, .ranges = map_make(dag->heap)};
  }
  GradientSweep *g = dag->gradient;
  store_selectors(g, e);
  region_sweep(g, e);
  append_result(g, leaves, partials);
}

/* ---- linear split ---- */

static bool affine_sum(Dag *dag, Expr e, const Affine *x, bool wants_rest, Affine *out) {
  double constant;
  const Term *terms;
  uint32_t count = dag_terms(dag, e, &constant, &terms), slopes = 0, rests = 0;
  dag->affine_terms.count = 0;
  Term *list = vec_extend(dag->heap, &dag->affine_terms, 2 * count);
  for (uint32_t i = 0; i < count; i++) {
    if (x[i].slope != EXPR_ZERO) list[slopes++] = (Term){terms[i].coefficient, x[i].slope};
    if (x[i].rest != EXPR_ZERO) list[count + rests++] = (Term){terms[i].coefficient, x[i].rest};
  }
  out->slope = dag_sum(dag, 0, list, slopes);
  if (wants_rest) out->rest = dag_sum(dag, constant, list + count, rests);
  return true;
}

static bool affine_product(Dag *dag, const Affine *x, bool wants_rest, Affine *out) {
  if (x[0].slope != EXPR_ZERO && x[1].slope != EXPR_ZERO) return false;
  Affine variable = x[0].slope != EXPR_ZERO ? x[0] : x[1];
  Expr factor = x[0].slope != EXPR_ZERO ? x[1].rest : x[0].rest;
  out->slope = dag_multiply(dag, variable.slope, factor);
  if (wants_rest) out->rest = dag_multiply(dag, variable.rest, factor);
  return true;
}

/* One operator; false if it is not linear in an argument that depends on the leaf. Without `rest`, the coefficients of such
 * arguments are also unknown. */
static bool affine_node(Dag *dag, Expr e, const Affine *x, uint32_t count, bool wants_rest, Affine *out) {
  Op op = dag_op(dag, e);
  switch (op) {
  case OP_SUM: return affine_sum(dag, e, x, wants_rest, out);
  case OP_MULTIPLY: return affine_product(dag, x, wants_rest, out);
  case OP_DIVIDE:
  case OP_NOEVENT:
  case OP_SMOOTH:
  case OP_HOMOTOPY:
  case OP_IF: break;
  default: return false;
  }
  /* This argument must be free of the leaf. */
  uint32_t fixed = op == OP_DIVIDE ? 1 : op == OP_SMOOTH || op == OP_IF ? 0 : EXPR_NONE;
  Expr slopes[3], rests[3];
  for (uint32_t i = 0; i < count; i++) {
    if (i == fixed && x[i].slope != EXPR_ZERO) return false;
    slopes[i] = i == fixed ? x[i].rest : x[i].slope;
    rests[i] = x[i].rest;
  }
  out->slope = dag_rebuild(dag, e, slopes);
  if (wants_rest) out->rest = dag_rebuild(dag, e, rests);
  return true;
}

/* The split of every node of the walk; false as soon as one is not linear. */
static bool affine_sweep(Dag *dag, const IndexVec *order, Expr leaf, bool wants_rest, Affine *split) {
  AffineVec *x = &dag->affine_children;
  bool linear = true;
  for (uint32_t i = 0; i < order->count && linear; i++) {
    Expr self = order->data[i];
    DagChildren children = dag_children(dag, self);
    bool depends = false;
    x->count = 0;
    for (uint32_t k = 0; k < children.count; k++) {
      Expr child = dag_child_at(&children, k);
      Affine part = {EXPR_ZERO, child};
      if (dag_was_met(&dag->scratch, child)) part = split[dag->scratch.slots.data[child]];
      depends = depends || part.slope != EXPR_ZERO;
      vec_push(dag->heap, x, part);
    }
    split[i] = self == leaf ? (Affine){EXPR_ONE, EXPR_ZERO} : (Affine){EXPR_ZERO, self};
    if (depends) linear = affine_node(dag, self, x->data, children.count, wants_rest, &split[i]);
  }
  return linear;
}

bool dag_linear(Dag *dag, Expr e, Expr leaf, Expr *slope, Expr *rest) {
  IndexVec *order = &dag->affine_order;
  order->count = dag->affine_split.count = 0;
  dag_walk(dag, &dag->scratch, (Walk){.mask = dag_flags(dag, leaf)}, &e, 1, order);
  Affine *split = vec_extend(dag->heap, &dag->affine_split, order->count + 1);
  bool linear = affine_sweep(dag, order, leaf, rest != NULL, split);
  if (linear) *slope = order->count ? split[order->count - 1].slope : EXPR_ZERO;
  if (linear && rest) *rest = order->count ? split[order->count - 1].rest : e;
  return linear;
}

Expr dag_isolate(Dag *dag, Expr e, Expr leaf) {
  double constant, factor = 0;
  const Term *terms;
  Term others[DAG_MERGE_TERMS];
  Expr roots[DAG_MERGE_TERMS];
  uint32_t count = dag_op(dag, e) == OP_SUM ? dag_terms(dag, e, &constant, &terms) : 0, n = 0;
  if (count < 2 || count > DAG_MERGE_TERMS) return EXPR_NONE;
  for (uint32_t i = 0; i < count; i++)
    if (terms[i].node == leaf) factor = terms[i].coefficient;
    else roots[n] = terms[i].node, others[n++] = terms[i];
  if (fabs(factor) != 1) return EXPR_NONE;
  dag->affine_order.count = 0;
  dag_walk(dag, &dag->scratch, (Walk){.mask = dag_flags(dag, leaf)}, roots, n, &dag->affine_order);
  if (dag_was_met(&dag->scratch, leaf)) return EXPR_NONE;
  for (uint32_t i = 0; i < n; i++) others[i].coefficient *= -factor;
  return dag_sum(dag, -factor * constant, others, n);
}

/* ---- substitution ---- */

static Expr substitute_node(Dag *dag, const Expr *changed, Expr e, ExprVec *children) {
  bool differs = false;
  children->count = 0;
  for (uint32_t i = 0, count = dag_child_count(dag, e); i < count; i++) {
    Expr child = dag_child(dag, e, i);
    vec_push(dag->heap, children, changed[dag->scratch.slots.data[child]]);
    differs = differs || vec_last(children) != child;
  }
  return differs ? dag_rebuild(dag, e, children->data) : e;
}

void dag_substitute(Dag *dag, const Expr *from, const Expr *to, uint32_t pairs, Expr *roots, uint32_t count) {
  IndexVec *order = &dag->substituted_order;
  order->count = dag->substituted.count = 0;
  dag_below(dag, &dag->scratch, roots, count, order);
  if (!order->count) return;
  Expr *changed = vec_extend(dag->heap, &dag->substituted, order->count);
  memset(changed, 0xff, order->count * sizeof *changed); /* EXPR_NONE: not yet known */
  for (uint32_t i = 0; i < pairs; i++)
    if (dag_was_met(&dag->scratch, from[i])) changed[dag->scratch.slots.data[from[i]]] = to[i];
  for (uint32_t i = 0; i < order->count; i++)
    if (changed[i] == EXPR_NONE) changed[i] = substitute_node(dag, changed, order->data[i], &dag->substituted_children);
  for (uint32_t i = 0; i < count; i++) roots[i] = changed[dag->scratch.slots.data[roots[i]]];
}

DagSubstitution dag_substitution_make(Dag *dag) { return (DagSubstitution){.dag = dag}; }

void dag_substitution_free(DagSubstitution *s) {
  vec_free(s->dag->heap, &s->from, &s->to, &s->made, &s->known, &s->stack, &s->children);
}

static void note_made(DagSubstitution *s, Expr e, Expr made) {
  uint32_t nodes = s->dag->pools.nodes.count, more = nodes - s->made.count;
  if (more) memset(vec_extend(s->dag->heap, &s->made, more), 0xff, more * sizeof(Expr));
  s->made.data[e] = made;
  vec_push(s->dag->heap, &s->known, e);
}

static bool is_made(const DagSubstitution *s, Expr e) { return e < s->made.count && s->made.data[e] != EXPR_NONE; }

static void forget_made(DagSubstitution *s) {
  for (uint32_t i = 0; i < s->known.count; i++) s->made.data[s->known.data[i]] = EXPR_NONE;
  s->known.count = 0;
}

void dag_substitution_clear(DagSubstitution *s) {
  forget_made(s);
  s->from.count = s->to.count = 0;
}

void dag_substitution_add(DagSubstitution *s, Expr from, Expr to) {
  vec_push(s->dag->heap, &s->from, from);
  vec_push(s->dag->heap, &s->to, to);
  if (!is_made(s, from)) {
    note_made(s, from, to);
    return;
  }
  forget_made(s);
  for (uint32_t i = 0; i < s->from.count; i++) note_made(s, s->from.data[i], s->to.data[i]);
}

static void substitution_enter(DagSubstitution *s, Expr e) {
  if (is_made(s, e)) return;
  DagChildren children = dag_children(s->dag, e);
  if (!children.count) note_made(s, e, e);
  else vec_push(s->dag->heap, &s->stack, (DagFrame){e, 0, 0, NULL});
}

/* All children of the node are made. */
static void substitution_leave(DagSubstitution *s, Expr e) {
  DagChildren children = dag_children(s->dag, e);
  bool differs = false;
  s->children.count = 0;
  for (uint32_t i = 0; i < children.count; i++) {
    Expr child = dag_child_at(&children, i);
    vec_push(s->dag->heap, &s->children, s->made.data[child]);
    differs = differs || vec_last(&s->children) != child;
  }
  note_made(s, e, differs ? dag_rebuild(s->dag, e, s->children.data) : e);
}

/* Constructors move the pools, so a frame has the number of children that were entered (in `rest`), and no pointer to them. */
Expr dag_substitution_of(DagSubstitution *s, Expr e) {
  uint64_t edges = 0;
  s->stack.count = 0;
  substitution_enter(s, e);
  while (s->stack.count) {
    DagFrame *frame = &vec_last(&s->stack);
    DagChildren children = dag_children(s->dag, frame->node);
    if (frame->rest < children.count) {
      substitution_enter(s, dag_child_at(&children, frame->rest++));
    } else {
      substitution_leave(s, vec_pop(&s->stack).node);
      edges += children.count;
    }
  }
  heap_work(s->dag->heap, 1 + 2 * edges);
  return s->made.data[e];
}

/* ---- memory ---- */

void dag_trim(Dag *dag) {
  GradientSweep *g = dag->gradient;
  dag_scratch_free(&dag->scratch);
  vec_free(dag->heap, &dag->sum, &dag->affine_terms, &dag->affine_order, &dag->affine_split, &dag->affine_children);
  vec_free(dag->heap, &dag->substituted_order, &dag->substituted, &dag->substituted_children);
  if (!g) return;
  map_free(&g->ranges);
  vec_free(dag->heap, &g->begins, &g->entries, &g->result, &g->order, &g->heads, &g->contributions);
  vec_free(dag->heap, &g->terms, &g->columns);
  heap_free(dag->heap, g);
  dag->gradient = NULL;
}
