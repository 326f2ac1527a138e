/* energy: see energy.h. Finds the coordinates, then the constraints and forces on them, then derives the equations. */
#include "energy/derivation.h"

#include <stdio.h>
#include <string.h>

/* ---- forces ---- */

static bool take_forces(Derivation *d) {
  const EnergyTerms *terms = &d->energy->force;
  for (uint32_t i = 0; i < terms->count; i++) {
    const EnergyTerm *term = &terms->data[i];
    bool is_leaf = dag_op(d->dag, term->left) == OP_VARIABLE && dag_order(d->dag, term->left) == 0;
    uint32_t coordinate = is_leaf ? d->number[dag_index(d->dag, term->left)] : NONE;
    if (coordinate == NONE) {
      Diag *diag =
          diag_error(d->diags, DIAG_ENERGY, term->span, "a force must act on a coordinate, and `%s` is not one",
                     model_text(d->model, term->left, &d->diags->arena));
      uint32_t owner = is_leaf ? d->owner[dag_index(d->dag, term->left)] : NONE;
      if (owner != NONE) diag_note(d->diags, diag, d->model->equations.data[owner].span, "this equation determines it");
      continue;
    }
    d->force[coordinate] = dag_add(d->dag, d->force[coordinate], term->right);
  }
  return d->diags->errors == 0;
}

/* ---- constraints ---- */

static const char *constraint_text(Derivation *d, const EnergyTerm *term) {
  Equation equation = {.left = term->left, .right = term->right};
  return model_equation_text(d->model, &equation, &d->diags->arena);
}

/* The highest derivative of a coordinate in the residual; -1 if there is no coordinate. */
static int highest_order(const Derivation *d, const ExprVec *leaves) {
  int highest = -1;
  for (uint32_t k = 0; k < leaves->count; k++)
    if (d->number[dag_index(d->dag, leaves->data[k])] != NONE && (int)dag_order(d->dag, leaves->data[k]) > highest)
      highest = (int)dag_order(d->dag, leaves->data[k]);
  return highest;
}

static bool is_below_order(Derivation *d, Expr e, int order) {
  ExprVec leaves = {0};
  dag_variables(d->dag, dag_scratch(d->dag), e, &leaves);
  bool is_below = highest_order(d, &leaves) < order;
  vec_free(d->heap, &leaves);
  return is_below;
}

/* The terms of a constraint that is linear in the velocities that are left if the velocities are zero. */
static Expr without_velocities(Derivation *d, Expr e) {
  ExprVec from = {0}, to = {0};
  for (uint32_t i = 0; i < d->coordinates.count; i++) {
    vec_push(d->heap, &from, coordinate_leaf(d, i, 1));
    vec_push(d->heap, &to, dag_constant(d->dag, 0));
  }
  dag_substitute(d->dag, from.data, to.data, from.count, &e, 1);
  vec_free(d->heap, &from);
  vec_free(d->heap, &to);
  return e;
}

/* Minus the power of a unit multiplier, which is -G q'. Uses a shorter form if the constraint itself gives it. */
static Expr constraint_rate(Derivation *d, const ConstraintForm *form) {
  if (form->order == 0) return explicit_rate(d, form->residual);
  if (form->order == 1) return without_velocities(d, form->residual);
  Expr power = dag_constant(d->dag, 0);
  for (uint32_t i = 0; i < d->coordinates.count; i++)
    if (form->gradient[i] != EXPR_NONE) power = add_product(d, power, form->gradient[i], coordinate_leaf(d, i, 1));
  return dag_negate(d->dag, power);
}

/* The words for derivatives of this order. */
static const char *order_text(Derivation *d, uint32_t order) {
  static const char *const words[] = {"positions", "velocities", "accelerations"};
  return order < 3 ? words[order] : arena_printf(&d->diags->arena, "derivatives of order %u", order);
}

/* Gauss's principle: G has the coefficients of the highest derivatives. A constraint on more than positions must be linear in
 * these. */
