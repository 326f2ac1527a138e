/* semilinear: see semilinear.h. */
#include "array/semilinear.h"

#include <math.h>

/* The smallest flow into and out of a node that every stream is given, even if nothing flows. */
static const double LEAST_FLOW = 1e-9;

/* sign * flow = semiLinear(x, positive, negative) */
typedef struct SemilinearRow {
  uint32_t row;
  Expr flow, x, positive, negative;
  bool is_negated;
  bool is_joined; /* joined to another stream; its row now gives the slope between the two */
} SemilinearRow;

typedef VEC(SemilinearRow) StreamVec;

/* x or -x: the direction that all streams along x have in common. */
static Expr direction(Dag *dag, Expr x, bool *is_reversed) {
  double constant;
  const Term *terms;
  *is_reversed = dag_op(dag, x) == OP_SUM && dag_terms(dag, x, &constant, &terms) && terms[0].coefficient < 0;
  return *is_reversed ? dag_negate(dag, x) : x;
}

/* Is the residual the sum of a flow and a semiLinear, with coefficients of equal size? */
static bool read_stream(Dag *dag, Expr residual, SemilinearRow *stream) {
  double constant;
  const Term *terms;
  if (dag_is_smooth(dag, residual) || dag_op(dag, residual) != OP_SUM) return false;
  if (dag_terms(dag, residual, &constant, &terms) != 2 || constant != 0) return false;
  uint32_t at = dag_op(dag, terms[1].node) == OP_SEMILINEAR;
  Term flow = terms[1 - at], value = terms[at];
  if (dag_op(dag, flow.node) != OP_VARIABLE || dag_op(dag, value.node) != OP_SEMILINEAR) return false;
  if (flow.coefficient != value.coefficient && flow.coefficient != -value.coefficient) return false;
  Expr above = dag_child(dag, value.node, 1), below = dag_child(dag, value.node, 2);
  bool is_reversed;
  stream->flow = flow.node;
  stream->x = direction(dag, dag_child(dag, value.node, 0), &is_reversed);
  stream->positive = is_reversed ? below : above;
  stream->negative = is_reversed ? above : below;
  stream->is_negated = (flow.coefficient == value.coefficient) != is_reversed;
  return true;
}

static uint64_t key_of(Expr flow, Expr slope) { return (uint64_t)flow << 32 | slope; }

/* The stream that continues where this one ends; NULL: none. */
static SemilinearRow *next_of(const Dag *dag, const StreamVec *streams, const Map *begins,
                              const SemilinearRow *stream) {
  if (dag_op(dag, stream->negative) != OP_VARIABLE) return NULL;
  uint32_t found = map_get(begins, key_of(stream->flow, stream->negative));
  SemilinearRow *next = found == MAP_NONE ? NULL : &streams->data[found];
  if (!next || next == stream || next->is_joined || next->x != stream->x || next->is_negated != stream->is_negated)
    return NULL;
  return next->negative != stream->negative && stream->positive != stream->negative ? next : NULL;
}

/* The row of the second stream gives the slope between them; the row of the first stream gives the flow. */
static void join_streams(Dag *dag, SemilinearRow *stream, SemilinearRow *next, Expr *residual) {
  Expr forward = dag_binary(dag, OP_GREATER_EQUAL, stream->x, dag_constant(dag, 0));
  Expr slope = dag_if(dag, forward, stream->positive, next->negative);
  residual[next->row] = dag_subtract(dag, stream->negative, slope);
  stream->negative = next->negative;
  next->is_joined = true;
  Expr value = dag_nary(dag, OP_SEMILINEAR, (Expr[]){stream->x, stream->positive, stream->negative}, 3);
  residual[stream->row] = dag_subtract(dag, stream->is_negated ? dag_negate(dag, stream->flow) : stream->flow, value);
}

/* ---- nodes of several flows ---- */

/* The parts of a flow in a balance: out * slope - in * other, with out and in not below zero. */
typedef struct FlowParts {
  Expr slope, other, out, in;
} FlowParts;

/* The parts of a flow with this coefficient, for the node whose slope is `slope`. Returns false if the flow counts in the
 * other direction. */
