/* orders: in which order the runtime factors its sparse matrices, found from their patterns. Small ones are dense. */
#pragma once

#include "export/variables.h"

/* Macros ORDER_WHOLE, ORDER_JUMP and ORDER_START, initializers of struct ModelOrder of runtime/solver.h, and the tables that they refer to:
 * of all rows with the links of states, of jumps, and of the initial system, whose Jacobian is given (NULL: there is none). Appended. */
void orders_write(Heap *heap, Arena *arena, const ExportSource *source, const Jacobian *initial, TextVec *out);
