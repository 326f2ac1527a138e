/* optimal: the necessary conditions of an optimal control (Pontryagin et al. 1962), as a boundary value problem for a DAE.
 *
 * The cost is phi(T, x(T)) + integral of L. Each equation left = right of the model has an adjoint l, and all unknowns w are
 * coordinates. Then K = L + l^T (right - left) is a Lagrangian, and the conditions are the equations of Euler and Poisson
 *
 *   0 = dK/dw - d/dt dK/dw' + ...
 *
 * For der(x) = f they are der(l) = -dH/dx with the Hamiltonian H = L + l f; for a control they are 0 = dH/du. In this way equations
 * of any index have adjoints. At the end, l = d phi/dx + nu^T d psi/dx, where psi = 0 are the final equations and each has a
 * multiplier nu. Each constraint on states, written or hidden, has a multiplier there, too, because every variation satisfies it.
 * If the final time T is free, H + d phi/dT + nu^T d psi/dT = 0 at the end. A control with bounds min and max is at the bound
 * that the sign of dH/du requires. */
#include "energy/derivation.h"

#include <string.h>

typedef struct Optimal {
  Derivation *d;
  Model *model;
  Dag *dag;
  uint32_t equations; /* number of equations of the model as written */
  Expr cost;          /* L */
  Expr terminal;      /* phi */
  Expr kernel;        /* K */
  Expr **slope;       /* derivatives of K, per order and coordinate */
  uint32_t highest;
  Expr *adjoint;     /* per equation: its leaf */
  Expr *final;       /* per final equation: its multiplier nu; EXPR_NONE if it fixes a variable or the final time */
  uint32_t *fixes;   /* per final equation: the coordinate that it fixes; NONE: it fixes none */
  uint32_t end_time; /* parameter leaf of a free final time; NONE: it is not free */
  ExprVec held;      /* constraints on states, written or hidden: variations at the end satisfy them */
  Expr *held_number; /* per such constraint: its multiplier at the end; EXPR_NONE: none yet */
} Optimal;

static Expr zero(const Optimal *o) { return dag_constant(o->dag, 0); }

/* ---- variables ---- */

static const char optimal_switching[] = "switching_";
static const char adjoint_prefix[] = "adjoint_";

/* Finds a variable of this name, or adds a new one. The model may declare it to give a start value, or to use it in other
 * sections. */
static uint32_t find_or_add(Optimal *o, const char *name, Role role, Span span) {
  uint32_t position = model_find(o->model, name);
  if (position != MAP_NONE && o->model->variables.data[position].role == role) return position;
  Variable variable = variable_make(names_add(o->model->names, name, strlen(name)), TYPE_REAL, role);
  variable.span = span;
  if (role == ROLE_PARAMETER) variable.variability = VARIABILITY_PARAMETER, variable.fixed = FIXED_FALSE;
  return model_add_variable(o->model, variable);
}

/* Is this variable the adjoint of another one, by its name? */
static bool is_adjoint(const Optimal *o, uint32_t unknown) {
  const char *name = model_name(o->model, o->model->unknowns.data[unknown]);
  size_t length = sizeof adjoint_prefix - 1;
  return strncmp(name, adjoint_prefix, length) == 0 && model_find(o->model, name + length) != MAP_NONE;
}

/* All unknowns except declared adjoints are coordinates. When equations are matched to the unknowns that they
 * determine, possible controls come last. */
static void number_coordinates(Optimal *o) {
  Derivation *d = o->d;
  for (uint32_t j = 0; j < o->model->unknowns.count; j++) {
    const Variable *variable = &o->model->variables.data[o->model->unknowns.data[j]];
    if (is_adjoint(o, j)) {
      d->is_multiplier[j] = true;
      continue;
    }
    d->tier[j] = variable->min != EXPR_NONE || variable->max != EXPR_NONE;
    d->number[j] = d->coordinates.count;
    vec_push(d->heap, &d->coordinates, j);
  }
}

/* The unknown x of an equation der(x) = ...; NONE: the equation has another form. */
static uint32_t rate_of(const Optimal *o, uint32_t equation) {
  Expr left = o->model->equations.data[equation].left;
  bool is_rate = dag_op(o->dag, left) == OP_VARIABLE && dag_order(o->dag, left) > 0;
  return is_rate ? dag_index(o->dag, left) : NONE;
}

