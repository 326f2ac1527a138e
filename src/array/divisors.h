/* divisors: divisions by zero whose infinite result does not show. `x/p` is infinite for p = 0. An infinite result makes an
 * equation undefined, which is an error. But relations, floor, min and similar operators turn it into a finite number. So each
 * divisor that is below such an operator and constant between events gets an assertion: it must not be zero where the division
 * is used.
 *
 * A divisor that changes between events may pass zero: then the infinite value is used, and no assertion is added. */
#pragma once

#include "array/modes.h"

/* Adds the assertions to the logic of the problem, whose modes have been extracted. Owned by the arena. O(size of the equations that
 * have modes or operators as above). */
void divisors_assert(Problem *problem, const Modes *modes, Arena *arena);
