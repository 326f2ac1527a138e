/* polynomial: see polynomial.h. */
#include "array/polynomial.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 Wide;

/* Terms of one polynomial, and products of terms of a whole ring, at most. */
enum { MOST_TERMS = 3000, MOST_WORK = 1000000, LARGEST_POWER = 60 };

Ring ring_make(Arena *arena) { return (Ring){.arena = arena}; }

uint32_t ring_atom(Ring *ring) {
  ring->failed = ring->failed || ring->atoms == RING_ATOMS;
  if (ring->failed) return 0;
  ring->atom[ring->atoms] = (RingAtom){0};
  return ring->atoms++;
}

/* ---- fractions ---- */

static Wide wide_divisor(Wide a, Wide b) {
  if (a < 0) a = -a;
  while (b) {
    Wide rest = a % b;
    a = b, b = rest;
  }
  return a;
}

static Fraction fraction_make(Ring *ring, Wide above, Wide below) {
  Wide common = wide_divisor(above, below), limit = (Wide)INT64_MAX;
  above /= common, below /= common;
  if (above > limit || above < -limit || below > limit) ring->failed = true;
  return (Fraction){(int64_t)above, (int64_t)below};
}

static Fraction fraction_multiply(Ring *ring, Fraction a, Fraction b) {
  return fraction_make(ring, (Wide)a.above * b.above, (Wide)a.below * b.below);
}

static Fraction fraction_add(Ring *ring, Fraction a, Fraction b) {
  Wide left = (Wide)a.above * b.below / 2, right = (Wide)b.above * a.below / 2, limit = (Wide)1 << 125;
  if (left + right > limit || left + right < -limit) ring->failed = true;
  if (ring->failed) return a;
  return fraction_make(ring, (Wide)a.above * b.below + (Wide)b.above * a.below, (Wide)a.below * b.below);
}

/* ---- lists of terms ---- */

typedef VEC(Monomial) MonomialVec;

static int compare_terms(const void *a, const void *b) {
  return memcmp(((const Monomial *)a)->power, ((const Monomial *)b)->power, RING_ATOMS);
}

/* Sorts, adds up equal powers and copies the terms that remain. */
static Polynomial collect(Ring *ring, MonomialVec *list) {
  uint32_t kept = 0;
  if (list->count) qsort(list->data, list->count, sizeof *list->data, compare_terms);
  for (uint32_t k = 0; k < list->count && !ring->failed;) {
    Monomial sum = list->data[k++];
    for (; k < list->count && !compare_terms(&sum, &list->data[k]); k++)
      sum.coefficient = fraction_add(ring, sum.coefficient, list->data[k].coefficient);
    if (sum.coefficient.above) list->data[kept++] = sum;
  }
  ring->failed = ring->failed || kept > MOST_TERMS;
  Polynomial result = {0};
  if (!ring->failed && kept) {
    Monomial *term = arena_array(ring->arena, kept, sizeof *term);
    memcpy(term, list->data, kept * sizeof *term);
    result = (Polynomial){kept, term};
  }
  vec_free(ring->arena->heap, list);
  return result;
}

static void append(Ring *ring, MonomialVec *list, Polynomial a) {
  for (uint32_t k = 0; k < a.count; k++) vec_push(ring->arena->heap, list, a.term[k]);
}

/* The product of two terms, relations not yet put in. */
static Monomial multiply_terms(Ring *ring, const Monomial *a, const Monomial *b) {
  Monomial product = {.coefficient = fraction_multiply(ring, a->coefficient, b->coefficient)};
  for (uint32_t k = 0; k < ring->atoms; k++) {
    int power = a->power[k] + b->power[k];
    if (abs(power) > LARGEST_POWER) ring->failed = true;
    product.power[k] = (int8_t)power;
  }
  return product;
}

