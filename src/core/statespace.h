/* statespace: the state-space form of the selected system. Given the states, all other columns are solved stage by
 * stage from the lowest up, block by block in triangular order (Mattsson, Söderlind 1991, Step 6): explicitly where an
 * equation gives its variable, linearly where rows are differentiated or linear, by damped Newton otherwise.
 *
 * Invariant: every stage of a block uses a part of the one block matrix, so positions, velocities and accelerations
 * share its values, and a stage with the same rows and columns as the one below shares its factors.
 *
 * Exported solvers carry this as it stands. */
#pragma once

#include "core/block.h"
#include "core/tangent.h"

typedef enum UnitKind { UNIT_EXPLICIT, UNIT_SOLVE } UnitKind;

/* What is known of a unit before any value and choice. */
typedef struct UnitPlan {
  UnitKind kind;
  int32_t block, stage;          /* stage s stands for -s */
  int32_t count;                 /* rows; for an explicit unit, columns assigned */
  const uint32_t *columns;       /* of an explicit unit: positions in y */
  const struct Program *program; /* values of the columns, or residuals of the rows */
  /* of UNIT_SOLVE */
  const struct Program *joint; /* residuals, and matrix entries that moved; 0 if none do */
  int32_t first_entry; /* of those of `joint`: the stage's own, and before them `entries_below` of lower stages, */
  int32_t entries, entries_below; /* which move with the last correction there */
  const BlockShape *shape;
  const TangentPlan *tangent; /* of the highest stage; 0: not of that form */
  bool linear;
  bool keeps;    /* large, and no later stage needs its matrix: see solve_with_kept_factors */
  int32_t below; /* unit of the same block that is solved before it; -1: none */
  int32_t owner; /* unit whose factors serve: a lower stage with the same rows and columns, or itself */
  int32_t nonzeros;
} UnitPlan;

/* The order of work. */
typedef struct UnitsPlan {
  uint32_t count, serving,
      branched; /* units; the first so many give all that derivatives depend on; the columns that are branching */
  const UnitPlan *unit;
  const bool *loose; /* per block: the states are not told from its columns */
  uint32_t unknowns;
  const int32_t *d;             /* per unknown: its highest derivative */
  const uint32_t *column_start; /* per unknown: its place in y */
} UnitsPlan;

typedef struct StateSpace StateSpace;

/* The form at the values of one run; a choice is made by statespace_choose. Lives in the heap. */
StateSpace *statespace_new(Heap *heap, const UnitsPlan *plan, const RowsHost *host);

/* Takes a choice of dummies (depth per unknown; see core/dummy.h). O(entries of blocks with a choice). */
void statespace_choose(StateSpace *space, const int32_t *depth);

/* Forgets the pivots of earlier factors, on which round-off depends: the next choice begins again. */
void statespace_forget(StateSpace *space);

/* Parameters have changed: what depends on them alone is evaluated again. */
void statespace_set_parameters(StateSpace *space);

/* Solves all columns that are not states, in place, from the guesses in y. */
EvalStatus statespace_complete(StateSpace *space, double t, double *y);

/* As statespace_complete, but finds the solution next to the guess or none: a guess that is too far off for that is
 * refused. */
EvalStatus statespace_follow(StateSpace *space, double t, double *y);

/* How far a guess is from the branch that it belongs to. */
typedef enum BranchGuess {
  GUESS_NEXT,  /* one correction leads there */
  GUESS_APART, /* it is of another time */
  GUESS_STEEP, /* it is of the same time, except for round-off, in which a steep branch goes a long way */
} BranchGuess;

/* As statespace_follow, but only as far as columns are branching, and the solution next to the guess only where it is certain that it is that. */
EvalStatus statespace_branch(StateSpace *space, double t, double *y, BranchGuess guess);

/* As statespace_follow, but leaves columns on which no derivative depends and that an equation gives outright, and solves nonlinear
 * equations to 1e-14 only: for stages inside of a step. */
EvalStatus statespace_rates(StateSpace *space, double t, double *y);

/* After a failed close: the block and why, for messages. */
typedef struct SolveFailure {
  int32_t block;
  const char *reason; /* static text */
} SolveFailure;
SolveFailure statespace_failure(const StateSpace *space);

uint64_t statespace_factorizations(const StateSpace *space);
