/* op: the operators of expressions. ops.def has a row for each; everything here is made from it. Exported solvers contain this file
 * unchanged. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Leaves first. */
typedef enum Op {
#define OP(id, ...) OP_##id,
#include "expr/ops.def"
#undef OP
  OP_COUNT
} Op;

/* Name, arity and kind of an operator. */
typedef enum OpKind {
  KIND_LEAF,
  KIND_SMOOTH,    /* differentiable where defined */
  KIND_PIECEWISE, /* abs, sign, min, max, floor, ...: may jump or kink: an event unless within noEvent */
  KIND_RELATION,  /* Boolean from two numbers: an event unless within noEvent */
  KIND_LOGIC,
  KIND_LANGUAGE, /* noEvent, smooth, homotopy, initial(), sample(), delay ... */
} OpKind;
const char *op_name(Op op);
const char *op_text(Op op); /* value as C text; the identifiers a, b, c stand for the arguments (ops.def) */

/* Arities (-1: any) and kinds of all operators. */
extern const int8_t op_arities[OP_COUNT];
extern const uint8_t op_kinds[OP_COUNT];
static inline int op_arity(Op op) { return op_arities[op]; }
static inline OpKind op_kind(Op op) { return (OpKind)op_kinds[op]; }

/* if, min, max, noEvent, smooth, homotopy: the derivative is a choice among the arguments' derivatives, or a mark around them. */
bool op_is_selector(Op op);

/* <, <=, > or >=. */
static inline bool op_is_order(Op op) { return op >= OP_LESS && op <= OP_GREATER_EQUAL; }

/* Value of an operator on numbers (arity up to 3); false outside of its domain, and for operators that have
 * no value by themselves (leaves, sums, calls, sample, delay ...). The value may overflow. Used for folding;
 * the tape uses the same table. */
bool op_evaluate(Op op, const double *arguments, double *out);
