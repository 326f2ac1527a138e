/* derivation: shared by the files of the folder.
 *
 * Invariant: after the coordinates are found, the expressions here contain no variable that an equation of the model defines
 * explicitly. The only unknowns left are coordinates, multipliers and given functions of time. */
#pragma once

#include "energy/energy.h"

#define NONE UINT32_MAX

/* A constraint after the substitutions so far. */
typedef struct ConstraintForm {
  Expr residual;
  uint32_t order; /* order of the highest derivative of a coordinate in it; 0: on positions */
  Expr *gradient; /* per coordinate: d residual / d (that derivative of the coordinate); EXPR_NONE: zero */
  Expr rate;      /* minus the power of a unit multiplier */
} ConstraintForm;

typedef struct Derivation {
  Model *model;
  Dag *dag;
  Heap *heap;
  Arena arena;
  Diags *diags;
  const Energy *energy;
  /* per unknown of the model when the derivation began */
  uint32_t unknowns;
  bool *is_multiplier;
  uint8_t *tier;    /* see ownership.c */
  uint32_t *owner;  /* the equation of the model that determines it; NONE: none does */
  uint32_t *number; /* index as a coordinate; NONE: it is not one */
  /* filled by the derivation */
  IndexVec coordinates;                /* unknowns that are coordinates */
  Expr lagrangian, dissipation, total; /* total: the energy */
  Expr *force;                         /* per coordinate */
  uint32_t highest;                    /* highest order of derivatives in the Lagrangian, at least 1 */
  Expr **slope;                        /* per order up to `highest` and coordinate: dL / d(derivative of that order) */
  uint32_t friction_order;             /* as `highest`, for the dissipation */
  Expr **friction_slope;
  Expr *friction; /* per coordinate: dD/dq' - d/dt dD/dq'' + ... */
  ConstraintForm *constraints;
} Derivation;

static inline Expr coordinate_leaf(const Derivation *d, uint32_t coordinate, uint32_t order) {
  return dag_variable(d->dag, d->coordinates.data[coordinate], order);
}

static inline uint32_t coordinate_variable(const Derivation *d, uint32_t coordinate) {
  return d->model->unknowns.data[d->coordinates.data[coordinate]];
}

static inline const char *coordinate_name(const Derivation *d, uint32_t coordinate) {
  return model_name(d->model, coordinate_variable(d, coordinate));
}

static inline bool is_zero(const Derivation *d, Expr e) {
  double value;
  return dag_is_constant(d->dag, e, &value) && value == 0;
}

/* sum + factor * other */
static inline Expr add_product(const Derivation *d, Expr sum, Expr factor, Expr other) {
  Expr product = dag_multiply(d->dag, factor, other);
  return dag_add(d->dag, sum, product);
}

/* ---- derivation.c ---- */

/* Adds an equation to the model, with a note that says where it comes from. */
void derivation_equate(Derivation *d, Expr left, Expr right, Span span, const char *note);

/* A normal form of a residual: multiples of a residual give the same node. */
Expr scaled_residual(const Derivation *d, Expr residual);

/* G^T lambda for one coordinate. */
Expr constraint_force(const Derivation *d, uint32_t coordinate);

/* ---- ownership.c ---- */

/* Finds the coordinates and substitutes variables that equations define. false after an error. */
bool ownership_find(Derivation *d);

/* Finds which equation determines which unknown. Unknowns of a high tier stay undetermined if possible. rates_first: der(x) = v
 * determines x rather than v. */
void ownership_match(Derivation *d, bool rates_first);

/* The partial time derivative of an expression, through time itself and through given functions of time. */
Expr explicit_rate(const Derivation *d, Expr e);

/* ---- lagrange.c ---- */

/* Derives one equation for each coordinate, in the order of coordinates. false after an error. */
bool lagrange_equations(Derivation *d);

/* The partial derivatives of e with respect to the derivatives of coordinates, per order and coordinate. Sets `highest` to the
 * highest order. */
Expr **lagrange_slopes(Derivation *d, Expr e, uint32_t *highest);

/* slope[from] - d/dt slope[from + 1] + d2/dt2 slope[from + 2] - ..., for one coordinate. */
Expr alternating_sum(Derivation *d, Expr **slope, uint32_t from, uint32_t highest, uint32_t coordinate);

/* ---- optimal.c ---- */

/* Derives the necessary conditions of an optimal control. Errors are in diags. */
void optimal_equations(Derivation *d);

/* ---- balance.c ---- */

/* Adds variables: the energy, the dissipated and supplied energy, their balance, and the constraint forces. */
void balance_add(Derivation *d);
