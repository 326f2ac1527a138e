/* connect_graph: the virtual connection graph of overdetermined connectors (MLS 3.6, section 9.4), over numbered nodes.
 *
 * Branches (Connections.branch) must stay; edges (connect) may be broken. Solving chooses roots and breaks edges so that the
 * remaining graph is a forest with exactly one root per tree. All definite roots are chosen. A tree without a definite root
 * gets its potential root with the smallest priority; among equal priorities it is the first by name, so that the order of
 * declarations does not matter.
 *
 * Invariant: the choice depends only on the names of roots, the numbers of nodes and the order of edges. */
#pragma once

#include "instance/connect_sets.h"

typedef struct ConnectEdge {
  uint32_t a, b;
  bool is_branch; /* must stay */
  bool is_broken; /* found by connect_graph_solve */
} ConnectEdge;

typedef struct ConnectRoot {
  uint32_t node;
  int64_t priority; /* priority of a potential root; smaller is better */
  bool is_definite;
  const char *name; /* decides between equal priorities */
} ConnectRoot;

/* Why no forest can be chosen; fault_at says where. */
typedef enum ConnectGraphFault {
  GRAPH_FINE,
  GRAPH_BRANCHES_CLOSE, /* branches form a loop: edge `at` */
  GRAPH_ROOTS_MEET,     /* branches join two definite roots: edge `at` */
  GRAPH_ROOT_TWICE,     /* a definite root is given twice: root `at` */
} ConnectGraphFault;

typedef struct ConnectGraph {
  Heap *heap;
  uint32_t node_count;
  VEC(ConnectEdge) edges;
  VEC(ConnectRoot) roots;
  /* results, by node */
  bool *is_root;
  uint32_t *parent;  /* the neighbour towards the root; CONNECT_NONE: a root, or a node without edges */
  bool *is_rooted;   /* for the branch at the node: this end is nearer to the root */
  uint32_t fault_at; /* the edge or root that GRAPH_... refers to */
} ConnectGraph;

/* Chooses roots and broken edges. In a tree without any root, the smallest node becomes the root. O(nodes + edges). */
ConnectGraphFault connect_graph_solve(ConnectGraph *graph);

void connect_graph_free(ConnectGraph *graph);
