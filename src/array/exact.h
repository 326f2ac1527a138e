/* exact: expressions as exact polynomials (polynomial.h), at the given parameter values.
 *
 * Atoms are the variables, time, numbers that are no small fractions, and what no rule takes apart; equal
 * subexpressions, and parameters of equal value, are one atom. Sines and cosines of sums are expanded,
 * exponential functions of sums are products. Every step is an identity where the expression is defined.
 */
#ifndef DAEDAL_ARRAY_EXACT_H
#define DAEDAL_ARRAY_EXACT_H

#include "array/polynomial.h"
#include "array/samples.h"

/* What an atom stands for. */
typedef struct ExactAtom {
  Op op; /* OP_CONSTANT: the number `scale`; OP_COUNT: a whole subexpression; else the operator, of `scale` times the argument */
  Expr of; /* the argument, or the subexpression; EXPR_NONE */
  double scale;
} ExactAtom;

typedef struct Exact {
  const Dag *dag;
  const double *parameters;
  Ring ring;
  ExactAtom atom[RING_ATOMS];
} Exact;

/* Nothing translated yet; polynomials will be owned by the arena. */
Exact exact_make(const Samples *samples, Arena *arena);

/* Translates expressions; the atoms of earlier calls stay. false: there are too many atoms. O(graph below),
 * times the terms. */
bool exact_polynomials(Exact *exact, const Expr *roots, uint32_t count, Polynomial *polynomials);

#endif
