/* divisors: divisions by zero whose infinite result nobody would see. `x/p` is infinite for p = 0. In an equation that is an error,
 * because the equation has no value; but relations, floor, min and similar operators make a finite number of it. So each divisor
 * that is below such an operator and constant between events gets an assertion: it must not be zero where the division is used.
 *
 * A divisor that changes between events may pass zero: there the infinite value counts, and no assertion is added. */
#pragma once

#include "array/modes.h"

/* Adds the assertions to the logic of the problem, whose modes have been extracted. Owned by the arena. O(size of the equations that
 * have modes or operators as above). */
void divisors_assert(Problem *problem, const Modes *modes, Arena *arena);
