/* vary: the values that a sweep gives to one variable.
 *
 *   item   = name "=" values
 *   values = first ":" [ step ":" ] last | "log(" first "," last "," count ")" | "lin(" ... ")" | "{" value { "," value } "}" | value
 */
#pragma once

#include "base/diag.h"

typedef struct Vary {
  const char *name;
  double *values;
  uint32_t count;
} Vary;

/* Splits "name=text" at the first sign outside of quotes; the name without quotes and blanks. NULL: it is not of this form. */
const char *vary_split(Arena *arena, const char *item, const char **name);

/* "f(1,2)" with at most `most` numbers: the word before them in the arena, how many in count. NULL: it is not of this form. */
const char *vary_call(Arena *arena, const char *text, double *numbers, uint32_t most, uint32_t *count);

/* Reads an item. false: an error is in diags. Everything lives in the arena. */
bool vary_read(Vary *vary, const char *item, Arena *arena, Diags *diags);
