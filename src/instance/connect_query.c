/* connect_query: which operators on connectors the equations use. They are requested while equations are written; their values are
 * known once all connections are. */
#include "instance/connect.h"

#include <string.h>

static const char *const operator_words[CONNECT_OPERATOR_COUNT] = {
    [CONNECT_IN_STREAM] = "inStream",      [CONNECT_ACTUAL_STREAM] = "actualStream",
    [CONNECT_CARDINALITY] = "cardinality", [CONNECT_IS_ROOT] = "isRoot",
    [CONNECT_ROOTED] = "rooted",
};

const char *connect_operator_word(ConnectOperator operation) { return operator_words[operation]; }

Connections *connections_of(Tree *tree) {
  Heap *heap = tree->heap;
  if (tree->connections) return tree->connections;
  tree->connections = arena_alloc(&tree->arena, sizeof *tree->connections);
  *tree->connections = (Connections){.tree = tree,
                                     .heap = heap,
                                     .variable_of = map_make(heap),
                                     .record_of = map_make(heap),
                                     .connector_of = map_make(heap),
                                     .match_of = map_make(heap),
                                     .loop_of = map_make(heap),
                                     .query_of = map_make(heap),
                                     .graph.heap = heap};
  return tree->connections;
}

Name connections_operator(Tree *tree, ConnectOperator operation, Instance *argument, Span span) {
  Connections *connections = connections_of(tree);
  uint64_t key = instance_key(argument) * CONNECT_OPERATOR_COUNT + operation;
  uint32_t found = map_get(&connections->query_of, key);
  if (found != MAP_NONE) return connections->queries.data[found].name;
  const char *text =
      arena_printf(&tree->arena, "%s(%s)", operator_words[operation], names_text(tree->names, argument->flat_name));
  ConnectQuery query = {operation, argument, names_add(tree->names, text, strlen(text)), span};
  map_put(&connections->query_of, key, connections->queries.count);
  vec_push(connections->heap, &connections->queries, query);
  return query.name;
}
