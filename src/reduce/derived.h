/* derived: the system that a method made, as a flat model. `daedal reduce` prints it, and it is integrated if a method has
 * variables that the array does not have.
 *
 * Invariant: every variable of the original model keeps its name and number; new ones follow. A column of the array is a variable,
 * or the derivative of the column below it, to which it is tied. */
#pragma once

#include "reduce/reduction.h"
#include "reduce/transplant.h"

typedef struct Derived {
  Reduction *reduction;
  Model *model;
  VEC(const char *) equation_notes; /* where each equation comes from */
  uint32_t *unknown; /* per column of the array: unknown of this model, MAP_NONE if the column does not occur */
  uint32_t *order;   /* and its derivative */
  int8_t *sign;
  uint32_t *multiplier; /* per multiplier of the form: its unknown */
  /* used while the derived model is made */
  Model *source; /* the original */
  Array *array;
  const Aliases *aliases; /* NULL: none */
  bool *used;             /* per column: occurs in a row or a tie */
  bool first_order;       /* no derivative is differentiated */
  Transplant plan;
} Derived;

/* The form of a reduction as a model with the method's name after its own. Lives in the reduction's heap
 * and arena. O(size of the rows). */
Derived *derived_make(Reduction *reduction, const char *method);

/* Like derived_make, without the rows: variables, ties, aliases. The caller adds the equations of the other columns.
 * first_order: every state is a variable, and no derivative is differentiated. */
Derived *derived_begin(Reduction *reduction, const char *method, bool first_order);

/* Counts the equations of the derived model, and of the original, by kind. */
void derived_count(const Derived *derived);

/* A column of the array; a new variable with a name like `stem`; an equation. */
Expr derived_column(const Derived *derived, uint32_t column);
uint32_t derived_add_unknown(Derived *derived, const char *stem, const char *description, double start);
void derived_add_equation(Derived *derived, Expr left, Expr right, const char *note);

/* Copies discrete equations, whens and assertions (derived_discrete.c). */
void derived_add_discrete(Derived *derived);

/* Makes the derived model the system of the reduction, which is integrated without further changes. left: number of
 * differentiations of the original that are still needed for index 1; multipliers have index 2. */
void derived_integrate(Reduction *reduction, Derived *derived, int32_t left);
