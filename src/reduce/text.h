/* text: the system that a method made, for people and tools: Base Modelica with comments, and its sizes as JSON. */
#ifndef DAEDAL_REDUCE_TEXT_H
#define DAEDAL_REDUCE_TEXT_H

#include "reduce/method.h"

/* Appends the system as a model; fills the counts of the reduction. O(size of the text). */
void reduction_print(Reduction *reduction, const Method *method, TextVec *text);

#endif
