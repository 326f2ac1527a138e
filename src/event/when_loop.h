/* when_loop: Real values that whens assign and columns that depend on each other, as y and x in
 *
 *   when sample(0, 0.2) then y = 7 - 2*x; end when;
 *   x + y = 5;
 *
 * An event iterates: columns for the discrete values, then the discrete values for the columns. Where that does not settle by itself, this
 * takes the round for a map d -> F(d) and solves d = F(d) by Broyden's method (secant.h), which is exact for linear equations after at most
 * twice as many rounds as there are values (Gay 1979). */
#pragma once

#include "view/view.h"

typedef struct WhenLoop WhenLoop;

/* NULL: the model has no such values. Lives in the heap of the view; free with when_loop_free. */
WhenLoop *when_loop_new(View *view);
void when_loop_free(WhenLoop *loop);

/* Before a round: keeps the values that it begins with. */
void when_loop_begin(WhenLoop *loop);

/* After it: has nothing but such values changed? */
bool when_loop_is_all(const WhenLoop *loop);

/* After it: puts better values in for those that it gave, if nothing but such values has changed. */
void when_loop_improve(WhenLoop *loop);

/* How many rounds it may take. */
uint32_t when_loop_rounds(const WhenLoop *loop);
