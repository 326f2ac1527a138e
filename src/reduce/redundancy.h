/* redundancy: equations that follow from the others, on the solutions if not everywhere, and the unknowns that they leave free: the multipliers of constraints
 * that say the same, as those of a plate on more parallel rods than it needs. Found by ranks of the derivative array at a point of the solutions
 * where nothing is zero by chance. */
#pragma once

#include "reduce/strangeness.h"

typedef struct Redundancy {
  uint32_t count;
  uint32_t *equation; /* of the problem: those that follow, each after all before it are left out */
  Freedom freedom;    /* as many unknowns without derivative are free */
} Redundancy;

/* Of the problem that strangeness was given, which has as many equations as unknowns. false: none follows from the others, or what these leave free are no unknowns without
 * derivative; or no point of the solutions was found, as where equations contradict each other. Makes the array of strangeness. Dense: O((size * mu)^3). */
bool redundancy_find(Strangeness *strangeness, double t, Redundancy *redundancy);
