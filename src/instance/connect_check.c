/* connect_check: the rules of the specification for connectors (MLS 3.6, sections 9.1.3, 9.3.1 and 15.1). */
#include "instance/connect.h"

#include "instance/lookup.h"

#include <string.h>

static Span declaration_span(const Instance *instance) {
  return instance->element ? instance->element->component->label.span : (Span){0};
}

/* ---- as many flows as potentials ---- */

static bool is_below(const Instance *instance, const Instance *above) {
  while (instance && instance != above) instance = instance->parent;
  return instance != NULL;
}

/* A variable of an overdetermined record is counted with its record. */
static bool is_in_record(const Connections *connections, const ConnectConnector *connector, const Instance *instance) {
  for (uint32_t i = 0; i < connector->record_count; i++)
    if (is_below(instance, connections->records.data[connector->records + i].instance)) return true;
  return false;
}

typedef struct ConnectorBalance {
  uint32_t flows, potentials, streams;
} ConnectorBalance;

/* The numbers of scalars in one element of the connector. */
static ConnectorBalance balance_of(Connections *connections, const ConnectConnector *connector) {
  enum { FREE = PREFIX_PARAMETER | PREFIX_CONSTANT | PREFIX_INPUT | PREFIX_OUTPUT };
  ConnectorBalance balance = {0};
  for (uint32_t i = 0; i < connector->variable_count; i++) {
    const ConnectVariable *variable = &connections->variables.data[connector->variables + i];
    uint32_t prefixes = variable->instance->prefixes, count = variable->count / connector->count;
    if (prefixes & PREFIX_FLOW) balance.flows += count;
    else if (prefixes & PREFIX_STREAM) balance.streams += count;
    else if (!(prefixes & FREE) && !is_in_record(connections, connector, variable->instance))
      balance.potentials += count;
  }
  for (uint32_t i = 0; i < connector->record_count; i++) {
    const ConnectRecord *record = &connections->records.data[connector->records + i];
    balance.potentials += residue_count(connections->tree, record->constraint) * (record->count / connector->count);
  }
  return balance;
}

static void check_balance(Connections *connections, const ConnectConnector *connector) {
  Tree *tree = connections->tree;
  Instance *instance = connector->instance;
  if (instance_is_leaf(instance) || connector->count == 0) return;
  ConnectorBalance balance = balance_of(connections, connector);
  if (balance.flows != balance.potentials)
    tree_tolerate(tree, DIAG_INPUT, declaration_span(instance), instance->parent,
                  "connector `%s` has %u flow variables and %u potential variables: there must be as many of both",
                  instance_text(tree, instance), balance.flows, balance.potentials);
  else if (balance.streams && balance.flows != 1)
    tree_error(tree, declaration_span(instance), instance->parent,
               "connector `%s` has stream variables: it must have one flow variable, and has %u",
               instance_text(tree, instance), balance.flows);
}

/* ---- prefixes ---- */

static void check_prefixes(Connections *connections, const ConnectConnector *connector) {
  Tree *tree = connections->tree;
  Instance *instance = connector->instance;
  uint32_t own = instance->element ? instance->element->prefixes : 0;
  if (instance_is_connector(instance) && own & (PREFIX_PARAMETER | PREFIX_CONSTANT))
    tree_error(tree, declaration_span(instance), instance->parent, "connector `%s` cannot be a %s",
               instance_text(tree, instance), own & PREFIX_PARAMETER ? "parameter" : "constant");
  if (own & (PREFIX_FLOW | PREFIX_STREAM) && instance->parent && is_expandable(instance->parent))
    tree_error(tree, declaration_span(instance), instance->parent,
               "`%s` of an expandable connector cannot be a %s variable", instance_text(tree, instance),
               own & PREFIX_FLOW ? "flow" : "stream");
}

/* Flow variables that are operator records are summed, so the record needs addition, negation and zero. */
static void check_operators(Connections *connections, Instance *instance) {
  static const char *const wanted[] = {"+", "-", "0"};
  Tree *tree = connections->tree;
  if (!(instance->prefixes & PREFIX_FLOW) || !(instance->type->prefixes & PREFIX_OPERATOR)) return;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    Name name = names_find(tree->names, wanted[i], strlen(wanted[i]));
    if (name != MAP_NONE && instance_element(tree, instance, name)) continue;
    tree_error(tree, declaration_span(instance), instance->parent,
               "`%s` cannot be a flow variable: its class has no operator '%s'", instance_text(tree, instance),
               wanted[i]);
  }
}

typedef VEC(Instance *) InstanceVec;

