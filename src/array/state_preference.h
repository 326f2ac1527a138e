/* state_preference: stateSelect in the structure of a problem: which unknowns can be states, and preferences that cannot be
 * satisfied. */
#pragma once

#include "array/array.h"
#include "structure/structure.h"

/* The structure in which variables with stateSelect prefer or always can be states even if the equations do not
 * differentiate them. Owned by the arena. O(entries). */
Structure state_preference_offer(const Problem *problem, const Structure *structure, Arena *arena);

/* Reports preferences that no choice of states can satisfy; false if they are errors (--strict). O(unknowns). */
bool state_preference_check(const Problem *problem, const Structure *structure, Diags *diags);

/* Like state_preference_check, for a model, with its aliases removed. O(entries) if a variable has such a preference. */
bool state_preference_check_model(Model *model, Arena *arena, Diags *diags);
