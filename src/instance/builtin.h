/* builtin: the classes that every model may use without a library. */
#pragma once

#include "instance/instance.h"

/* The built-in class of that name at the root; NULL if there is none. */
const AstClass *builtin_find(Tree *tree, Name name);

/* Is the class built in? Then its text is part of daedal. */
bool builtin_holds(const Tree *tree, const AstClass *definition);
