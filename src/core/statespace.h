/* statespace: the state-space form of the selected system. Given the states, all other columns are solved stage by stage from the
 * lowest up, block by block in triangular order (Mattsson, Söderlind 1991, Step 6). An explicit equation gives its variable
 * directly. Differentiated and linear rows are linear systems. All others are solved by the damped Newton method.
 *
 * Invariant: every stage of a block uses a part of the one block matrix, so positions, velocities and accelerations share its
 * values. A stage with the same rows and columns as the one below shares its factors.
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "core/block.h"
#include "core/edges.h"
#include "core/tangent.h"

typedef enum UnitKind { UNIT_EXPLICIT, UNIT_SOLVE } UnitKind;

/* The part of a unit that does not depend on values or on the choice of states. */
typedef struct UnitPlan {
  UnitKind kind;
  int32_t block, stage;          /* stage s stands for -s */
  int32_t count;                 /* rows; for an explicit unit, columns assigned */
  const uint32_t *columns;       /* for an explicit unit: positions in y */
  const struct Program *program; /* values of the columns, or residuals of the rows */
  /* of UNIT_SOLVE */
  const struct Program *joint; /* evaluates residuals, and the matrix entries that moved; 0 if none do */
  /* In `joint`: the stage's own entries. Before them are entries of lower stages, which change with the last correction there. */
  int32_t first_entry;
  int32_t entries, entries_below;
  const BlockShape *shape;
  const TangentPlan *tangent; /* for the highest stage; 0: the unit does not have that form */
  bool linear;
  bool keeps;    /* large, and no later stage needs its matrix: see solve_with_kept_factors */
  int32_t below; /* the unit of the same block that is solved before it; -1: none */
  int32_t owner; /* the unit whose factors are used: a lower stage with the same rows and columns, or itself */
  int32_t nonzeros;
} UnitPlan;

/* The order of work. */
typedef struct UnitsPlan {
  uint32_t count, serving,
      branched; /* the number of units; the number of leading units that give everything on which derivatives depend; the number
                 * of branching columns */
  const UnitPlan *unit;
  const bool *loose; /* per block: its columns do not determine the states */
  uint32_t unknowns;
  const int32_t *d;             /* per unknown: its highest derivative */
  const uint32_t *column_start; /* per unknown: its place in y */
} UnitsPlan;

typedef struct StateSpace StateSpace;

/* Makes the form for the values of one run, in the heap; statespace_choose makes a choice. */
StateSpace *statespace_new(Heap *heap, const UnitsPlan *plan, const RowsHost *host);

/* Accepts a choice of dummies (depth per unknown; see core/dummy.h). O(entries of blocks with a choice). */
void statespace_choose(StateSpace *space, const int32_t *depth);

/* Is the value of a column only round-off? The other side of 0 may be outside the domain of a row, as for u^1.5. */
bool statespace_is_round_off(double value, double nominal);

/* Forgets the pivots of earlier factors, because round-off depends on them: the next factorization chooses all pivots again. */
void statespace_forget(StateSpace *space);

/* Call this after parameters have changed: everything that depends on parameters only is evaluated again. */
void statespace_set_parameters(StateSpace *space);

/* Solves all columns that are not states, in place, from the guesses in y. */
EvalStatus statespace_complete(StateSpace *space, double t, double *y);

/* Like statespace_complete, but finds the solution nearest to the guess or none: a guess too far from it is refused. */
EvalStatus statespace_follow(StateSpace *space, double t, double *y);

/* If the solution slides along edges, solves at all corners, which have the same states, and takes the mean of their columns that
 * keeps the differences constant. corners: room for all `columns` of each corner. */
EvalStatus statespace_slide(StateSpace *space, Edges *edges, int columns, double t, double *y, double *corners);

/* The origin of the guess for a point of a branch. */
typedef enum BranchGuess {
  GUESS_NEXT,  /* a point so close that one correction is enough */
  GUESS_APART, /* another time */
  GUESS_STEEP, /* the same time except for round-off, within which a steep branch can change much */
} BranchGuess;

/* Like statespace_follow, but only for branching columns, and fails if it is uncertain that the solution is the nearest one. */
EvalStatus statespace_branch(StateSpace *space, double t, double *y, BranchGuess guess);

/* Like statespace_follow, for stages within a step: leaves out columns that an equation gives explicitly and on which no derivative
 * depends, and solves nonlinear equations to 1e-14 only. */
EvalStatus statespace_rates(StateSpace *space, double t, double *y);

/* After a failed solve: the block and the reason, for messages. */
typedef struct SolveFailure {
  int32_t block;
  const char *reason; /* static text */
} SolveFailure;
SolveFailure statespace_failure(const StateSpace *space);

uint64_t statespace_factorizations(const StateSpace *space);
