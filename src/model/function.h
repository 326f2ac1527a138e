/* function: the form in which functions and algorithm sections are kept and run. A Routine is typed stack code; a Function is a
 * routine with known sizes of its arguments; equations call it (dag_call).
 *
 * Invariant: code is checked when it is made (lang/): every jump is inside, every pop has its push, every slot and type is right.
 * Sizes of arrays are checked while running. Control flow is structured: the machine (execute.h) runs both branches of an if
 * whose condition is not known and merges their assignments. */
#pragma once

#include "base/diag.h"
#include "expr/dag.h"

typedef enum BaseType {
  TYPE_REAL,
  TYPE_INTEGER,
  TYPE_BOOLEAN,
  TYPE_STRING,
  TYPE_ENUMERATION,
  TYPE_EXTERNAL_OBJECT,
  TYPE_CLOCK,   /* only in expressions; as a variable of the model it is a Boolean that is true at ticks */
  TYPE_RECORD,  /* only in expressions and locals; variables of the model are scalar */
  TYPE_NOTHING, /* a call without result, or something that could not be typed */
} BaseType;

/* Do values of this type change at events only? */
static inline bool type_is_discrete(BaseType type) {
  return type == TYPE_INTEGER || type == TYPE_BOOLEAN || type == TYPE_ENUMERATION;
}

/* A type without the sizes: base type and number of dimensions. */
typedef struct Type {
  uint8_t base;
  uint8_t dimensions;
  uint32_t definition; /* for enumerations, records and external objects: index in the model's list */
} Type;

enum { TYPE_MAX_DIMENSIONS = 16 };

Type type_scalar(BaseType base);
Type type_with_dimensions(Type type, uint32_t dimensions);

/* The common type of an Integer and a Real is Real. */
BaseType type_join_base(BaseType a, BaseType b);

/* A field of a record. Its sizes are given, or free (UINT32_MAX) for `:`. */
typedef struct Field {
  Name name;
  Type type;
  uint32_t *sizes; /* type.dimensions of them */
} Field;

/* A function that is passed as an argument is a record of its given inputs. */
typedef struct Record {
  Name name;
  uint32_t function; /* 1 + number of its routine; 0: an ordinary record */
  VEC(Field) fields;
  Span span;
} Record;

enum { ONCE_CONDITIONS = 2 };

/* Instructions; `a` and `b` are their operands. */
typedef enum Code {
#define CODE(id, verb, arguments) CODE_##id,
#include "model/codes.def"
  CODE_COUNT
} Code;

/* Operators whose meaning each domain defines. */
typedef enum Special {
  SPECIAL_TIME,
  SPECIAL_TRANSPORT_END, /* the second output of SPECIAL_TRANSPORT */
#define SPECIAL(id, ...) SPECIAL_##id,
#include "model/specials.def"
  SPECIAL_COUNT
} Special;

/* Base type of the result; TYPE_NOTHING: that of the first argument. */
BaseType special_base(Special special);

enum { STEP_FIELD = 0, STEP_INDEX = 1 };

/* AssertionLevel, numbered as the literals of an enumeration are. */
enum { ASSERTION_WARNING = 1, ASSERTION_ERROR = 2 };

/* Operands may count arguments, elements or slots, and a program may have more than 65,535 of them. */
typedef struct Instruction {
  uint32_t code, a, b;
} Instruction;

/* Packs the element type of an empty array into an operand: base type, dimensions and, for a record, its definition. */
static inline uint32_t element_pack(Type type) {
  uint32_t definition = type.base == TYPE_RECORD ? (uint32_t)type.definition : 0;
  return (type.base > TYPE_RECORD ? (uint32_t)TYPE_REAL : type.base) | (uint32_t)type.dimensions << 4 |
         definition << 12;
}

static inline Type element_unpack(uint32_t packed) {
  return (Type){.base = packed & 0xF, .dimensions = packed >> 4 & 0xFF, .definition = packed >> 12};
}

/* A slot: input, output, local or loop variable. Its sizes are set by CODE_DECLARE. */
typedef struct Local {
  Name name;
  Type type;
  bool has_default;
  bool is_free;      /* some size is `:`: takes the size of the assigned value */
  uint32_t literals; /* for an enumeration: the number of its literals */
  Span span;
} Local;

