/* lagrange: the equations of stationary action, one for each coordinate.
 *
 * The left side has the mass matrix times the accelerations, and friction. The right side has forces, multipliers, and the rest:
 * the other terms of d/dt dL/dq' - dL/dq. If L is quadratic in the velocities, L = q'^T M q' / 2 + b^T q' + L0, the rest is a sum
 * over products of velocities (Christoffel symbols). In that sum, half of the terms of d/dt dL/dq' have cancelled with terms of
 * dL/dq. The shorter one of that sum and the plain derivative is used. If L has higher derivatives, the equations are those of
 * Euler and Poisson (Shmoylova et al. 2013, (67)). */
#include "energy/derivation.h"

/* coefficient * q_j' * q_k' in the equation of coordinate i; k is NONE if the term is linear. */
typedef struct VelocityTerm {
  uint32_t i, j, k;
  Expr coefficient;
} VelocityTerm;

typedef struct Lagrange {
  Derivation *d;
  uint32_t n;
  Expr *mass;        /* n by n, symmetric */
  bool is_higher;    /* L or D has derivatives beyond the first */
  bool is_quadratic; /* no such derivatives, and the mass matrix contains no velocity */
  Map place;         /* (i, j, k) -> index of the velocity term */
  VEC(VelocityTerm) velocities;
  Expr *rest; /* per coordinate: d/dt dL/dq' - dL/dq without accelerations and products of velocities */
  ExprVec zeros;
  ExprVec speeds, accelerations; /* leaves of the coordinates' derivatives */
} Lagrange;

/* ---- derivatives of the Lagrangian ---- */

static Expr *zeros(Derivation *d) {
  Expr *list = arena_array(&d->arena, d->coordinates.count, sizeof *list);
  for (uint32_t i = 0; i < d->coordinates.count; i++) list[i] = dag_constant(d->dag, 0);
  return list;
}

/* The highest order of a derivative of a coordinate in e, at least `least`. */
static uint32_t coordinate_order(Derivation *d, Expr e, uint32_t least) {
  ExprVec leaves = {0};
  dag_variables(d->dag, dag_scratch(d->dag), e, &leaves);
  for (uint32_t k = 0; k < leaves.count; k++)
    if (dag_order(d->dag, leaves.data[k]) > least && d->number[dag_index(d->dag, leaves.data[k])] != NONE)
      least = dag_order(d->dag, leaves.data[k]);
  vec_free(d->heap, &leaves);
  return least;
}

/* Stores the partial derivatives of e with respect to derivatives of coordinates up to an order in slope[order][coordinate]. */
static void take_slopes(Derivation *d, Expr e, Expr **slope, uint32_t highest) {
  ExprVec leaves = {0}, partials = {0};
  dag_gradient(d->dag, e, &leaves, &partials);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t coordinate = d->number[dag_index(d->dag, leaves.data[k])], order = dag_order(d->dag, leaves.data[k]);
    if (coordinate != NONE && order <= highest) slope[order][coordinate] = partials.data[k];
  }
  vec_free(d->heap, &leaves);
  vec_free(d->heap, &partials);
}

Expr **lagrange_slopes(Derivation *d, Expr e, uint32_t *highest) {
  *highest = coordinate_order(d, e, 1);
  Expr **slope = arena_array(&d->arena, *highest + 1, sizeof *slope);
  for (uint32_t order = 0; order <= *highest; order++) slope[order] = zeros(d);
  take_slopes(d, e, slope, *highest);
  return slope;
}

/* Horner's scheme in d/dt. */
Expr alternating_sum(Derivation *d, Expr **slope, uint32_t from, uint32_t highest, uint32_t coordinate) {
  Expr sum = slope[highest][coordinate];
  for (uint32_t order = highest; order > from; order--)
    sum = dag_subtract(d->dag, slope[order - 1][coordinate], dag_time_derivative(d->dag, sum));
  return sum;
}

