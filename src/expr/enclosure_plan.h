/* enclosure_plan: the steps that compute the bounds of an expression (expr/enclosure.h). */
#pragma once

#include "expr/dag.h"
#include "expr/enclosure.h"

/* Can the expression be enclosed: does it consist of time, parameters, discrete variables and operators that have a rule? */
bool enclosure_possible(const Dag *dag, DagScratch *scratch, Expr e);

/* Like enclosure_possible, but the expression may contain variables, too. */
bool enclosure_possible_of_variables(const Dag *dag, DagScratch *scratch, Expr e);

/* For an expression that one of these accepts. The steps live in the heap. O(graph below e). */
Enclosure enclosure_plan(Heap *heap, const Dag *dag, DagScratch *scratch, Expr e);