static void add_adjoint(Optimal *o, uint32_t equation, uint32_t unknown, bool *is_taken) {
  Derivation *d = o->d;
  const char *own = model_name(o->model, o->model->unknowns.data[unknown]);
  const char *name = arena_printf(&d->arena, "%s%s", adjoint_prefix, own);
  uint32_t position = find_or_add(o, name, ROLE_UNKNOWN, o->model->equations.data[equation].span);
  o->adjoint[equation] = model_leaf(o->model, position, 0);
  is_taken[unknown] = true;
}

/* Adds one adjoint for each equation: adjoint_x for der(x) = ...; the others are named after the remaining unknowns that equations
 * determine. */
static void add_adjoints(Optimal *o) {
  Derivation *d = o->d;
  bool *is_taken = arena_array(&d->arena, d->unknowns, sizeof *is_taken);
  o->adjoint = arena_array(&d->arena, o->equations, sizeof *o->adjoint);
  for (uint32_t i = 0; i < o->equations; i++) {
    uint32_t unknown = rate_of(o, i);
    o->adjoint[i] = EXPR_NONE;
    if (unknown != NONE && !is_taken[unknown]) add_adjoint(o, i, unknown, is_taken);
  }
  for (uint32_t j = 0; j < d->coordinates.count; j++) {
    uint32_t unknown = d->coordinates.data[j], equation = d->owner[unknown];
    if (equation == NONE || is_taken[unknown] || o->adjoint[equation] != EXPR_NONE) continue;
    add_adjoint(o, equation, unknown, is_taken);
  }
  for (uint32_t i = 0, j = 0; i < o->equations; i++) {
    if (o->adjoint[i] != EXPR_NONE) continue;
    while (is_taken[d->coordinates.data[j]] || d->owner[d->coordinates.data[j]] == NONE) j++;
    add_adjoint(o, i, d->coordinates.data[j], is_taken);
  }
  /* new unknowns are not coordinates */
  uint32_t before = d->unknowns, *number = arena_array(&d->arena, o->model->unknowns.count, sizeof *number);
  for (uint32_t j = 0; j < o->model->unknowns.count; j++) number[j] = j < before ? d->number[j] : NONE;
  d->number = number;
}

/* Is there one equation too many? Then nothing is left to be controlled. */
static bool check_matching(Optimal *o) {
  Derivation *d = o->d;
  bool *is_matched = arena_array(&d->arena, o->equations, sizeof *is_matched);
  uint32_t controls = 0;
  for (uint32_t j = 0; j < d->coordinates.count; j++) {
    uint32_t equation = d->owner[d->coordinates.data[j]];
    if (equation == NONE) controls++;
    else is_matched[equation] = true;
  }
  for (uint32_t i = 0; i < o->equations; i++)
    if (!is_matched[i])
      diag_error(d->diags, DIAG_ENERGY, o->model->equations.data[i].span, "this equation adds nothing to the others");
  if (!controls && d->diags->errors == 0)
    diag_error(d->diags, DIAG_ENERGY, d->energy->span, "no control: the equations determine every variable");
  return d->diags->errors == 0;
}

/* ---- the cost ---- */

static void add_terms(Optimal *o, const EnergyTerms *terms, double sign) {
  for (uint32_t i = 0; i < terms->count; i++) {
    Expr *sum = terms->data[i].is_integral ? &o->cost : &o->terminal;
    *sum = dag_add(o->dag, *sum, dag_scale(o->dag, sign, terms->data[i].left));
  }
}

static void find_kernel(Optimal *o) {
  o->kernel = o->cost;
  for (uint32_t i = 0; i < o->equations; i++) {
    const Equation *equation = &o->model->equations.data[i];
    Expr difference = dag_subtract(o->dag, equation->right, equation->left);
    o->kernel = add_product(o->d, o->kernel, o->adjoint[i], difference);
  }
  o->slope = lagrange_slopes(o->d, o->kernel, &o->highest);
}

/* ---- controls ---- */

static bool holds(Optimal *o, Expr e, Expr leaf) { return !is_zero(o->d, dag_partial(o->dag, e, leaf)); }

