/* number: the domain of plain doubles, for values that are known at compile time. A text is its Name. */
#pragma once

#include "model/execute.h"

typedef struct NumberContext {
  Names *names;
} NumberContext;

/* Texts one behind the other, as a new one. */
double number_join(Names *names, const double *parts, uint32_t count);

/* The domain over doubles; `context` must outlive it. */
Domain number_domain(NumberContext *context);
