/* tape_order: orders the lines of a prologue so that, where possible, four lines of one code follow each other and the
 * interpreter decodes one code for them.
 *
 * Invariant: a line comes after the lines that it reads; the lines of a group of four do not read each other. Calls keep their
 * order. Held lines come first: they depend only on numbers and parameters, so their values stay valid while the parameters do. */
#pragma once

#include "code/kernel.h"

typedef struct TapeOrder {
  uint32_t *lines;   /* numbers of lines, each once */
  bool *begins_four; /* per place in `lines` */
  uint32_t held;     /* number of lines at the beginning that are held */
} TapeOrder;

/* In the heap. O(lines * codes). */
TapeOrder tape_order(Heap *heap, const Kernel *kernel);

/* The operands of a line; for a call, the operands of its site. */
uint32_t line_operands(const Line *line, const CallSite *calls, const Operand **operands, Operand room[3]);

/* Does a slot of this store keep its value from one evaluation to the next? */
static inline bool is_held_store(Store store) { return store == STORE_CONSTANT || store == STORE_PARAMETER; }

/* The code of a line in a tape. */
static inline uint32_t tape_code(uint32_t code) {
  return code == OP_MULTIPLY ? LINE_PRODUCT : code == OP_DIVIDE ? LINE_QUOTIENT : code;
}
