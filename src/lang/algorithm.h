/* algorithm: the callbacks of the machine for when-statements in an algorithm section (see Domain in execute.h). */
#pragma once

#include "lang/elaborate.h"

bool algorithm_when_begin(void *context, bool is_first, const Value *condition, Span span);
bool algorithm_when_assign(void *context, uint32_t slot, const Value *before, const Value *after, Span span);
void algorithm_when_bind(void *context, uint32_t slot, Value *value);
void algorithm_when_end(void *context);

/* A variable that a section assigns: its component and its slot in the code. */
typedef struct Assigned {
  uint32_t component, slot;
  bool is_whole;         /* a statement assigns all of it, so every element is determined here */
  bool in_when, outside; /* it is assigned in a when; it is assigned outside of whens */
  bool is_followed;      /* other statements read the value that one of several statements gave it */
  uint32_t first, last;  /* first and last statement of the section that assigns it */
} Assigned;

/* procedure.c: a section whose control flow is known only during simulation becomes a function of the variables that it reads
 * (`routine` is its code). Each assigned variable gets an equation that calls the function. */
void procedure_make(Elaboration *el, const AstSection *section, const Routine *routine, const Assigned *assigned,
                    uint32_t count);
