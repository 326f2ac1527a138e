/* convert: repairs a problem whose structure is sound but whose Jacobian is identically singular, by rewriting its equations
 * until the structural analysis is right.
 *
 * Mattsson and Söderlind 1991, section 4, recommend it ("manipulate the original undifferentiated system"). The steps are those of
 * Tan, Nedialkov and Pryce 2017. If u^T J = 0, an equation is replaced by a linear combination of derivatives of equations that
 * contains no highest derivative. If J v = 0, unknowns are replaced by expressions. Every step lowers the value of the signature
 * matrix, the structural number of degrees of freedom, so there are finitely many.
 *
 * Invariant: every intermediate problem has the solutions of the given one, wherever the factors of replaced equations are
 * not zero. */
#pragma once

#include "array/freedom.h"
#include "array/modes.h"
#include "array/regular.h"

typedef enum ConversionKind {
  CONVERSION_VANISHED,     /* terms that are zero at the given parameter values were left out */
  CONVERSION_COMBINATION,  /* replaced by a linear combination */
  CONVERSION_SUBSTITUTION, /* an expression was substituted for unknowns */
  CONVERSION_RELEASED,     /* redundant: replaced by one that holds a free unknown at its start value */
  CONVERSION_SHARED,       /* redundant: replaced by one that brings free unknowns nearest to their start values */
} ConversionKind;

typedef struct Conversion {
  ConversionKind kind;
  uint32_t equation;  /* of the model */
  const char *before; /* the equation as written */
  const char *after;  /* the equation that replaces it */
  const char *how;    /* how it was derived: `equation 1 - der(equation 2)`, or in words */
} Conversion;

typedef VEC(Conversion) ConversionVec;

typedef enum ConvertStatus {
  CONVERT_REGULAR, /* nothing had to be done */
  CONVERT_DONE,
  CONVERT_FAILED, /* an error is in diags */
} ConvertStatus;

/* Checks the problem and repairs it: problem and structure are replaced if needed. The steps are appended to `list`. The singular
 * blocks of the given problem are appended to `singular` if it is not NULL, first those that are singular everywhere, then those
 * that are singular only at the start values. If necessary, the offsets are raised so that they include every derivative in the
 * equations as written and every alias v = der(x). modes: those extracted from the equations, for texts. parameters: values by leaf
 * index. read[parameters], if it is not NULL: marks the parameters whose values decided a step. If the remaining parameters have
 * other values, the steps are the same, unless these values make another block singular. The arena owns everything, its heap the
 * lists. */
ConvertStatus convert_run(Problem *problem, Structure *structure, const Modes *modes, const double *parameters,
                          Arena *arena, ConversionVec *list, SingularVec *singular, bool *read, Diags *diags);

/* equation[count - rank] follow from the others. Replaces these equations by others that bring the free unknowns nearest to
 * their targets:
 * problem and structure are replaced, and the steps are appended to `list`. Owned by the arena, the list by its heap. */
void convert_close(Problem *problem, Structure *structure, const Modes *modes, const Freedom *freedom,
                   const uint32_t *equation, Arena *arena, ConversionVec *list, Diags *diags);

/* The kind in one word, for reports. */
const char *conversion_name(ConversionKind kind);
