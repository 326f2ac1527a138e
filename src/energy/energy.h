/* energy: from an energy to equations. A Lagrangian, Rayleigh's dissipation function, generalized forces and
 * constraints become the equations of stationary action under constraints (Shmoylova et al. 2013, section 6, equations
 * (63) to (69)):
 *
 *   d/dt dL/dq' - dL/dq - d2/dt2 dL/dq'' + ... + dD/dq' - d/dt dD/dq'' + ... = Q + G^T lambda,
 *   h(t, q) = 0 or G q' + g = 0 or G q'' + g = 0 ...
 *
 * with derivatives of any order. G is the gradient of a constraint's left minus right side by the coordinates, or by
 * their highest derivatives in it. */
#pragma once

#include "model/model.h"

/* A term or equation of a section, as it was written. */
typedef struct EnergyTerm {
  Expr left, right;    /* the term of a Lagrangian or dissipation is `left` */
  uint32_t multiplier; /* of a constraint: the variable's position */
  bool is_integral;    /* of a constraint or of what is minimized: `left` is integrated over the run */
  Span span;
} EnergyTerm;
typedef VEC(EnergyTerm) EnergyTerms;

typedef struct Energy {
  EnergyTerms lagrangian, dissipation, force, constraint;
  EnergyTerms minimize, maximize; /* optimal control: the terms that are not integrals count at the end */
  Span span;                      /* of the first section */
  bool has_signals;               /* the energy and its balance are variables of the model too */
} Energy;

/* Adds to the model, whose own equations are complete, the equations of its coordinates and constraints. Errors are in
 * diags. O(n^3) partial derivatives at most for n coordinates; as many as the mass matrix has entries and they
 * variables. */
void energy_derive(Model *model, const Energy *energy, Diags *diags);
