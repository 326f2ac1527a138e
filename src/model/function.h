/* function: the form in which functions and algorithm sections are kept and run. A Routine is typed stack
 * code; a Function is a routine with the sizes of its arguments settled, which is what equations call
 * (dag_call).
 *
 * Invariant: code is checked when it is made (lang/): every jump is inside, every pop has its push, every
 * slot and type is right. Sizes of arrays are checked while running. Control flow is structured: the
 * machine (execute.h) runs both branches of an if whose condition is not known and merges what they
 * assign. */
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

/* Instructions; `a` and `b` are their operands. The stack holds values (arrays, scalars, records). A list
 * in `extra` has its length first. */
typedef enum Code {
  /* values */
  CODE_CONSTANT, /* push constants[b] of base type a */
  CODE_LITERAL,  /* push literal number a of enumeration b */
  CODE_STRING,   /* push the string with Name b */
  CODE_LOCAL,    /* push slot b */
  CODE_GLOBAL,   /* push component b of the model (only in code of a model) */
  CODE_SIZES,    /* push the vector of the sizes of component b of the model */
  CODE_ALL,      /* push the subscript `:` */
  CODE_FIELD,    /* pop record, push its field b */
  CODE_INDEX,    /* pop b subscripts and the array under them, push the part */
  CODE_ARRAY,    /* pop b values of one shape, push the array of them */
  CODE_MATRIX,   /* pop b values, concatenate along dimension a + 1 as arrays of two dimensions or more */
  CODE_RANGE,    /* pop first, (a: step,) last; push the vector */
  CODE_RECORD,   /* pop the fields of record b, push it */
  /* operators: element by element where the language says so */
  CODE_SUM,           /* pop a values, push their sum (strings: joined); bit i of extra[b + i / 32]: subtract */
  CODE_MULTIPLY,      /* product of scalars, of matrices and vectors; a: element by element */
  CODE_DIVIDE,        /* by a scalar; a: element by element */
  CODE_POWER,         /* of scalars, of a square matrix by an Integer; a: element by element */
  CODE_ADD_EACH,      /* .+ */
  CODE_SUBTRACT_EACH, /* .- */
  CODE_COMPARE,       /* a: an Op of kind relation; strings compare by text */
  CODE_APPLY,         /* pop a arguments, apply the scalar operator b (an Op) element by element */
  CODE_SKIP_FALSE,    /* top is known to be false: jump to b, which leaves it there (`and`) */
  CODE_SKIP_TRUE,     /* the same for true (`or`) */
  CODE_BUILTIN,       /* pop a arguments of the array function b (builtin.def) */
  CODE_SPECIAL,       /* pop a arguments of the operator b (Special), element by element */
  CODE_CONVERT,       /* pop an Integer, push that literal of enumeration b, which has a of them */
  CODE_CALL,          /* extra[b]: routine, outputs wanted, then the input slots of the a arguments popped */
  CODE_BIND,          /* pop a value into slot b, within an expression */
  CODE_DROP,          /* pop a values */
  /* if-expression: condition, IF_VALUE, then-value, ELSE_VALUE, else-value, END_VALUE */
  CODE_IF_VALUE,   /* pop condition; b: position of ELSE_VALUE */
  CODE_ELSE_VALUE, /* b: position of END_VALUE */
  CODE_END_VALUE,
  /* comprehension: range, EACH, value, EACH_NEXT: collects an array of the values */
  CODE_EACH,      /* pop range; loop slot a; b: position of EACH_NEXT */
  CODE_EACH_NEXT, /* b: position of EACH; a: base type of the elements if there are none */
  /* statements */
  CODE_DECLARE,    /* pop a sizes (`:` for free ones) and make slot b; of an input that was given: check them */
  CODE_DEFAULT,    /* input slot a was given: jump to b */
  CODE_BODY,       /* sizes and bindings of all slots are done */
  CODE_STORE,      /* pop the subscripts and the value under them into the place extra[b]: slot, number of steps,
                      then each step: STEP_FIELD and field, or STEP_INDEX and number of subscripts */
  CODE_IF,         /* pop condition; b: position of ELSE, always present */
  CODE_ELSE,       /* b: position of END_IF */
  CODE_END_IF,     /* extra[b]: list of slots assigned in the statement */
  CODE_FOR,        /* pop range; loop slot a; b: position of END_FOR */
  CODE_END_FOR,    /* b: position of FOR */
  CODE_WHILE,      /* begin of the condition; b: position of END_WHILE */
  CODE_WHILE_TEST, /* pop condition; b: position of END_WHILE */
  CODE_END_WHILE,  /* b: position of WHILE */
  CODE_LOOP,       /* just before END_FOR and END_WHILE: extra[b]: list of slots assigned in the loop */
  CODE_BREAK,
  CODE_RETURN,
  CODE_ASSERT,    /* pop level, message, condition */
  CODE_TERMINATE, /* pop message */
  CODE_WHEN,      /* in code of a model: pop condition (a vector: any of them); a: first branch; b: position of
                     the next ELSE_WHEN or END_WHEN */
  CODE_ELSE_WHEN, /* ends a branch; b: position of END_WHEN */
  CODE_END_WHEN,  /* extra[b]: list of slots assigned */
  CODE_REINIT,    /* pop value and target */
  CODE_MISSING,   /* a function that is not defined: Name b */
  CODE_EXTERNAL,  /* the body is in another language */
  CODE_END,
  CODE_COUNT
} Code;

