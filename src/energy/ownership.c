/* ownership: finds the variable that each equation of the model determines; the remaining variables are coordinates.
 *
 * If one side of an equation is only a variable, the equation defines that variable; the definition is substituted in the
 * energies. A variable whose derivative is the whole left side is a given function of time. Each other equation also determines
 * one of its variables. The variables whose occurrence in the energy matters least come first (tiers). Augmenting paths keep
 * determined variables determined. Coordinates are the variables in the energies that no equation determines. */
#include "energy/derivation.h"

#include <math.h>

/* How a variable occurs in the energy. */
enum { TIER_NONE, TIER_FORCE, TIER_POSITION, TIER_VELOCITY, TIERS };

typedef struct Ownership {
  Derivation *d;
  uint32_t equations;
  uint32_t *start; /* per equation: where its unknowns begin in the list */
  IndexVec unknowns;
  uint32_t *owned; /* per equation: the unknown that it determines; NONE: none */
  /* for a search */
  uint32_t *stamp, *from; /* per unknown */
  uint32_t searches;
  IndexVec queue;
} Ownership;

/* ---- tiers ---- */

static void raise_tiers(Derivation *d, Expr e, uint8_t position, uint8_t velocity) {
  ExprVec leaves = {0};
  dag_variables(d->dag, dag_scratch(d->dag), e, &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint8_t tier = dag_order(d->dag, leaves.data[k]) ? velocity : position;
    uint8_t *place = &d->tier[dag_index(d->dag, leaves.data[k])];
    if (*place < tier) *place = tier;
  }
  vec_free(d->heap, &leaves);
}

static void raise_terms(Derivation *d, const EnergyTerms *terms) {
  for (uint32_t i = 0; i < terms->count; i++) {
    raise_tiers(d, terms->data[i].left, TIER_POSITION, TIER_VELOCITY);
    raise_tiers(d, terms->data[i].right, TIER_POSITION, TIER_VELOCITY);
  }
}

static void find_tiers(Derivation *d) {
  const Energy *energy = d->energy;
  raise_terms(d, &energy->lagrangian);
  raise_terms(d, &energy->dissipation);
  raise_terms(d, &energy->constraint);
  for (uint32_t i = 0; i < energy->force.count; i++) {
    raise_tiers(d, energy->force.data[i].left, TIER_VELOCITY, TIER_VELOCITY);
    raise_tiers(d, energy->force.data[i].right, TIER_FORCE, TIER_FORCE);
  }
}

/* ---- matching ---- */

static bool holds(Derivation *d, Expr e, uint32_t unknown) {
  ExprVec leaves = {0};
  bool found = false;
  dag_variables(d->dag, dag_scratch(d->dag), e, &leaves);
  for (uint32_t k = 0; k < leaves.count && !found; k++) found = dag_index(d->dag, leaves.data[k]) == unknown;
  vec_free(d->heap, &leaves);
  return found;
}

/* Returns an unknown if its derivative of this order is one side of the equation, and the unknown does not occur on the other side.
 * NONE: there is no such unknown. */
static uint32_t lone(Derivation *d, Expr side, Expr other, uint32_t order) {
  if (dag_op(d->dag, side) != OP_VARIABLE || dag_order(d->dag, side) != order) return NONE;
  uint32_t unknown = dag_index(d->dag, side);
  if (d->is_multiplier[unknown] || (order == 0 && holds(d, other, unknown))) return NONE;
  return unknown;
}

static void own(Ownership *o, uint32_t equation, uint32_t unknown) {
  if (unknown == NONE || o->owned[equation] != NONE || o->d->owner[unknown] != NONE) return;
  o->owned[equation] = unknown;
  o->d->owner[unknown] = equation;
}

