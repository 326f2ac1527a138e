/* text: the system that a method made, for people and tools: Base Modelica with comments, and its sizes as JSON. */
#pragma once

#include "reduce/method.h"

/* Appends the system as a model, and fills the counts of the reduction. has_values: the reduction was made with initial values;
 * otherwise the method is first applied at the present values. O(size of the text). */
void reduction_print(Reduction *reduction, const Method *method, bool has_values, TextVec *text);

/* Appends the matrices that decided the choice of states at the start (dummy_describe); nothing if there was no choice. The text
 * lives in the arena's heap. */
void reduction_print_choice(const Reduction *reduction, const ArrayRun *at, Arena *arena, TextVec *text);
