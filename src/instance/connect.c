/* connect: collects the connect clauses of a model. Every clause links elements of two connectors. Overdetermined connectors form a
 * graph whose loops are broken. The variables of all links form connection sets. */
#include "instance/connect.h"

#include "base/number.h"
#include "instance/lookup.h"

#include <string.h>

/* ---- connect clauses ---- */

static bool shapes_match(const ConnectReference *left, const ConnectReference *right) {
  uint32_t count = left->shape.count;
  if (count != right->shape.count) return false;
  return count == 0 || memcmp(left->shape.data, right->shape.data, count * sizeof *left->shape.data) == 0;
}

static Span clause_span(const ConnectSource *source) { return source->clause->statement->span; }

static bool is_connector(Connections *connections, const ConnectSource *source, const Instance *instance) {
  Tree *tree = connections->tree;
  if (map_get(&connections->connector_of, instance_key(instance)) != MAP_NONE) return true;
  tree_error(tree, clause_span(source), source->instance, "`%s` is not a connector: it cannot be connected",
             instance_text(tree, instance));
  return false;
}

/* The element of the connector, for element `outer` of the clause's instance. */
static uint32_t element_at(const ConnectTarget *target, uint32_t outer) {
  return outer / target->shared * target->own + target->element;
}

static void push_link(Connections *connections, ConnectLink link) {
  const ConnectMatch *match = &connections->matches.data[link.match];
  link.edges = connections->graph.edges.count;
  for (uint32_t i = 0; i < match->record_count; i++) {
    const ConnectRecordPair *pair = &connections->record_pairs.data[match->records + i];
    for (uint32_t k = 0; k < pair->inner; k++) {
      uint32_t left = connections->records.data[pair->left].first + link.left * pair->inner + k;
      uint32_t right = connections->records.data[pair->right].first + link.right * pair->inner + k;
      vec_push(connections->heap, &connections->graph.edges, (ConnectEdge){.a = left, .b = right});
      vec_push(connections->heap, &connections->edge_links, connections->links.count);
    }
  }
  vec_push(connections->heap, &connections->links, link);
}

/* Number of elements of the clause's instance, over all dimensions from the model down. */
static uint32_t outer_count(Tree *tree, const Instance *instance) {
  uint32_t count = 1;
  for (; instance; instance = instance->parent)
    if (instance_is_component(instance))
      count *= instance_sizes(tree, (Instance *)instance) ? instance_count(instance) : 0;
  return count;
}

/* Counts the clauses that name each element of a connector. */
static uint32_t *cardinality_of(Connections *connections, const Instance *connector) {
  uint32_t place = map_get(&connections->connector_of, instance_key(connector));
  return connections->cardinality.data + connections->connectors.data[place].first;
}

/* Links the targets from `begin` to `end`, whose instances are the same. */
static void link_targets(Connections *connections, uint32_t source, const ConnectReference *left,
                         const ConnectReference *right, uint32_t begin, uint32_t end, uint32_t match) {
  const ConnectSource *from = &connections->sources.data[source];
  uint32_t *left_cardinality = cardinality_of(connections, left->targets.data[begin].instance);
  uint32_t *right_cardinality = cardinality_of(connections, right->targets.data[begin].instance);
  uint32_t outer = outer_count(connections->tree, from->instance);
  for (uint32_t p = 0; p < outer; p++)
    for (uint32_t i = begin; i < end; i++) {
      ConnectLink link = {.match = match,
                          .source = source,
                          .left = element_at(&left->targets.data[i], p),
                          .right = element_at(&right->targets.data[i], p),
                          .left_side = (uint8_t)left->side,
                          .right_side = (uint8_t)right->side};
      left_cardinality[link.left]++;
      right_cardinality[link.right]++;
      push_link(connections, link);
    }
}

