/* release: handles equations that follow from the others. A redundant equation leaves an unknown free, such as the potential of a
 * circuit without ground. The equation is replaced by one that holds this unknown at its start value. In one of several modes
 * of a model, the equations may determine only a sum of unknowns, like that of the torques of two brakes that hold one shaft. The
 * redundant equation is then replaced by one that brings the unknowns as near as possible to their start values.
 *
 * An unknown is free if it can move by any function of time, together with others in fixed proportions, and no equation changes.
 * The proportions are a null vector of d F / d x^(k) for every k at once. Unknowns that equations give from others, but not in
 * fixed proportions, such as the power of a free torque, follow and are not counted. */
#pragma once

#include "array/samples.h"

/* Finds the unknowns that the equations of the problem, except equation number `without`, leave free. Unknowns with fixed start
 * values come first, then those with start values, then the others. Appended to the list. The list is empty for a problem
 * with more than 20000 unknowns. O(unknowns^2 + operations of a sparse elimination). */
void release_candidates(const Problem *problem, const Samples *samples, uint32_t without, Arena *arena,
                        IndexVec *unknowns);

/* Without equation number `without`, the other equations of the problem may let unknowns move freely. Returns the proportions in
 * which the unknowns move; NULL: no unknown can move, or the problem is too large. Owned by the arena. Cost as above. */
const double *release_move(const Problem *problem, const Samples *samples, uint32_t without, Arena *arena);
