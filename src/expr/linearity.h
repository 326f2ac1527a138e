/* linearity: is an expression linear in a set of variable leaves, with coefficients free of them? The answer follows from the
 * graph: a term that cancels only for certain values still counts. */
#pragma once

#include "expr/dag.h"

/* Is this variable leaf in the set? */
typedef bool (*LeafTest)(const void *context, Expr leaf);

/* Workspace for many questions about one graph, which must not be extended meanwhile. */
typedef struct Linearity {
  const Dag *dag;
  DagScratch *scratch;
  uint8_t *dependence; /* per node; valid for the nodes of the last expression */
  IndexVec order;
} Linearity;

/* Memory comes from the scratch's heap. O(size of the graph). */
Linearity linearity_make(const Dag *dag, DagScratch *scratch);
void linearity_free(Linearity *linearity);

/* O(graph below e). */
bool linearity_test(Linearity *linearity, Expr e, LeafTest is_member, const void *context);
