/* kernel: straight-line code for some outputs, with one or many instances that differ only in their leaves.
 *
 * Invariant: each line defines one value, once, after its operands. Values that are equal for all instances (numbers, uniform
 * leaves and everything computed from them) are in the prologue, which runs once per evaluation; the body runs for each instance. A
 * kernel with one instance has only a prologue. Tape (tape.h) and C text (ctext.h) are both made from kernels, so they do the same
 * operations in the same order. */
#pragma once

#include "code/instances.h"
#include "expr/dag.h"

/* The code of a line: an operator of ops.def on a, b, c; one of lines.def; or one of these. */
typedef enum LineCode {
  LINE_BASE = OP_COUNT - 1,
#define LINE(id, arity, value) LINE_##id,
#include "code/lines.def"
#undef LINE
  LINE_POWER,  /* a to the integer power b, where b is not an operand */
  LINE_CALL,   /* call site a (an index, not an operand); its value is the site's first result */
  LINE_RESULT, /* result b of the call site a, computed by its LINE_CALL */
  LINE_COUNT
} LineCode;

typedef enum OperandKind {
  OPERAND_NUMBER,  /* numbers[index] */
  OPERAND_SLOT,    /* the instance's leaf */
  OPERAND_UNIFORM, /* value of a line of the prologue */
  OPERAND_VALUE,   /* value of a line of the body */
} OperandKind;

typedef uint32_t Operand; /* kind << 30 | index */

static inline Operand operand(OperandKind kind, uint32_t index) { return (uint32_t)kind << 30 | index; }
static inline OperandKind operand_kind(Operand o) { return (OperandKind)(o >> 30); }
static inline uint32_t operand_index(Operand o) { return o & 0x3fffffffu; }

typedef struct Line {
  uint32_t code;
  Operand a, b, c;
} Line;

/* Number of operands of an operator in a line; undefined for leaves and similar nodes, which are not lines. */
#define OPERATOR_ARITY(arity) ((arity) == 1 ? 1 : (arity) == 2 ? 2 : 3)

/* Number of operands of a code that are Operands (0 for calls: see CallSite). */
static inline uint32_t code_arity(uint32_t code) {
  switch (code) {
#define OP(id, name, arity, kind, value, domain, d1, d2, d3) \
  case OP_##id:                                              \
    return OPERATOR_ARITY(arity);
#include "expr/ops.def"
#undef OP
#define LINE(id, arity, value) \
  case LINE_##id:              \
    return arity;
#include "code/lines.def"
#undef LINE
  case LINE_CALL:
  case LINE_RESULT: return 0;
  case LINE_POWER: return 1;
  default: return 3;
  }
}

static inline uint32_t line_arity(const Line *line) { return code_arity(line->code); }

/* A call of a function of the model: the arguments, and the results wanted. */
typedef struct CallSite {
  Expr node; /* some call node of the site */
  uint32_t function, argument_count, partial_count, result_count;
  Operand *arguments;
  uint32_t *partials; /* argument positions, ascending */
  uint32_t *results;  /* numbers of outputs of the function, one per LINE_CALL and LINE_RESULT of the site */
} CallSite;

/* How a program calls the functions of the model: `run` computes the results of a site from the values of its arguments. */
typedef struct Calling {
  bool (*run)(void *caller, const CallSite *site, const double *arguments, double *results);
  void *caller;
} Calling;

typedef VEC(Line) LineVec;

typedef struct Kernel {
  Instances instances;
  VEC(double) numbers;
  LineVec prologue, body;
  VEC(CallSite) calls;
  /* Each output is the value of a separate line: of the prologue if there is one instance, otherwise of the body. */
  Operand *outputs;
} Kernel;

/* Leaves of a kernel: expressions (leaves of the graph, or any node computed elsewhere) and numbers that are slots. */
typedef struct SlotMap {
  Map nodes;   /* Expr -> slot */
  Map numbers; /* bits of a constant -> slot */
} SlotMap;

/* Code for the expressions `roots` (one per output of the instances) with the given slots. O(graph below the roots). */
Kernel kernel_make(Heap *heap, Dag *dag, const Expr *roots, Instances instances, const SlotMap *slots);