static void own_lone(Ownership *o, bool rates_first) {
  Derivation *d = o->d;
  const Equation *equations = d->model->equations.data;
  for (uint32_t i = 0; i < o->equations && rates_first; i++) {
    uint32_t order = dag_op(d->dag, equations[i].left) == OP_VARIABLE ? dag_order(d->dag, equations[i].left) : 0;
    if (order) own(o, i, lone(d, equations[i].left, equations[i].right, order));
  }
  for (uint32_t i = 0; i < o->equations; i++) own(o, i, lone(d, equations[i].left, equations[i].right, 0));
  for (uint32_t i = 0; i < o->equations; i++) own(o, i, lone(d, equations[i].right, equations[i].left, 0));
  for (uint32_t i = 0; i < o->equations; i++) own(o, i, lone(d, equations[i].left, equations[i].right, 1));
}

static void list_unknowns(Ownership *o) {
  Derivation *d = o->d;
  ExprVec leaves = {0};
  for (uint32_t i = 0; i < o->equations; i++) {
    o->start[i] = o->unknowns.count;
    leaves.count = 0;
    dag_variables(d->dag, dag_scratch(d->dag), d->model->equations.data[i].residual, &leaves);
    for (uint32_t k = 0; k < leaves.count; k++) vec_push(d->heap, &o->unknowns, dag_index(d->dag, leaves.data[k]));
  }
  o->start[o->equations] = o->unknowns.count;
  vec_free(d->heap, &leaves);
}

/* Assigns every unknown on the path to the equation from which it was reached. */
static void flip_path(Ownership *o, uint32_t unknown, uint32_t root) {
  for (;;) {
    uint32_t equation = o->from[unknown], before = o->owned[equation];
    o->d->owner[unknown] = equation;
    o->owned[equation] = unknown;
    if (equation == root) return;
    unknown = before;
  }
}

/* Searches breadth-first along paths that alternate between equations and the unknowns that they determine. */
static void augment(Ownership *o, uint32_t root, int tier) {
  Derivation *d = o->d;
  o->searches++;
  o->queue.count = 0;
  vec_push(d->heap, &o->queue, root);
  for (uint32_t next = 0; next < o->queue.count; next++) {
    uint32_t equation = o->queue.data[next];
    for (uint32_t k = o->start[equation]; k < o->start[equation + 1]; k++) {
      uint32_t unknown = o->unknowns.data[k];
      if (d->is_multiplier[unknown] || d->tier[unknown] > tier || o->stamp[unknown] == o->searches) continue;
      o->stamp[unknown] = o->searches;
      o->from[unknown] = equation;
      if (d->owner[unknown] == NONE) {
        flip_path(o, unknown, root);
        return;
      }
      vec_push(d->heap, &o->queue, d->owner[unknown]);
    }
  }
}

/* An equation between coordinates that defines none of them is a constraint. Here it would act without a force. */
static void check_owned(Ownership *o, uint32_t equation) {
  Derivation *d = o->d;
  uint32_t unknown = o->owned[equation];
  const Equation *e = &d->model->equations.data[equation];
  if (unknown == NONE || d->tier[unknown] < TIER_POSITION) return;
  if (lone(d, e->left, e->right, 0) == unknown || lone(d, e->right, e->left, 0) == unknown) return;
  if (lone(d, e->left, e->right, 1) == unknown) return;
  for (uint32_t k = o->start[equation]; k < o->start[equation + 1]; k++) {
    uint32_t other = o->unknowns.data[k];
    if (d->owner[other] != NONE || d->is_multiplier[other] || d->tier[other] < d->tier[unknown]) continue;
    diag_error(d->diags, DIAG_ENERGY, e->span,
               "this equation relates the coordinates `%s` and `%s` and defines neither: write it as a `constraint`",
               model_name(d->model, d->model->unknowns.data[unknown]),
               model_name(d->model, d->model->unknowns.data[other]));
    return;
  }
}

