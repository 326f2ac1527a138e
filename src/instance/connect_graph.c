/* connect_graph: see connect_graph.h. Kruskal's algorithm: branches first, then the edges in order. An edge is kept if it joins two
 * trees of which at most one has a definite root. */
#include "instance/connect_graph.h"

#include <string.h>

/* The growing trees: their sets, and whether each has a definite root. */
typedef struct Forest {
  ConnectGraph *graph;
  ConnectSets sets;
  bool *is_rooted; /* by the representative of a tree: does it have a definite root? */
} Forest;

static uint32_t tree_of(Forest *forest, uint32_t node) {
  connect_sets_join(&forest->sets, node, node);
  while (forest->sets.parent[node] != node) node = forest->sets.parent[node];
  return node;
}

/* Joins the trees of an edge; false if that closes a loop or joins two definite roots. */
static bool join_trees(Forest *forest, const ConnectEdge *edge, ConnectGraphFault *fault) {
  uint32_t a = tree_of(forest, edge->a), b = tree_of(forest, edge->b);
  *fault = a == b ? GRAPH_BRANCHES_CLOSE : GRAPH_ROOTS_MEET;
  if (a == b || (forest->is_rooted[a] && forest->is_rooted[b])) return false;
  bool is_rooted = forest->is_rooted[a] || forest->is_rooted[b];
  connect_sets_join(&forest->sets, a, b);
  forest->is_rooted[tree_of(forest, a)] = is_rooted;
  return true;
}

static ConnectGraphFault take_definite_roots(Forest *forest) {
  ConnectGraph *graph = forest->graph;
  for (uint32_t i = 0; i < graph->roots.count; i++) {
    const ConnectRoot *root = &graph->roots.data[i];
    if (!root->is_definite) continue;
    graph->fault_at = i;
    if (graph->is_root[root->node]) return GRAPH_ROOT_TWICE;
    graph->is_root[root->node] = true;
    forest->is_rooted[tree_of(forest, root->node)] = true;
  }
  return GRAPH_FINE;
}

static ConnectGraphFault join_branches(Forest *forest) {
  ConnectGraph *graph = forest->graph;
  ConnectGraphFault fault;
  for (uint32_t i = 0; i < graph->edges.count; i++) {
    graph->fault_at = i;
    if (graph->edges.data[i].is_branch && !join_trees(forest, &graph->edges.data[i], &fault)) return fault;
  }
  return GRAPH_FINE;
}

static void join_edges(Forest *forest) {
  ConnectGraphFault reason;
  for (uint32_t i = 0; i < forest->graph->edges.count; i++) {
    ConnectEdge *edge = &forest->graph->edges.data[i];
    if (!edge->is_branch) edge->is_broken = !join_trees(forest, edge, &reason);
  }
}

static bool is_better(const ConnectRoot *root, const ConnectRoot *other) {
  return root->priority < other->priority || (root->priority == other->priority && strcmp(root->name, other->name) < 0);
}

/* Chooses the best potential root for every tree without a definite root. */
static void take_potential_roots(Forest *forest) {
  ConnectGraph *graph = forest->graph;
  uint32_t *best = heap_array(graph->heap, graph->node_count, sizeof *best);
  for (uint32_t node = 0; node < graph->node_count; node++) best[node] = CONNECT_NONE;
  for (uint32_t i = 0; i < graph->roots.count; i++) {
    const ConnectRoot *root = &graph->roots.data[i];
    uint32_t tree = tree_of(forest, root->node);
    if (root->is_definite || forest->is_rooted[tree]) continue;
    if (best[tree] == CONNECT_NONE || is_better(root, &graph->roots.data[best[tree]])) best[tree] = i;
  }
  for (uint32_t node = 0; node < graph->node_count; node++) {
    uint32_t tree = tree_of(forest, node);
    if (forest->is_rooted[tree]) continue;
    forest->is_rooted[tree] = true;
    bool is_offered = best[tree] != CONNECT_NONE;
    graph->is_root[is_offered ? graph->roots.data[best[tree]].node : node] = true;
  }
  heap_free(graph->heap, best);
}

/* The neighbours of all nodes along the kept edges, in one list. */
typedef struct Neighbours {
  uint32_t *start, *node;
} Neighbours;

static Neighbours list_neighbours(const ConnectGraph *graph) {
  Neighbours list = {.start = heap_array(graph->heap, (size_t)graph->node_count + 2, sizeof *list.start),
                     .node = heap_array(graph->heap, 2 * (size_t)graph->edges.count, sizeof *list.node)};
  for (uint32_t i = 0; i < graph->edges.count; i++) {
    const ConnectEdge *edge = &graph->edges.data[i];
    if (edge->is_broken) continue;
    list.start[edge->a + 2]++;
    list.start[edge->b + 2]++;
  }
  for (uint32_t node = 0; node < graph->node_count; node++) list.start[node + 2] += list.start[node + 1];
  for (uint32_t i = 0; i < graph->edges.count; i++) {
    const ConnectEdge *edge = &graph->edges.data[i];
    if (edge->is_broken) continue;
    list.node[list.start[edge->a + 1]++] = edge->b;
    list.node[list.start[edge->b + 1]++] = edge->a;
  }
  return list;
}

/* Sets the parents in every tree, from its root outward. */
static void set_parents(ConnectGraph *graph) {
  Neighbours list = list_neighbours(graph);
  IndexVec queue = {0};
  graph->parent = heap_array(graph->heap, graph->node_count, sizeof *graph->parent);
  for (uint32_t node = 0; node < graph->node_count; node++) {
    graph->parent[node] = CONNECT_NONE;
    if (graph->is_root[node]) vec_push(graph->heap, &queue, node);
  }
  for (uint32_t at = 0; at < queue.count; at++) {
    uint32_t node = queue.data[at];
    for (uint32_t k = list.start[node]; k < list.start[node + 1]; k++) {
      uint32_t next = list.node[k];
      if (next == graph->parent[node]) continue;
      graph->parent[next] = node;
      vec_push(graph->heap, &queue, next);
    }
  }
  vec_free(graph->heap, &queue);
  heap_free_all(graph->heap, list.start, list.node);
  graph->is_rooted = heap_array(graph->heap, graph->node_count, sizeof *graph->is_rooted);
  for (uint32_t i = 0; i < graph->edges.count; i++) {
    const ConnectEdge *edge = &graph->edges.data[i];
    if (edge->is_branch) graph->is_rooted[edge->a] = graph->parent[edge->b] == edge->a;
  }
}

ConnectGraphFault connect_graph_solve(ConnectGraph *graph) {
  Forest forest = {.graph = graph,
                   .sets = connect_sets_make(graph->heap, graph->node_count),
                   .is_rooted = heap_array(graph->heap, graph->node_count, sizeof(bool))};
  graph->is_root = heap_array(graph->heap, graph->node_count, sizeof *graph->is_root);
  ConnectGraphFault fault = take_definite_roots(&forest);
  if (fault == GRAPH_FINE) fault = join_branches(&forest);
  if (fault == GRAPH_FINE) {
    join_edges(&forest);
    take_potential_roots(&forest);
    set_parents(graph);
  }
  heap_free(graph->heap, forest.is_rooted);
  connect_sets_free(&forest.sets);
  return fault;
}

void connect_graph_free(ConnectGraph *graph) {
  vec_free(graph->heap, &graph->edges, &graph->roots);
  heap_free_all(graph->heap, graph->is_root, graph->parent, graph->is_rooted);
}
