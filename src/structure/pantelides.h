/* pantelides: how often each equation must be differentiated (Pantelides 1988; Mattsson, Söderlind 1991, section 2, step 2), for
 * derivatives of any order.
 *
 * Invariant: while it runs, order + c <= d on every entry, with equality on the matching, and no valid c is smaller anywhere. All
 * unmatched equations are treated at once, and a set of equations is differentiated at once as often as needed to reach a new
 * variable, so the cost does not grow with the index. */
#pragma once

#include "structure/matching.h"

typedef struct Pantelides {
  bool ok;    /* false: not square, or structurally singular */
  int32_t *c; /* per equation: number of differentiations; NULL unless ok */
  int32_t *d; /* per variable: highest derivative then; NULL unless ok */
  /* ok: the output set with respect to the highest derivatives, a highest value transversal; otherwise a maximum matching of
   * the undifferentiated problem */
  Matching matching;
} Pantelides;

/* Owned by the arena. About O(entries * log n) in practice. */
Pantelides pantelides_run(Arena *arena, const Incidence *incidence);
