/* typed: values of the model's types as text, as the user writes them in overrides and lists of start values. */
#pragma once

#include "model/model.h"

/* A name as in flat models: without quotes, and without blanks outside of quotes. Lives in the arena. */
const char *typed_name(Arena *arena, const char *begin, const char *end);

/* The text as a value of the variable's type: 2, true, Mode.off. A String has no number. false: the text is not such
 * a value. */
bool typed_read(const Model *model, const Variable *variable, const char *text, Arena *arena, double *value);

/* Prints the value as Modelica text; `text`: the value of a String. */
void typed_print(Heap *heap, TextVec *out, const Model *model, const Variable *variable, double value,
                 const char *text);