static bool read_branch(Dag *dag, const SemilinearRow *stream, double coefficient, Expr slope, FlowParts *branch) {
  bool is_positive = stream->positive == slope, counts = (coefficient > 0) != stream->is_negated;
  Expr zero = dag_constant(dag, 0), along = dag_binary(dag, OP_MAX, stream->x, zero),
       against = dag_binary(dag, OP_MAX, dag_negate(dag, stream->x), zero);
  branch->slope = slope;
  branch->other = is_positive ? stream->negative : stream->positive;
  branch->out = is_positive ? along : against;
  branch->in = is_positive ? against : along;
  return counts == is_positive;
}

static bool has_slope(const SemilinearRow *stream, Expr slope) {
  return (stream->positive == slope) != (stream->negative == slope);
}

/* The only stream that gives the flow of a term; NULL: there is none. */
static const SemilinearRow *stream_of(const StreamVec *streams, const Map *by_flow, Expr flow) {
  uint32_t found = map_get(by_flow, flow);
  return found == MAP_NONE ? NULL : &streams->data[found];
}

/* Are two or more terms of a balance flows of streams, all with this slope and the same sign? The other terms are sources. */
static bool all_have(Dag *dag, const StreamVec *streams, const Map *by_flow, const Term *terms, uint32_t count,
                     Expr slope) {
  int ways[2] = {0, 0};
  FlowParts branch;
  for (uint32_t k = 0; k < count; k++) {
    const SemilinearRow *stream = stream_of(streams, by_flow, terms[k].node);
    if (!stream && dag_order(dag, terms[k].node) > 0) return false;
    if (!stream) continue;
    if (!has_slope(stream, slope)) return false;
    ways[read_branch(dag, stream, terms[k].coefficient, slope, &branch)]++;
  }
  return (ways[0] == 0 || ways[1] == 0) && ways[0] + ways[1] >= 2;
}

/* The balance of a node, solved for its slope. */
static Expr mix(Dag *dag, const StreamVec *streams, const Map *by_flow, const Term *terms, uint32_t count, Expr slope) {
  Expr above = dag_constant(dag, 0), below = above, sources = above, least = dag_constant(dag, LEAST_FLOW);
  bool counts = true;
  for (uint32_t k = 0; k < count; k++) {
    const SemilinearRow *stream = stream_of(streams, by_flow, terms[k].node);
    FlowParts branch;
    if (!stream) {
      double sign = terms[k].coefficient < 0 ? -1 : 1;
      sources = dag_add(dag, sources, dag_scale(dag, sign, terms[k].node));
      continue;
    }
    counts = read_branch(dag, stream, terms[k].coefficient, slope, &branch);
    above = dag_add(dag, above, dag_multiply(dag, dag_add(dag, branch.in, least), branch.other));
    below = dag_add(dag, below, dag_add(dag, branch.out, least));
  }
  above = counts ? dag_subtract(dag, above, sources) : dag_add(dag, above, sources);
  return dag_subtract(dag, slope, dag_divide(dag, above, below));
}

static bool is_balance(const Dag *dag, Expr residual, const Term **terms, uint32_t *count) {
  double constant;
  if (dag_op(dag, residual) != OP_SUM) return false;
  *count = dag_terms(dag, residual, &constant, terms);
  if (*count < 2 || constant != 0) return false;
  for (uint32_t k = 0; k < *count; k++)
    if (dag_op(dag, (*terms)[k].node) != OP_VARIABLE || fabs((*terms)[k].coefficient) != fabs((*terms)[0].coefficient))
      return false;
  return true;
}

/* The balances of nodes where streams meet. */
static void find_nodes(Dag *dag, const StreamVec *streams, const Expr *residual, uint32_t count, StreamNodeVec *nodes) {
  Map by_flow = map_make(dag_heap(dag));
  for (uint32_t i = 0; i < streams->count; i++)
    if (!streams->data[i].is_joined) map_put(&by_flow, streams->data[i].flow, i);
  for (uint32_t row = 0; row < count; row++) {
    const Term *terms;
    uint32_t terms_count;
    if (!is_balance(dag, residual[row], &terms, &terms_count)) continue;
    const SemilinearRow *first = NULL;
    for (uint32_t k = 0; k < terms_count && !first; k++) first = stream_of(streams, &by_flow, terms[k].node);
    if (!first) continue;
    Term *own = heap_copy(dag_heap(dag), terms, terms_count, sizeof *own); /* the graph grows below */
    Expr slopes[2] = {first->positive, first->negative};
    for (int k = 0; k < 2; k++)
      if (dag_op(dag, slopes[k]) == OP_VARIABLE && all_have(dag, streams, &by_flow, own, terms_count, slopes[k])) {
        Expr mixed = mix(dag, streams, &by_flow, own, terms_count, slopes[k]);
        vec_push(dag_heap(dag), nodes, (StreamNode){row, slopes[k], mixed});
        break;
      }
    heap_free(dag_heap(dag), own);
  }
  map_free(&by_flow);
}