static void connect_both(Connections *connections, uint32_t source, const ConnectReference *left,
                         const ConnectReference *right) {
  const ConnectSource *from = &connections->sources.data[source];
  if (!left->instance || !right->instance) return;
  if (!is_connector(connections, from, left->instance) || !is_connector(connections, from, right->instance)) return;
  if (!shapes_match(left, right)) {
    tree_error(connections->tree, clause_span(from), from->instance,
               "`%s` and `%s` cannot be connected: their dimensions differ",
               instance_text(connections->tree, left->instance), instance_text(connections->tree, right->instance));
    return;
  }
  for (uint32_t begin = 0, end; begin < left->targets.count; begin = end) {
    Instance *a = left->targets.data[begin].instance, *b = right->targets.data[begin].instance;
    end = begin + 1;
    while (end < left->targets.count && left->targets.data[end].instance == a && right->targets.data[end].instance == b)
      end++;
    if (!a || !b) continue;
    uint32_t match = connect_match(connections, a, b, clause_span(from));
    if (connections->matches.data[match].fits) link_targets(connections, source, left, right, begin, end, match);
  }
}

/* Does a component on the path not exist? Then the clause is left out, and the sizes at its other end do not matter. */
static bool is_absent(Connections *connections, const ConnectSource *source, AstExpr e) {
  ConnectPath path = {.source = source, .e = e};
  if (ast_kind(connections->tree->ast, e) == AST_REFERENCE) connect_follow(connections, &path);
  vec_free(connections->heap, &path.steps, &path.choices);
  return path.is_absent;
}

static void read_connect(Connections *connections, uint32_t source) {
  const ConnectSource *from = &connections->sources.data[source];
  const AstStatement *statement = from->clause->statement;
  const ConnectLoop *loop = connect_loop_next(connections, from);
  if (loop) {
    connect_both(connections, source, &loop->arguments[0].reference, &loop->arguments[1].reference);
    return;
  }
  if (is_absent(connections, from, statement->left) || is_absent(connections, from, statement->right)) return;
  ConnectReference left = connect_reference(connections, from, statement->left);
  ConnectReference right = connect_reference(connections, from, statement->right);
  connect_both(connections, source, &left, &right);
  connect_loop_keep(connections, from, left, right);
}

/* ---- branches and roots ---- */

static const ConnectRecord *find_record(Connections *connections, const ConnectSource *source,
                                        const Instance *instance) {
  Tree *tree = connections->tree;
  if (!instance) return NULL;
  uint32_t found = map_get(&connections->record_of, instance_key(instance));
  if (found != MAP_NONE) return &connections->records.data[found];
  tree_error(tree, clause_span(source), source->instance,
             "`%s` is not an overdetermined record of a connector: its class has no function `equalityConstraint`",
             instance_text(tree, instance));
  return NULL;
}

/* A node that an argument names: the first of the targets that belong to its record. */
typedef struct ConnectNode {
  const ConnectRecord *record;
  const ConnectTarget *target;
} ConnectNode;

typedef VEC(ConnectNode) ConnectNodeVec;

/* The nodes that an argument names, for one element of the clause's instance. */
static ConnectNodeVec list_nodes(Connections *connections, const ConnectSource *source,
                                 const ConnectReference *reference) {
  ConnectNodeVec nodes = {0};
  uint32_t step = 1;
  for (uint32_t i = 0; reference->instance && i < reference->targets.count; i += step) {
    const ConnectTarget *target = &reference->targets.data[i];
    const ConnectRecord *record = find_record(connections, source, target->instance);
    step = record ? record->width : 1;
    if (record) vec_push(connections->heap, &nodes, (ConnectNode){record, target});
  }
  return nodes;
}

/* The number of the node, for element `outer` of the clause's instance. */
static uint32_t node_at(const ConnectNode *node, uint32_t outer) {
  return node->record->first + element_at(node->target, outer) / node->record->width;
}

/* Connections.branch(a.R, b.R) */
static void read_branch(Connections *connections, const ConnectSource *source, AstExpr call) {
  const Ast *ast = connections->tree->ast;
  ConnectReference a = connect_reference(connections, source, ast_kid(ast, call, 0));
  ConnectReference b = connect_reference(connections, source, ast_kid(ast, call, 1));
  ConnectNodeVec from = list_nodes(connections, source, &a), to = list_nodes(connections, source, &b);
  uint32_t outer = outer_count(connections->tree, source->instance);
  for (uint32_t p = 0; p < outer; p++)
    for (uint32_t i = 0; i < from.count && i < to.count; i++) {
      ConnectEdge edge = {node_at(&from.data[i], p), node_at(&to.data[i], p), true, false};
      vec_push(connections->heap, &connections->graph.edges, edge);
      vec_push(connections->heap, &connections->edge_links, CONNECT_NONE);
    }
  vec_free(connections->heap, &from);
  vec_free(connections->heap, &to);
  connect_reference_free(connections, &a);
  connect_reference_free(connections, &b);
}

