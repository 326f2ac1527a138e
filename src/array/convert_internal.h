/* convert_internal: shared by the steps of a conversion (convert.h). */
#pragma once

#include "array/convert.h"
#include "array/dependence.h"

typedef struct Converter {
  Arena *arena;
  Heap *heap;
  Model *model;
  Dag *dag;
  Diags *diags;
  const Modes *modes;
  Samples samples;
  Problem problem;
  Structure structure;
  ConversionVec *list;
  SingularVec *singular; /* NULL: not requested */
  bool *read;            /* per parameter: its value decided a step; NULL: not requested */
  bool *followed;        /* per discrete leaf: the parameters that decide it are among these */
  int32_t *place;        /* per unknown: its column in the Jacobian of the current block */
  bool failed;           /* an error was reported */
} Converter;

/* A linear combination of derivatives of equations: row k times its factor. */
typedef struct Combination {
  uint32_t count;
  uint32_t *equation; /* equations of the problem, per row; the last is the equation that may be replaced */
  int32_t *times;     /* how often it is differentiated */
  Expr *row, *factor;
  Expr left; /* the sum, without terms that cancel; 0 if only round-off is left */
} Combination;

/* Makes a combination with the factors of a dependence; the caller fills in the rows. Owned by the arena. */
Combination combination_make(const Converter *converter, const Dependence *dependence);

/* Finds the rows and their sum. */
void combination_sum(const Converter *converter, Combination *combination);

/* Equation i of the problem, differentiated this many times. */
Expr converter_derivative(const Converter *converter, uint32_t i, int32_t times);

/* Substitutes a number for leaves on which e does not depend. */
Expr converter_drop_leaves(const Converter *converter, Expr e, const ExprVec *leaves, double number);

/* For a part with more equations than variables, such as two brakes that hold one shaft: finds an equation that equals a
 * combination of derivatives of the others (surplus.c). false: none was found. */
bool surplus_find(const Converter *converter, Combination *combination);

/* Records a step: equation i of the problem is now `after`. */
void converter_note(Converter *converter, ConversionKind kind, uint32_t i, const char *after, const char *how);

/* Text of an expression, and `residual = 0`, with relations instead of the modes that stand for them; owned by the arena. */
const char *converter_text(const Converter *converter, Expr e);
const char *converter_residual_text(const Converter *converter, Expr residual);

/* e without the leaves that only seem to occur in it: their partial derivatives vanish at all samples. */
Expr converter_drop_apparent(Converter *converter, Expr e);

/* The step by expression substitution (substitute.c). true: problem and structure are new. */
bool converter_substitute(Converter *converter, const BlockJacobian *jacobian);