void semilinear_join(Dag *dag, Expr *residual, uint32_t count, StreamNodeVec *nodes) {
  Heap *heap = dag_heap(dag);
  StreamVec streams = {0};
  Map begins = map_make(heap);
  for (uint32_t row = 0; row < count; row++) {
    SemilinearRow stream = {.row = row};
    if (!read_stream(dag, residual[row], &stream)) continue;
    map_put(&begins, key_of(stream.flow, stream.positive), streams.count);
    vec_push(heap, &streams, stream);
  }
  for (uint32_t i = 0; i < streams.count; i++)
    for (SemilinearRow *stream = &streams.data[i], *next; !stream->is_joined;) {
      next = next_of(dag, &streams, &begins, stream);
      if (!next) break;
      join_streams(dag, stream, next, residual);
    }
  if (streams.count) find_nodes(dag, &streams, residual, count, nodes);
  map_free(&begins);
  vec_free(heap, &streams);
}

/* ---- what a flow carries ---- */

/* The variable that the relation compares with zero; EXPR_NONE: it does not compare a variable with zero. */
static Expr compared_variable(Dag *dag, Expr relation) {
  double constant;
  const Term *terms;
  if (dag_op(dag, relation) < OP_LESS || dag_op(dag, relation) > OP_GREATER_EQUAL) return EXPR_NONE;
  Expr x = dag_subtract(dag, dag_child(dag, relation, 0), dag_child(dag, relation, 1));
  if (dag_op(dag, x) == OP_SUM && dag_terms(dag, x, &constant, &terms) == 1 && constant == 0) x = terms[0].node;
  return dag_op(dag, x) == OP_VARIABLE ? x : EXPR_NONE;
}

/* The variable whose sign decides the value of an expression, without an event; EXPR_NONE: there is none. */
static Expr deciding_variable(Dag *dag, Expr e) {
  bool is_quiet = false;
  while (dag_op(dag, e) == OP_NOEVENT || dag_op(dag, e) == OP_SMOOTH) {
    e = dag_child(dag, e, dag_child_count(dag, e) - 1);
    is_quiet = true;
  }
  if (dag_op(dag, e) != OP_IF) return EXPR_NONE;
  Expr condition = dag_child(dag, e, 0);
  if (dag_op(dag, condition) == OP_NOEVENT) {
    condition = dag_child(dag, condition, 0);
    is_quiet = true;
  }
  return is_quiet ? compared_variable(dag, condition) : EXPR_NONE;
}

/* Is this the residual of an equation v = choice? Then returns the product of v with the deciding variable, and its value. */
static bool read_choice(Dag *dag, Expr residual, Expr *product, Expr *value) {
  double constant;
  const Term *terms;
  if (dag_is_smooth(dag, residual) || dag_op(dag, residual) != OP_SUM) return false;
  if (dag_terms(dag, residual, &constant, &terms) != 2 || constant != 0) return false;
  uint32_t at = dag_op(dag, terms[0].node) == OP_VARIABLE;
  Term variable = terms[1 - at], choice = terms[at];
  if (dag_op(dag, variable.node) != OP_VARIABLE || variable.coefficient != -choice.coefficient) return false;
  Expr x = deciding_variable(dag, choice.node);
  if (x == EXPR_NONE || x == variable.node) return false;
  *product = dag_multiply(dag, x, variable.node);
  *value = dag_multiply(dag, x, choice.node);
  return true;
}

void semilinear_put_choices(Dag *dag, Expr *residual, uint32_t count) {
  Heap *heap = dag_heap(dag);
  ExprVec products = {0}, values = {0};
  for (uint32_t row = 0; row < count; row++) {
    Expr product, value;
    if (!read_choice(dag, residual[row], &product, &value)) continue;
    vec_push(heap, &products, product);
    vec_push(heap, &values, value);
  }
  if (products.count) dag_substitute(dag, products.data, values.data, products.count, residual, count);
  vec_free(heap, &products, &values);
}
