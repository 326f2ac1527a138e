/* croutine: one routine (model/function.h) as a C function on the numbers and arrays of runtime.inc.
 *
 * Control flow becomes that of C. Values on the machine's stack become expressions and, if these are long or used twice, constants
 * t1, t2, ... A record is the list of its fields, each a separate variable. Values equal those of the machine, operation by
 * operation. */
#pragma once

#include "model/model.h"

/* Texts of functions, and the routines that they use. */
typedef struct RoutineWriter {
  Heap *heap;
  Arena *arena;
  const Model *model;
  TextVec prototypes, functions;
  bool uses_op[OP_COUNT];
  bool compares_texts, makes_texts;
  bool has_tables;   /* the text contains the tables that stand for objects of the model */
  IndexVec routines; /* numbers of the routines to write, without repetition: the callees of written ones are added */
  Map known;         /* routine -> position in routines */
} RoutineWriter;

/* Requests a routine; the caller that walks the list writes it. */
void routine_want(RoutineWriter *writer, uint32_t routine);

/* Name of the C function of a routine; in the arena. */
const char *routine_c_name(const RoutineWriter *writer, const Routine *routine);

/* Appends the function and its prototype. NULL, or why it cannot be written: one line, static text. O(text). */
const char *routine_write(RoutineWriter *writer, const Routine *routine);