static void take_gradient(Derivation *d, const EnergyTerm *term, ConstraintForm *form) {
  ExprVec leaves = {0}, partials = {0};
  uint32_t n = d->coordinates.count;
  form->gradient = arena_array(&d->arena, n, sizeof *form->gradient);
  for (uint32_t i = 0; i < n; i++) form->gradient[i] = EXPR_NONE;
  dag_gradient(d->dag, form->residual, &leaves, &partials);
  int highest = highest_order(d, &leaves);
  form->order = highest > 0 ? (uint32_t)highest : 0;
  if (highest < 0)
    diag_error(d->diags, DIAG_ENERGY, term->span, "this constraint contains no coordinate: %s",
               constraint_text(d, term));
  for (uint32_t k = 0; k < leaves.count && highest >= 0; k++) {
    uint32_t coordinate = d->number[dag_index(d->dag, leaves.data[k])];
    if (coordinate == NONE || (int)dag_order(d->dag, leaves.data[k]) != highest) continue;
    form->gradient[coordinate] = partials.data[k];
    if (highest == 0 || is_below_order(d, partials.data[k], highest)) continue;
    diag_error(d->diags, DIAG_ENERGY, term->span, "a constraint must be linear in the %s, and is not in %s",
               order_text(d, form->order), model_text(d->model, leaves.data[k], &d->diags->arena));
    break;
  }
  form->rate = constraint_rate(d, form);
  vec_free(d->heap, &leaves);
  vec_free(d->heap, &partials);
}

static bool take_constraints(Derivation *d) {
  const EnergyTerms *terms = &d->energy->constraint;
  for (uint32_t i = 0; i < terms->count; i++) take_gradient(d, &terms->data[i], &d->constraints[i]);
  return d->diags->errors == 0;
}

static void add_constraints(Derivation *d) {
  const EnergyTerms *terms = &d->energy->constraint;
  for (uint32_t i = 0; i < terms->count; i++) {
    const EnergyTerm *term = &terms->data[i];
    const char *note = arena_printf(&d->arena, "constraint on %s, multiplier %s",
                                    order_text(d, d->constraints[i].order), model_name(d->model, term->multiplier));
    derivation_equate(d, term->left, term->right, term->span, note);
  }
}

/* ---- the derivation ---- */

static void derivation_begin(Derivation *d, Model *model, const Energy *energy, Diags *diags) {
  uint32_t unknowns = model->unknowns.count;
  *d = (Derivation){.model = model,
                    .dag = model->dag,
                    .heap = model->heap,
                    .arena = arena_make(model->heap),
                    .diags = diags,
                    .energy = energy};
  d->unknowns = unknowns;
  d->is_multiplier = arena_array(&d->arena, unknowns, sizeof *d->is_multiplier);
  d->tier = arena_array(&d->arena, unknowns, sizeof *d->tier);
  d->owner = arena_array(&d->arena, unknowns, sizeof *d->owner);
  d->number = arena_array(&d->arena, unknowns, sizeof *d->number);
  for (uint32_t j = 0; j < unknowns; j++) d->owner[j] = d->number[j] = NONE;
  for (uint32_t i = 0; i < energy->constraint.count; i++)
    d->is_multiplier[model->variables.data[energy->constraint.data[i].multiplier].index] = true;
}

static bool has_coordinates(Derivation *d) {
  if (d->coordinates.count) {
    d->force = arena_array(&d->arena, d->coordinates.count, sizeof *d->force);
    for (uint32_t i = 0; i < d->coordinates.count; i++) d->force[i] = dag_constant(d->dag, 0);
    return true;
  }
  diag_error(
      d->diags, DIAG_ENERGY, d->energy->span,
      "no coordinate: a coordinate is a variable of the energies that no equation determines, and there is none");
  return false;
}

/* ---- integral constraints ---- */

static Expr add_variable(Model *model, const char *name, Span span, bool starts_at_zero) {
  Variable variable = variable_make(names_add(model->names, name, strlen(name)), TYPE_REAL, ROLE_UNKNOWN);
  variable.span = span;
  if (starts_at_zero) variable.start = dag_constant(model->dag, 0), variable.fixed = FIXED_TRUE;
  return model_leaf(model, model_add_variable(model, variable), 0);
}

