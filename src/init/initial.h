/* initial: consistent initial values. All rows of the derivative array hold at the start, with fixed start
 * values as given and the initial equations; what is left free keeps its start value where that is
 * consistent, and moves to the nearest consistent value in the scaled norm where it is not.
 *
 * Where equations of a loop, or one that does not give its unknown outright, contain homotopy(), continuation from its simplified expressions is the first way: of several solutions that
 * one is meant. The ways, each tried when the one before fails or would move a value that was given: the state-space form
 * with the given values as states (no code of its own); the initial system step by step (steps.h), keeping,
 * then nearest; continuation from the simplified expressions of homotopy(); continuation in the guesses; all
 * rows at once, from start values, nominal values, and guesses elsewhere. Then the conflict is named.
 */
#pragma once

#include "code/switches.h"
#include "init/conflict.h"
#include "init/nogood.h"
#include "init/patch.h"
#include "init/steps.h"
#include "reduce/dummies.h"
#include "reduce/state_plan.h"
#include "reduce/strangeness.h"

/* The way that led to the solution. */
typedef enum InitialWay {
  WAY_STATES,
  WAY_KEPT,
  WAY_NEAREST,
  WAY_HOMOTOPY,
  WAY_CONTINUED,
  WAY_ALL_ROWS,
  WAY_RANKS,
} InitialWay;

typedef struct Initial {
  bool solved;
  double t0;
  double *y;               /* per column of the evaluator's array: the solution */
  InitialSystem *system;   /* NULL while none was needed: then its columns are those of the array */
  InitialColumn *column;   /* per column of the system */
  double *value;           /* per column of the system */
  double *discretes;       /* per discrete variable of the model; NULL: those of the evaluator */
  double *discrete_starts; /* what they had before the initial event; NULL: the same */
  uint32_t columns;
  InitialWay way;
  NonlinearRung rung;
  uint32_t iterations;
  uint32_t fixed, free; /* fixed columns; degrees of freedom that the model leaves open */
  int64_t dof;
  IndexVec surplus; /* rows of the system: initial equations that the others imply */
  bool has_conflict;
  Conflict conflict; /* when there is no solution */
} Initial;

/* Modes may be tried that need not be right: then nobody reads why they admit no solution. */
typedef enum InitialTrial {
  TRIAL_NONE,
  TRIAL_QUICK,   /* what is near the start values: initial_search goes elsewhere in all modes at once */
  TRIAL_OF_FEW,  /* all ways are gone */
  TRIAL_OF_MANY, /* guesses far from the start values are for rows that depend on discrete values themselves */
} InitialTrial;

/* What initialization needs of a run; made once, used at the start and after every event. */
typedef struct Initializer {
  Heap *heap;
  Evaluator *evaluator;
  const Structure *structure;
  Dummy *dummy;
  StateSpace *space;
  InitialSystem *system, *event_system; /* made when needed */
  const InitialCodes *known;            /* code that the plan has for it; NULL: none */
  InitialCodes *collected;              /* where code that is made for it goes; NULL: nowhere */
  const Strangeness *ranks;             /* where structure failed: the method by ranks has the values; NULL otherwise */
  bool by_homotopy;                     /* initial_has_homotopy of the array */
  InitialTrial trial;
  NogoodVec nogoods; /* discrete values that were found to admit no solution */
} Initializer;

/* Does homotopy() stand in a loop of equations? They may have several solutions: the one is meant that it leads to. */
bool initial_has_homotopy(Heap *heap, const Array *array, const Structure *structure);

/* Start values per column of the evaluator's array, before any equation is looked at: for the modes of
 * relations. */
bool initial_guess(const Initializer *initializer, const StartValues *starts, double *y, Diags *diags);

/* Solves at t0. tolerance: how far redundant fixed values may disagree, scaled. false: an error is in diags
 * (DIAG_INIT) and initial->conflict. Free parameters are set in the evaluator. Lives in the heap. */
bool initial_solve(Initializer *initializer, const StartValues *starts, double t0, double tolerance, Initial *initial,
                   Diags *diags);

/* Solves again, step by step to the nearest values, and notes the units; what was found must be the same again. false: it is not, or was
 * found in another way. The heap is that of the initial system. */
bool initial_trace(const Initial *initial, double tolerance, StepsTrace *trace);

/* Are the rows met at the values found, with the current discrete values? */
bool initial_holds(const Initializer *initializer, const Initial *initial, double t0);

/* Is it known that there is no solution with the present discrete values? */
bool initial_is_ruled_out(const Initializer *initializer);

/* A point that was solved from the values of `first`, which had been solved from `starts`: says how it came from there. */
void initial_retell(const Initializer *initializer, const StartValues *starts, const Initial *first, Initial *initial);

/* If there is no solution in the modes of the guess, nor in others that were tried: solves all rows at once from
 * other guesses, with conditions as they are written, so that modes change together with the values. The modes are
 * those of the values found. For models without logic. */
bool initial_search(Initializer *initializer, Switches *switches, const StartValues *starts, double t0,
                    double tolerance, Initial *initial);

/* The point of the method by ranks, for reports. Lives in the heap. */
Initial initial_of_ranks(const Initializer *initializer, const StartValues *starts, double t0);

/* Warns of values outside of min and max. */
void initial_report_bounds(const Initializer *initializer, const Initial *initial, Diags *diags);
