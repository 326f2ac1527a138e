/* connect_register: numbers everything that can be connected: connectors, the variables in them, and overdetermined records. */
#include "instance/connect.h"

typedef VEC(Instance *) InstanceVec;

static void push_components(Connections *connections, Instance *instance, InstanceVec *stack) {
  for (uint32_t i = instance->elements.count; i-- > 0;) {
    Instance *kid = instance_component(connections->tree, instance, i);
    if (kid && !instance_is_only_outer(kid)) vec_push(connections->heap, stack, kid);
  }
}

/* Number of elements of the instance over all dimensions from the model down. */
static uint32_t element_count(Tree *tree, Instance *instance) {
  uint32_t count = 1;
  for (Instance *at = instance; at && instance_is_component(at); at = at->parent)
    count *= instance_sizes(tree, at) ? instance_count(at) : 0;
  return count;
}

static void register_variable(Connections *connections, Instance *instance) {
  Instance *connector = instance;
  while (!instance_is_connector(connector)) connector = connector->parent;
  uint32_t count = element_count(connections->tree, instance);
  map_put(&connections->variable_of, instance_key(instance), connections->variables.count);
  vec_push(connections->heap, &connections->variables,
           (ConnectVariable){instance, connector, connections->member_count, count});
  connections->member_count += count;
}

Instance *equality_constraint(Tree *tree, Instance *instance) {
  static const char name[] = "equalityConstraint";
  Name wanted = names_find(tree->names, name, sizeof name - 1);
  if (wanted == MAP_NONE || instance_is_connector(instance)) return NULL;
  Instance *found =
      instance->base == BASE_NONE || instance->parts.count ? instance_element(tree, instance, wanted) : NULL;
  return found && !instance_is_component(found) ? found : NULL;
}

uint32_t residue_count(Tree *tree, Instance *constraint) {
  for (uint32_t i = 0; instance_open(tree, constraint) && i < constraint->elements.count; i++) {
    Instance *output = instance_component(tree, constraint, i);
    if (!output || !(output->prefixes & PREFIX_OUTPUT)) continue;
    return instance_sizes(tree, output) ? instance_count(output) : 0;
  }
  return 0;
}

/* The number of dimensions of the values that an equalityConstraint compares. */
static uint32_t constraint_dimensions(Tree *tree, Instance *constraint) {
  for (uint32_t i = 0; instance_open(tree, constraint) && i < constraint->elements.count; i++) {
    const Instance *input = instance_component(tree, constraint, i);
    if (input && input->prefixes & PREFIX_INPUT) return input->dimensions.count;
  }
  return 0;
}

/* The last dimensions belong to one record: those of its type, or of an array that the constraint compares as a whole. */
static void register_record(Connections *connections, Instance *instance) {
  Instance *constraint = equality_constraint(connections->tree, instance);
  if (!constraint) return;
  ConnectRecord record = {.instance = instance, .constraint = constraint, .first = connections->graph.node_count};
  uint32_t all = element_count(connections->tree, instance);
  record.dimensions = constraint_dimensions(connections->tree, constraint);
  if (record.dimensions > instance->dimensions.count) record.dimensions = instance->dimensions.count;
  record.width = 1;
  for (uint32_t i = 0; i < record.dimensions; i++)
    record.width *= instance->dimensions.data[instance->dimensions.count - 1 - i].size;
  if (record.width == 0) record.width = 1;
  record.count = all / record.width;
  map_put(&connections->record_of, instance_key(instance), connections->records.count);
  vec_push(connections->heap, &connections->records, record);
  connections->graph.node_count += record.count;
}

static void register_connector(Connections *connections, Instance *connector) {
  uint32_t count = element_count(connections->tree, connector), first = connections->cardinality.count;
  map_put(&connections->connector_of, instance_key(connector), connections->connectors.count);
  vec_push(connections->heap, &connections->connectors,
           (ConnectConnector){.instance = connector, .first = first, .count = count, .is_inner = true});
  vec_reserve(connections->heap, &connections->cardinality, count);
  for (uint32_t i = 0; i < count; i++) connections->cardinality.data[first + i] = 0;
  connections->cardinality.count += count;
}

/* Is the component a connector? Every element of an expandable connector counts as one. */
static bool is_connectable(const Instance *instance) {
  return instance_is_connector(instance) || (instance->parent && is_expandable(instance->parent));
}

/* Registers everything inside a connector, and the connector itself. */
static void register_contents(Connections *connections, Instance *connector) {
  InstanceVec stack = {0};
  uint32_t number = connections->connectors.count;
  uint32_t variables = connections->variables.count, records = connections->records.count;
  vec_push(connections->heap, &stack, connector);
  while (stack.count) {
    Instance *at = vec_pop(&stack);
    if (is_connectable(at)) register_connector(connections, at);
    register_record(connections, at);
    if (instance_is_leaf(at)) register_variable(connections, at);
    else push_components(connections, at, &stack);
  }
  vec_free(connections->heap, &stack);
  ConnectConnector *made = &connections->connectors.data[number];
  made->is_inner = false;
  made->variables = variables, made->variable_count = connections->variables.count - variables;
  made->records = records, made->record_count = connections->records.count - records;
}

void connect_register(Connections *connections) {
  InstanceVec stack = {0};
  vec_push(connections->heap, &stack, connections->tree->model);
  while (stack.count) {
    Instance *at = vec_pop(&stack);
    if (instance_is_connector(at) && at->parent) register_contents(connections, at);
    else if (!instance_is_leaf(at)) push_components(connections, at, &stack);
  }
  vec_free(connections->heap, &stack);
}

const ConnectVariable *member_variable(const Connections *connections, uint32_t member) {
  const ConnectVariable *variables = connections->variables.data;
  return &variables[search_last(&variables->first, sizeof *variables, connections->variables.count, member)];
}

const ConnectRecord *node_record(const Connections *connections, uint32_t node) {
  const ConnectRecord *records = connections->records.data;
  return &records[search_last(&records->first, sizeof *records, connections->records.count, node)];
}
