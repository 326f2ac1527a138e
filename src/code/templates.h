/* templates: expressions of one shape that differ only in their leaves.
 *
 * A region is the part of the graph below a root down to its boundary: leaves, and nodes computed elsewhere. Its boundary nodes and
 * numbers are its slots, numbered in the order of the first visit. Written with these numbers, equal shapes give equal words. The
 * shape also includes: coefficients 1 and -1, constant exponents, the array of each leaf, and which nodes are shared within. */
#pragma once

#include "code/graph.h"
#include "code/instances.h"

typedef struct Template {
  Expr root; /* root of the first region of this shape */
  uint32_t slots;
  uint32_t first_store; /* in Templates.stores: the array of each slot */
  uint32_t first_item;  /* items of the first region */
  uint32_t first_word, words, next;
  uint32_t instances;
} Template;

typedef struct Templates {
  Heap *heap;
  const Graph *graph;
  const uint8_t *boundary; /* per position: 0 inside; array + 1 for leaves and nodes computed elsewhere */
  VEC(Template) list;
  VEC(Store) stores;
  IndexVec items;      /* per region its slots: a node, or an index in `numbers` for STORE_CONSTANT */
  VEC(double) numbers; /* distinct */
  Map number_index;
  /* work space */
  Map by_hash;
  IndexVec words;
  uint32_t stamp, *mark, *local; /* per position: the last region that contained it, and its number in that region */
  IndexVec number_mark, number_slot; /* the same two facts per number */
  VEC(struct RegionVisit {
    uint32_t position;
    uint32_t next;
  })
  stack;
} Templates;

Templates templates_make(Heap *heap, const Graph *graph, const uint8_t *boundary);
void templates_free(Templates *templates);

/* Adds the region that consists of `root` and what is below it. Returns its template; the slots of the region are the last
 * items. O(region). */
uint32_t templates_add(Templates *templates, Expr root);

/* Index of a number in `numbers`. */
uint32_t templates_number(Templates *templates, double number);

/* The array of a leaf; STORE_CONSTANT for numbers and for nodes without a value. */
Store leaf_store(Op op);
