/* solved: a reduced system as explicit equations. Given the states, every other column follows block by block and stage by stage. A
 * block that is linear in its columns is solved by symbolic elimination. Each intermediate result is a variable, so the text stays
 * as short as the elimination. */
#pragma once

#include "reduce/derived.h"

/* The reduced system (which must have a structure) as a model, with the states chosen now. Blocks that are
 * not linear stay as they are. Counts differential, algebraic and solved equations in reduction->counts.
 * Pivots are chosen at the initial point. */
Derived *solved_make(Reduction *reduction, const char *method);
