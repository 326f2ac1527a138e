/* number: the domain of plain doubles, for values that are known at compile time. A text is its Name. */
#pragma once

#include "model/execute.h"

typedef struct NumberContext {
  Names *names;
} NumberContext;

/* Joins texts into a new one. */
double number_join(Names *names, const double *parts, uint32_t count);

/* How String(value, ...) writes a number (Modelica 3.6, section 3.7.1.1). */
typedef struct TextFormat {
  const char *format; /* "2.6f"; NULL: the other members apply */
  double digits, length;
  bool is_left;
} TextFormat;

/* Reads the options after a value of this type: `format`, or if that is NULL the other options by position. false: not a valid
 * format. */
bool text_format_read(BaseType base, const double *options, uint32_t count, const char *text, TextFormat *format);
void text_of_number(Heap *heap, TextVec *text, double number, BaseType base, const TextFormat *format);

/* The domain over doubles; `context` must outlive it. */
Domain number_domain(NumberContext *context);
