/* dump: the result of a pass, as text for developers. */
#pragma once

#include "array/array.h"

/* Names of the passes that can be dumped, in order; NULL-terminated. */
extern const char *const DUMP_PASSES[];

/* Appends the state after the pass; false if there is no pass of that name. */
bool dump_pass(Model *model, const char *pass, Heap *heap, TextVec *text);