/* the value, limited to min and max of the variable */
static Expr clamp(Optimal *o, const Variable *variable, Expr value) {
  Expr clamped = value;
  if (variable->max != EXPR_NONE) {
    Expr beyond = dag_binary(o->dag, OP_GREATER, value, variable->max);
    clamped = dag_if(o->dag, beyond, variable->max, clamped);
  }
  if (variable->min == EXPR_NONE) return clamped;
  Expr below = dag_binary(o->dag, OP_LESS, value, variable->min);
  return dag_if(o->dag, below, variable->min, clamped);
}

/* If dH/du does not depend on u, the control is at the bound where H is smaller. */
static void add_switched(Optimal *o, uint32_t j, Expr u, const Variable *variable) {
  Derivation *d = o->d;
  Expr slope = o->slope[0][j];
  if (variable->min == EXPR_NONE || variable->max == EXPR_NONE) {
    diag_error(d->diags, DIAG_ENERGY, variable->span,
               "control `%s` occurs linearly: it needs both bounds, min and max, between which it switches",
               coordinate_name(d, j));
    return;
  }
  const char *name = arena_printf(&d->arena, "%s%s", optimal_switching, coordinate_name(d, j));
  Expr min = variable->min, max = variable->max;
  Span span = variable->span;
  Expr function = model_leaf(o->model, find_or_add(o, name, ROLE_UNKNOWN, span), 0);
  derivation_equate(
      d, function, slope, span,
      arena_printf(&d->arena, "switching function of %s: dH/d%s", coordinate_name(d, j), coordinate_name(d, j)));
  Expr is_positive = dag_binary(o->dag, OP_GREATER, function, zero(o));
  Expr value = dag_if(o->dag, is_positive, min, max);
  SwitchedControl switched = {o->model->equations.count, u, function, min, max};
  vec_push(o->model->heap, &o->model->switched, switched);
  derivation_equate(d, u, value, span, arena_printf(&d->arena, "control %s, at its bounds", coordinate_name(d, j)));
}

/* Does the derivative of H with respect to a control depend on an algebraic variable? Then the second derivative by itself does not
 * decide. */
static bool is_coupled(Optimal *o, uint32_t j) {
  for (uint32_t i = 0; i < o->d->coordinates.count; i++) {
    bool moves = o->d->owner[o->d->coordinates.data[i]] == NONE;
    for (uint32_t k = 1; k <= o->highest; k++) moves = moves || !is_zero(o->d, o->slope[k][i]);
    if (i != j && !moves && holds(o, o->slope[0][j], coordinate_leaf(o->d, i, 0))) return true;
  }
  return false;
}

/* Asserts a part of Legendre's necessary condition for a minimum: if it fails, the solution maximizes H in some direction.
 * Round-off of an adjoint that ends at zero is ignored. */
static void assert_legendre(Optimal *o, uint32_t j, Expr minor, const char *what) {
  Derivation *d = o->d;
  Expr holds = dag_binary(o->dag, OP_GREATER_EQUAL, minor, dag_constant(o->dag, -1e-6));
  double always;
  if (dag_is_constant(o->dag, holds, &always) && always != 0) return;
  const char *text = arena_printf(
      &d->arena, "%s < 0: `%s` gives the worst value instead of the best; try other start values of the adjoints", what,
      coordinate_name(d, j));
  Action action = {.kind = ACTION_ASSERT,
                   .guard = EXPR_NONE,
                   .value = dag_unary(o->dag, OP_NOEVENT, holds),
                   .message = dag_string(o->dag, names_add(o->model->names, text, strlen(text))),
                   .is_warning = true,
                   .span = o->model->variables.data[coordinate_variable(d, j)].span};
  vec_push(o->model->heap, &o->model->asserts, action);
}

/* For one control: d2H/du2 >= 0, where `u` in the slope is the control, or its value without bounds. */
static void assert_curvature(Optimal *o, uint32_t j, Expr slope, Expr u) {
  const char *name = coordinate_name(o->d, j);
  if (!is_coupled(o, j))
    assert_legendre(o, j, dag_partial(o->dag, slope, u), arena_printf(&o->d->arena, "d2H/d%s2", name));
}