void ownership_match(Derivation *d, bool rates_first) {
  uint32_t equations = d->model->equations.count, unknowns = d->model->unknowns.count;
  Ownership o = {.d = d, .equations = equations};
  o.start = arena_array(&d->arena, equations + 1, sizeof *o.start);
  o.owned = arena_array(&d->arena, equations, sizeof *o.owned);
  o.stamp = arena_array(&d->arena, unknowns, sizeof *o.stamp);
  o.from = arena_array(&d->arena, unknowns, sizeof *o.from);
  for (uint32_t i = 0; i < equations; i++) o.owned[i] = NONE;
  list_unknowns(&o);
  own_lone(&o, rates_first);
  for (int tier = TIER_NONE; tier < TIERS; tier++)
    for (uint32_t i = 0; i < equations; i++)
      if (o.owned[i] == NONE) augment(&o, i, tier);
  for (uint32_t i = 0; i < equations; i++) check_owned(&o, i);
  vec_free(d->heap, &o.unknowns);
  vec_free(d->heap, &o.queue);
}

/* ---- substitution ---- */

/* The value of the unknown by its equation; EXPR_NONE if that does not define it explicitly. */
static Expr definition(Derivation *d, uint32_t unknown) {
  if (d->owner[unknown] == NONE) return EXPR_NONE;
  const Equation *e = &d->model->equations.data[d->owner[unknown]];
  if (lone(d, e->left, e->right, 0) == unknown) return e->right;
  return lone(d, e->right, e->left, 0) == unknown ? e->left : EXPR_NONE;
}

/* One round: substitutes the definitions of the leaves below the roots. false if no leaf has one. */
static bool put_in(Derivation *d, Expr *roots, uint32_t count) {
  ExprVec leaves = {0}, from = {0}, to = {0};
  for (uint32_t r = 0; r < count; r++) dag_variables(d->dag, dag_scratch(d->dag), roots[r], &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    Expr value = definition(d, dag_index(d->dag, leaves.data[k]));
    if (value == EXPR_NONE) continue;
    for (uint32_t order = dag_order(d->dag, leaves.data[k]); order; order--) value = dag_time_derivative(d->dag, value);
    vec_push(d->heap, &from, leaves.data[k]);
    vec_push(d->heap, &to, value);
  }
  bool any = from.count > 0;
  if (any) dag_substitute(d->dag, from.data, to.data, from.count, roots, count);
  vec_free(d->heap, &leaves);
  vec_free(d->heap, &from);
  vec_free(d->heap, &to);
  return any;
}

/* Substitutes all definitions. Definitions may use each other, but not in a cycle. */
static bool resolve(Derivation *d, Expr *roots, uint32_t count) {
  for (uint32_t round = 0; round <= d->model->equations.count; round++)
    if (!put_in(d, roots, count)) return true;
  diag_error(d->diags, DIAG_ENERGY, d->energy->span, "the equations define variables of the energies in a circle");
  return false;
}

/* Replaces quotients by powers of two by products, which is exact. So m/2*v^2 has the derivative m*v. */
static void scale_quotients(Derivation *d, Expr *roots, uint32_t count) {
  IndexVec below = {0};
  ExprVec from = {0}, to = {0};
  dag_below(d->dag, dag_scratch(d->dag), roots, count, &below);
  for (uint32_t k = 0; k < below.count; k++) {
    double divisor;
    int exponent;
    if (dag_op(d->dag, below.data[k]) != OP_DIVIDE) continue;
    if (!dag_is_constant(d->dag, dag_child(d->dag, below.data[k], 1), &divisor)) continue;
    if (fabs(frexp(divisor, &exponent)) != 0.5) continue;
    vec_push(d->heap, &from, below.data[k]);
    vec_push(d->heap, &to, dag_scale(d->dag, 1 / divisor, dag_child(d->dag, below.data[k], 0)));
  }
  if (from.count) dag_substitute(d->dag, from.data, to.data, from.count, roots, count);
  vec_free(d->heap, &below);
  vec_free(d->heap, &from);
  vec_free(d->heap, &to);
}

/* ---- coordinates ---- */