static bool read_priority(Tree *tree, const ConnectClause *clause, AstExpr e, int64_t *priority) {
  NumberVec numbers = {0};
  bool fits = evaluate_numbers(tree, e, clause->scope, clause->iterators.data, clause->iterators.count,
                               "the priority of a root", &numbers);
  if (fits && numbers.count) *priority = (int64_t)numbers.data[0];
  vec_free(tree->heap, &numbers);
  return fits;
}

/* Connections.root(a.R), Connections.potentialRoot(a.R, priority) */
static void read_root(Connections *connections, const ConnectSource *source, AstExpr call, bool is_definite) {
  Tree *tree = connections->tree;
  ConnectReference node = connect_reference(connections, source, ast_kid(tree->ast, call, 0));
  ConnectNodeVec nodes = list_nodes(connections, source, &node);
  int64_t priority = 0;
  bool fits = is_definite || ast_kid_count(tree->ast, call) < 2 ||
              read_priority(tree, source->clause, ast_kid(tree->ast, call, 1), &priority);
  uint32_t outer = outer_count(tree, source->instance);
  for (uint32_t p = 0; fits && p < outer; p++)
    for (uint32_t i = 0; i < nodes.count; i++)
      vec_push(connections->heap, &connections->graph.roots,
               (ConnectRoot){node_at(&nodes.data[i], p), priority, is_definite,
                             instance_text(tree, nodes.data[i].record->instance)});
  vec_free(connections->heap, &nodes);
  connect_reference_free(connections, &node);
}

static void read_operator(Connections *connections, uint32_t number) {
  const ConnectSource *source = &connections->sources.data[number];
  const Ast *ast = connections->tree->ast;
  AstExpr call = source->clause->statement->left;
  AstPath path = ast_path(ast, call);
  const char *name = names_text(connections->tree->names, ast_part(ast, path, path.count - 1)->name);
  uint32_t wanted = strcmp(name, "branch") == 0 ? 2 : 1;
  if (ast_kid_count(ast, call) < wanted)
    tree_error(connections->tree, clause_span(source), source->instance, "`Connections.%s` needs %u argument%s", name,
               wanted, plural(wanted));
  else if (wanted == 2) read_branch(connections, source, call);
  else read_root(connections, source, call, strcmp(name, "root") == 0);
}

/* ---- the graph ---- */

static const char *node_text(Connections *connections, uint32_t node) {
  return instance_text(connections->tree, node_record(connections, node)->instance);
}

static void report_graph(Connections *connections, ConnectGraphFault fault) {
  Tree *tree = connections->tree;
  const ConnectGraph *graph = &connections->graph;
  if (fault == GRAPH_FINE) return;
  if (fault == GRAPH_ROOT_TWICE) {
    tree_error(tree, (Span){0}, NULL, "`%s` is made a root twice",
               node_text(connections, graph->roots.data[graph->fault_at].node));
    return;
  }
  const ConnectEdge *edge = &graph->edges.data[graph->fault_at];
  tree_error(tree, (Span){0}, NULL, "the branch from `%s` to `%s` %s", node_text(connections, edge->a),
             node_text(connections, edge->b),
             fault == GRAPH_BRANCHES_CLOSE ? "closes a loop of branches, none of which can be broken"
                                           : "joins two roots; connections may do so, branches may not");
}

static void solve_graph(Connections *connections) {
  report_graph(connections, connect_graph_solve(&connections->graph));
}

/* ---- sets ---- */

