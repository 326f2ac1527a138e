/* degree: is an expression linear in a set of unknowns? Structural: a term that cancels by values still counts. */
#ifndef DAEDAL_EXPR_DEGREE_H
#define DAEDAL_EXPR_DEGREE_H

#include "expr/dag.h"

typedef enum Degree {
  DEGREE_ZERO, /* free of the unknowns */
  DEGREE_ONE,  /* linear, with coefficients free of them */
  DEGREE_HIGHER,
} Degree;

typedef struct Degrees Degrees;

/* A workspace for expressions of the graph; lives in the heap. O(size of the graph). */
Degrees *degrees_new(Heap *heap, Dag *dag);

/* The degree of a root; `is_unknown` says which variable leaves are meant. O(graph below the root). */
typedef bool (*IsUnknown)(void *context, Expr leaf);
Degree degrees_run(Degrees *degrees, Expr root, IsUnknown is_unknown, void *context);

#endif
