/* message: the texts of assert and terminate at a point of a run, `"x is " + String(x)` as "x is 3". */
#pragma once

#include "code/evaluator.h"

/* The message with its values at (t, y), as a literal in quotes, in the arena. It stays as written if a part has no value,
 * for example a call of a function that returns text. O(size of the message). */
const char *message_text(Evaluator *evaluator, double t, const double *y, Expr message, Arena *arena);
