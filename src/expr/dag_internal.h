/* dag_internal: the internals of the graph, shared only by the files of src/expr.
 *
 * Nodes are records of 8 bytes; their contents are in three pools: constants, argument words and terms. A graph over another one
 * shares the full pieces of its pools, and looks up nodes in both tables.
 *  - Arguments of an operator of fixed arity: as many words as its arity. For any other operator (arity -1): one word with the number of words that follow, then the arguments. A call has function, output, number of partials and partials before its arguments.
 *  - A sum: one Term {constant, number of terms}, then its terms. So counts beyond 16 bits are kept exactly.
 * Any constructor may move the pools: a pointer into them does not outlive the next one. */
#pragma once

#include "base/pool.h"
#include "expr/dag.h"

typedef VEC(Term) TermVec;

/* The linear split of an expression: e = slope * leaf + rest. */
typedef struct Affine {
  Expr slope, rest;
} Affine;
typedef VEC(Affine) AffineVec;
typedef struct GradientSweep GradientSweep;

/* The operators at or below a node: bit `op` for each leaf operator except constants, whose bit is DAG_NONSMOOTH (see
 * dag_below_nonsmooth), and DAG_EVENT if there is a relation or jump outside of noEvent. */
enum { DAG_NONSMOOTH = 1 << OP_CONSTANT, DAG_EVENT = 1 << 7 };
_Static_assert(OP_STRING < 7, "leaf operators must fit into the flags below DAG_EVENT");

/* Leaves are found by their indices, without the hash table: variables of orders below LEAF_ORDERS, parameters, discrete
 * variables and `pre` of these. Higher orders, and indices with another meaning, are rare: they are in the table. Subscripts
 * make many whole numbers: those near earlier ones are found by their values, in LEAF_NUMBERS. */
enum { LEAF_ORDERS = 4, LEAF_NUMBERS = LEAF_ORDERS + 3, LEAF_LISTS, LEAF_INDICES = 1 << 26 };

/* A slot of the hash table; comparing the hash avoids most visits to other nodes. */
typedef struct Slot {
  uint32_t hash, node; /* node + 1; 0: empty */
} Slot;

struct Dag {
  DagPools pools; /* see dag_pools */
  Heap *heap;
  Names *names;
  const Dag *below; /* the graph below this one; NULL: none */
  uint32_t first;   /* first of its own nodes; earlier nodes belong to the graph below */
  Slot *table;      /* open addressing; its own nodes */
  uint32_t table_capacity, entries;
  IndexVec leaves[LEAF_LISTS]; /* leaves of this graph itself: node + 1 by index; 0 or beyond the end: none */

  TermVec sum;          /* scratch of dag_sum */
  TermVec affine_terms; /* scratch of dag_linear, which is called for each equation */
  IndexVec affine_order;
  AffineVec affine_split, affine_children;
  GradientSweep *gradient;    /* scratch of dag_gradient; NULL until needed */
  IndexVec substituted_order; /* scratch of dag_substitute */
  ExprVec substituted, substituted_children;
  DagScratch scratch;   /* for walks of the owner that extends the graph */
  IndexVec derivatives; /* per node: its time derivative, or EXPR_NONE */
};

/* The first nodes are the constants 0, 1 and -1. */
enum { EXPR_ZERO, EXPR_ONE, EXPR_MINUS_ONE };

static inline uint8_t dag_flags(const Dag *dag, Expr e) { return pool_at(uint8_t, &dag->pools.flags, e); }

/* The node with these arguments, without any simplification. The arguments must not point into the graph. */
Expr dag_intern(Dag *dag, Op op, const Expr *arguments, uint32_t count);
Expr dag_intern_sum(Dag *dag, double constant, const Term *terms, uint32_t count);

/* A walk visits each node below its roots once, children first; `mask`: if not 0, only nodes that share a flag with it; `shallow`:
 * does not go below nodes for which op_is_selector is true. Appends to `order`, in the scratch's heap; its slots give positions
 * there. */
typedef struct Walk {
  uint8_t mask;
  bool shallow;
} Walk;
void dag_walk(const Dag *dag, DagScratch *scratch, Walk walk, const Expr *roots, uint32_t count, IndexVec *order);

/* Did the last walk with this scratch visit the node? */
bool dag_was_met(const DagScratch *scratch, Expr e);

/* Stable merge sort; scratch from the heap beyond 32 elements. */
void dag_sort(Heap *heap, void *data, uint32_t count, size_t size, int (*compare)(const void *, const void *));