static Polynomial multiply_plainly(Ring *ring, Polynomial a, Polynomial b) {
  MonomialVec list = {0};
  ring->work += (uint64_t)a.count * b.count;
  ring->failed = ring->failed || ring->work > MOST_WORK;
  for (uint32_t p = 0; p < a.count && !ring->failed; p++)
    for (uint32_t q = 0; q < b.count && !ring->failed; q++)
      vec_push(ring->arena->heap, &list, multiply_terms(ring, &a.term[p], &b.term[q]));
  return collect(ring, &list);
}

/* a = low + x^2 * high, low holding the terms with x^1 at most. false: there is no square of x. */
static bool split_square(Ring *ring, Polynomial a, uint32_t atom, Polynomial *low, Polynomial *high) {
  MonomialVec parts[2] = {{0}, {0}};
  for (uint32_t k = 0; k < a.count; k++) {
    Monomial term = a.term[k];
    bool square = term.power[atom] >= 2;
    if (square) term.power[atom] = (int8_t)(term.power[atom] - 2);
    vec_push(ring->arena->heap, &parts[square], term);
  }
  bool found = parts[1].count > 0;
  *low = collect(ring, &parts[0]);
  *high = collect(ring, &parts[1]);
  return found;
}

/* Puts the squares in. A relation speaks of atoms before its own and of lower powers, so this ends. */
static Polynomial put_squares(Ring *ring, Polynomial a) {
  for (uint32_t atom = ring->atoms; atom-- > 0 && !ring->failed;) {
    Polynomial low, high;
    while (ring->atom[atom].has_square && !ring->failed && split_square(ring, a, atom, &low, &high))
      a = polynomial_add(ring, low, multiply_plainly(ring, high, ring->atom[atom].relation));
  }
  return a;
}

/* ---- arithmetic ---- */

Polynomial polynomial_constant(Ring *ring, Fraction value) {
  MonomialVec list = {0};
  Monomial term = {.coefficient = value};
  vec_push(ring->arena->heap, &list, term);
  return collect(ring, &list);
}

Polynomial polynomial_atom(Ring *ring, uint32_t atom, int power) {
  MonomialVec list = {0};
  Monomial term = {.coefficient = {1, 1}};
  term.power[atom] = (int8_t)power;
  vec_push(ring->arena->heap, &list, term);
  return put_squares(ring, collect(ring, &list));
}

Polynomial polynomial_add(Ring *ring, Polynomial a, Polynomial b) {
  MonomialVec list = {0};
  append(ring, &list, a);
  append(ring, &list, b);
  return collect(ring, &list);
}

Polynomial polynomial_subtract(Ring *ring, Polynomial a, Polynomial b) {
  Polynomial minus = polynomial_constant(ring, (Fraction){-1, 1});
  return polynomial_add(ring, a, multiply_plainly(ring, minus, b));
}

Polynomial polynomial_multiply(Ring *ring, Polynomial a, Polynomial b) {
  return put_squares(ring, multiply_plainly(ring, a, b));
}

Polynomial polynomial_power(Ring *ring, Polynomial a, int power) {
  Polynomial base = power < 0 ? polynomial_inverse(ring, a) : a;
  Polynomial result = polynomial_constant(ring, (Fraction){1, 1});
  for (int k = abs(power); k > 0 && !ring->failed; k--) result = polynomial_multiply(ring, result, base);
  return result;
}

bool polynomial_equal(Polynomial a, Polynomial b) {
  return a.count == b.count && (!a.count || !memcmp(a.term, b.term, a.count * sizeof *a.term));
}

bool polynomial_is_unit(const Ring *ring, Polynomial a) {
  bool unit = a.count == 1;
  for (uint32_t k = 0; k < ring->atoms && unit; k++) unit = !a.term->power[k] || !ring->atom[k].idempotent;
  return unit;
}

/* The atom for 1 / a. */
static uint32_t inverse_atom(Ring *ring, Polynomial a) {
  for (uint32_t k = 0; k < ring->atoms; k++)
    if (ring->atom[k].is_inverse && polynomial_equal(ring->atom[k].relation, a)) return k;
  uint32_t atom = ring_atom(ring);
  if (!ring->failed) ring->atom[atom] = (RingAtom){.is_inverse = true, .relation = a};
  return atom;
}

