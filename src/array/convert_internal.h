/* convert_internal: what the steps of a conversion share (convert.h). */
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
  SingularVec *singular; /* NULL: not asked for */
  bool failed;           /* an error was reported */
} Converter;

/* Records a step: equation i of the problem is now `after`. */
void converter_note(Converter *converter, ConversionKind kind, uint32_t i, const char *after, const char *how);

/* Text of an expression, and `residual = 0`, with relations where modes stand for them; owned by the arena. */
const char *converter_text(const Converter *converter, Expr e);
const char *converter_residual_text(const Converter *converter, Expr residual);

/* e without the leaves that only seem to occur in it: their partial derivatives vanish at all samples. */
Expr converter_drop_apparent(Converter *converter, Expr e);

/* The step by expression substitution (substitute.c). true: problem and structure are new. */
bool converter_substitute(Converter *converter, const BlockJacobian *jacobian);
