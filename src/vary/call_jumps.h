/* call_jumps: functions that jump within a step. Branches of a function with known control flow are conditions of the equations,
 * which cause events if a solution is differentiated (array/kink_modes.h). Branches after a while-loop, in a table or in another
 * language are not visible. If the value of such a call jumps, the derivatives of the solution jump by an unknown amount.
 *
 * Only values are compared. A jump in a step makes a call change much faster than in the step before. Then the step is halved
 * towards the larger change, until that vanishes or a jump is left. */
#pragma once

#include "vary/sensitivity_plan.h"
#include "view/view.h"

typedef struct CallJumps CallJumps;

/* For the calls of a plan; NULL: there are none. Runs have errors of this tolerance. Lives in the heap. */
CallJumps *call_jumps_new(Heap *heap, const SensitivityPlan *plan, View *view, double tolerance);

/* Forgets earlier steps. */
void call_jumps_forget(CallJumps *jumps);

/* Does a call jump in the last step, up to the time `end` within it? *call is its number in the plan, *time when. */
bool call_jumps_find(CallJumps *jumps, const Segment *segment, double end, uint32_t *call, double *time);
