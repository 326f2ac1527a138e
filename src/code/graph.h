/* graph: the nodes below some roots, children before parents, and the position of each in that list. A view of the expression graph
 * for numeric code: children on which no value depends are left out. */
#pragma once

#include "expr/dag.h"

typedef struct Graph {
  Heap *heap;
  const Dag *dag;
  IndexVec nodes; /* children first, depth first from the roots in order */
  /* per position: where its children begin in `below`; the children of the next position follow them */
  IndexVec begins;
  IndexVec below;   /* positions of children */
  uint32_t *direct; /* node -> position + 1, when the list is a large part of the expression graph */
  Map map;          /* node -> position, otherwise */
} Graph;

/* The nodes below the roots, in O(their number). Nodes that `stop` maps are listed, but not the nodes below them; NULL:
 * none. */
Graph graph_make(Heap *heap, const Dag *dag, const Expr *roots, uint32_t count, const Map *stop);
void graph_free(Graph *graph);

/* Position of a node; MAP_NONE if it is not listed. */
static inline uint32_t graph_position(const Graph *graph, Expr e) {
  return graph->direct ? graph->direct[e] - 1 : map_get(&graph->map, e);
}

/* Positions of the children of the node at a position. */
static inline const uint32_t *graph_below(const Graph *graph, uint32_t position, uint32_t *count) {
  uint32_t begin = graph->begins.data[position];
  *count = (position + 1 < graph->nodes.count ? graph->begins.data[position + 1] : graph->below.count) - begin;
  return *count ? graph->below.data + begin : NULL;
}

/* The children of a node that its value depends on: arguments, or terms of a sum. Children that do not affect the value are
 * left out: constant exponents, some arguments of smooth and homotopy, and the arguments of operators without a value. */
uint32_t node_children(const Dag *dag, Expr e);
Expr node_child(const Dag *dag, Expr e, uint32_t child);

/* Is this a power with a constant exponent? `exponent` may be NULL. */
bool node_exponent(const Dag *dag, Expr e, double *exponent);

/* Does the operator have a value that numeric code can compute? (Not: sample, delay, strings ...) */
bool op_has_value(Op op);

/* The number of a leaf in code: a constant or, in functions, the Name of a text literal. NAN: the leaf has no number. */
double node_number(const Dag *dag, Expr e);

/* Bits of a number as a key; -0 and 0 differ. */
uint64_t number_key(double number);
