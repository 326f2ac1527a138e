/* algorithm: what the machine tells about when-statements of an algorithm section that runs (see Domain in execute.h). */
#ifndef DAEDAL_LANG_ALGORITHM_H
#define DAEDAL_LANG_ALGORITHM_H

#include "lang/elaborate.h"

bool algorithm_when_begin(void *context, bool is_first, const Value *condition, Span span);
bool algorithm_when_assign(void *context, uint32_t slot, const Value *before, const Value *after, Span span);
void algorithm_when_settle(void *context, uint32_t slot, Value *value);
void algorithm_when_end(void *context);

/* Makes the section a procedure of the model. */
void procedure_make(Elaboration *el, const AstSection *section);

#endif