static void add_coordinates(Derivation *d, Expr e, bool *occurs) {
  ExprVec leaves = {0};
  dag_variables(d->dag, dag_scratch(d->dag), e, &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t unknown = dag_index(d->dag, leaves.data[k]);
    occurs[unknown] = d->owner[unknown] == NONE && !d->is_multiplier[unknown];
  }
  vec_free(d->heap, &leaves);
}

/* Multipliers belong to the derived equations. Forces may depend on them, energies may not. */
static bool check_multipliers(Derivation *d, const Expr *roots, uint32_t count) {
  ExprVec leaves = {0};
  for (uint32_t r = 0; r < count; r++) dag_variables(d->dag, dag_scratch(d->dag), roots[r], &leaves);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t unknown = dag_index(d->dag, leaves.data[k]);
    if (!d->is_multiplier[unknown]) continue;
    diag_error(d->diags, DIAG_ENERGY, d->energy->span, "the energies depend on the multiplier `%s`; only forces may",
               model_name(d->model, d->model->unknowns.data[unknown]));
    break;
  }
  vec_free(d->heap, &leaves);
  return d->diags->errors == 0;
}

/* Numbers the coordinates in the order of declarations. */
static void number_coordinates(Derivation *d, const Expr *roots, uint32_t count) {
  bool *occurs = arena_array(&d->arena, d->model->unknowns.count, sizeof *occurs);
  for (uint32_t r = 0; r < count; r++) add_coordinates(d, roots[r], occurs);
  for (uint32_t j = 0; j < d->model->unknowns.count; j++) {
    d->number[j] = occurs[j] ? d->coordinates.count : NONE;
    if (occurs[j]) vec_push(d->heap, &d->coordinates, j);
  }
}

static Expr sum_terms(Derivation *d, const EnergyTerms *terms) {
  Expr sum = dag_constant(d->dag, 0);
  for (uint32_t i = 0; i < terms->count; i++) sum = dag_add(d->dag, sum, terms->data[i].left);
  return sum;
}

bool ownership_find(Derivation *d) {
  const Energy *energy = d->energy;
  uint32_t constraints = energy->constraint.count, forces = energy->force.count, count = 2 + constraints + 2 * forces;
  Expr *roots = arena_array(&d->arena, count, sizeof *roots);
  find_tiers(d);
  ownership_match(d, false);
  if (d->diags->errors) return false;
  roots[0] = sum_terms(d, &energy->lagrangian);
  roots[1] = sum_terms(d, &energy->dissipation);
  for (uint32_t i = 0; i < constraints; i++)
    roots[2 + i] = dag_subtract(d->dag, energy->constraint.data[i].left, energy->constraint.data[i].right);
  for (uint32_t i = 0; i < forces; i++) {
    roots[2 + constraints + i] = energy->force.data[i].right;
    roots[2 + constraints + forces + i] = energy->force.data[i].left;
  }
  if (!resolve(d, roots, 2 + constraints + forces) || !check_multipliers(d, roots, 2 + constraints)) return false;
  scale_quotients(d, roots, 2);
  number_coordinates(d, roots, count);
  d->lagrangian = roots[0];
  d->dissipation = roots[1];
  d->constraints = arena_array(&d->arena, constraints, sizeof *d->constraints);
  for (uint32_t i = 0; i < constraints; i++) d->constraints[i].residual = roots[2 + i];
  return true;
}

Expr explicit_rate(const Derivation *d, Expr e) {
  ExprVec leaves = {0}, partials = {0};
  Expr rate = dag_partial(d->dag, e, dag_time(d->dag));
  dag_gradient(d->dag, e, &leaves, &partials);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t unknown = dag_index(d->dag, leaves.data[k]);
    if (d->number[unknown] != NONE) continue;
    Expr next = dag_variable(d->dag, unknown, dag_order(d->dag, leaves.data[k]) + 1);
    rate = add_product(d, rate, partials.data[k], next);
  }
  vec_free(d->heap, &leaves);
  vec_free(d->heap, &partials);
  return rate;
}
