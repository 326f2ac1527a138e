/* Connection sets and connection graphs over numbers. Random ones are compared with plain methods (labels that are copied,
 * reachability by sweeps) that share no code with the library. */
#include "instance/connect_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 24, ROUNDS = 3000 };

static uint32_t seed;

static uint32_t draw(uint32_t bound) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % bound;
}

/* ---- sets ---- */

static void relabel(uint32_t *label, uint32_t count, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < count; i++)
    if (label[i] == from) label[i] = to;
}

static void check_sets(const ConnectSets *sets, const uint32_t *label, const bool *is_joined) {
  uint32_t listed = 0;
  for (uint32_t a = 0; a < sets->member_count; a++) {
    assert_int_equal(sets->set_of[a] != CONNECT_NONE, is_joined[a]);
    for (uint32_t b = 0; b < sets->member_count; b++)
      if (is_joined[a] && is_joined[b]) assert_int_equal(sets->set_of[a] == sets->set_of[b], label[a] == label[b]);
  }
  for (uint32_t s = 0; s < sets->set_count; s++) {
    if (s) assert_true(sets->members[sets->start[s - 1]] < sets->members[sets->start[s]]);
    for (uint32_t k = sets->start[s]; k < sets->start[s + 1]; k++, listed++) {
      assert_int_equal(sets->set_of[sets->members[k]], s);
      if (k > sets->start[s]) assert_true(sets->members[k - 1] < sets->members[k]);
    }
  }
  for (uint32_t a = 0; a < sets->member_count; a++) listed -= is_joined[a];
  assert_int_equal(listed, 0);
}

static void test_sets(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  for (seed = 1; seed < ROUNDS; seed += 7) {
    uint32_t begin = seed, count = 1 + draw(MOST), label[MOST];
    bool is_joined[MOST] = {0};
    ConnectSets sets = connect_sets_make(heap, count);
    for (uint32_t i = 0; i < count; i++) label[i] = i;
    for (uint32_t k = draw(2 * MOST); k > 0; k--) {
      uint32_t a = draw(count), b = draw(count);
      connect_sets_join(&sets, a, b);
      relabel(label, count, label[a], label[b]);
      is_joined[a] = is_joined[b] = true;
    }
    connect_sets_close(&sets);
    check_sets(&sets, label, is_joined);
    connect_sets_free(&sets);
    seed = begin;
  }
  heap_destroy(heap);
}

/* ---- graphs ---- */

/* Labels of the trees that the remaining edges form. */
static void label_trees(const ConnectGraph *graph, uint32_t *label) {
  for (uint32_t i = 0; i < graph->node_count; i++) label[i] = i;
  for (uint32_t i = 0; i < graph->edges.count; i++) {
    const ConnectEdge *edge = &graph->edges.data[i];
    if (!edge->is_broken) relabel(label, graph->node_count, label[edge->a], label[edge->b]);
  }
}

/* Do branches close a loop, or join two definite roots? */
static bool has_fault(const ConnectGraph *graph) {
  uint32_t label[MOST];
  bool is_root[MOST] = {0};
  for (uint32_t i = 0; i < graph->node_count; i++) label[i] = i;
  for (uint32_t i = 0; i < graph->edges.count; i++) {
    const ConnectEdge *edge = &graph->edges.data[i];
    if (!edge->is_branch) continue;
    if (label[edge->a] == label[edge->b]) return true;
    relabel(label, graph->node_count, label[edge->a], label[edge->b]);
  }
  for (uint32_t i = 0; i < graph->roots.count; i++) {
    if (!graph->roots.data[i].is_definite) continue;
    uint32_t tree = label[graph->roots.data[i].node];
    if (is_root[tree]) return true;
    is_root[tree] = true;
  }
  return false;
}

/* The remaining graph is a forest, every tree has one root, and every definite root is a root. */
static void check_forest(const ConnectGraph *graph) {
  uint32_t label[MOST], roots[MOST] = {0}, kept = 0, trees = 0;
  label_trees(graph, label);
  for (uint32_t i = 0; i < graph->edges.count; i++) kept += !graph->edges.data[i].is_broken;
  for (uint32_t i = 0; i < graph->node_count; i++) roots[label[i]] += graph->is_root[i];
  for (uint32_t i = 0; i < graph->node_count; i++) {
    bool is_new = true;
    for (uint32_t k = 0; k < i; k++) is_new &= label[k] != label[i];
    trees += is_new;
    assert_int_equal(roots[label[i]], 1);
    assert_int_equal(graph->parent[i] == CONNECT_NONE, graph->is_root[i]);
  }
  assert_int_equal(kept, graph->node_count - trees);
  for (uint32_t i = 0; i < graph->roots.count; i++)
    if (graph->roots.data[i].is_definite) assert_true(graph->is_root[graph->roots.data[i].node]);
}

/* A potential root is chosen only where its tree has no definite root and no better potential one. */
static void check_priorities(const ConnectGraph *graph) {
  uint32_t label[MOST];
  label_trees(graph, label);
  for (uint32_t i = 0; i < graph->roots.count; i++) {
    const ConnectRoot *offer = &graph->roots.data[i];
    uint32_t chosen = CONNECT_NONE;
    for (uint32_t k = 0; k < graph->roots.count; k++) {
      const ConnectRoot *root = &graph->roots.data[k];
      if (label[root->node] != label[offer->node] || !graph->is_root[root->node]) continue;
      if (chosen == CONNECT_NONE || root->is_definite || root->priority < graph->roots.data[chosen].priority)
        chosen = k;
      if (root->is_definite) break;
    }
    assert_true(chosen != CONNECT_NONE);
    const ConnectRoot *root = &graph->roots.data[chosen];
    assert_true(root->is_definite || (!offer->is_definite && root->priority <= offer->priority));
    if (!root->is_definite && root->priority == offer->priority) assert_true(strcmp(root->name, offer->name) <= 0);
  }
}

static void check_parents(const ConnectGraph *graph) {
  for (uint32_t i = 0; i < graph->node_count; i++) {
    uint32_t steps = 0, node = i;
    while (graph->parent[node] != CONNECT_NONE && steps++ < graph->node_count) node = graph->parent[node];
    assert_true(graph->is_root[node]);
  }
}

static void test_graphs(void **state) {
  (void)state;
  Heap *heap = heap_new(NULL);
  uint32_t faults = 0;
  for (uint32_t round = 1; round < ROUNDS; round++) {
    seed = round;
    ConnectGraph graph = {.heap = heap, .node_count = 2 + draw(MOST - 2)};
    for (uint32_t k = draw(2 * MOST); k > 0; k--)
      vec_push(heap, &graph.edges, (ConnectEdge){draw(graph.node_count), draw(graph.node_count), draw(5) == 0, false});
    for (uint32_t k = draw(5); k > 0; k--) {
      uint32_t node = draw(graph.node_count);
      vec_push(heap, &graph.roots,
               (ConnectRoot){node, draw(3), draw(2) == 0, (const char *[]){"b", "a", "c"}[node % 3]});
    }
    ConnectGraphFault fault = connect_graph_solve(&graph);
    assert_int_equal(fault != GRAPH_FINE, has_fault(&graph));
    faults += fault != GRAPH_FINE;
    if (fault == GRAPH_FINE) {
      check_forest(&graph);
      check_priorities(&graph);
      check_parents(&graph);
    }
    connect_graph_free(&graph);
  }
  assert_in_range(faults, ROUNDS / 20, ROUNDS - ROUNDS / 20);
  heap_destroy(heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sets), cmocka_unit_test(test_graphs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