/* annotation(derivative(order, noDerivative...) = name) */
typedef struct Derivative {
  const struct Routine *routine;
  uint32_t order;
  IndexVec without, constant; /* input slots with noDerivative, with zeroDerivative */
} Derivative;

/* annotation(inverse(x = g(...))): code with the inputs of the function and its output as inputs, which leaves x on the stack. */
typedef struct Inverse {
  uint32_t input; /* slot of x */
  struct Routine *routine;
} Inverse;

/* The origin of a routine's body. */
typedef enum RoutineKind {
  ROUTINE_CODE,       /* Modelica statements */
  ROUTINE_EXTERNAL,   /* external "C" or "FORTRAN 77" */
  ROUTINE_BUILTIN,    /* external "builtin": calls become operators, the body is not run */
  ROUTINE_DERIVATIVE, /* partial derivatives of all outputs of `base` with respect to the inputs `partials` */
} RoutineKind;

typedef struct Routine {
  Name name;
  RoutineKind kind;
  Name external;                         /* name of the external function */
  const struct External *implementation; /* NULL: not available */
  bool is_forbidden;                     /* the implementation exists, but it writes files or runs foreign code */
  Span external_span;                    /* the clause `external ...` with its annotation, for `flatten` */
  uint32_t number;                       /* position in the model's list of routines */
  VEC(Local) locals;                     /* slot -> local; inputs first, then outputs, then the rest */
  uint32_t inputs, outputs;
  VEC(Instruction) code;
  VEC(Span) spans; /* of each instruction */
  VEC(double) constants;
  IndexVec extra;
  VEC(Derivative) derivatives;
  VEC(Inverse) inverses;
  const struct Routine *base; /* base of ROUTINE_DERIVATIVE; its calls are calls of the base */
  IndexVec partials;          /* input slots, ascending */
  bool is_impure;             /* impure function: never folded */
  bool makes_events;          /* annotation GenerateEvents = true */
  bool is_broken;             /* its code had errors: never run */
  bool is_partial;            /* the function computes nothing itself; functions that extend it do */
  struct Preset *presets;     /* for an algorithm section: its variables (model/execute.h) */
  uint32_t preset_count;
  Span span;
} Routine;

/* A value's sizes, flattened to scalars in row-major order; a record is the sequence of its fields. */
typedef struct Shape {
  Type type;
  uint32_t *sizes;      /* type.dimensions of them */
  uint32_t scalars;     /* number of scalars in all */
  struct Shape *fields; /* for a record: one for each field; sizes include the sizes of the array of records */
} Shape;

/* A routine with known sizes: argument k of dag_call is the k-th scalar of the inputs in order, output k the k-th scalar of the
 * outputs in order. */
typedef struct Function {
  Name name;
  const Routine *routine;
  uint32_t input_count, output_count; /* values, not scalars */
  Shape *inputs, *outputs;
  uint32_t arguments, results; /* scalars in all; a function without outputs has one result, 0 */
  /* An event makes this call once, because it changes something outside or depends on earlier calls. It has ONCE_CONDITIONS more
   * arguments: whether its when fires, and the condition inside. */
  bool is_once;
  bool is_initial; /* the call belongs to an initial section */
} Function;

/* The slot of the input with this name; UINT32_MAX: there is none. */
uint32_t routine_input(const Routine *routine, Name name);

/* Is there a body that can be run? If not, routine_lacks says what is missing: a format with one %s for the name of the external
 * function. */
bool routine_can_run(const Routine *routine);
const char *routine_lacks(const Routine *routine);

/* Does its external function change something outside, or depend on earlier calls? */
bool routine_acts(const Routine *routine);

/* Is the function external, and does it do more than compute and read files, or return an object? */
bool routine_has_effect(const Routine *routine);

/* Does a routine that the code calls, directly or indirectly, pass the test? `all`: the routines of the model. */
bool routine_calls(Heap *heap, Routine *const *all, uint32_t count, const Routine *routine,
                   bool (*test)(const Routine *));

/* Appends an instruction and returns its position. */
uint32_t routine_emit(Heap *heap, Routine *routine, Code code, uint32_t a, uint32_t b, Span span);
