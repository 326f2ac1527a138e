/* connect_operator: the variables that replace operators on connectors, and the equations of broken loops. Operators
 * that depend only on the connections (cardinality, isRoot, rooted) become constants; streams become variables with
 * equations. */
#include "instance/connect.h"

#include "instance/lookup.h"

#include <string.h>

/* ---- declarations ---- */

static AstExprs flat_dimensions(Connections *connections, const ConnectQuery *query) {
  const Instance *instance = query->argument;
  Span span = query->span;
  VEC(AstExpr) sizes = {0};
  const Instance *chain[256];
  uint32_t depth = 0;
  for (const Instance *at = instance; at && depth < 256; at = at->parent)
    if (instance_is_component(at) && at->dimensions.count) chain[depth++] = at;
  while (depth-- > 0)
    for (uint32_t i = 0; i < chain[depth]->dimensions.count; i++) {
      AstExpr size = flat_integer(connections->tree, chain[depth]->dimensions.data[i].size, span);
      vec_push(connections->heap, &sizes, size);
    }
  if (query->operation == CONNECT_IS_ROOT || query->operation == CONNECT_ROOTED)
    sizes.count -= connections->records.data[map_get(&connections->record_of, instance_key(instance))].dimensions;
  AstExprs kept = {arena_copy_array(&connections->tree->arena, sizes.data, sizes.count, sizeof(AstExpr)), sizes.count};
  vec_free(connections->heap, &sizes);
  return kept;
}

static void declare(Connections *connections, const ConnectQuery *query, const char *type, uint32_t prefixes,
                    AstExpr value) {
  Tree *tree = connections->tree;
  Span span = query->span;
  AstType *named = arena_alloc(&tree->arena, sizeof *named);
  named->name = flat_path(tree, names_add(tree->names, type, strlen(type)), span);
  AstComponent *component = arena_alloc(&tree->arena, sizeof *component);
  *component = (AstComponent){.type = named, .label = {query->name, span}, .condition = AST_NONE};
  component->dimensions = flat_dimensions(connections, query);
  if (value != AST_NONE) {
    component->modification = arena_alloc(&tree->arena, sizeof *component->modification);
    component->modification->value = value;
    component->modification->span = span;
  }
  AstElement element = {.kind = AST_COMPONENT, .prefixes = prefixes, .component = component, .span = span};
  vec_push(connections->heap, &connections->flat->components, element);
}

/* ---- constants ---- */

static uint32_t constant_of(const Connections *connections, const ConnectQuery *query, uint32_t element) {
  if (query->operation == CONNECT_CARDINALITY) {
    uint32_t place = map_get(&connections->connector_of, instance_key(query->argument));
    return connections->cardinality.data[connections->connectors.data[place].first + element];
  }
  uint32_t place = map_get(&connections->record_of, instance_key(query->argument));
  uint32_t node = connections->records.data[place].first + element;
  return query->operation == CONNECT_IS_ROOT ? connections->graph.is_root[node] : connections->graph.is_rooted[node];
}

/* {{...}, {...}} over the dimensions of the argument, from the inside out: the elements are made in order, and each array as soon
 * as its elements are complete. */
static AstExpr constant_value(Connections *connections, const ConnectQuery *query, AstExprs dimensions, Span span) {
  Tree *tree = connections->tree;
  VEC(AstExpr) pending = {0};
  uint32_t count = 1;
  for (uint32_t i = 0; i < dimensions.count; i++)
    count *= (uint32_t)ast_node(tree->ast, dimensions.data[i])->value.integer;
  for (uint32_t element = 0; element < count; element++) {
    uint32_t value = constant_of(connections, query, element), done = element + 1;
    AstExpr made =
        query->operation == CONNECT_CARDINALITY ? flat_integer(tree, value, span) : flat_boolean(tree, value, span);
    vec_push(connections->heap, &pending, made);
    for (uint32_t i = dimensions.count; i-- > 0;) {
      uint32_t size = (uint32_t)ast_node(tree->ast, dimensions.data[i])->value.integer;
      if (done % size) break;
      done /= size;
      pending.count -= size;
      made = flat_node(tree, (AstNode){.kind = AST_ARRAY, .span = span}, &pending.data[pending.count], size);
      vec_push(connections->heap, &pending, made);
    }
  }
  AstExpr whole = pending.count ? pending.data[0] : AST_NONE;
  vec_free(connections->heap, &pending);
  return whole;
}

/* ---- requests ---- */

static bool is_known(const Connections *connections, ConnectOperator operation, const Instance *argument) {
  uint64_t key = instance_key(argument);
  switch (operation) {
  case CONNECT_IN_STREAM:
  case CONNECT_ACTUAL_STREAM:
    return argument->prefixes & PREFIX_STREAM && map_get(&connections->variable_of, key) != MAP_NONE;
  case CONNECT_CARDINALITY: return map_get(&connections->connector_of, key) != MAP_NONE;
  case CONNECT_IS_ROOT:
  case CONNECT_ROOTED: return map_get(&connections->record_of, key) != MAP_NONE;
  case CONNECT_OPERATOR_COUNT: break;
  }
  return false;
}

void connect_declare_operator(Connections *connections, const ConnectQuery *query) {
  Tree *tree = connections->tree;
  if (!is_known(connections, query->operation, query->argument))
    tree_error(tree, query->span, NULL, "`%s` cannot be asked of `%s`", connect_operator_word(query->operation),
               instance_text(tree, query->argument));
  else if (query->operation == CONNECT_IN_STREAM || query->operation == CONNECT_ACTUAL_STREAM)
    declare(connections, query, "Real", 0, AST_NONE);
  else {
    AstExprs dimensions = flat_dimensions(connections, query);
    AstExpr value = constant_value(connections, query, dimensions, query->span);
    declare(connections, query, query->operation == CONNECT_CARDINALITY ? "Integer" : "Boolean", PREFIX_CONSTANT,
            value);
  }
}

/* ---- broken loops ---- */

/* zeros(n) = equalityConstraint(left, right) */
static void write_constraint(Connections *connections, const ConnectRecord *left, const ConnectRecord *right,
                             const ConnectEdge *edge, Span span) {
  Tree *tree = connections->tree;
  uint32_t count = residue_count(tree, left->constraint);
  Name function = define_class(tree, left->constraint);
  if (count == 0 || function == 0) return;
  VEC(AstExpr) zeros = {0};
  for (uint32_t i = 0; i < count; i++) {
    AstExpr zero = flat_integer(tree, 0, span);
    vec_push(connections->heap, &zeros, zero);
  }
  AstExpr nothing = flat_node(tree, (AstNode){.kind = AST_ARRAY, .span = span}, zeros.data, count), sides[2];
  vec_free(connections->heap, &zeros);
  reach_component(tree, left->instance);
  reach_component(tree, right->instance);
  sides[0] = record_reference(connections, left, edge->a - left->first, span);
  sides[1] = record_reference(connections, right, edge->b - right->first, span);
  AstExpr residue = flat_call(tree, names_text(tree->names, function), sides, 2, span);
  flat_connection(connections->flat, nothing, residue, 0, span);
}

void connect_write_graph(Connections *connections) {
  for (uint32_t i = 0; i < connections->graph.edges.count; i++) {
    const ConnectEdge *edge = &connections->graph.edges.data[i];
    if (!edge->is_broken) continue;
    const ConnectLink *link = &connections->links.data[connections->edge_links.data[i]];
    write_constraint(connections, node_record(connections, edge->a), node_record(connections, edge->b), edge,
                     connections->sources.data[link->source].clause->statement->span);
  }
}
