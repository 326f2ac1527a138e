/* graph: see graph.h. A walk with an explicit stack; a node is listed when all its children are. */
#include "code/graph.h"

#include <string.h>

uint64_t number_key(double number) {
  uint64_t key;
  memcpy(&key, &number, sizeof key);
  return key;
}

bool op_has_value(Op op) {
  switch (op) {
  case OP_STRING:
  case OP_INITIAL:
  case OP_TERMINAL:
  case OP_SAMPLE:
  case OP_EDGE:
  case OP_CHANGE:
  case OP_LEFT:
  case OP_DELAY:
  case OP_DELAYED:
  case OP_TRANSPORT:
  case OP_STRING_OF:
  case OP_STRING_JOIN: return false;
  default: return true;
  }
}

double node_number(const Dag *dag, Expr e) {
  double value;
  if (dag_op(dag, e) == OP_STRING) return dag_index(dag, e);
  return dag_is_constant(dag, e, &value) ? value : __builtin_nan("");
}

bool node_exponent(const Dag *dag, Expr e, double *exponent) {
  if (dag_op(dag, e) != OP_POWER) return false;
  const Expr *arguments;
  dag_arguments(dag, e, &arguments);
  return dag_is_constant(dag, arguments[1], exponent);
}

/* Children whose places are `stride` words apart. */
typedef struct NodeChildren {
  const Expr *first;
  uint32_t count, stride;
} NodeChildren;

static NodeChildren list_children(const Dag *dag, Expr e) {
  Op op = dag_op(dag, e);
  const Expr *arguments;
  if (op == OP_SUM) {
    const Term *terms;
    double constant;
    uint32_t count = dag_terms(dag, e, &constant, &terms);
    return (NodeChildren){&terms->node, count, sizeof(Term) / sizeof(Expr)};
  }
  if (op_kind(op) == KIND_LEAF || !op_has_value(op)) return (NodeChildren){0};
  uint32_t count = dag_arguments(dag, e, &arguments);
  if (op == OP_SMOOTH) return (NodeChildren){arguments + 1, 1, 1};
  bool is_one = op == OP_HOMOTOPY || op == OP_INPUT || (op == OP_POWER && dag_is_constant(dag, arguments[1], NULL));
  return (NodeChildren){arguments, is_one ? 1 : count, 1};
}

uint32_t node_children(const Dag *dag, Expr e) { return list_children(dag, e).count; }

Expr node_child(const Dag *dag, Expr e, uint32_t child) {
  NodeChildren children = list_children(dag, e);
  return children.first[(size_t)child * children.stride];
}

typedef struct NodeVisit {
  Expr node;
  uint32_t next; /* child to look at next */
  NodeChildren children;
} NodeVisit;

typedef VEC(NodeVisit) NodeVisitVec;

static bool is_listed(const Graph *graph, Expr e) { return graph_position(graph, e) != MAP_NONE; }

static void list_node(Graph *graph, Expr e, NodeChildren children) {
  vec_push(graph->heap, &graph->begins, graph->below.count);
  uint32_t *below = vec_extend(graph->heap, &graph->below, children.count);
  for (uint32_t c = 0; c < children.count; c++)
    below[c] = graph_position(graph, children.first[(size_t)c * children.stride]);
  if (graph->direct) graph->direct[e] = graph->nodes.count + 1;
  else map_put(&graph->map, e, graph->nodes.count);
  vec_push(graph->heap, &graph->nodes, e);
}

/* Nodes without children, and those to stop at, are listed at once. */
static void visit_node(Graph *graph, const Map *stop, Expr e, NodeVisitVec *stack) {
  if (is_listed(graph, e)) return;
  NodeChildren children = {0};
  if (!stop || map_get(stop, e) == MAP_NONE) children = list_children(graph->dag, e);
  if (children.count) vec_push(graph->heap, stack, (NodeVisit){.node = e, .children = children});
  else list_node(graph, e, children);
}

Graph graph_make(Heap *heap, const Dag *dag, const Expr *roots, uint32_t count, const Map *stop) {
  Graph graph = {.heap = heap, .dag = dag, .map = map_make(heap)};
  if (count > dag_size(dag) / 16) graph.direct = heap_array(heap, dag_size(dag), sizeof *graph.direct);
  NodeVisitVec stack = {0};
  for (uint32_t r = 0; r < count; r++) {
    visit_node(&graph, stop, roots[r], &stack);
    while (stack.count) {
      NodeVisit *top = &vec_last(&stack);
      if (top->next < top->children.count) {
        visit_node(&graph, stop, top->children.first[(size_t)top->next++ * top->children.stride], &stack);
        continue;
      }
      NodeVisit visit = vec_pop(&stack);
      list_node(&graph, visit.node, visit.children);
    }
  }
  vec_free(heap, &stack);
  return graph;
}

void graph_free(Graph *graph) {
  vec_free(graph->heap, &graph->nodes, &graph->begins, &graph->below);
  heap_free(graph->heap, graph->direct);
  map_free(&graph->map);
}