static void find_slopes(Lagrange *l) {
  Derivation *d = l->d;
  d->slope = lagrange_slopes(d, d->lagrangian, &d->highest);
  d->friction_slope = lagrange_slopes(d, d->dissipation, &d->friction_order);
  l->is_higher = d->highest > 1 || d->friction_order > 1;
  d->friction = zeros(d);
  for (uint32_t i = 0; i < d->coordinates.count; i++)
    d->friction[i] = alternating_sum(d, d->friction_slope, 1, d->friction_order, i);
}

static void find_mass(Lagrange *l) {
  Derivation *d = l->d;
  Expr *row[2] = {zeros(d), NULL}, zero = dag_constant(d->dag, 0);
  l->mass = arena_array(&d->arena, (size_t)l->n * l->n, sizeof *l->mass);
  l->is_quadratic = !l->is_higher;
  for (uint32_t i = 0; i < l->n; i++) {
    row[1] = l->mass + (size_t)i * l->n;
    heap_work(d->heap, 4 * (uint64_t)l->n); /* the entry is made, filled, read and differentiated */
    for (uint32_t j = 0; j < l->n; j++) row[1][j] = zero;
    take_slopes(d, d->slope[1][i], row, 1);
    for (uint32_t j = 0; j < i; j++) row[1][j] = l->mass[(size_t)j * l->n + i]; /* equal by symmetry: reuse the node */
    for (uint32_t j = 0; j < l->n; j++)
      l->is_quadratic = l->is_quadratic && (row[1][j] == zero || coordinate_order(d, row[1][j], 0) == 0);
  }
}

/* ---- products of velocities ---- */

static void add_velocity(Lagrange *l, uint32_t i, uint32_t j, uint32_t k, Expr coefficient) {
  Derivation *d = l->d;
  if (k != NONE && k < j) {
    uint32_t held = j;
    j = k;
    k = held;
  }
  uint64_t key = ((uint64_t)i * (l->n + 1) + j) * (l->n + 1) + (k == NONE ? l->n : k);
  uint32_t place = map_get(&l->place, key);
  if (place == MAP_NONE) {
    map_put(&l->place, key, l->velocities.count);
    vec_push(d->heap, &l->velocities, (VelocityTerm){i, j, k, coefficient});
  } else {
    VelocityTerm *term = &l->velocities.data[place];
    term->coefficient = dag_add(d->dag, term->coefficient, coefficient);
  }
}

/* The terms from M_ab, a <= b: M_ab q_b' in p_a, likewise in p_b, and q_a' q_b' M_ab in L. */
static void differentiate_mass(Lagrange *l, uint32_t a, uint32_t b) {
  Derivation *d = l->d;
  Expr entry = l->mass[(size_t)a * l->n + b];
  if (!dag_depends(d->dag, entry, OP_VARIABLE) && !dag_depends(d->dag, entry, OP_TIME)) return;
  Expr rate = explicit_rate(d, entry);
  if (!is_zero(d, rate)) {
    add_velocity(l, a, b, NONE, rate);
    if (a != b) add_velocity(l, b, a, NONE, rate);
  }
  ExprVec leaves = {0}, partials = {0};
  dag_gradient(d->dag, entry, &leaves, &partials);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t c = d->number[dag_index(d->dag, leaves.data[k])];
    if (c == NONE) continue;
    add_velocity(l, a, b, c, partials.data[k]);
    if (a != b) add_velocity(l, b, a, c, partials.data[k]);
    add_velocity(l, c, a, b, dag_scale(d->dag, a == b ? -0.5 : -1, partials.data[k]));
  }
  vec_free(d->heap, &leaves);
  vec_free(d->heap, &partials);
}