static void add_model_equation(Model *model, Expr left, Expr right, Span span, const char *note) {
  Equation equation = {.left = left,
                       .right = right,
                       .residual = dag_subtract(model->dag, left, right),
                       .span = span,
                       .note = names_add(model->names, note, strlen(note))};
  vec_push(model->heap, &model->equations, equation);
}

/* Replaces integral(g) = c, using a multiplier l. Adds der(l) = 0, and a variable for the integral so far, which is c at the end.
 * Adds l g to the Lagrangian (Shmoylova et al. 2013, (64) and Theorem 2). */
static void take_integral(Model *model, Energy *energy, const EnergyTerm *term, uint32_t number) {
  Dag *dag = model->dag;
  char name[32];
  snprintf(name, sizeof name, "integral_%u", number);
  Expr sum = add_variable(model, name, term->span, true), multiplier = model_leaf(model, term->multiplier, 0);
  Expr rate = dag_variable(dag, dag_index(dag, sum), 1), integrand = term->left;
  /* if a side were only a variable, the equation would count as its definition, like the equation that defines a velocity */
  if (dag_op(dag, integrand) == OP_VARIABLE)
    rate = dag_subtract(dag, rate, integrand), integrand = dag_constant(dag, 0);
  add_model_equation(model, rate, integrand, term->span, "the integrand of an integral constraint");
  add_model_equation(model, model_leaf(model, term->multiplier, 1), dag_constant(dag, 0), term->span,
                     "multiplier of an integral constraint");
  Equation final = {
      .left = sum, .right = term->right, .residual = dag_subtract(dag, sum, term->right), .span = term->span};
  vec_push(model->heap, &model->final_equations, final);
  EnergyTerm part = {
      .left = dag_multiply(dag, multiplier, term->left), .right = dag_constant(dag, 0), .span = term->span};
  vec_push(model->heap, &energy->lagrangian, part);
}

/* The energy without its integral constraints, which become part of the model and of the Lagrangian. */
static Energy without_integrals(Model *model, const Energy *given, Diags *diags) {
  Energy energy = *given;
  uint32_t number = 0;
  energy.lagrangian = (EnergyTerms){0};
  energy.constraint = (EnergyTerms){0};
  for (uint32_t i = 0; i < given->lagrangian.count; i++)
    vec_push(model->heap, &energy.lagrangian, given->lagrangian.data[i]);
  for (uint32_t i = 0; i < given->constraint.count; i++) {
    const EnergyTerm *term = &given->constraint.data[i];
    if (!term->is_integral) vec_push(model->heap, &energy.constraint, *term);
    else if (dag_depends(model->dag, term->right, OP_VARIABLE))
      diag_error(diags, DIAG_ENERGY, term->span, "the right side of an integral constraint is a number or a parameter");
    else take_integral(model, &energy, term, ++number);
  }
  return energy;
}

/* ---- the whole ---- */

static bool is_optimal(const Energy *energy) { return energy->minimize.count || energy->maximize.count; }

/* The cost to be minimized takes the place of a Lagrangian. */
static bool check_optimal(const Energy *energy, Diags *diags) {
  if (!energy->lagrangian.count && !energy->dissipation.count && !energy->force.count && !energy->constraint.count)
    return true;
  diag_error(diags, DIAG_ENERGY, energy->span,
             "`minimize` and `maximize` are used with equations, not with a Lagrangian, forces or constraints");
  return false;
}

void energy_derive(Model *model, const Energy *given, Diags *diags) {
  Derivation d;
  if (is_optimal(given) && !check_optimal(given, diags)) return;
  Energy own = without_integrals(model, given, diags);
  const Energy *energy = &own;
  if (diags->errors) return;
  derivation_begin(&d, model, energy, diags);
  if (is_optimal(energy)) {
    optimal_equations(&d);
    vec_free(d.heap, &d.coordinates);
    arena_free(&d.arena);
    return;
  }
  bool fine = ownership_find(&d) && has_coordinates(&d) && take_forces(&d) && take_constraints(&d);
  if (fine && lagrange_equations(&d)) {
    add_constraints(&d);
    if (energy->has_signals) balance_add(&d);
  }
  vec_free(d.heap, &d.coordinates);
  arena_free(&d.arena);
}
