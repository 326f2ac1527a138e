/* compile: the steps of compiling one expression, shared by compile.c, reference.c and call.c. */
#pragma once

#include "lang/elaborate.h"

/* An expression in progress: its kids are compiled one after another; `kid` is the next one. */
struct Task {
  AstExpr e;
  uint32_t kid;
  uint32_t part, subscript; /* of references */
  uint32_t lead;            /* for references: dimensions of the records before the part */
  uint32_t
      height; /* height of compiler->types, ->names or ->patches when the task began; which one depends on the kind */
  uint32_t start; /* position in the code */
  Type expected;
  Type type; /* joined so far */
  Name scope;
  const Intrinsic *intrinsic;
  ClassEntry *entry;
  uint32_t routine;       /* of calls */
  uint32_t callee;        /* for a call of a function in a slot: 1 + the slot */
  uint32_t list;          /* for calls: where the slots of the arguments begin in patches */
  uint32_t wanted;        /* outputs of a call */
  const AstClass *record; /* for calls: the types of the arguments choose among its functions for `operator` */
  const char *operator;
  bool is_started, is_entered, is_sizes;
};

/* Where `end` is allowed: subscript number `subscript` of part `part` of a reference. */
struct EndPlace {
  AstExpr reference;
  uint32_t part, subscript;
  uint32_t task; /* tasks below it belong to the subscript */
};

typedef enum PlaceKind {
  PLACE_NONE,
  PLACE_SLOT,
  PLACE_GLOBAL,
  PLACE_CONSTANT,
  PLACE_LITERAL,
  PLACE_TIME,
  PLACE_STEM
} PlaceKind;

/* The meaning of the beginning of a path. */
typedef struct Place {
  PlaceKind kind;
  uint32_t index; /* slot, component, enumeration */
  Type type;
  double value;   /* value of a constant; number of a literal */
  Name name;      /* of a stem */
  uint32_t parts; /* number of parts of the path that it consumes */
} Place;

Place place_find(Compiler *compiler, AstPath path);
bool find_local(Compiler *compiler, Name name, Place *place);
Place component_place(Compiler *compiler, uint32_t component, uint32_t parts);
void place_emit(Compiler *compiler, const Place *place, Span span);

/* Starts the compilation of a kid. */
void task_push(Compiler *compiler, AstExpr e, Type expected, Name scope);
struct Task *task_top(Compiler *compiler);

/* Ends the task on top: the value of type `type` is on the stack. */
void task_done(Compiler *compiler, Type type);

/* One step of a reference, of `end`, or of a call. */
void reference_step(Compiler *compiler);
void end_step(Compiler *compiler);
void call_step(Compiler *compiler);
void partial_step(Compiler *compiler);
void iteration_step(Compiler *compiler);

/* The type after `count` subscripts are applied; their types are on top of compiler->types. */
Type index_type(Compiler *compiler, Type array, uint32_t count, Span span);
Type field_type(Compiler *compiler, Type record, Name name, Span span, uint32_t *field);
Type type_all(void);
void emit_constant(Compiler *compiler, BaseType base, double value, Span span);
void patch_here(Compiler *compiler, uint32_t position);

/* stem.c: loads a value that is assembled from single components; TYPE_NOTHING after an error. */
Type stem_emit(Compiler *compiler, const Place *place, Type expected, Span span);
/* Assigns the value on top to components declared one by one; false after an error. */
bool stem_store(Compiler *compiler, AstExpr target, Type value);

/* Value of a condition that is known at compile time (constants, evaluated parameters): 1, 0, or -1 if it is not known. */
int condition_now(Compiler *compiler, AstExpr e);

/* overload.c: applies operator `name` to the values on top of the stack and pops their types. Returns false, and does nothing, if
 * no record has a function for them. `is_each`: .* and the like. */
bool overload_binary(Compiler *compiler, const char *name, bool is_each, Type a, Type b, Span span, Type *out);
bool overload_unary(Compiler *compiler, const char *name, Type a, Span span, Type *out);
/* `count`: how many functions of the record for operator `name` have the inputs that the call gives. Returns the function if there
 * is exactly one, else NULL. */
ClassEntry *overload_only(Elaboration *el, const AstClass *record, const char *name, AstExpr e, uint32_t *count);
/* The function among them that takes arguments of these types; NONE if there is none. */
uint32_t overload_choose(Elaboration *el, const AstClass *record, const char *name, AstExpr e, const Type *types);
/* The class of the record if it defines its own conversion to String; else NULL. */
const AstClass *overload_text(const Elaboration *el, Type type);

/* Calls a routine with the arguments on the stack, which are for these inputs. */
void compile_call(Compiler *compiler, uint32_t routine, uint32_t wanted, const uint32_t *slots, uint32_t count,
                  Span span);