/* The terms from b_i of b^T q': db_i/dq_j q_j' in d/dt p_i, and q_i' db_i/dq_j in dL/dq_j. */
static void differentiate_linear(Lagrange *l, uint32_t i, Expr b) {
  Derivation *d = l->d;
  ExprVec leaves = {0}, partials = {0};
  dag_gradient(d->dag, b, &leaves, &partials);
  for (uint32_t k = 0; k < leaves.count; k++) {
    uint32_t j = d->number[dag_index(d->dag, leaves.data[k])];
    if (j == NONE || j == i) continue;
    add_velocity(l, i, j, NONE, partials.data[k]);
    add_velocity(l, j, i, NONE, dag_negate(d->dag, partials.data[k]));
  }
  l->rest[i] = dag_add(d->dag, l->rest[i], explicit_rate(d, b));
  vec_free(d->heap, &leaves);
  vec_free(d->heap, &partials);
}

/* q'^T M q' / 2 */
static Expr kinetic_energy(Lagrange *l) {
  Derivation *d = l->d;
  Expr sum = dag_constant(d->dag, 0);
  for (uint32_t a = 0; a < l->n; a++)
    for (uint32_t b = a; b < l->n; b++) {
      if (is_zero(d, l->mass[(size_t)a * l->n + b])) continue;
      Expr product = dag_multiply(d->dag, l->speeds.data[a], l->speeds.data[b]);
      if (a == b) product = dag_scale(d->dag, 0.5, product);
      sum = add_product(d, sum, l->mass[(size_t)a * l->n + b], product);
    }
  return sum;
}

static void find_velocity_terms(Lagrange *l) {
  Derivation *d = l->d;
  Expr still = d->lagrangian;
  Expr *slope = zeros(d);
  dag_substitute(d->dag, l->speeds.data, l->zeros.data, l->n, &still, 1);
  take_slopes(d, still, &slope, 0);
  d->total = dag_subtract(d->dag, kinetic_energy(l), still);
  for (uint32_t i = 0; i < l->n; i++) l->rest[i] = dag_negate(d->dag, slope[i]);
  for (uint32_t a = 0; a < l->n; a++)
    for (uint32_t b = a; b < l->n; b++) differentiate_mass(l, a, b);
  Expr *linear = arena_copy_array(&d->arena, d->slope[1], l->n, sizeof *linear);
  dag_substitute(d->dag, l->speeds.data, l->zeros.data, l->n, linear, l->n);
  for (uint32_t i = 0; i < l->n; i++) differentiate_linear(l, i, linear[i]);
  for (uint32_t t = 0; t < l->velocities.count; t++) {
    const VelocityTerm *term = &l->velocities.data[t];
    Expr product = l->speeds.data[term->j];
    if (term->k != NONE) product = dag_multiply(d->dag, product, l->speeds.data[term->k]);
    l->rest[term->i] = add_product(d, l->rest[term->i], term->coefficient, product);
  }
}

/* The energy by its definition: sum of q^(k) p_k - L over k >= 1, with Ostrogradsky's momenta p_k = dL/dq^(k) - d/dt p_(k+1). */
static Expr total_energy(Lagrange *l) {
  Derivation *d = l->d;
  Expr sum = dag_negate(d->dag, d->lagrangian);
  for (uint32_t i = 0; i < l->n; i++)
    for (uint32_t k = 1; k <= d->highest; k++)
      sum = add_product(d, sum, alternating_sum(d, d->slope, k, d->highest, i), coordinate_leaf(d, i, k));
  return sum;
}

/* ---- equations ---- */

/* d/dt dL/dq' - dL/dq of a Lagrangian of first order, without the accelerations that the mass matrix multiplies. */
static Expr plain_rest(Lagrange *l, uint32_t i) {
  Derivation *d = l->d;
  Expr rate = dag_time_derivative(d->dag, d->slope[1][i]);
  dag_substitute(d->dag, l->accelerations.data, l->zeros.data, l->n, &rate, 1);
  return dag_subtract(d->dag, rate, d->slope[0][i]);
}

static uint32_t cost(Derivation *d, Expr e) { return dag_count(d->dag, dag_scratch(d->dag), &e, 1); }

