/* exact: see exact.h. */
#include "array/exact.h"

#include <math.h>
#include <stdlib.h>

/* Numbers that count as fractions: m * 2^e with m up to 2^16; multiples of an angle and powers that are
 * expanded; terms of an angle. */
enum { FRACTION_BITS = 16, FRACTION_SHIFT = 30, MOST_MULTIPLE = 4, MOST_POWER = 12, ANGLE_TERMS = 4 };

Exact exact_make(const Samples *samples, Arena *arena) {
  return (Exact){.dag = samples->model->dag, .parameters = samples->parameters, .ring = ring_make(arena)};
}

/* ---- atoms ---- */

static uint32_t find_atom(Exact *exact, Op op, Expr of, double scale, bool *is_new) {
  Ring *ring = &exact->ring;
  *is_new = false;
  for (uint32_t k = 0; k < ring->atoms; k++)
    if (exact->atom[k].op == op && exact->atom[k].of == of && exact->atom[k].scale == scale &&
        !ring->atom[k].is_inverse)
      return k;
  uint32_t atom = ring_atom(ring);
  if (ring->failed) return 0;
  *is_new = true;
  exact->atom[atom] = (ExactAtom){op, of, scale};
  return atom;
}

static Polynomial plain_atom(Exact *exact, Op op, Expr of, double scale, int power) {
  bool is_new;
  uint32_t atom = find_atom(exact, op, of, scale, &is_new);
  return polynomial_atom(&exact->ring, atom, power);
}

/* An atom whose square is known. */
static Polynomial squared_atom(Exact *exact, Op op, Expr of, double scale, Polynomial square, int power) {
  bool is_new;
  uint32_t atom = find_atom(exact, op, of, scale, &is_new);
  if (is_new) exact->ring.atom[atom] = (RingAtom){.has_square = true, .relation = square};
  return polynomial_atom(&exact->ring, atom, power);
}

static Polynomial integer(Exact *exact, int64_t value) {
  return polynomial_constant(&exact->ring, (Fraction){value, 1});
}

static Polynomial number(Exact *exact, double value) {
  Ring *ring = &exact->ring;
  int exponent;
  double mantissa = ldexp(frexp(value, &exponent), FRACTION_BITS);
  exponent -= FRACTION_BITS;
  if (isfinite(value) && mantissa == floor(mantissa) && abs(exponent) <= FRACTION_SHIFT) {
    Polynomial scale = integer(exact, (int64_t)1 << abs(exponent));
    if (exponent < 0) scale = polynomial_inverse(ring, scale);
    return polynomial_multiply(ring, integer(exact, (int64_t)mantissa), scale);
  }
  Polynomial size = plain_atom(exact, OP_CONSTANT, EXPR_NONE, fabs(value), 1);
  return value < 0 ? polynomial_subtract(ring, integer(exact, 0), size) : size;
}

/* The number that a constant or a parameter is. */
static bool known_number(const Exact *exact, Expr e, double *value) {
  if (dag_op(exact->dag, e) == OP_PARAMETER) *value = exact->parameters[dag_index(exact->dag, e)];
  else if (!dag_is_constant(exact->dag, e, value)) return false;
  return isfinite(*value);
}

/* ---- angles and exponents ---- */

/* cos + i sin, or the like for hyperbolic functions. */
typedef struct Rotation {
  Polynomial cosine, sine;
} Rotation;

/* The pair of `scale` times an expression, scale > 0, with sin^2 = 1 - cos^2. */
static Rotation rotation_atoms(Exact *exact, Expr of, double scale) {
  Ring *ring = &exact->ring;
  Rotation pair = {.cosine = plain_atom(exact, OP_COS, of, scale, 1)};
  Polynomial square = polynomial_subtract(ring, integer(exact, 1), polynomial_multiply(ring, pair.cosine, pair.cosine));
  pair.sine = squared_atom(exact, OP_SIN, of, scale, square, 1);
  return pair;
}

static Rotation rotation_compose(Ring *ring, Rotation a, Rotation b, bool back) {
  Polynomial cc = polynomial_multiply(ring, a.cosine, b.cosine), ss = polynomial_multiply(ring, a.sine, b.sine);
  Polynomial sc = polynomial_multiply(ring, a.sine, b.cosine), cs = polynomial_multiply(ring, a.cosine, b.sine);
  if (back) return (Rotation){polynomial_add(ring, cc, ss), polynomial_subtract(ring, sc, cs)};
  return (Rotation){polynomial_subtract(ring, cc, ss), polynomial_add(ring, sc, cs)};
}

