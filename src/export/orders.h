/* orders: in which order the runtime factors its sparse matrices, found from their patterns. Small ones are dense. */
#pragma once

#include "export/variables.h"

/* A square sparse matrix by columns. */
typedef struct OrderedMatrix {
  const char *name;
  const int32_t *start, *row;
  uint32_t columns; /* 0: there is none */
} OrderedMatrix;

/* Macros ORDER_WHOLE, ORDER_JUMP and ORDER_NAME of each matrix given, initializers of struct ModelOrder of runtime/solver.h, and the tables that they
 * refer to: of all rows with the links of states, of jumps, and of these matrices. Appended. */
void orders_write(Heap *heap, Arena *arena, const ExportSource *source, const OrderedMatrix *more, uint32_t count,
                  TextVec *out);
