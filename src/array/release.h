/* release: what is left of equations that follow from the others. A redundant equation leaves an unknown free, such as
 * the potential of a circuit without ground; it is replaced by one that holds this unknown at its start value.
 *
 * An unknown is free when moving it, together with others in fixed proportions, by any function of time changes no
 * equation: the proportions are a null vector of d F / d x^(k) for every k at once.
 */
#pragma once

#include "array/samples.h"

/* Unknowns of the problem that its equations, but for number `without`, leave free; preferred ones first: fixed start
 * value, start value, the others. Appended to the list. None in a problem of more than 20000 unknowns. O(unknowns^2 +
 * operations of a sparse elimination). */
void release_candidates(const Problem *problem, const Samples *samples, uint32_t without, Arena *arena,
                        IndexVec *unknowns);
