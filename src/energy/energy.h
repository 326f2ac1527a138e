/* energy: derives equations from an energy. A Lagrangian, Rayleigh's dissipation function, generalized forces and constraints
 * become the equations of stationary action under constraints (Shmoylova et al. 2013, section 6, equations (63) to (69)):
 *
 *   d/dt dL/dq' - dL/dq - d2/dt2 dL/dq'' + ... + dD/dq' - d/dt dD/dq'' + ... = Q + G^T lambda,
 *   h(t, q) = 0 or G q' + g = 0 or G q'' + g = 0 ...
 *
 * with derivatives of any order. G is the gradient of the constraint's residual (left minus right side) with respect to the
 * coordinates, or with respect to their highest derivatives in it. */
#pragma once

#include "model/model.h"

/* A term or equation of a section, as the user wrote it. */
typedef struct EnergyTerm {
  Expr left, right;    /* for a Lagrangian or dissipation, `left` is the term */
  uint32_t multiplier; /* for a constraint: the position of the variable */
  bool is_integral;    /* for a constraint or cost: `left` is integrated over the run */
  Span span;
} EnergyTerm;
typedef VEC(EnergyTerm) EnergyTerms;

typedef struct Energy {
  EnergyTerms lagrangian, dissipation, force, constraint;
  EnergyTerms minimize, maximize; /* optimal control: terms that are not integrals are taken at the end of the run */
  Span span;                      /* place of the first section */
  bool has_signals;               /* add the energy and its balance as variables of the model */
} Energy;

/* Adds the equations of coordinates and constraints to the model, whose own equations are complete. Errors are in diags. Takes at
 * most O(n^3) partial derivatives for n coordinates; precisely, one for each variable in each entry of the mass matrix. */
void energy_derive(Model *model, const Energy *energy, Diags *diags);