/* A term is inverted by its powers; inverses in it turn to what they are the inverses of. */
static Polynomial invert_term(Ring *ring, const Monomial *term) {
  Wide above = term->coefficient.below, below = term->coefficient.above;
  Monomial inverse = {.coefficient = fraction_make(ring, below < 0 ? -above : above, below < 0 ? -below : below)};
  Polynomial result = {1, &inverse};
  for (uint32_t k = 0; k < ring->atoms; k++) inverse.power[k] = ring->atom[k].is_inverse ? 0 : (int8_t)-term->power[k];
  result = polynomial_multiply(ring, polynomial_constant(ring, (Fraction){1, 1}), result);
  for (uint32_t k = 0; k < ring->atoms && !ring->failed; k++)
    if (ring->atom[k].is_inverse && term->power[k])
      result = polynomial_multiply(ring, result, polynomial_power(ring, ring->atom[k].relation, term->power[k]));
  return result;
}

/* a sum is divided by its first term, so that multiples have one inverse. */
Polynomial polynomial_inverse(Ring *ring, Polynomial a) {
  ring->failed = ring->failed || a.count == 0;
  if (ring->failed) return a;
  Polynomial first = {1, a.term};
  if (!polynomial_is_unit(ring, first)) return polynomial_atom(ring, inverse_atom(ring, a), 1);
  Polynomial factor = invert_term(ring, a.term);
  if (a.count == 1) return factor;
  uint32_t atom = inverse_atom(ring, polynomial_multiply(ring, a, factor));
  return polynomial_multiply(ring, factor, polynomial_atom(ring, atom, 1));
}

/* ---- is it zero? ---- */

/* Multiplies by the power of an inverse's sum that takes the inverse away. */
static Polynomial clear_inverse(Ring *ring, Polynomial a, uint32_t atom) {
  int most = 0;
  for (uint32_t k = 0; k < a.count; k++)
    if (a.term[k].power[atom] > most) most = a.term[k].power[atom];
  Polynomial result = {0}, factor = polynomial_constant(ring, (Fraction){1, 1});
  for (int power = most; most > 0 && power >= 0 && !ring->failed; power--) {
    MonomialVec part = {0};
    for (uint32_t k = 0; k < a.count; k++) {
      if (a.term[k].power[atom] != power) continue;
      Monomial term = a.term[k];
      term.power[atom] = 0;
      vec_push(ring->arena->heap, &part, term);
    }
    Polynomial cleared = polynomial_multiply(ring, collect(ring, &part), factor);
    result = polynomial_add(ring, result, cleared);
    factor = polynomial_multiply(ring, factor, ring->atom[atom].relation);
  }
  return most > 0 ? result : a;
}

/* Multiplies by the power of an atom that leaves no negative one. */
static Polynomial clear_negative(Ring *ring, Polynomial a, uint32_t atom) {
  int least = 0;
  for (uint32_t k = 0; k < a.count; k++)
    if (a.term[k].power[atom] < least) least = a.term[k].power[atom];
  if (!least) return a;
  MonomialVec list = {0};
  append(ring, &list, a);
  for (uint32_t k = 0; k < list.count; k++) list.data[k].power[atom] = (int8_t)(list.data[k].power[atom] - least);
  return put_squares(ring, collect(ring, &list));
}

bool polynomial_vanishes(Ring *ring, Polynomial a) {
  for (bool changed = true; changed && a.count && !ring->failed;) {
    Polynomial before = a;
    for (uint32_t atom = ring->atoms; atom-- > 0 && !ring->failed;)
      a = ring->atom[atom].is_inverse ? clear_inverse(ring, a, atom) : clear_negative(ring, a, atom);
    changed = !polynomial_equal(a, before);
  }
  return a.count == 0 && !ring->failed;
}
