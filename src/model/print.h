/* print: shared by the files that print a model (print.c: the model; print_call.c: calls with arrays and
 * records; print_routine.c: functions from their code; print_shared.c: functions for shared expressions). */
#pragma once

#include "model/model.h"

/* The functions that the text refers to. */
typedef struct PrintUse {
  uint32_t routine;
  uint32_t output; /* 0: the function itself; k: the function that gives its output number k + 1 */
} PrintUse;

/* A function declared so that calls with partial derivatives can be written: its name, and its declaration. */
typedef struct PrintDerivative {
  Name name;
  const char *text;
} PrintDerivative;

/* A scalar argument of a call: the text before it, and its ValueKind. */
typedef struct PrintPlace {
  const char *before;
  uint32_t kind;
} PrintPlace;

/* Positions in one of the model's lists, in order of first use. */
typedef struct PrintList {
  bool *has; /* by position */
  IndexVec order;
} PrintList;

/* Leaves that became inputs of a function for a shared expression, and the number of each, from 1. */
typedef struct PrintInputs {
  ExprVec leaves;
  Map number;
} PrintInputs;

typedef struct Print {
  Model *model;
  Heap *heap;
  Arena arena;             /* texts of one printing */
  bool is_flat;            /* every name in quotes */
  const ModelNotes *notes; /* NULL: no comments */
  bool in_algorithm;       /* statements are printed, not equations */
  LeafPrinter leaves;
  PrintList enumerations, records, objects; /* what the text refers to in the model */
  VEC(PrintUse) uses;                       /* in order of first use */
  Map used;                                 /* routine and output -> position in uses */
  VEC(PrintDerivative) derivatives;         /* declarations of partial derivatives */
  VEC(PrintPlace *)
  layouts;                  /* by function: its arguments, and one more for the closing text; NULL: not made yet */
  PrintInputs *inputs;      /* leaves are printed as these inputs; NULL: by their own names */
  TextVec shared_functions; /* text of the functions made so far */
  uint32_t shared_count;
  uint64_t *digest; /* hash of the printed text and of arithmetic, which are not kept; NULL: all is text */
} Print;

/* A printer for one or more texts, freed with print_free. It must not move, because its address is the context of `leaves`. */
void print_start(Print *print, Model *model, Heap *heap, bool is_flat);
void print_free(Print *print);

/* The name as a model writes it: in quotes if it is not made of identifiers, dots and subscripts. */
void print_as_written(Heap *heap, TextVec *text, const char *name);

/* The name as text in the arena. */
const char *print_name(Print *print, Name name);

/* The name of a record. Records that the text refers to it. */
const char *print_record(Print *print, uint32_t definition);

/* The beginning of a record value: R( or, for a function as an argument, function f( with labels before its fields. */
const char *print_record_open(Print *print, Arena *arena, uint32_t definition);
const char *print_field_label(Print *print, Arena *arena, uint32_t definition, uint32_t field);

/* ValueKind of a type, and its name in the language. */
uint32_t print_kind(Type type);
void print_type(Print *print, TextVec *text, Type type);

/* Literal number `value` of an enumeration: 'E'.'a'. */
void print_literal(Print *print, TextVec *text, uint32_t enumeration, double value);

/* Records that the text calls a routine (for its output number `output`), and returns the name to call. */
const char *print_use(Print *print, uint32_t routine, uint32_t output);

/* ---- print_call.c: members of LeafPrinter ---- */
const char *print_call_around(void *context, CallInfo call, uint32_t position);
uint32_t print_call_argument(void *context, CallInfo call, uint32_t position);
uint32_t print_call_kind(const Print *print, CallInfo call);

/* ---- print_shared.c ---- */

/* If the text of e would be much longer than its graph, prints e as the call of a function with named parts. Otherwise prints
 * nothing and returns false. */
bool print_shared(Print *print, TextVec *text, Expr e);

/* Prints the leaf as an input of the function that is being made. */
void print_input(Print *print, TextVec *text, Expr leaf);

/* ---- print_routine.c ---- */

/* All functions in print->uses, which grows while printing. */
void print_functions(Print *print, TextVec *text);
