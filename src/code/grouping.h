/* grouping: how a list of expressions is split into kernels.
 *
 * The graph is cut at every node that two regions share, so that nothing is computed twice. Regions of one shape with enough
 * instances become one group with a template; everything else is straight code. Groups run in the order of their phases: a
 * group reads only values of earlier phases. The total cost is linear in the graph. */
#pragma once

#include "code/kernel.h"
#include "code/program.h"
#include "code/templates.h"

/* A kernel that will be made: expressions over slots, and the places of slots and outputs per instance. */
typedef struct Group {
  uint32_t phase, instances, slots, outputs;
  Expr *roots;      /* outputs of them */
  Store *stores;    /* per lane: slots, then outputs */
  uint32_t *places; /* [lane * instances + instance] */
  SlotMap map;      /* from the roots' leaves to slots */
} Group;

typedef struct Grouping {
  Heap *heap;
  Model *model;
  const Layout *layout;
  VEC(Group) groups;
  VEC(double) numbers; /* STORE_CONSTANT */
  uint32_t scratch;    /* size of STORE_SCRATCH */
} Grouping;

/* The number of instances from which on a template is worthwhile. A template with few slots needs more instances, because
 * gathering the slots is most of its work, and because it breaks up the straight code around it. */
enum { TEMPLATE_MINIMUM = 16, SMALL_TEMPLATE_SLOTS = 4, SMALL_TEMPLATE_MINIMUM = 64 };

Grouping grouping_make(Heap *heap, Model *model, const Layout *layout);

/* Adds groups that compute the roots; root r goes to output places[r], or r if places is NULL. */
void grouping_add_roots(Grouping *grouping, const Expr *roots, uint32_t count, const uint32_t *places);

/* A group with room for its lanes, for the caller to fill; valid until the next one is added. */
Group *grouping_add_group(Grouping *grouping, uint32_t phase, uint32_t instances, uint32_t slots, uint32_t outputs);

/* Place of a leaf (not a number) in its array. */
uint32_t leaf_place(const Layout *layout, const Dag *dag, Expr leaf);

/* The program that runs the groups, with this many outputs; `grouping` cannot be used afterwards. */
Program *program_from_grouping(Grouping *grouping, uint32_t outputs);
