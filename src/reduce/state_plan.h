/* state_plan: the order of work of the state-space form (core/statespace.h) and its programs. */
#pragma once

#include "code/block_shape.h"
#include "core/statespace.h"

/* No unit. */
enum { NONE = -1 };

typedef struct StatePlan {
  Heap *heap;
  ArrayCode *code;
  const Structure *structure;
  VEC(UnitPlan) units;
  uint32_t serving;  /* number of units at the beginning that give everything on which derivatives depend */
  bool *idle;        /* per block: no derivative depends on its column */
  bool *loose;       /* per block: its columns do not determine the states */
  bool *branching;   /* see state_plan_branching */
  uint32_t branched; /* number of units at the beginning that give the branching columns */
  bool *given;       /* see state_plan_given */
  bool *spare;       /* see state_plan_spare */
  int32_t *follower, *given_by, followers; /* see System */
} StatePlan;

/* For an array with the blocks of `structure`. Lives as long as the code. */
StatePlan *state_plan(ArrayCode *code, const Structure *structure);

/* The form at the values of one run. Lives in the heap. */
StateSpace *state_plan_space(Heap *heap, Evaluator *evaluator, const StatePlan *plan);

/* [columns] those that statespace_complete finds from any guess. They are solved explicitly or from linear rows, for every choice
 * of dummies in which they are not states. Lives in the code's heap. O(blocks). */
const bool *state_plan_given(const StatePlan *plan);

/* [columns] those that nonlinear equations give, and on which no derivative depends. If these equations have several solutions,
 * the states do not show on which of them such a column is. Without states, these are all columns that nonlinear equations give.
 * NULL: there are none. Lives in the code's heap. */
const bool *state_plan_branching(const StatePlan *plan);

/* [columns] those that an equation gives explicitly and on which no derivative depends. Lives in the code's heap. */
const bool *state_plan_spare(const StatePlan *plan);

/* Given the states, do formulas or linear systems give all other columns? O(units). */
bool state_plan_is_direct(const StatePlan *plan);

/* The system of these equations and unknowns of the problem, at their highest derivatives. NULL: it does not have this form, or it
 * is too large for dense matrices. Lives in the heap. */
const TangentPlan *tangent_plan(const Problem *problem, const int32_t *equation, const int32_t *unknown, int32_t count,
                                Heap *heap);