/* How often an atom of which argument: c * t is |c| times the atom of t, or once that of |c| * t. */
static int multiple(double coefficient, double *scale) {
  double size = fabs(coefficient);
  bool small = size == floor(size) && size <= MOST_MULTIPLE;
  *scale = small ? 1 : size;
  return small ? (int)size : 1;
}

static Rotation rotate(Exact *exact, Rotation angle, Expr of, double coefficient) {
  double scale;
  for (int k = multiple(coefficient, &scale); k > 0; k--)
    angle = rotation_compose(&exact->ring, angle, rotation_atoms(exact, of, scale), coefficient < 0);
  return angle;
}

/* A sum of few terms is taken apart, anything else is one angle. The numbers of a sum are angles of the
 * argument EXPR_NONE. */
static Rotation rotation_of(Exact *exact, Expr of) {
  Rotation angle = {integer(exact, 1), integer(exact, 0)};
  const Term *terms;
  double constant;
  if (dag_op(exact->dag, of) != OP_SUM || dag_child_count(exact->dag, of) > ANGLE_TERMS)
    return rotate(exact, angle, of, 1);
  uint32_t count = dag_terms(exact->dag, of, &constant, &terms);
  for (uint32_t k = 0; k < count; k++) angle = rotate(exact, angle, terms[k].node, terms[k].coefficient);
  if (constant != 0)
    angle = rotation_compose(&exact->ring, angle, rotation_atoms(exact, EXPR_NONE, fabs(constant)), constant < 0);
  return angle;
}

static Polynomial exponential_of(Exact *exact, Expr of) {
  const Term *terms;
  double constant, scale;
  if (dag_op(exact->dag, of) != OP_SUM || dag_child_count(exact->dag, of) > ANGLE_TERMS)
    return plain_atom(exact, OP_EXP, of, 1, 1);
  uint32_t count = dag_terms(exact->dag, of, &constant, &terms);
  Polynomial product = integer(exact, 1);
  for (uint32_t k = 0; k < count; k++) {
    int times = multiple(terms[k].coefficient, &scale), power = terms[k].coefficient < 0 ? -times : times;
    product = polynomial_multiply(&exact->ring, product, plain_atom(exact, OP_EXP, terms[k].node, scale, power));
  }
  if (constant == 0) return product;
  Polynomial factor = plain_atom(exact, OP_EXP, EXPR_NONE, fabs(constant), constant < 0 ? -1 : 1);
  return polynomial_multiply(&exact->ring, product, factor);
}

/* cosh, and sinh with sinh^2 = cosh^2 - 1. */
static Polynomial hyperbolic_of(Exact *exact, Op op, Expr of) {
  Ring *ring = &exact->ring;
  Polynomial cosine = plain_atom(exact, OP_COSH, of, 1, 1);
  if (op == OP_COSH) return cosine;
  Polynomial square = polynomial_subtract(ring, polynomial_multiply(ring, cosine, cosine), integer(exact, 1));
  return squared_atom(exact, OP_SINH, of, 1, square, 1);
}

/* ---- roots, powers, choices ---- */

/* sqrt(argument)^power; arguments that are equal as polynomials have one root. */
static Polynomial root_of(Exact *exact, Expr of, Polynomial argument, int power) {
  Ring *ring = &exact->ring;
  for (uint32_t k = 0; k < ring->atoms; k++)
    if (exact->atom[k].op == OP_SQRT && ring->atom[k].has_square && polynomial_equal(ring->atom[k].relation, argument))
      return polynomial_atom(ring, k, power);
  return squared_atom(exact, OP_SQRT, of, 1, argument, power);
}

/* a^b for a number b: integer part and rest apart, since derivatives differ in the integer part only. */
static Polynomial power_of(Exact *exact, Expr e, Expr of, Polynomial base, Expr exponent) {
  Ring *ring = &exact->ring;
  double value;
  if (!known_number(exact, exponent, &value) || fabs(value) > MOST_POWER) return plain_atom(exact, OP_POWER, e, 1, 1);
  int whole = (int)floor(value);
  double rest = value - whole;
  if (rest == 0.5) return root_of(exact, of, base, 2 * whole + 1);
  Polynomial result = polynomial_power(ring, base, whole);
  return rest == 0 ? result : polynomial_multiply(ring, result, plain_atom(exact, OP_POWER, of, rest, 1));
}

/* 1 where a condition holds, 0 elsewhere. */
static Polynomial condition_atom(Exact *exact, Expr condition) {
  bool is_new;
  uint32_t atom = find_atom(exact, OP_IF, condition, 1, &is_new);
  Polynomial self = polynomial_atom(&exact->ring, atom, 1);
  if (is_new) exact->ring.atom[atom] = (RingAtom){.has_square = true, .idempotent = true, .relation = self};
  return self;
}

