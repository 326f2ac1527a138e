/* when_loop: Real values that whens assign and columns that depend on each other, as y and x in
 *
 *   when sample(0, 0.2) then y = 7 - 2*x; end when;
 *   x + y = 5;
 *
 * An event iterates: it computes the columns from the discrete values, then the discrete values from the columns. If that does not
 * converge, this file regards a round as a map d -> F(d) and solves d = F(d) by Broyden's method (secant.h). For linear equations
 * that method is exact after at most twice as many rounds as there are values (Gay 1979).
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "base/heap.h"
#include "core/decide.h"
#include "core/secant.h"

typedef struct WhenLoop {
  const Decide *decide;
  int count;
  int *leaf;           /* [count] the Real discrete variables that follow from columns */
  double *before;      /* [all] discrete values at the beginning of the round */
  double *step, *next; /* [count] the last correction, and the current one */
  double *weight;      /* [count] ones */
  bool is_begun;
  /* capacity 0 until the first correction: most events settle without one, and it may need n^2 numbers */
  Secant secant;
  Heap *heap;
} WhenLoop;

/* Lists the values; NULL: there are none. */
WhenLoop *when_loop_new(Heap *heap, const Decide *decide);
void when_loop_free(Heap *heap, WhenLoop *loop);

/* Call this before a round: keeps the values at its beginning. */
void when_loop_begin(WhenLoop *loop);

/* Call this after a round. Has nothing changed except values of this loop? */
bool when_loop_is_all(const WhenLoop *loop);

/* Call this after a round. If nothing else has changed, replaces the values of the loop by better ones. */
void when_loop_improve(WhenLoop *loop);

/* The most rounds it may take. */
uint32_t when_loop_rounds(const WhenLoop *loop);
