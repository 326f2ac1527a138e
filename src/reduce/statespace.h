/* statespace: the state-space form of the selected system. Given the states, all other columns are solved stage by
 * stage from the lowest up, block by block in triangular order (Mattsson, Söderlind 1991, Step 6): explicitly where an
 * equation gives its variable, linearly where rows are differentiated or linear, by damped Newton otherwise.
 *
 * Invariant: every stage of a block uses a part of the one block matrix, so positions, velocities and accelerations
 * share its values, and a stage with the same rows and columns as the one below shares its factors.
 */
#pragma once

#include "code/block_matrix.h"

typedef struct StatePlan StatePlan;
typedef struct StateSpace StateSpace;

/* The order of work and its programs, for an array with the blocks of `structure`. Lives as long as the code. */
StatePlan *state_plan(ArrayCode *code, const Structure *structure);

/* The form at the values of one run; depth is read at statespace_choose. Lives in the heap. */
StateSpace *statespace_new(Heap *heap, Evaluator *evaluator, const StatePlan *plan);

/* Takes a choice of dummies (depth per unknown; see reduce/dummy.h). O(entries of blocks with a choice). */
void statespace_choose(StateSpace *space, const int32_t *depth);

/* Forgets the pivots of earlier factors, on which round-off depends: the next choice begins again. */
void statespace_forget(StateSpace *space);

/* Solves all columns that are not states, in place, from the guesses in y. */
EvalStatus statespace_complete(StateSpace *space, double t, double *y);

/* As statespace_complete, but finds the solution next to the guess or none: a guess that is too far off for that is
 * refused. */
EvalStatus statespace_follow(StateSpace *space, double t, double *y);

/* As statespace_follow, but only for branching columns, and only where the solution is certain to be the one next to
 * the guess. is_little: by one correction. */
EvalStatus statespace_branch(StateSpace *space, double t, double *y, bool is_little);

/* As statespace_follow, for stages inside a step: skips explicitly given columns on which no derivative depends, and
 * solves nonlinear equations only to 1e-14. */
EvalStatus statespace_rates(StateSpace *space, double t, double *y);

/* [columns] those that statespace_complete finds whatever their value was: solved outright or from linear rows,
 * for every choice of dummies in which they are not states. Lives in the code's heap. O(blocks). */
const bool *state_plan_given(const StatePlan *plan);

/* [columns] those that nonlinear equations give and on which no derivative depends: the states do not decide which
 * solution it is. Without states, all columns that nonlinear equations give. NULL: there are none. Lives in the
 * code's heap. */
const bool *state_plan_branching(const StatePlan *plan);

/* [columns] those that an equation gives outright and on which no derivative depends. Lives in the code's heap. */
const bool *state_plan_spare(const StatePlan *plan);

/* Are all columns given by formulas or linear systems, where the states are known? O(units). */
bool state_plan_is_direct(const StatePlan *plan);

/* After a failed close: the block and why, for messages. */
typedef struct SolveFailure {
  int32_t block;
  const char *reason; /* static text */
} SolveFailure;
SolveFailure statespace_failure(const StateSpace *space);

uint64_t statespace_factorizations(const StateSpace *space);
