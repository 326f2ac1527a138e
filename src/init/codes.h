/* codes: code for the rows of an initial system, made once for the runs of a plan. */
#pragma once

#include "init/system.h"

/* Code for a part of the initial system, made once for all runs of a plan. It is found by its key, which identifies the part: the
 * expressions of the rows of a patch, or the expressions of assignments and their columns (steps.c). */
typedef struct InitialCode {
  const uint32_t *words;
  uint32_t count;
  const Program *program;
  const Jacobian *jacobian; /* NULL: none is needed */
} InitialCode;

typedef struct InitialCodes InitialCodes;

/* An empty list. Lives in the heap. */
InitialCodes *codes_new(Heap *heap);

/* NULL: there is none, or codes is NULL. O(count). */
const InitialCode *codes_find(const InitialCodes *codes, const uint32_t *words, uint32_t count);

/* Adds code that is not in the list yet; does nothing if codes is NULL. The words are copied. */
void codes_add(InitialCodes *codes, InitialCode code);

/* Does a row of the system mean the same in every run of the plan? Then its code may be shared. */
bool codes_may_share(const InitialSystem *system, uint32_t row);

/* Code for these rows and their derivatives with respect to all columns that they contain. NULL rows: the first `count` rows,
 * and all columns of the system. */
InitialCode codes_make(const InitialSystem *system, const uint32_t *rows, uint32_t count);

/* The code of these rows from the plan if it has it, otherwise new code. */
InitialCode codes_take(const InitialSystem *system, const uint32_t *rows, uint32_t count);
