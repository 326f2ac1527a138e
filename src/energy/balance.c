/* balance: adds variables to the model: the energy of the coordinates, its losses and its supply.
 *
 * Along a solution the rate of the energy is the power of the forces, minus the dissipated power, minus the partial time derivative
 * of L. A moving constraint supplies the power -lambda dh/dt. */
#include "energy/derivation.h"

#include <string.h>

static Expr supplied_power(Derivation *d) {
  Expr sum = dag_negate(d->dag, explicit_rate(d, d->lagrangian));
  for (uint32_t i = 0; i < d->coordinates.count; i++) sum = add_product(d, sum, d->force[i], coordinate_leaf(d, i, 1));
  for (uint32_t c = 0; c < d->energy->constraint.count; c++) {
    Expr rate = dag_negate(d->dag, d->constraints[c].rate);
    sum = add_product(d, sum, rate, model_leaf(d->model, d->energy->constraint.data[c].multiplier, 0));
  }
  return sum;
}

static Expr dissipated_power(Derivation *d) {
  Expr sum = dag_constant(d->dag, 0);
  for (uint32_t i = 0; i < d->coordinates.count; i++)
    sum = add_product(d, sum, d->friction[i], coordinate_leaf(d, i, 1));
  return sum;
}

/* A new unknown; MAP_NONE after an error. */
static uint32_t add_signal(Derivation *d, const char *name, const char *description) {
  Model *model = d->model;
  Name known = names_add(model->names, name, strlen(name));
  if (model_named(model, known) != MAP_NONE) {
    diag_error(d->diags, DIAG_INPUT, d->energy->span, "the model already has a variable `%s`", name);
    return MAP_NONE;
  }
  Variable variable = variable_make(known, TYPE_REAL, ROLE_UNKNOWN);
  variable.description = names_add(model->names, description, strlen(description));
  variable.span = d->energy->span;
  return model_add_variable(model, variable);
}

/* A variable that is defined by a new equation. */
static Expr define_signal(Derivation *d, const char *name, const char *description, Expr value) {
  uint32_t variable = add_signal(d, name, description);
  if (variable == MAP_NONE) return dag_constant(d->dag, 0);
  Expr leaf = model_leaf(d->model, variable, 0);
  derivation_equate(d, leaf, value, d->energy->span, description);
  return leaf;
}

/* A variable that is zero at the start and has this rate. If the rate is zero, so is the variable. */
static Expr integrate_signal(Derivation *d, const char *name, const char *description, Expr rate) {
  if (is_zero(d, rate)) return define_signal(d, name, description, rate);
  uint32_t variable = add_signal(d, name, description);
  if (variable == MAP_NONE) return dag_constant(d->dag, 0);
  d->model->variables.data[variable].start = dag_constant(d->dag, 0);
  d->model->variables.data[variable].fixed = FIXED_TRUE;
  derivation_equate(d, model_leaf(d->model, variable, 1), rate, d->energy->span, description);
  return model_leaf(d->model, variable, 0);
}

/* A constant that gets the initial value of the expression. */
static Expr keep_start(Derivation *d, const char *name, const char *description, Expr value) {
  uint32_t variable = add_signal(d, name, description);
  if (variable == MAP_NONE) return dag_constant(d->dag, 0);
  Expr leaf = model_leaf(d->model, variable, 0);
  derivation_equate(d, model_leaf(d->model, variable, 1), dag_constant(d->dag, 0), d->energy->span, description);
  vec_push(
      d->model->heap, &d->model->initial_equations,
      (Equation){.left = leaf, .right = value, .residual = dag_subtract(d->dag, leaf, value), .span = d->energy->span});
  return leaf;
}

static void add_constraint_forces(Derivation *d) {
  for (uint32_t i = 0; i < d->coordinates.count; i++) {
    Expr force = constraint_force(d, i);
    const char *name = arena_printf(&d->arena, "G_T_lambda.%s", coordinate_name(d, i));
    if (d->energy->constraint.count) define_signal(d, name, "constraint force", force);
  }
}

void balance_add(Derivation *d) {
  Expr total = define_signal(d, "energy.total", "energy", d->total);
  Expr dissipated = integrate_signal(d, "energy.dissipated", "energy dissipated so far", dissipated_power(d));
  Expr supplied = integrate_signal(d, "energy.supplied", "energy supplied so far", supplied_power(d));
  Expr start = keep_start(d, "energy.start", "energy at the start", total);
  Expr balance = dag_subtract(d->dag, total, start);
  balance = dag_add(d->dag, balance, dissipated);
  balance = dag_subtract(d->dag, balance, supplied);
  define_signal(d, "energy.balance", "energy that is not accounted for", balance);
  add_constraint_forces(d);
}
