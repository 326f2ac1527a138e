/* polynomial: exact polynomials in atoms with rational coefficients; powers may be negative.
 *
 * An atom stands for a function of the model's unknowns. Some satisfy a relation that is put in wherever it
 * applies: a^2 = p for the sine of an angle, square roots, absolute values, conditions. The inverse of a sum
 * is an atom of its own, multiplied out only by the test for zero. So a polynomial that vanishes is a
 * function that vanishes, wherever it is defined; the converse is not claimed, because atoms may have
 * relations that are not known here.
 *
 * Nothing is rounded: where a coefficient, a power or the number of terms gets too large, `failed` is set and
 * the results mean nothing.
 */
#ifndef DAEDAL_ARRAY_POLYNOMIAL_H
#define DAEDAL_ARRAY_POLYNOMIAL_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { RING_ATOMS = 128 };

/* above / below, without common divisor, below > 0. */
typedef struct Fraction {
  int64_t above, below;
} Fraction;

typedef struct Monomial {
  Fraction coefficient;
  int8_t power[RING_ATOMS];
} Monomial;

/* Terms by their powers, none twice, none zero. Never changed once made. */
typedef struct Polynomial {
  uint32_t count;
  const Monomial *term;
} Polynomial;

typedef struct RingAtom {
  bool has_square, is_inverse;
  Polynomial relation; /* the square of the atom, or what it is the inverse of */
  bool idempotent;     /* its square is itself: it must not be divided by */
} RingAtom;

typedef struct Ring {
  Arena *arena; /* owns all polynomials */
  uint32_t atoms;
  RingAtom atom[RING_ATOMS];
  uint64_t work; /* products of terms so far */
  bool failed;
} Ring;

/* A ring without atoms. */
Ring ring_make(Arena *arena);

/* A new atom without relation. None is made, and 0 returned, when there are too many or something failed
 * before. */
uint32_t ring_atom(Ring *ring);

Polynomial polynomial_constant(Ring *ring, Fraction value);
Polynomial polynomial_atom(Ring *ring, uint32_t atom, int power);
Polynomial polynomial_add(Ring *ring, Polynomial a, Polynomial b);
Polynomial polynomial_subtract(Ring *ring, Polynomial a, Polynomial b);
Polynomial polynomial_multiply(Ring *ring, Polynomial a, Polynomial b);
Polynomial polynomial_power(Ring *ring, Polynomial a, int power); /* any sign */
Polynomial polynomial_inverse(Ring *ring, Polynomial a);

bool polynomial_equal(Polynomial a, Polynomial b);

/* One term, no atom of which may be zero all over an interval: a pivot. */
bool polynomial_is_unit(const Ring *ring, Polynomial a);

/* Is the function zero? Inverses are multiplied out. false may mean that it could not be shown. */
bool polynomial_vanishes(Ring *ring, Polynomial a);

#endif
