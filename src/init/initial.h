/* initial: consistent initial values. All rows of the derivative array hold at the start, with the fixed start values and the
 * initial equations. A value that is still free keeps its start value if that is consistent, and otherwise moves to the nearest
 * consistent value in the scaled norm.
 *
 * The values are found in one of these ways. Each way is tried if the way before it fails or would move a given value:
 *   1. the state-space form, with the given values as states; this needs no extra code
 *   2. the initial system step by step (steps.h), with STEPS_KEEP
 *   3. the same steps with STEPS_NEAREST
 *   4. continuation from the simplified expressions of homotopy()
 *   5. continuation in the guesses
 *   6. all rows at once, from start values, nominal values and other guesses
 * If all fail, the conflict is named. If homotopy() is in rows that must be solved together, or in a row that does not give its
 * unknown explicitly, way 4 comes first: there may be several solutions, and continuation selects the intended one. */
#pragma once

#include "code/switches.h"
#include "init/conflict.h"
#include "init/nogood.h"
#include "init/patch.h"
#include "init/steps.h"
#include "reduce/dummies.h"
#include "reduce/state_plan.h"
#include "reduce/strangeness.h"

/* How the solution was found. */
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
  InitialSystem *system;   /* NULL if it was not needed: then its columns are those of the array */
  InitialColumn *column;   /* per column of the system */
  double *value;           /* per column of the system */
  double *discretes;       /* per discrete variable of the model; NULL: those of the evaluator */
  double *discrete_starts; /* discrete values before the initial event; NULL: the same values */
  uint32_t columns;
  InitialWay way;
  NonlinearRung rung;
  uint32_t iterations;
  uint32_t fixed, free; /* fixed columns; degrees of freedom that the model does not fix */
  int64_t dof;
  IndexVec surplus; /* rows of the system: initial equations that the others imply */
  bool has_conflict;
  Conflict conflict; /* the conflict, if there is no solution */
} Initial;

/* Modes are only tried, and may be wrong: the reason why they have no solution is not needed. */
typedef enum InitialTrial {
  TRIAL_NONE,
  TRIAL_QUICK,   /* only near the start values: initial_search covers other guesses in all modes at once */
  TRIAL_OF_FEW,  /* everything is tried */
  TRIAL_OF_MANY, /* guesses far from the start values only for rows that depend on discrete values themselves */
} InitialTrial;

/* The data of a run that initialization needs; made once, used at the start and after every event. */
typedef struct Initializer {
  Heap *heap;
  Evaluator *evaluator;
  const Structure *structure;
  Dummy *dummy;
  StateSpace *space;
  InitialSystem *system, *event_system; /* made when needed */
  const InitialCodes *known;            /* code that the plan has for it; NULL: none */
  InitialCodes *collected;              /* where new code for it is added; NULL: nowhere */
  const Strangeness *ranks; /* the method by ranks, which has the values if structure failed; otherwise NULL */
  InitialTrial trial;
  NogoodVec nogoods; /* discrete values that were found to admit no solution */
} Initializer;

/* Start values per column of the evaluator's array, before any equation is evaluated: for the modes of relations. */
bool initial_guess(const Initializer *initializer, const StartValues *starts, double *y, Diags *diags);

/* Solves at t0. tolerance: how far redundant fixed values may disagree, scaled. false: an error is in diags
 * (DIAG_INIT) and initial->conflict. Free parameters are set in the evaluator. The solution lives in the heap. */
bool initial_solve(Initializer *initializer, const StartValues *starts, double t0, double tolerance, Initial *initial,
                   Diags *diags);

/* Solves again, unit by unit, each to the nearest values, and records the units. Returns false if other values are found
 * than before, or if they can only be found in another way. Everything is in the heap of the initial system. */
bool initial_trace(const Initial *initial, double tolerance, StepsTrace *trace);

/* Do the rows hold at the values found, with the current discrete values? */
bool initial_holds(const Initializer *initializer, const Initial *initial, double t0);

/* Is it known that there is no solution with the present discrete values? */
bool initial_is_ruled_out(const Initializer *initializer);

/* The values of `first` were solved from `starts`, and this point from `first`: describes how the point follows from `starts`. */
void initial_retell(const Initializer *initializer, const StartValues *starts, const Initial *first, Initial *initial);

/* For use if no solution was found in the modes of the guess and in the other modes that were tried. Solves all rows at once from
 * other guesses, with conditions as written, so that modes change together with the values. Afterwards the modes agree with the
 * values found. For models without logic. */
bool initial_search(Initializer *initializer, Switches *switches, const StartValues *starts, double t0,
                    double tolerance, Initial *initial);

/* The point of the method by ranks, for reports. Lives in the heap. */
Initial initial_of_ranks(const Initializer *initializer, const StartValues *starts, double t0);

/* Warns about values outside of min and max. */
void initial_report_bounds(const Initializer *initializer, const Initial *initial, Diags *diags);
