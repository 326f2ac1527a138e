/* connect_stream: stream variables (MLS 3.6, chapter 15). inStream(c.h) is the property of a fluid that flows into the component
 * through c: the mixture of what the connection set can deliver, weighted by the inflows. If the sum of the inflows is below
 * SMALL_FLOW, the weights move smoothly to SMALL_FLOW for each end (section 15.2), so that the mixture is defined at rest. */
#include "instance/connect.h"

#include "instance/lookup.h"

#define SMALL_FLOW 1e-10

typedef VEC(AstExpr) FlowVec;

/* Ends of the set that may deliver into the connection point. */
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

/* The value that the end delivers: the variable of an inner component, or what enters through a connector of the model itself. */
static AstExpr delivered(Connections *connections, uint32_t end, Span span) {
  Instance *instance = end_variable(connections, end)->instance;
  bool is_inside = end_side(end) == SIDE_INSIDE;
  Name name =
      is_inside ? instance->flat_name : connections_operator(connections->tree, CONNECT_IN_STREAM, instance, span);
  return stream_reference(connections, end, name, span);
}

/* noEvent(max(value, 0)) */
static AstExpr positive_part(Connections *connections, AstExpr value, Span span) {
  AstExpr both[2] = {value, flat_integer(connections->tree, 0, span)};
  AstExpr larger = flat_call(connections->tree, "max", both, 2, span);
  return flat_call(connections->tree, "noEvent", &larger, 1, span);
}

/* The flow from the end into the connection point; 0 if it flows the other way. */
static AstExpr inflow(Connections *connections, uint32_t end, Span span) {
  const AstOperator minus = AST_SUBTRACT;
  AstExpr flow = flow_reference(connections, end, span);
  if (end_side(end) == SIDE_INSIDE) flow = flat_sum(connections->tree, &flow, &minus, 1, span);
  return positive_part(connections, flow, span);
}

static AstExpr carried(Connections *connections, uint32_t end, Span span) {
  AstExpr factors[2];
  factors[0] = inflow(connections, end, span);
  factors[1] = delivered(connections, end, span);
  return flat_product(connections->tree, factors, 2, span);
}

typedef AstExpr TermOfEnd(Connections *connections, uint32_t end, Span span);

static AstExpr sum_over(Connections *connections, const EndVec *ends, TermOfEnd *term_of, Span span) {
  FlowVec terms = {0};
  VEC(AstOperator) signs = {0};
  for (uint32_t i = 0; i < ends->count; i++) {
    vec_push(connections->heap, &terms, term_of(connections, ends->data[i], span));
    vec_push(connections->heap, &signs, AST_ADD);
  }
  AstExpr sum = flat_sum(connections->tree, terms.data, signs.data, terms.count, span);
  vec_free(connections->heap, &terms);
  vec_free(connections->heap, &signs);
  return sum;
}

/* noEvent(min(sum of all inflows / SMALL_FLOW, 1)), x; the part of the mixture that the inflows determine is x^2 (3 - 2 x). */
static AstExpr flowing_part(Connections *connections, const EndVec *ends, Span span) {
  Tree *tree = connections->tree;
  const AstOperator signs[2] = {AST_ADD, AST_SUBTRACT};
  AstExpr both[2], factors[3], terms[2], twice[2];
  for (int k = 0; k < 3; k++) {
    both[0] = flat_quotient(tree, sum_over(connections, ends, inflow, span), flat_real(tree, SMALL_FLOW, span), span);
    both[1] = flat_real(tree, 1, span);
    AstExpr smaller = flat_call(tree, "min", both, 2, span);
    factors[k] = flat_call(tree, "noEvent", &smaller, 1, span);
  }
  twice[0] = flat_real(tree, 2, span);
  twice[1] = factors[2];
  terms[0] = flat_real(tree, 3, span);
  terms[1] = flat_product(tree, twice, 2, span);
  factors[2] = flat_sum(tree, terms, signs, 2, span);
  return flat_product(tree, factors, 3, span);
}

/* part * value + (1 - part) * SMALL_FLOW * at_rest */
static AstExpr blend(Connections *connections, const EndVec *ends, AstExpr value, AstExpr at_rest, Span span) {
  Tree *tree = connections->tree;
  const AstOperator minus[2] = {AST_ADD, AST_SUBTRACT}, plus[2] = {AST_ADD, AST_ADD};
  AstExpr moving[2], rest[3], terms[2];
  moving[0] = flowing_part(connections, ends, span);
  moving[1] = value;
  terms[0] = flat_real(tree, 1, span);
  terms[1] = flowing_part(connections, ends, span);
  rest[0] = flat_sum(tree, terms, minus, 2, span);
  rest[1] = flat_real(tree, SMALL_FLOW, span);
  rest[2] = at_rest;
  terms[0] = flat_product(tree, moving, 2, span);
  terms[1] = flat_product(tree, rest, 3, span);
  return flat_sum(tree, terms, plus, 2, span);
}

/* The carried property divided by the inflow: exactly the conservation equation of MLS 15.2, unless the flow is almost zero. */
static AstExpr mixture(Connections *connections, const EndVec *ends, Span span) {
  AstExpr total = sum_over(connections, ends, inflow, span), count = flat_real(connections->tree, ends->count, span);
  AstExpr brought = sum_over(connections, ends, carried, span), all = sum_over(connections, ends, delivered, span);
  AstExpr top = blend(connections, ends, brought, all, span);
  return flat_quotient(connections->tree, top, blend(connections, ends, total, count, span), span);
}

/* Does the end never deliver, because its flow has only one direction? */
static bool never_delivers(Connections *connections, uint32_t end) {
  const ConnectVariable *flow = flow_of(connections, end_variable(connections, end));
  double bound;
  if (end_side(end) == SIDE_INSIDE)
    return instance_attribute(connections->tree, flow->instance, "min", &bound) && bound >= 0;
  return instance_attribute(connections->tree, flow->instance, "max", &bound) && bound <= 0;
}

/* The other ends of the set that may deliver. If none may, all others: their values are defined for any flow. */
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

/* Each of n ends has a term for each of the others: n^2 terms of about twenty nodes, which all later passes visit. */
enum { TERM_WORK = 400 };

/* The value that the set brings to the end; the end's own value if it is the only one. */
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

/* The stream variable of a connector of the model itself equals what its connections deliver. */
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

/* Queries may append further queries. */
void connect_write_streams(Connections *connections) {
  write_outside(connections);
  for (uint32_t i = 0; i < connections->queries.count; i++) write_query(connections, connections->queries.data[i]);
}
