/* connect_stream: stream variables (MLS 3.6, chapter 15). inStream(c.h) is the property of a fluid that flows into the component
 * through c. This fluid is a mixture of the fluids that flow out of the other connectors of the connection set. A flow counts at
 * least SMALL_FLOW, so that the mixture is defined, and continuous, when nothing flows. */
#include "instance/connect.h"

#include "instance/lookup.h"

#define SMALL_FLOW 1e-10

typedef VEC(AstExpr) FlowVec;

/* An end of the set, from which fluid may flow into the connection point. */
typedef VEC(uint32_t) EndVec;

static const ConnectVariable *end_variable(const Connections *connections, uint32_t end) {
  return member_variable(connections, end_member(end));
}

/* The flow variable of the connector of a stream variable; NULL if it has none. */
static const ConnectVariable *flow_of(const Connections *connections, const ConnectVariable *stream) {
  const ConnectVariable *at = stream, *first = connections->variables.data;
  const ConnectVariable *last = first + connections->variables.count;
  while (at > first && at[-1].connector == stream->connector) at--;
  for (; at < last && at->connector == stream->connector; at++)
    if (at->instance->prefixes & PREFIX_FLOW) return at;
  return NULL;
}

static AstExpr stream_reference(Connections *connections, uint32_t end, Name name, Span span) {
  const ConnectVariable *variable = end_variable(connections, end);
  return element_reference(connections, variable->instance, name, end_member(end) - variable->first, span);
}

static AstExpr flow_reference(Connections *connections, uint32_t end, Span span) {
  const ConnectVariable *stream = end_variable(connections, end), *flow = flow_of(connections, stream);
  uint32_t element = (end_member(end) - stream->first) / (stream->count / flow->count);
  return element_reference(connections, flow->instance, flow->instance->flat_name, element, span);
}

/* The property of fluid from an end: the variable of an inner component, or the inflow through a connector of the model
 * itself. */
static AstExpr delivered(Connections *connections, uint32_t end, Span span) {
  Instance *instance = end_variable(connections, end)->instance;
  bool is_inside = end_side(end) == SIDE_INSIDE;
  Name name =
      is_inside ? instance->flat_name : connections_operator(connections->tree, CONNECT_IN_STREAM, instance, span);
  return stream_reference(connections, end, name, span);
}

/* noEvent(max(flow into the connection point, SMALL_FLOW)) */
static AstExpr weight(Connections *connections, uint32_t end, Span span) {
  Tree *tree = connections->tree;
  const AstOperator minus = AST_SUBTRACT;
  AstExpr both[2];
  both[0] = flow_reference(connections, end, span);
  if (end_side(end) == SIDE_INSIDE) both[0] = flat_sum(tree, both, &minus, 1, span);
  both[1] = flat_real(tree, SMALL_FLOW, span);
  AstExpr larger = flat_call(tree, "max", both, 2, span);
  return flat_call(tree, "noEvent", &larger, 1, span);
}

static AstExpr sum_of(Connections *connections, FlowVec *terms, Span span) {
  VEC(AstOperator) signs = {0};
  for (uint32_t i = 0; i < terms->count; i++) vec_push(connections->heap, &signs, AST_ADD);
  AstExpr sum = flat_sum(connections->tree, terms->data, signs.data, terms->count, span);
  vec_free(connections->heap, &signs);
  terms->count = 0;
  return sum;
}

/* sum of weight * delivered, over the sum of weights */
static AstExpr mixture(Connections *connections, const EndVec *ends, Span span) {
  Tree *tree = connections->tree;
  FlowVec terms = {0};
  AstExpr parts[2];
  for (uint32_t i = 0; i < ends->count; i++) {
    AstExpr factors[2];
    factors[0] = weight(connections, ends->data[i], span);
    factors[1] = delivered(connections, ends->data[i], span);
    AstExpr term = flat_product(tree, factors, 2, span);
    vec_push(connections->heap, &terms, term);
  }
  parts[0] = sum_of(connections, &terms, span);
  for (uint32_t i = 0; i < ends->count; i++) {
    AstExpr term = weight(connections, ends->data[i], span);
    vec_push(connections->heap, &terms, term);
  }
  parts[1] = sum_of(connections, &terms, span);
  vec_free(connections->heap, &terms);
  return flat_quotient(tree, parts[0], parts[1], span);
}

/* Can no fluid come from the end, because its flow has only one direction? */
static bool never_delivers(Connections *connections, uint32_t end) {
  const ConnectVariable *flow = flow_of(connections, end_variable(connections, end));
  double bound;
  if (end_side(end) == SIDE_INSIDE)
    return instance_attribute(connections->tree, flow->instance, "min", &bound) && bound >= 0;
  return instance_attribute(connections->tree, flow->instance, "max", &bound) && bound <= 0;
}

