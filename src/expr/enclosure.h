/* enclosure: bounds of an expression over an interval of time, with all other values constant, so that a search for
 * roots in time misses none, even if they are very close. Bounds are rounded outwards; an operator without a rule has
 * none. */
#pragma once

#include "expr/interval.h"

typedef struct Enclosure Enclosure;

/* Can the expression be enclosed: does it consist of time, parameters, discrete variables and operators that have a rule? */
bool enclosure_possible(const Dag *dag, DagScratch *scratch, Expr e);

/* The same, with variables allowed too. */
bool enclosure_possible_of_variables(const Dag *dag, DagScratch *scratch, Expr e);

/* For an expression that one of these accepts. Only this function reads the graph. Lives in the heap. O(graph below e). */
Enclosure *enclosure_new(Heap *heap, const Dag *dag, DagScratch *scratch, Expr e);

/* The number of operations of one evaluation. */
uint32_t enclosure_size(const Enclosure *enclosure);

/* Pushes its variables, as nodes of the graph. */
void enclosure_variables(const Enclosure *enclosure, Heap *heap, IndexVec *nodes);

/* How many discrete values it depends on. */
uint32_t enclosure_discretes(const Enclosure *enclosure);

/* The values of the leaves other than time. */
typedef struct HeldValues {
  const double *parameters, *discretes, *pre;
  const Interval *variables; /* in the order of enclosure_variables; for enclosure_bounds only */
} HeldValues;

/* Bounds over the given times, at these values; the whole line if not defined. */
Interval enclosure_bounds(Enclosure *enclosure, Interval time, HeldValues held);

/* The value at one time; NAN if not defined. */
double enclosure_value(Enclosure *enclosure, double time, HeldValues held);

/* Stores the discrete values that it depends on; returns whether they are unchanged. */
bool enclosure_hold(const Enclosure *enclosure, HeldValues held, double *kept);
