/* redundancy: finds equations that follow from the others, everywhere or only on the solutions, and the unknowns that
 * they leave free. Such unknowns are the multipliers of constraints that repeat each other, for example of a plate
 * that hangs on more parallel rods than it needs.
 *
 * An equation with a derivative that no other equation contains cannot depend on others. Such equations are removed,
 * repeatedly; in a mechanism only the constraints remain. The remaining ones are divided into connected components, and the ranks
 * of each component decide. They are computed at a solution where no value is zero by chance: first for the equations as they are,
 * then with their derivatives. */
#pragma once

#include "array/convert.h"
#include "reduce/strangeness.h"

typedef struct Redundancy {
  uint32_t count;
  /* equations of the problem that follow from the others, without those earlier in this list */
  uint32_t *equation;
  Freedom freedom; /* as many unknowns without derivatives are free */
} Redundancy;

/* For the problem given to strangeness, which has as many equations as unknowns. false: no equation follows from the others, or
 * they leave unknowns with derivatives free. Also false, with an error in diags, if no point of the solutions was found, because
 * equations contradict each other or there are too many. Dense: cubic in the size of a component. */
bool redundancy_find(Strangeness *strangeness, double t, Redundancy *redundancy);

/* Replaces the equations that redundancy_find finds by others: free unknowns get the values of least norm. Conversions and
 * warnings name the replaced equations. false: as redundancy_find, or the equations are still singular; problem and structure
 * are unchanged. */
bool redundancy_replace(Strangeness *strangeness, double t, Problem *problem, Structure *structure,
                        ConversionVec *conversions, Redundancy *redundancy);

/* Do the equations that are left out hold at a point where the others hold, to a tolerance relative to their own terms? If
 * equations depend on each other only nearly, for example where conductances of 1e9 and 1e-12 siemens meet, ranks do not show
 * the contribution of one of them. But at the point its terms do not cancel. */
bool redundancy_holds(const Array *array, const Evaluator *evaluator, double t, const double *y, const Expr *residual,
                      uint32_t count, double tolerance);