static void join_pair(Connections *connections, const ConnectLink *link, const ConnectPair *pair, uint32_t edges) {
  uint32_t left = connections->variables.data[pair->left].first + link->left * pair->inner;
  uint32_t right = connections->variables.data[pair->right].first + link->right * pair->inner;
  for (uint32_t k = 0; k < pair->inner; k++) {
    bool is_broken =
        pair->record != CONNECT_NONE && connections->graph.edges.data[edges + k / pair->per_record].is_broken;
    if (is_broken) continue;
    uint32_t a = connect_end(left + k, link->left_side), b = connect_end(right + k, link->right_side);
    connect_sets_join(&connections->sets, a, b);
    connections->source_of[a] = connections->source_of[b] = link->source;
  }
}

static void join_link(Connections *connections, const ConnectLink *link) {
  const ConnectMatch *match = &connections->matches.data[link->match];
  for (uint32_t i = 0; i < match->pair_count; i++) {
    const ConnectPair *pair = &connections->pairs.data[match->pairs + i];
    uint32_t edges = link->edges;
    for (uint32_t r = 0; pair->record != CONNECT_NONE && r < pair->record; r++)
      edges += connections->record_pairs.data[match->records + r].inner;
    join_pair(connections, link, pair, edges);
  }
}

/* Flow variables of unconnected connectors are zero: each forms a set by itself, seen from inside. In expandable connectors
 * they are also zero seen from outside, because no equation of the component may name them there (section 9.2). */
static void join_all(Connections *connections) {
  uint32_t ends = 2 * connections->member_count;
  connections->sets = connect_sets_make(connections->heap, ends);
  connections->source_of = heap_array(connections->heap, ends, sizeof *connections->source_of);
  for (uint32_t end = 0; end < ends; end++) connections->source_of[end] = CONNECT_NONE;
  for (uint32_t i = 0; i < connections->links.count; i++) join_link(connections, &connections->links.data[i]);
  for (uint32_t i = 0; i < connections->variables.count; i++) {
    const ConnectVariable *variable = &connections->variables.data[i];
    for (uint32_t k = 0; variable->instance->prefixes & PREFIX_FLOW && k < variable->count; k++) {
      uint32_t end = connect_end(variable->first + k, SIDE_INSIDE),
               other = connect_end(variable->first + k, SIDE_OUTSIDE);
      connect_sets_join(&connections->sets, end, end);
      if (in_expandable(connections, end)) connect_sets_join(&connections->sets, other, other);
    }
  }
  connect_sets_close(&connections->sets);
}

/* ---- the whole collection ---- */

typedef VEC(Instance *) InstanceVec;

/* Lists all instances with connect clauses, in the order of a walk over the tree. */
static void list_sources(Connections *connections) {
  InstanceVec stack = {0};
  vec_push(connections->heap, &stack, connections->tree->model);
  while (stack.count) {
    Instance *at = vec_pop(&stack);
    for (uint32_t i = 0; i < at->connect_clauses.count; i++)
      vec_push(connections->heap, &connections->sources, (ConnectSource){&at->connect_clauses.data[i], at});
    for (uint32_t i = at->elements.count; i-- > 0;) {
      Instance *kid = instance_component(connections->tree, at, i);
      bool is_outer = kid && instance_is_only_outer(kid);
      if (kid && !is_outer && !instance_is_leaf(kid)) vec_push(connections->heap, &stack, kid);
    }
  }
  vec_free(connections->heap, &stack);
}

static void read_clauses(Connections *connections) {
  for (uint32_t i = 0; i < connections->sources.count; i++)
    if (connections->sources.data[i].clause->statement->kind == AST_CONNECT) read_connect(connections, i);
    else read_operator(connections, i);
}

/* Operators on streams may request further operators, which are appended. */
static void declare_operators(Connections *connections) {
  for (uint32_t i = 0; i < connections->queries.count; i++)
    connect_declare_operator(connections, &connections->queries.data[i]);
}

bool connections_write(Flat *flat) {
  static void (*const passes[])(Connections *) = {
      list_sources,          connect_expand,   connect_register,      connect_check,      read_clauses,
      solve_graph,           join_all,         connect_check_sources, connect_write_sets, connect_write_graph,
      connect_write_streams, declare_operators};
  Connections *connections = connections_of(flat->tree);
  connections->flat = flat;
  for (size_t i = 0; i < sizeof passes / sizeof *passes && flat->tree->diags->errors == 0; i++) passes[i](connections);
  return flat->tree->diags->errors == 0;
}