/* For two controls without bounds: the determinant of the second derivatives with respect to them. */
static void assert_pairs(Optimal *o, uint32_t j) {
  Derivation *d = o->d;
  Expr u = coordinate_leaf(d, j, 0);
  for (uint32_t i = 0; i < j; i++) {
    bool is_pair = d->owner[d->coordinates.data[i]] == NONE && holds(o, o->slope[0][j], coordinate_leaf(d, i, 0));
    if (!is_pair || is_coupled(o, i) || is_coupled(o, j)) continue;
    Expr v = coordinate_leaf(d, i, 0), mixed = dag_partial(o->dag, o->slope[0][j], v);
    Expr diagonal =
        dag_multiply(o->dag, dag_partial(o->dag, o->slope[0][j], u), dag_partial(o->dag, o->slope[0][i], v));
    Expr minor = dag_subtract(o->dag, diagonal, dag_multiply(o->dag, mixed, mixed));
    assert_legendre(o, j, minor,
                    arena_printf(&d->arena, "the determinant of d2H with respect to %s and %s", coordinate_name(d, j),
                                 coordinate_name(d, i)));
  }
}

/* The best control without bounds becomes a separate variable. */
static void add_bounded(Optimal *o, uint32_t j, Expr u, const Variable *variable) {
  Derivation *d = o->d;
  const char *name = arena_printf(&d->arena, "%s_free", coordinate_name(d, j));
  Variable bounds = *variable;
  uint32_t position = find_or_add(o, name, ROLE_UNKNOWN, bounds.span);
  if (o->model->variables.data[position].start == EXPR_NONE) o->model->variables.data[position].start = bounds.start;
  Expr best = model_leaf(o->model, position, 0), slope = o->slope[0][j];
  dag_substitute(o->dag, &u, &best, 1, &slope, 1);
  derivation_equate(d, zero(o), slope, bounds.span,
                    arena_printf(&d->arena, "control %s without its bounds: dH/d%s = 0", coordinate_name(d, j),
                                 coordinate_name(d, j)));
  derivation_equate(d, u, clamp(o, &bounds, best), bounds.span,
                    arena_printf(&d->arena, "control %s within its bounds", coordinate_name(d, j)));
  assert_curvature(o, j, slope, best);
}

static bool is_bounded(const Variable *variable) { return variable->min != EXPR_NONE || variable->max != EXPR_NONE; }

static void add_equation(Optimal *o, uint32_t j) {
  Derivation *d = o->d;
  Variable variable = o->model->variables.data[coordinate_variable(d, j)];
  Expr leaf = coordinate_leaf(d, j, 0), slope = o->slope[0][j];
  const char *name = coordinate_name(d, j);
  bool is_control = d->owner[d->coordinates.data[j]] == NONE;
  if (is_control && !holds(o, slope, leaf) && (is_bounded(&variable) || is_zero(d, slope)))
    add_switched(o, j, leaf, &variable);
  else if (is_control && is_bounded(&variable)) add_bounded(o, j, leaf, &variable);
  else {
    Expr momentum = alternating_sum(d, o->slope, 1, o->highest, j);
    Expr left = dag_negate(o->dag, dag_time_derivative(o->dag, momentum)), right = dag_negate(o->dag, slope);
    derivation_equate(d, left, right, variable.span,
                      is_control ? arena_printf(&d->arena, "control %s: dH/d%s = 0", name, name)
                                 : arena_printf(&d->arena, "adjoint of %s", name));
    if (is_control) assert_curvature(o, j, slope, leaf);
    if (is_control) assert_pairs(o, j);
  }
}

/* ---- the end ---- */

static void add_final(Optimal *o, Expr left, Expr right, Span span) {
  Equation equation = {.left = left, .right = right, .residual = dag_subtract(o->dag, left, right), .span = span};
  vec_push(o->model->heap, &o->model->final_equations, equation);
}

/* Does the equation only fix a variable, for any final time? Returns that coordinate, otherwise NONE. */
static uint32_t fixed_coordinate(Optimal *o, const Equation *equation) {
  const Expr sides[] = {equation->left, equation->right};
  for (int k = 0; k < 2; k++) {
    Expr value = sides[1 - k];
    if (dag_op(o->dag, sides[k]) != OP_VARIABLE || dag_order(o->dag, sides[k]) != 0) continue;
    if (dag_depends(o->dag, value, OP_VARIABLE) || dag_depends(o->dag, value, OP_TIME)) continue;
    if (o->end_time != NONE && holds(o, value, dag_parameter(o->dag, o->end_time))) continue;
    return o->d->number[dag_index(o->dag, sides[k])];
  }
  return NONE;
}

