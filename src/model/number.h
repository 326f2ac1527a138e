/* number: the domain of plain doubles, for values that are known at compile time. A text is its Name. */
#pragma once

#include "model/execute.h"

typedef struct NumberContext {
  Names *names;
} NumberContext;

/* The domain over doubles; `context` must outlive it. */
Domain number_domain(NumberContext *context);
