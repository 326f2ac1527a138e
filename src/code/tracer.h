/* tracer: one run of a function on numbers, recorded as expressions of its arguments.
 *
 * The scalars of the machine are numbers with the expressions from which they came. Where the control flow needs a number, the
 * expression becomes a condition of the recording. For arguments at which all conditions have the values decided here, the function
 * takes the same path, and its results are the expressions found. Loops are unrolled, arrays and records disappear, and expressions
 * that do not depend on the arguments are folded. */
#pragma once

#include "model/model.h"

typedef struct Tracer Tracer;

/* An output of a called function whose derivative is given: a leaf stands for it. */
typedef struct GivenResult {
  Expr leaf, value;
  uint32_t count;
  Expr *arguments, *partials; /* nodes of the Reals among its inputs; EXPR_NONE: the derivative is not given */
} GivenResult;

/* The path that a function took. Argument k is the leaf dag_variable(k, 0). */
typedef struct Recording {
  ExprVec conditions;
  VEC(double) decisions; /* the values of the conditions */
  ExprVec results;
  VEC(GivenResult) given; /* given results in the order in which they depend on each other */
} Recording;

typedef enum TraceStatus {
  TRACE_DONE,
  TRACE_FAILED, /* the function is undefined for these arguments */
  TRACE_IMPOSSIBLE /* the function does something that expressions cannot describe: calls of other languages, texts in results */
} TraceStatus;

/* Lives in the heap. */
Tracer *tracer_new(Heap *heap, const Model *model, Names *names);

/* Runs the function on the arguments. uses_given: use given derivatives, through leaves. */
TraceStatus tracer_run(Tracer *tracer, Dag *dag, const Function *function, const double *arguments, bool uses_given,
                       Recording *out);

void recording_free(Heap *heap, Recording *recording);
