/* dependents: parameters whose bindings use others that initialization determines. */
#pragma once

#include "code/evaluator.h"

/* Appends the parameters that are bound to the given parameters, directly or not, in the order of their dependencies; leaves out
 * overridden parameters. By leaf index. */
void dependents_find(Evaluator *evaluator, Heap *heap, const IndexVec *given, IndexVec *dependents);

/* Marks the parameters to which the parameters in `of` are bound, directly or not. `of` is empty then. */
void dependents_mark_sources(Evaluator *evaluator, IndexVec *of, bool *marked);

/* Computes the values of these parameters by their bindings, in this order. */
void dependents_set(Evaluator *evaluator, const IndexVec *dependents);