static Polynomial choice_of(Exact *exact, Expr condition, Polynomial yes, Polynomial no) {
  Ring *ring = &exact->ring;
  Polynomial difference = polynomial_subtract(ring, yes, no);
  if (!difference.count) return no;
  return polynomial_add(ring, no, polynomial_multiply(ring, condition_atom(exact, condition), difference));
}

/* ---- all operators ---- */

static Polynomial sum_of(Exact *exact, Expr e, const uint32_t *slot, const Polynomial *found) {
  Ring *ring = &exact->ring;
  const Term *terms;
  double constant;
  uint32_t count = dag_terms(exact->dag, e, &constant, &terms);
  Polynomial sum = number(exact, constant);
  for (uint32_t k = 0; k < count; k++) {
    Polynomial term = polynomial_multiply(ring, number(exact, terms[k].coefficient), found[slot[terms[k].node]]);
    sum = polynomial_add(ring, sum, term);
  }
  return sum;
}

static Polynomial operator_of(Exact *exact, Expr e, const uint32_t *slot, const Polynomial *found) {
  Ring *ring = &exact->ring;
  const Expr *child;
  Op op = dag_op(exact->dag, e);
  uint32_t count = dag_arguments(exact->dag, e, &child);
  Polynomial a = count > 0 ? found[slot[child[0]]] : (Polynomial){0}, b = count > 1 ? found[slot[child[1]]] : a;
  switch (op) {
  case OP_MULTIPLY: return polynomial_multiply(ring, a, b);
  case OP_DIVIDE: return polynomial_multiply(ring, a, polynomial_inverse(ring, b));
  case OP_POWER: return power_of(exact, e, child[0], a, child[1]);
  case OP_SQRT: return root_of(exact, child[0], a, 1);
  case OP_ABS: return squared_atom(exact, op, child[0], 1, polynomial_multiply(ring, a, a), 1);
  case OP_SIN: return rotation_of(exact, child[0]).sine;
  case OP_COS: return rotation_of(exact, child[0]).cosine;
  case OP_TAN: {
    Rotation angle = rotation_of(exact, child[0]);
    return polynomial_multiply(ring, angle.sine, polynomial_inverse(ring, angle.cosine));
  }
  case OP_EXP: return exponential_of(exact, child[0]);
  case OP_SINH:
  case OP_COSH: return hyperbolic_of(exact, op, child[0]);
  case OP_IF: return choice_of(exact, child[0], b, found[slot[child[2]]]);
  case OP_NOEVENT:
  case OP_HOMOTOPY: return a;
  case OP_SMOOTH: return b;
  default: return plain_atom(exact, op, e, 1, 1);
  }
}

static Polynomial node_of(Exact *exact, Expr e, const uint32_t *slot, const Polynomial *found) {
  Op op = dag_op(exact->dag, e);
  double value;
  if (known_number(exact, e, &value)) return number(exact, value);
  if (op == OP_SUM) return sum_of(exact, e, slot, found);
  if (op_kind(op) == KIND_LEAF) return plain_atom(exact, op, e, 1, 1);
  if (op_kind(op) == KIND_RELATION || (op_kind(op) == KIND_LOGIC && op != OP_IF)) return condition_atom(exact, e);
  return operator_of(exact, e, slot, found);
}

bool exact_polynomials(Exact *exact, const Expr *roots, uint32_t count, Polynomial *polynomials) {
  Heap *heap = exact->ring.arena->heap;
  IndexVec order = {0};
  dag_below((Dag *)exact->dag, roots, count, &order);
  uint32_t *slot = heap_array(heap, dag_size(exact->dag), sizeof *slot);
  Polynomial *found = heap_array(heap, order.count, sizeof *found);
  for (uint32_t k = 0; k < order.count && !exact->ring.failed; k++) {
    Expr e = order.data[k];
    slot[e] = k;
    found[k] = node_of(exact, e, slot, found);
    if (!exact->ring.failed || exact->ring.atoms == RING_ATOMS) continue;
    exact->ring.failed = false; /* too large to be taken apart: it stands for itself */
    found[k] = plain_atom(exact, OP_COUNT, e, 1, 1);
  }
  for (uint32_t r = 0; r < count && !exact->ring.failed; r++) polynomials[r] = found[slot[roots[r]]];
  heap_free(heap, slot);
  heap_free(heap, found);
  vec_free(heap, &order);
  return !exact->ring.failed;
}
