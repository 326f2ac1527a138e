/* function: the form in which functions and algorithm sections are kept and run. A Routine is typed stack code; a Function
 * is a routine with the sizes of its arguments settled, which is what equations call (dag_call, Procedure).
 *
 * Invariant: code is checked when it is made (lang/): every jump is inside, every pop has its push, every slot
 * and type is right. Sizes of arrays are checked while running. Control flow is structured: the machine (execute.h) runs both
 * branches of an if whose condition is not known and merges what they assign.
 */
#ifndef DAEDAL_MODEL_FUNCTION_H
#define DAEDAL_MODEL_FUNCTION_H

#include "base/diag.h"
#include "expr/dag.h"

typedef enum BaseType {
  TYPE_REAL,
  TYPE_INTEGER,
  TYPE_BOOLEAN,
  TYPE_STRING,
  TYPE_ENUMERATION,
  TYPE_EXTERNAL_OBJECT,
  TYPE_RECORD,  /* of expressions and locals; variables of the model are scalar */
  TYPE_NOTHING, /* a call without result; the type of what could not be typed */
} BaseType;

/* A type without the sizes: base type and number of dimensions. */
typedef struct Type {
  uint8_t base;
  uint8_t dimensions;
  uint32_t definition; /* of enumerations, records and external objects: index in the model's list */
} Type;

enum { TYPE_MAX_DIMENSIONS = 16 };

/* A field of a record. Its sizes are those given, or free (UINT32_MAX) for `:`. */
typedef struct Field {
  Name name;
  Type type;
  uint32_t *sizes; /* type.dimensions of them */
} Field;

typedef struct Record {
  Name name;
  VEC(Field) fields;
  Span span;
} Record;

/* Instructions; `a` and `b` are their operands. The stack holds values (arrays, scalars, records). */
typedef enum Code {
  /* values */
  CODE_CONSTANT,   /* push constants[b] of base type a */
  CODE_ENUM,       /* push the literal number a of enumeration b */
  CODE_STRING,     /* push the string with Name b */
  CODE_LOCAL,      /* push slot b */
  CODE_GLOBAL,     /* push component b of the model (only in code of a model) */
  CODE_TIME,       /* push time (only in code of a model) */
  CODE_ALL,        /* push the subscript `:` */
  CODE_FIELD,      /* pop record, push its field b */
  CODE_INDEX,      /* pop b subscripts and the array under them, push the part */
  CODE_ARRAY,      /* pop b values of one shape, push the array of them; a: base type when b is 0 */
  CODE_MATRIX,     /* pop b values, concatenate along dimension a (1 or 2) as matrices; record the rest in extra */
  CODE_RANGE,      /* pop first, (a: step,) last; push the vector */
  CODE_RECORD,     /* pop the fields of record b, push it */
  /* operators: element by element where the language says so */
  CODE_SUM,        /* pop a values; signs from extra[b], 32 a word: push the sum (strings: joined) */
  CODE_NEGATE,
  CODE_MULTIPLY,   /* product of scalars, of matrices and vectors; a: element by element */
  CODE_DIVIDE,     /* a: element by element, scalar / array allowed */
  CODE_POWER,      /* of scalars, of a square matrix by an Integer; a: element by element */
  CODE_ADD_EACH,   /* .+ with scalar and array */
  CODE_SUBTRACT_EACH,
  CODE_COMPARE,    /* a: an Op of kind relation; strings compare by text */
  CODE_NOT,
  CODE_AND,        /* of arrays; scalars use CODE_IF_VALUE so that the right side is not needed */
  CODE_OR,
  CODE_APPLY,      /* pop a arguments, apply the scalar operator b (an Op) element by element */
  CODE_BUILTIN,    /* pop a arguments of the array function b (builtin.def) */
  CODE_CONVERT,    /* value on top becomes base type a (Integer or Real), same number */
  CODE_CALL,       /* call routine extra[b]; extra[b + 1] outputs wanted, then the a input slots of the arguments popped */
  CODE_DROP,       /* pop a values */
  /* if-expression: condition; IF_VALUE else; then-value; ELSE_VALUE end; else-value; END_VALUE */
  CODE_IF_VALUE,   /* pop condition; b: position of ELSE_VALUE */
  CODE_ELSE_VALUE, /* b: position of END_VALUE */
  CODE_END_VALUE,
  /* comprehension: range; EACH slot a, end b; value; EACH_NEXT: collects an array from the values */
  CODE_EACH,       /* pop range; loop slot a; b: position of EACH_NEXT */
  CODE_EACH_NEXT,  /* b: position of EACH; a: TYPE of elements when there are none */
  /* statements */
  CODE_DECLARE,    /* pop the sizes of slot b and make it (a: sizes on the stack) */
  CODE_DEFAULT,    /* input slot a was given: jump to b */
  CODE_STORE,      /* pop the subscripts and the value into the place extra[b]: slot, steps, then each step: STEP_FIELD field, or
                      STEP_INDEX count */
  CODE_IF,         /* pop condition; b: position of ELSE (always present) ; extra[a...]: see CODE_END_IF */
  CODE_ELSE,       /* b: position of END_IF */
  CODE_END_IF,     /* b: extra[b] slots assigned in the statement, count first */
  CODE_FOR,        /* pop range; loop slot a; b: position of END_FOR */
  CODE_END_FOR,    /* b: position of FOR */
  CODE_WHILE,      /* begin of the condition; b: position of END_WHILE */
  CODE_WHILE_TEST, /* pop condition; b: position of END_WHILE */
  CODE_END_WHILE,  /* b: position of WHILE */
  CODE_BREAK,      /* b: position of the loop's end */
  CODE_RETURN,
  CODE_ASSERT,     /* pop level, message, condition */
  CODE_TERMINATE,  /* pop message */
  CODE_WHEN,       /* in code of a model; a conditions popped, b: position of the next ELSE_WHEN or END_WHEN */
  CODE_ELSE_WHEN,  /* ends a branch; b: position of END_WHEN */
  CODE_END_WHEN,   /* b: extra[b] slots assigned, count first */
  CODE_REINIT,     /* pop value and target */
  CODE_MISSING,    /* a function that is not defined: Name b; running it is an error */
  CODE_END,
} Code;

