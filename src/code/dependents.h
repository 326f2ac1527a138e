/* dependents: parameters whose bindings use others that initialization determines. */
#pragma once

#include "code/evaluator.h"

/* Appends the parameters bound to those given, directly or not, what they need before them; without those that were
 * overridden. By leaf index. */
void dependents_find(Evaluator *evaluator, Heap *heap, const IndexVec *given, IndexVec *dependents);

/* Their values by their bindings, in this order. */
void dependents_set(Evaluator *evaluator, const IndexVec *dependents);
