/* degree: is an expression linear in a set of leaves? Leaves belong to classes, one bit each; an expression
 * has for every class degree 0, 1 (linear, with coefficients free of the class) or more. Structural: a term
 * that cancels by values still counts. */
#pragma once

#include "expr/dag.h"

typedef struct Degree {
  uint32_t linear, beyond; /* classes that occur linearly; that occur otherwise */
} Degree;

typedef struct Degrees Degrees;

/* A workspace for expressions of the graph; lives in the heap. O(size of the graph). */
Degrees *degrees_new(Heap *heap, Dag *dag);

/* Degrees of the roots; `classes` gives the bits of a variable leaf. O(graph below the roots). */
typedef Degree (*LeafClasses)(void *context, Expr leaf);
void degrees_run(Degrees *degrees, const Expr *roots, uint32_t count, LeafClasses classes, void *context, Degree *out);