static void find_end_time(Optimal *o) {
  o->end_time = NONE;
  for (uint32_t i = 0; i < o->model->final_equations.count; i++) {
    const Equation *equation = &o->model->final_equations.data[i];
    if (dag_op(o->dag, equation->left) != OP_TIME || dag_op(o->dag, equation->right) != OP_PARAMETER) continue;
    uint32_t leaf = dag_index(o->dag, equation->right);
    const Variable *variable = &o->model->variables.data[o->model->parameters.data[leaf]];
    if (variable_is_sought(variable)) o->end_time = leaf;
  }
}

static void look_at_final(Optimal *o, uint32_t count) {
  Derivation *d = o->d;
  o->final = arena_array(&d->arena, count, sizeof *o->final);
  o->fixes = arena_array(&d->arena, count, sizeof *o->fixes);
  for (uint32_t i = 0; i < count; i++) {
    const Equation *equation = &o->model->final_equations.data[i];
    o->final[i] = EXPR_NONE;
    o->fixes[i] = fixed_coordinate(o, equation);
    if (o->fixes[i] != NONE || dag_op(o->dag, equation->left) == OP_TIME) continue;
    const char *name = arena_printf(&d->arena, "%sfinal_%u", adjoint_prefix, i + 1);
    uint32_t position = find_or_add(o, name, ROLE_PARAMETER, equation->span);
    o->final[i] = model_leaf(o->model, position, 0);
  }
}

/* Does the expression contain variables, all of lower order than their highest derivatives in the equations? */
static bool is_of_states(Optimal *o, Expr e, const uint32_t *order) {
  ExprVec leaves = {0};
  dag_variables(o->dag, dag_scratch(o->dag), e, &leaves);
  bool ok = leaves.count > 0;
  for (uint32_t k = 0; k < leaves.count; k++)
    ok = ok && dag_order(o->dag, leaves.data[k]) < order[dag_index(o->dag, leaves.data[k])];
  vec_free(o->d->heap, &leaves);
  return ok;
}

/* Collects the constraints on states. Adds their time derivatives, with the rates from the equations, as long as these are
 * constraints on states. */
static void find_held(Optimal *o) {
  const uint32_t *order = model_highest_orders(o->model, o->equations, &o->d->arena);
  ExprVec from = {0}, to = {0};
  for (uint32_t i = 0; i < o->equations; i++) {
    const Equation *equation = &o->model->equations.data[i];
    bool is_rate = dag_op(o->dag, equation->left) == OP_VARIABLE && dag_order(o->dag, equation->left) > 0 &&
                   dag_order(o->dag, equation->left) == order[dag_index(o->dag, equation->left)];
    if (!is_rate) continue;
    vec_push(o->d->heap, &from, equation->left);
    vec_push(o->d->heap, &to, equation->right);
  }
  for (uint32_t i = 0; i < o->equations; i++) {
    Expr e = o->model->equations.data[i].residual;
    for (uint32_t level = 0; level < o->equations && is_of_states(o, e, order); level++) {
      vec_push(o->d->heap, &o->held, e);
      e = dag_time_derivative(o->dag, e);
      dag_substitute(o->dag, from.data, to.data, from.count, &e, 1);
    }
  }
  o->held_number = arena_array(&o->d->arena, o->held.count, sizeof *o->held_number);
  for (uint32_t k = 0; k < o->held.count; k++) o->held_number[k] = EXPR_NONE;
  vec_free(o->d->heap, &from, &to);
}

/* Adds the contributions of constraints on states to the derivative with respect to a leaf. For time, only constraints that
 * already have a multiplier count, because they contribute to the derivative with respect to a variable. */
static Expr add_held(Optimal *o, Expr sum, Expr leaf) {
  for (uint32_t k = 0; k < o->held.count; k++) {
    Expr slope = dag_partial(o->dag, o->held.data[k], leaf);
    if (is_zero(o->d, slope)) continue;
    if (o->held_number[k] == EXPR_NONE) {
      if (dag_op(o->dag, leaf) != OP_VARIABLE) continue;
      const char *name = arena_printf(&o->d->arena, "%sconstraint_%u", adjoint_prefix, k + 1);
      o->held_number[k] = model_leaf(o->model, find_or_add(o, name, ROLE_PARAMETER, o->d->energy->span), 0);
    }
    sum = add_product(o->d, sum, o->held_number[k], slope);
  }
  return sum;
}