static Expr inertia(Lagrange *l, uint32_t i) {
  Expr sum = dag_constant(l->d->dag, 0);
  for (uint32_t j = 0; j < l->n; j++)
    if (!is_zero(l->d, l->mass[(size_t)i * l->n + j]))
      sum = add_product(l->d, sum, l->mass[(size_t)i * l->n + j], l->accelerations.data[j]);
  return sum;
}

/* d/dt dL/dq' - d2/dt2 dL/dq'' + ... */
static Expr higher_inertia(Derivation *d, uint32_t i) {
  return dag_time_derivative(d->dag, alternating_sum(d, d->slope, 1, d->highest, i));
}

/* Writes a time derivative of a partial derivative, for example d2/dt2 dL/dx''. */
static void write_derivative(Derivation *d, TextVec *text, const char *sign, uint32_t times, char function,
                             const char *name, uint32_t order) {
  static const char *const marks[] = {"", "'", "''"};
  text_printf(d->heap, text, "%s", sign);
  if (times == 1) text_printf(d->heap, text, "d/dt ");
  else if (times > 1) text_printf(d->heap, text, "d%u/dt%u ", times, times);
  text_printf(d->heap, text, "d%c/d%s", function, name);
  if (order < 3) text_printf(d->heap, text, "%s", marks[order]);
  else text_printf(d->heap, text, "^(%u)", order);
}

/* d/dt dL/dx' + dD/dx' = dL/dx + Q_x + lambda_rod*d(rod)/dx, without the terms that do not occur. */
static const char *origin(Derivation *d, uint32_t i) {
  TextVec text = {0};
  const char *name = coordinate_name(d, i), *join = "";
  text_printf(d->heap, &text, "coordinate %s: ", name);
  for (uint32_t k = 1; k <= d->highest; k++) {
    if (is_zero(d, d->slope[k][i])) continue;
    write_derivative(d, &text, *join ? (k % 2 ? " + " : " - ") : (k % 2 ? "" : "-"), k, 'L', name, k);
    join = " + ";
  }
  for (uint32_t k = 1; k <= d->friction_order; k++) {
    if (is_zero(d, d->friction_slope[k][i])) continue;
    write_derivative(d, &text, *join ? (k % 2 ? " + " : " - ") : (k % 2 ? "" : "-"), k - 1, 'D', name, k);
    join = " + ";
  }
  text_printf(d->heap, &text, *join ? " = " : "0 = ");
  join = "";
  if (!is_zero(d, d->slope[0][i])) text_printf(d->heap, &text, "dL/d%s", name), join = " + ";
  if (!is_zero(d, d->force[i])) text_printf(d->heap, &text, "%sforce on %s", join, name), join = " + ";
  for (uint32_t c = 0; c < d->energy->constraint.count; c++) {
    if (d->constraints[c].gradient[i] == EXPR_NONE) continue;
    text_printf(d->heap, &text, "%sG_%s^T %s", join, name,
                model_name(d->model, d->energy->constraint.data[c].multiplier));
    join = " + ";
  }
  if (!*join) text_printf(d->heap, &text, "0");
  const char *kept = arena_copy(&d->arena, text.data, text.count);
  vec_free(d->heap, &text);
  return kept;
}

static bool add_equation(Lagrange *l, uint32_t i) {
  Derivation *d = l->d;
  Expr left, rest;
  if (!l->is_higher) {
    left = inertia(l, i);
    rest = plain_rest(l, i);
    if (l->is_quadratic && cost(d, l->rest[i]) <= cost(d, rest)) rest = l->rest[i];
  } else {
    left = higher_inertia(d, i);
    rest = dag_negate(d->dag, d->slope[0][i]);
  }
  left = dag_add(d->dag, left, d->friction[i]);
  Expr right = dag_subtract(d->dag, d->force[i], rest);
  right = dag_add(d->dag, right, constraint_force(d, i));
  const Variable *variable = &d->model->variables.data[coordinate_variable(d, i)];
  Equation equation = {.left = left, .right = right};
  if (!dag_depends(d->dag, left, OP_VARIABLE) && !dag_depends(d->dag, right, OP_VARIABLE)) {
    diag_error(d->diags, DIAG_ENERGY, variable->span,
               "the Lagrangian leaves coordinate `%s` undetermined: its equation is %s", coordinate_name(d, i),
               model_equation_text(d->model, &equation, &d->diags->arena));
    return false;
  }
  derivation_equate(d, left, right, variable->span, origin(d, i));
  return true;
}