/* A stream variable may occur only in connectors; a flow variable elsewhere is an ordinary variable (section 4.4.2.2). */
static void check_others(Connections *connections) {
  Tree *tree = connections->tree;
  InstanceVec stack = {0};
  vec_push(connections->heap, &stack, tree->model);
  while (stack.count) {
    Instance *at = vec_pop(&stack);
    uint32_t own = at->element ? at->element->prefixes : 0;
    bool is_outside = at->parent && !instance_is_connector(at->parent) && !is_expandable(at->parent);
    if (is_outside && own & PREFIX_STREAM)
      tree_error(tree, declaration_span(at), at->parent, "`%s` is a stream variable, but is not in a connector",
                 instance_text(tree, at));
    check_operators(connections, at);
    for (uint32_t i = at->elements.count; !instance_is_leaf(at) && i-- > 0;) {
      Instance *kid = instance_component(tree, at, i);
      if (kid && !(kid->prefixes & PREFIX_OUTER)) vec_push(connections->heap, &stack, kid);
    }
  }
  vec_free(connections->heap, &stack);
}

void connect_check(Connections *connections) {
  check_others(connections);
  for (uint32_t i = 0; i < connections->connectors.count; i++) {
    const ConnectConnector *connector = &connections->connectors.data[i];
    check_prefixes(connections, connector);
    if (!connector->is_inner && !is_expandable(connector->instance)) check_balance(connections, connector);
  }
}

/* ---- sources of the values in expandable connectors ---- */

static bool is_public(const Instance *instance) {
  for (; instance && (instance_is_connector(instance) || instance_is_record(instance) || instance_is_leaf(instance));
       instance = instance->parent)
    if (instance->prefixes & PREFIX_PROTECTED) return false;
  return true;
}

bool is_source(const Connections *connections, uint32_t end) {
  const Instance *instance = member_variable(connections, end_member(end))->instance;
  if (end_side(end) == SIDE_INSIDE) return instance->prefixes & PREFIX_OUTPUT;
  return instance->prefixes & PREFIX_INPUT && is_public(instance);
}

static bool is_sink(const Connections *connections, uint32_t end) {
  uint32_t prefixes = member_variable(connections, end_member(end))->instance->prefixes;
  return prefixes & (end_side(end) == SIDE_INSIDE ? PREFIX_INPUT : PREFIX_OUTPUT);
}

bool in_expandable(const Connections *connections, uint32_t end) {
  const Instance *at = member_variable(connections, end_member(end))->instance;
  while (at && !is_expandable(at)) at = at->parent;
  return at != NULL;
}

/* If the inside of an element of an expandable connector is in one set and its outside in another, the sets belong together. */
static ConnectSets join_sides(Connections *connections) {
  const ConnectSets *sets = &connections->sets;
  ConnectSets joined = connect_sets_make(connections->heap, sets->set_count);
  for (uint32_t member = 0; member < connections->member_count; member++) {
    uint32_t inside = sets->set_of[connect_end(member, SIDE_INSIDE)],
             outside = sets->set_of[connect_end(member, SIDE_OUTSIDE)];
    if (!in_expandable(connections, connect_end(member, SIDE_INSIDE))) continue;
    if (inside != CONNECT_NONE) connect_sets_join(&joined, inside, outside != CONNECT_NONE ? outside : inside);
    else if (outside != CONNECT_NONE) connect_sets_join(&joined, outside, outside);
  }
  connect_sets_close(&joined);
  return joined;
}

/* The last end in the group of sets that only receives a value; CONNECT_NONE if there is none, or if another end is not such a
 * receiver. If all ends are in expandable connectors, the sets are idle. */
static uint32_t lonely_sink(Connections *connections, const ConnectSets *joined, uint32_t group) {
  const ConnectSets *sets = &connections->sets;
  uint32_t sink = CONNECT_NONE;
  for (uint32_t k = joined->start[group]; k < joined->start[group + 1]; k++) {
    uint32_t set = joined->members[k];
    for (uint32_t i = sets->start[set]; i < sets->start[set + 1]; i++) {
      uint32_t end = sets->members[i];
      if (in_expandable(connections, end)) continue;
      if (!is_sink(connections, end)) return CONNECT_NONE;
      sink = end;
    }
  }
  for (uint32_t k = joined->start[group]; sink == CONNECT_NONE && k < joined->start[group + 1]; k++)
    connections->is_idle[joined->members[k]] = true;
  return sink;
}

void connect_check_sources(Connections *connections) {
  Tree *tree = connections->tree;
  ConnectSets joined = join_sides(connections);
  connections->is_idle = heap_array(connections->heap, connections->sets.set_count, sizeof *connections->is_idle);
  for (uint32_t group = 0; group < joined.set_count; group++) {
    uint32_t sink = lonely_sink(connections, &joined, group);
    if (sink == CONNECT_NONE) continue;
    Instance *instance = member_variable(connections, end_member(sink))->instance;
    tree_tolerate(tree, DIAG_INPUT, declaration_span(instance), instance->parent,
                  "`%s` is connected to an expandable connector, but nothing there gives its value",
                  instance_text(tree, instance));
  }
  connect_sets_free(&joined);
}
