/* definitions: derivatives that an equation gives explicitly, der(x) = v or m*der(v) = f, substituted where they occur. */
#pragma once

#include "array/array.h"

typedef struct Definitions {
  const Problem *problem;
  Expr *leaf, *value; /* per unknown: the derivative and its value; EXPR_NONE if no equation gives it */
  bool *defines;      /* per equation: it gives a derivative */
} Definitions;

/* Finds the definitions whose values contain no derivatives except defined ones. constant: only definitions whose divisors
 * contain only parameters and numbers. Owned by the arena. About O(size of the equations). */
Definitions definitions_find(const Problem *problem, const Structure *structure, bool constant, Arena *arena);

/* The expression with every defined derivative substituted. */
Expr definitions_put_in(const Definitions *definitions, Expr e, Heap *heap);