/* If two coordinates have the same equation up to a factor, the energy contains only one combination of them. */
static bool check_distinct(Derivation *d, uint32_t first) {
  Map seen = map_make(d->heap);
  bool fine = true;
  for (uint32_t i = 0; i < d->coordinates.count && fine; i++) {
    Expr residual = scaled_residual(d, d->model->equations.data[first + i].residual);
    uint32_t other = map_get(&seen, residual);
    if (other == MAP_NONE) map_put(&seen, residual, i);
    else {
      fine = false;
      diag_error(d->diags, DIAG_ENERGY, d->model->variables.data[coordinate_variable(d, i)].span,
                 "the Lagrangian leaves coordinates `%s` and `%s` undetermined: they have the same equation",
                 coordinate_name(d, other), coordinate_name(d, i));
    }
  }
  map_free(&seen);
  return fine;
}

/* Stores properties of the equations that solvers can use. */
static void keep_mass(const Lagrange *l, uint32_t first) {
  Derivation *d = l->d;
  uint32_t n = l->n, m = d->energy->constraint.count;
  MassForm *form = heap_alloc(d->heap, sizeof *form);
  *form = (MassForm){.coordinates = n, .constraints = m, .first = first};
  form->coordinate = heap_array(d->heap, n, sizeof *form->coordinate);
  form->multiplier = heap_array(d->heap, m, sizeof *form->multiplier);
  form->mass = heap_array(d->heap, (size_t)n * n, sizeof *form->mass);
  form->gradient = heap_array(d->heap, (size_t)m * n, sizeof *form->gradient);
  for (uint32_t i = 0; i < n; i++) form->coordinate[i] = d->coordinates.data[i];
  for (uint32_t k = 0; k < n * n; k++) form->mass[k] = l->mass[k];
  for (uint32_t c = 0; c < m; c++) {
    form->multiplier[c] = d->model->variables.data[d->energy->constraint.data[c].multiplier].index;
    for (uint32_t i = 0; i < n; i++) {
      Expr entry = d->constraints[c].gradient[i];
      form->gradient[(size_t)c * n + i] = entry == EXPR_NONE ? dag_constant(d->dag, 0) : entry;
    }
  }
  d->model->mass = form;
}

bool lagrange_equations(Derivation *d) {
  Lagrange l = {.d = d, .n = d->coordinates.count, .place = map_make(d->heap), .rest = zeros(d)};
  uint32_t first = d->model->equations.count;
  for (uint32_t i = 0; i < l.n; i++) {
    vec_push(d->heap, &l.zeros, dag_constant(d->dag, 0));
    vec_push(d->heap, &l.speeds, coordinate_leaf(d, i, 1));
    vec_push(d->heap, &l.accelerations, coordinate_leaf(d, i, 2));
  }
  bool fine = true;
  find_slopes(&l);
  find_mass(&l);
  if (l.is_quadratic) find_velocity_terms(&l);
  else d->total = total_energy(&l);
  for (uint32_t i = 0; i < l.n && fine; i++) fine = add_equation(&l, i);
  fine = fine && check_distinct(d, first);
  if (fine && !l.is_higher) keep_mass(&l, first);
  map_free(&l.place);
  vec_free(d->heap, &l.velocities);
  vec_free(d->heap, &l.zeros);
  vec_free(d->heap, &l.speeds);
  vec_free(d->heap, &l.accelerations);
  return fine;
}