/* The other ends of the set from which fluid may come; all of them if there are none, because their values are always
 * defined. */
static EndVec others(Connections *connections, uint32_t end) {
  EndVec found = {0}, idle = {0};
  const ConnectSets *sets = &connections->sets;
  uint32_t set = sets->set_of[end];
  for (uint32_t i = set == CONNECT_NONE ? 0 : sets->start[set]; set != CONNECT_NONE && i < sets->start[set + 1]; i++) {
    uint32_t other = sets->members[i];
    if (other != end) vec_push(connections->heap, never_delivers(connections, other) ? &idle : &found, other);
  }
  EndVec rest = found.count ? idle : found;
  vec_free(connections->heap, &rest);
  return found.count ? found : idle;
}

/* Each of n ends has a term for each of the others: n^2 terms of about ten nodes, which all later passes visit. */
enum { TERM_WORK = 400 };

/* The mixture that reaches an end from its set; its own value if there is no other end. */
static AstExpr brought(Connections *connections, uint32_t end, Span span) {
  EndVec ends = others(connections, end);
  heap_work(connections->heap, (uint64_t)ends.count * TERM_WORK);
  Instance *instance = end_variable(connections, end)->instance;
  AstExpr value;
  if (ends.count == 0) value = stream_reference(connections, end, instance->flat_name, span);
  else if (ends.count == 1) value = delivered(connections, ends.data[0], span);
  else value = mixture(connections, &ends, span);
  vec_free(connections->heap, &ends);
  return value;
}

/* ---- equations ---- */

static Span span_of(const Connections *connections, uint32_t end) {
  uint32_t source = connections->source_of[end];
  return source == CONNECT_NONE ? (Span){0} : connections->sources.data[source].clause->statement->span;
}

/* The stream variable of a connector of the model itself equals the mixture from its connections. */
static void write_outside(Connections *connections) {
  const ConnectSets *sets = &connections->sets;
  for (uint32_t set = 0; set < sets->set_count; set++) {
    uint32_t first = sets->members[sets->start[set]];
    if (!(end_variable(connections, first)->instance->prefixes & PREFIX_STREAM)) continue;
    for (uint32_t i = sets->start[set]; i < sets->start[set + 1]; i++) {
      uint32_t end = sets->members[i];
      if (end_side(end) == SIDE_INSIDE) continue;
      Span span = span_of(connections, end);
      AstExpr left = stream_reference(connections, end, end_variable(connections, end)->instance->flat_name, span);
      flat_connection(connections->flat, left, brought(connections, end, span), 0, span);
    }
  }
}

/* smooth(0, noEvent(if flow > 0 then inStream(h) else h)) */
static AstExpr actual_stream(Connections *connections, uint32_t end, Name in_stream, Span span) {
  Tree *tree = connections->tree;
  AstExpr sides[2], choice[3], smooth[2];
  smooth[0] = flat_integer(tree, 0, span);
  sides[0] = flow_reference(connections, end, span);
  sides[1] = flat_integer(tree, 0, span);
  choice[0] = flat_node(tree, (AstNode){.kind = AST_RELATION, .operation = AST_GREATER, .span = span}, sides, 2);
  choice[1] = stream_reference(connections, end, in_stream, span);
  choice[2] = stream_reference(connections, end, end_variable(connections, end)->instance->flat_name, span);
  AstExpr chosen = flat_node(tree, (AstNode){.kind = AST_IF, .span = span}, choice, 3);
  smooth[1] = flat_call(tree, "noEvent", &chosen, 1, span);
  return flat_call(tree, "smooth", smooth, 2, span);
}

static void write_query(Connections *connections, ConnectQuery query) {
  if (query.operation != CONNECT_IN_STREAM && query.operation != CONNECT_ACTUAL_STREAM) return;
  uint32_t place = map_get(&connections->variable_of, instance_key(query.argument));
  if (place == MAP_NONE) return;
  const ConnectVariable *variable = &connections->variables.data[place];
  Name in_stream = 0;
  if (query.operation == CONNECT_ACTUAL_STREAM)
    in_stream = connections_operator(connections->tree, CONNECT_IN_STREAM, query.argument, query.span);
  for (uint32_t i = 0; i < variable->count; i++) {
    uint32_t end = connect_end(variable->first + i, SIDE_INSIDE);
    Span span = span_of(connections, end);
    AstExpr left = stream_reference(connections, end, query.name, span);
    AstExpr right = query.operation == CONNECT_IN_STREAM ? brought(connections, end, span)
                                                         : actual_stream(connections, end, in_stream, span);
    flat_connection(connections->flat, left, right, 0, span);
  }
}

/* Queries may add further ones, which are appended. */
void connect_write_streams(Connections *connections) {
  write_outside(connections);
  for (uint32_t i = 0; i < connections->queries.count; i++) write_query(connections, connections->queries.data[i]);
}
