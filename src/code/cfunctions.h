/* cfunctions: the functions that a program calls, as C99 text: what they stand on (nilpotents.inc,
 * runtime.inc, the rules of ops.def), one C function for each routine, and a table of call sites for each
 * program. Nothing is in the text that is not used.
 */
#pragma once

#include "code/ctext.h"

/* A program with its text; its table of sites is <name>_sites. */
typedef struct CallingText {
  const Program *program;
  const CText *text;
  const char *name;
} CallingText;

/* Appends the functions that these texts call; nothing if they call none. To be placed after ctext_header
 * and before the texts. has_tables: and after `lookups`, the tables that objects of the model are. false: one cannot be written as C; an error that names it is in diags. O(text). */
bool cfunctions_write(Heap *heap, const Model *model, const CallingText *callers, uint32_t count, bool has_tables,
                      TextVec *out, Diags *diags);
