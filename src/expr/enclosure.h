/* enclosure: bounds of an expression over a stretch of time, all else held, so that a search for roots in time misses none,
 * however narrow. Bounds are rounded outwards; an operator without a rule has none. */
#pragma once

#include "expr/interval.h"

typedef struct Enclosure Enclosure;

/* Has the expression useful bounds: is it made of time, parameters, discrete variables and operators that have a rule? */
bool enclosure_possible(const Dag *dag, DagScratch *scratch, Expr e);

/* The same, and of variables too? */
bool enclosure_possible_of_variables(const Dag *dag, DagScratch *scratch, Expr e);

/* For an expression that one of these admits. Reads the graph here only. Lives in the heap. O(graph below e). */
Enclosure *enclosure_new(Heap *heap, const Dag *dag, DagScratch *scratch, Expr e);

/* How many operations one look takes. */
uint32_t enclosure_size(const Enclosure *enclosure);

/* Pushes its variables, as nodes of the graph. */
void enclosure_variables(const Enclosure *enclosure, Heap *heap, IndexVec *nodes);

/* How many discrete values it depends on. */
uint32_t enclosure_discretes(const Enclosure *enclosure);

/* The values of the leaves besides time. */
typedef struct HeldValues {
  const double *parameters, *discretes, *pre;
  const Interval *variables; /* in the order of enclosure_variables; for enclosure_bounds alone */
} HeldValues;

/* Bounds over the times given, at these values; the whole line where not defined. */
Interval enclosure_bounds(Enclosure *enclosure, Interval time, HeldValues held);

/* Its value at one time; NAN where not defined. */
double enclosure_value(Enclosure *enclosure, double time, HeldValues held);

/* Keeps the discrete values that it depends on; were they the same before? */
bool enclosure_hold(const Enclosure *enclosure, HeldValues held, double *kept);