/* the derivative of phi + nu^T psi with respect to a leaf */
static Expr final_slope(Optimal *o, uint32_t count, Expr leaf) {
  Expr sum = dag_partial(o->dag, o->terminal, leaf);
  for (uint32_t i = 0; i < count; i++) {
    if (o->final[i] == EXPR_NONE) continue;
    Expr slope = dag_partial(o->dag, o->model->final_equations.data[i].residual, leaf);
    sum = add_product(o->d, sum, o->final[i], slope);
  }
  return add_held(o, sum, leaf);
}

/* For each variable that no final equation fixes, and each of its derivatives below the highest: the negative momentum equals
 * the derivative of the cost at the end. */
static void add_transversality(Optimal *o, uint32_t count) {
  Derivation *d = o->d;
  for (uint32_t j = 0; j < d->coordinates.count; j++) {
    bool is_fixed = false;
    for (uint32_t i = 0; i < count; i++) is_fixed = is_fixed || o->fixes[i] == j;
    Span span = o->model->variables.data[coordinate_variable(d, j)].span;
    for (uint32_t k = 1; k <= o->highest; k++) {
      Expr momentum = alternating_sum(d, o->slope, k, o->highest, j);
      if (is_zero(d, momentum) || (k == 1 && is_fixed)) continue;
      Expr slope = final_slope(o, count, coordinate_leaf(d, j, k - 1));
      add_final(o, dag_negate(o->dag, momentum), slope, span);
    }
  }
}

/* H + d/dT (phi + nu^T psi) = 0, with H = K - sum of w^(k) p_k. */
static void add_end_time(Optimal *o, uint32_t count) {
  Derivation *d = o->d;
  if (o->end_time == NONE) return;
  Expr hamiltonian = o->cost, time = dag_time(o->dag);
  for (uint32_t j = 0; j < d->coordinates.count; j++)
    for (uint32_t k = 1; k <= o->highest; k++) {
      Expr momentum = dag_negate(o->dag, alternating_sum(d, o->slope, k, o->highest, j));
      hamiltonian = add_product(d, hamiltonian, momentum, coordinate_leaf(d, j, k));
    }
  Expr slope = final_slope(o, count, dag_parameter(o->dag, o->end_time));
  slope = dag_add(o->dag, slope, final_slope(o, count, time));
  bool is_cost = !dag_depends(o->dag, o->cost, OP_VARIABLE) && !dag_depends(o->dag, o->terminal, OP_VARIABLE);
  o->model->optimal_end = (OptimalEnd){true, o->end_time, o->model->final_equations.count, is_cost};
  add_final(o, hamiltonian, dag_negate(o->dag, slope), d->energy->span);
}

/* Free parameters in the equations or the integrand would need their own adjoints. */
static bool check_parameters(Optimal *o) {
  Derivation *d = o->d;
  for (uint32_t p = 0; p < o->model->parameters.count; p++) {
    const Variable *variable = &o->model->variables.data[o->model->parameters.data[p]];
    if (!variable_is_sought(variable)) continue;
    if (!holds(o, o->kernel, dag_parameter(o->dag, p))) continue;
    diag_error(d->diags, DIAG_ENERGY, variable->span,
               "`%s` is free and occurs in the equations: write it as a variable with der(%s) = 0",
               names_text(o->model->names, variable->name), names_text(o->model->names, variable->name));
    return false;
  }
  return true;
}

void optimal_equations(Derivation *d) {
  Optimal o = {.d = d, .model = d->model, .dag = d->dag, .equations = d->model->equations.count};
  uint32_t count = d->model->final_equations.count;
  o.cost = o.terminal = zero(&o);
  add_terms(&o, &d->energy->minimize, 1);
  add_terms(&o, &d->energy->maximize, -1);
  number_coordinates(&o);
  ownership_match(d, true);
  if (d->diags->errors || !check_matching(&o)) return;
  add_adjoints(&o);
  find_kernel(&o);
  if (!check_parameters(&o)) return;
  find_end_time(&o);
  look_at_final(&o, count);
  find_held(&o);
  add_transversality(&o, count);
  add_end_time(&o, count);
  for (uint32_t j = 0; j < d->coordinates.count; j++) add_equation(&o, j);
  vec_free(d->heap, &o.held);
}
