/* when_loop: Real values that whens assign and columns that depend on each other, as y and x in
 *
 *   when sample(0, 0.2) then y = 7 - 2*x; end when;
 *   x + y = 5;
 *
 * An event iterates: columns for the discrete values, then the discrete values for the columns. Where that does not settle by itself, this
 * takes the round for a map d -> F(d) and solves d = F(d) by Broyden's method (secant.h), which is exact for linear equations after at most
 * twice as many rounds as there are values (Gay 1979).
 *
 * All memory is the host's. Exported solvers carry this as it stands. */
#pragma once

#include "core/decide.h"
#include "core/secant.h"

typedef struct WhenLoop {
  const Decide *decide;
  int count;
  int *leaf;           /* [count] of Real discrete variables that follow from columns */
  double *before;      /* [all] discrete values at the begin of the round */
  double *step, *next; /* [count] the last correction, and the current one */
  double *weight;      /* [count] ones */
  bool is_begun;
  Secant
      secant; /* without capacity until the first correction: most events settle without one, and it may take n^2 numbers */

  /* Room for the updates of `secant`, of as many as *capacity, which it may make less. */
  double *(*room)(void *host, int32_t n, int32_t *capacity);
  void *host;
} WhenLoop;

/* How many such values there are. */
int when_loop_count(const Decide *decide);

/* For all memory but the secant's given: lists the values. */
void when_loop_list(WhenLoop *loop);

/* Before a round: keeps the values that it begins with. */
void when_loop_begin(WhenLoop *loop);

/* After it: has nothing but such values changed? */
bool when_loop_is_all(const WhenLoop *loop);

/* After it: puts better values in for those that it gave, if nothing but such values has changed. */
void when_loop_improve(WhenLoop *loop);

/* How many rounds it may take. */
uint32_t when_loop_rounds(const WhenLoop *loop);
