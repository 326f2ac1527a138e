/* cfunctions: the functions that a program calls, as C99 text: their support code (nilpotents.inc, runtime.inc, the rules of
 * ops.def), one C function for each routine, and a table of call sites for each program. The text contains only functions in
 * use. */
#pragma once

#include "code/ctext.h"

/* A program with its text; its table of sites is <name>_sites. */
typedef struct CallingText {
  const Program *program;
  const CText *text;
  const char *name;
} CallingText;

/* Appends the functions that these texts call; nothing if they call none. The text belongs after ctext_header and before the texts;
 * if has_tables, also after `lookups`, the tables of the model's objects. false: a function cannot be written as C; an error in
 * diags names it. O(text). */
bool cfunctions_write(Heap *heap, const Model *model, const CallingText *callers, uint32_t count, bool has_tables,
                      TextVec *out, Diags *diags);
