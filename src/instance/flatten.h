/* flatten: from the tree of instances to a flat program. */
#pragma once

#include "instance/instance.h"
#include "lang/lang.h"

/* Flattens tree->model. The program is owned by the tree's arena; false after an error. */
bool flatten(Tree *tree, FlatProgram *program);
