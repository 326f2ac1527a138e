/* transplant: copies expressions from one graph into another, with every variable leaf replaced on the way. */
#pragma once

#include "expr/dag.h"

typedef struct Transplant {
  Heap *heap;
  Dag *from, *to;
  Expr (*variable)(void *context, uint32_t index, uint32_t order); /* the image in `to` of a variable leaf */
  void *context;
  Map image; /* node -> node */
} Transplant;

/* The image of an expression. Parameters, discrete variables, functions and strings keep their numbers.
 * O(graph below e that was not copied before). */
Expr transplant(Transplant *transplant, Expr e);