/* Operators with a meaning of their own in each domain. */
typedef enum Special {
  SPECIAL_TIME,
  SPECIAL_DER,
  SPECIAL_PRE,
  SPECIAL_EDGE,
  SPECIAL_CHANGE,
  SPECIAL_INITIAL,
  SPECIAL_TERMINAL,
  SPECIAL_SAMPLE,
  SPECIAL_DELAY,
  SPECIAL_COUNT
} Special;

enum { STEP_FIELD = 0, STEP_INDEX = 1 };

typedef struct Instruction {
  uint16_t code, a;
  uint32_t b;
} Instruction;

/* A slot: input, output, local or loop variable. Its sizes are set by CODE_DECLARE. */
typedef struct Local {
  Name name;
  Type type;
  bool has_default;
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
  ROUTINE_CODE,     /* Modelica statements */
  ROUTINE_EXTERNAL, /* external "C" or "FORTRAN 77": cannot be run here */
  ROUTINE_BUILTIN,  /* external "builtin": calls become operators, the body is not run */
} RoutineKind;

typedef struct Routine {
  Name name;
  RoutineKind kind;
  Name external;      /* name of the external function */
  Span external_span; /* the clause `external ...` with its annotation, for `flatten` */
  uint32_t number;    /* position in the model's list of routines */
  VEC(Local) locals;  /* slot -> local; inputs first, then outputs, then the rest */
  uint32_t inputs, outputs;
  VEC(Instruction) code;
  VEC(Span) spans; /* of each instruction */
  VEC(double) constants;
  IndexVec extra;
  VEC(Derivative) derivatives;
  bool is_impure;    /* impure function: never folded */
  bool makes_events; /* annotation GenerateEvents = true */
  bool is_broken;    /* its code had errors: never run */
  Span span;
} Routine;

/* A value's sizes, flattened to scalars in row-major order; a record is the sequence of its fields. */
typedef struct Shape {
  Type type;
  uint32_t *sizes;      /* type.dimensions of them */
  uint32_t scalars;     /* number of scalars in all */
  struct Shape *fields; /* of a record: as many as its fields, sizes of the array of records included */
} Shape;

/* A routine with settled sizes: argument k of dag_call is the k-th scalar of the inputs in order, output k
 * the k-th scalar of the outputs in order. */
typedef struct Function {
  Name name;
  const Routine *routine;
  uint32_t input_count, output_count; /* values, not scalars */
  Shape *inputs, *outputs;
  uint32_t arguments, results; /* scalars in all */
} Function;

/* Appends an instruction and gives its position. */
uint32_t routine_emit(Heap *heap, Routine *routine, Code code, uint32_t a, uint32_t b, Span span);

#endif