enum { STEP_FIELD = 0, STEP_INDEX = 1 };

typedef struct Instruction {
  uint16_t code, a;
  uint32_t b;
} Instruction;

/* A slot: input, output, local or loop variable. Sizes are set by CODE_DECLARE; `sizes` has those that are constant. */
typedef struct Local {
  Name name;
  Type type;
  bool is_input, is_output, has_default;
  bool is_free; /* some size is `:`: takes the size of what is assigned */
  Span span;
} Local;

/* annotation(derivative(order, noDerivative...) = name) */
typedef struct Derivative {
  Name name;
  struct Routine *routine; /* NULL if not defined */
  uint32_t order;
  IndexVec without; /* input slots with noDerivative or zeroDerivative */
} Derivative;

/* Whose body it is. */
typedef enum RoutineKind {
  ROUTINE_CODE,    /* Modelica statements */
  ROUTINE_EXTERNAL,/* external "C" or "FORTRAN 77": cannot be run here */
  ROUTINE_BUILTIN, /* external "builtin": calls become operators, the body is not run */
} RoutineKind;

typedef struct Routine {
  Name name;
  RoutineKind kind;
  Name external;    /* name of the external function */
  uint32_t number;  /* position in the model's list of routines */
  VEC(Local) locals; /* slot -> local; inputs first, then outputs, then the rest */
  uint32_t inputs, outputs;
  VEC(Instruction) code;
  VEC(Span) spans;       /* of each instruction */
  VEC(double) constants;
  IndexVec extra;
  VEC(Derivative) derivatives;
  bool is_impure;   /* impure function: never folded */
  bool no_inline;   /* annotation Inline = false; only a wish */
  Span span;
} Routine;

/* A value's sizes, flattened to scalars in row-major order; a record is the sequence of its fields. */
typedef struct Shape {
  Type type;
  uint32_t *sizes;  /* type.dimensions of them */
  uint32_t scalars; /* number of scalars in all */
  struct Shape *fields; /* of a record: as many as its fields, sizes of the array of records included */
} Shape;

/* A routine with settled sizes: argument k of dag_call is the k-th scalar of the inputs in order, output k the k-th
 * scalar of the outputs in order. */
typedef struct Function {
  Name name;
  const Routine *routine;
  uint32_t input_count, output_count; /* values, not scalars */
  Shape *inputs, *outputs;
  uint32_t arguments, results;        /* scalars in all */
} Function;

/* Name of a code for dumps and tests: static text. */
const char *code_name(Code code);

/* Appends an instruction and gives its position. */
uint32_t routine_emit(Heap *heap, Routine *routine, Code code, uint32_t a, uint32_t b, Span span);

#endif
