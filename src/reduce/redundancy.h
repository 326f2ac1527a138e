/* redundancy: equations that follow from the others, on the solutions if not everywhere, and the unknowns that they leave free: the multipliers of constraints
 * that say the same, as those of a plate on more parallel rods than it needs.
 *
 * An equation with a derivative that no other equation contains cannot depend on others. Such equations are removed,
 * repeatedly; of a mechanism the constraints remain. The rest is divided into connected components, and ranks of
 * each decide, at a point of its solutions where nothing is zero by chance: first for the equations as they are,
 * then with their derivatives. */
#pragma once

#include "array/convert.h"
#include "reduce/strangeness.h"

typedef struct Redundancy {
  uint32_t count;
  uint32_t *
      equation; /* of the problem: the equations that follow from the others; for each, the earlier ones are already left out */
  Freedom freedom; /* as many unknowns without derivative are free */
} Redundancy;

/* Of the problem that strangeness was given, which has as many equations as unknowns. false: none follows from the others, or what these leave free are no unknowns without
 * derivative; or no point of the solutions was found, as where equations contradict each other, or there are too many: an error is in diags. Dense: cubic in the size of a component. */
bool redundancy_find(Strangeness *strangeness, double t, Redundancy *redundancy);

/* The problem with others in their place: what they leave free gets the values of least norm. Conversions and warnings name them. false: as above, or the equations are singular
 * all the same; problem and structure are as they were. */
bool redundancy_replace(Strangeness *strangeness, double t, Problem *problem, Structure *structure,
                        ConversionVec *conversions, Redundancy *redundancy);

/* Do the equations that are left out hold at a point of the others, to a tolerance relative to their own terms? If
 * equations depend on each other only nearly, for example where conductances of 1e9 and 1e-12 siemens meet, ranks do
 * not see what one of them adds: at the point its terms do not cancel. */
bool redundancy_holds(const Array *array, const Evaluator *evaluator, double t, const double *y, const Expr *residual,
                      uint32_t count, double tolerance);
