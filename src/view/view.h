/* view: a reduction method's choice of rows, columns and links, as the system that integrators see, at the values of
 * one run. The functions of a view are a const struct; its data are private. */
#pragma once

#include "base/transfer.h"
#include "code/switches.h"
#include "core/settle.h"
#include "core/state_form.h"
#include "integrate/integrator.h"
#include "reduce/reduction.h"
#include "reduce/strangeness.h"

typedef struct View View;
typedef struct ModelJump ModelJump;

/* A result of examining the choice of states, in addition to those of state_form.h: the selected rows do not determine the columns,
 * so select again. */
enum { EXCHANGE_RESELECT = -3 };

typedef struct Exchanges {
  const Exchange *list; /* valid until the next call */
  int32_t block;
} Exchanges;

typedef struct ViewMethods {
  /* Solves the rows for all other columns at a point whose states are right. A view without a state-space form moves to the nearest
   * point where the rows hold. */
  EvalStatus (*solve)(View *view, double t, double *y);

  /* Solves for the branching columns (View.branching) and the columns that these need, but for no others. Finds the solution
   * nearest to the guess. EVAL_DOMAIN: it is uncertain which solution that is. NULL: there are no such columns. */
  EvalStatus (*follow)(View *view, double t, double *y, BranchGuess guess);

  /* Like `follow`, from a guess that may be far off, left by continuation. */
  EvalStatus (*find)(View *view, double t, double *y);

  /* Solves at an event that changed only the modes: states stay as they are. */
  EvalStatus (*solve_at_event)(View *view, double t, double *y);

  /* Solves the rows at a corner of the edges that the solution slides along (switches_set_corner), in the modes there. NULL: it
   * does not slide. */
  EvalStatus (*solve_corner)(View *view, double t, double *y, int corner);

  /* Solves the rows at an event that has given columns other values, which stay (`held`, per column). States stay,
   * too, as far as the rows allow. */
  EvalStatus (*solve_holding)(View *view, double t, double *y, const uint8_t *held);

  /* Exchanges states for columns that are better at the point `ahead`; only the links change. Without `sure` it examines the
   * choice only if the rates suggest an exchange. Before an exchange the rows are solved at `now` in the old choice, so that
   * the new states have the accuracy of the old ones. NULL: the states never change. */
  int32_t (*exchange)(View *view, Moment now, ConstMoment ahead, bool sure, Exchanges *exchanges);

  /* Selects rows and columns again at the consistent point y, and sets those columns of y that have no influence. true:
   * the system has changed, and needs a new integrator. false: nothing changed, or the ranks are no longer those of the
   * start. NULL: rows are not selected by ranks. */
  bool (*reselect)(View *view, double t, double *y);

  /* Finds the ranks again at y, where modes have changed. Returns false if they differ from the ranks at the start. NULL: as
   * above. */
  bool (*same_ranks)(View *view, double t, double *y);

  /* Saves the present choice of states in the heap, and restores it. NULL: there is no choice. */
  void *(*save_choice)(const View *view, Heap *heap);
  void (*restore_choice)(View *view, const void *choice, const double *y);

  /* Converts a saved choice to bytes, or bytes to a choice. NULL: the choice cannot be saved as bytes, so it is made again after
   * reading. */
  void (*transfer_choice)(const View *view, void *choice, Transfer *transfer);

  /* Why the rows could not be solved last; reason NULL: unknown. */
  SolveFailure (*failure)(const View *view);

  /* Factorizations so far for solving the rows or examining the choice of states. */
  uint64_t (*factorizations)(const View *view);
} ViewMethods;

struct View {
  const ViewMethods *methods;
  bool chooses;               /* states may be exchanged during the run */
  System system;              /* every row: the system with a state-space form */
  System without_superfluous; /* without superfluous differentiations; rows 0 if there are none */
  const bool *branching;      /* [columns] see state_plan_branching; NULL: there are none */
  struct Branch *branch;      /* follows these columns (branch.h); NULL: none */
  bool is_direct;             /* once states are known, no column needs iterations or a function call */
  double *size, *seen;        /* [columns] sizes for absolute tolerances; largest values so far */
  Evaluator *evaluator;
  Settle settle;           /* the event iteration: the changes of the last event */
  IndexVec fired;          /* actions that the last event leaves to its caller: failed assertions, terminate */
  Workspace *conditions;   /* conditions of the branches of the equations (array/branches.h); NULL: there are none */
  uint32_t branches;       /* how many */
  const bool *holds;       /* the values for which the system was made; NULL: for all, which may be singular in some */
  double *values;          /* their present values */
  bool is_between;         /* the last point is a mean of its neighbours: the choice of states is singular there */
  const StatePlan *states; /* the order in which columns are solved for; NULL: there is no state-space form */
  Switches *switches;      /* NULL without relations that cause events */
  struct Kinks *kinks;     /* kinks without events (kinks.h); NULL: there are none */
  IndexVec watched;        /* columns that conditions read, if the system has `rates`; empty: unknown, or none */
  bool reads_none;         /* none: conditions depend only on time and on values that change at events */
  IndexVec preferred;      /* columns that stateSelect prefers as states, in order (preference.h) */
  struct Sensitivity *sensitivity; /* sensitivities through events (sensitivity.h); NULL: none */
  /* the array of the model, for checking its constraints; its columns are among those of the view */
  Evaluator *original;
  /* for jumps, if the system differs from the model's array; NULL: it does not, or has no events */
  ModelJump *model_jump;
  const uint32_t
      *mode; /* per mode of that array: the same mode of the view, MAP_NONE if there is none; NULL if they are
                           * shared */
  const uint32_t *source; /* per column of it; MAP_NONE: not in the view */
  const int8_t *sign;
};

/* Makes the view of a reduced system with the values `run`, and the array of its model with the values `original`. Lives in the
 * heap. */
View *view_reduced(Heap *heap, const Reduction *reduction, const ArrayRun *original, const ArrayRun *run);

/* The index-1 system with dummy derivatives: every row and column of the array, links from the chosen
 * states (view_dummy.c). */
View *view_dummy(Heap *heap, const Reduction *reduction, const ArrayRun *original, const ArrayRun *run);

/* A system integrated as it is: each pair of a column and its derivative is a link (view_plain.c). */
View *view_plain(Heap *heap, const Reduction *reduction, const ArrayRun *original, const ArrayRun *run);

/* The strangeness-free system selected at the consistent y (view_strangeness.c). */
View *view_strangeness(Heap *heap, Strangeness *strangeness, const double *y);

/* Makes View.size, which is used as System.size; at first it has the nominal values. */
const double *view_make_sizes(Heap *heap, View *view, const Evaluator *evaluator);

/* The rows, columns and evaluations that views over all rows of an array share. */
System view_whole_system(Heap *heap, View *view, Evaluator *evaluator);

/* All columns at a time within the last step, with the rows solved. EVAL_DOMAIN: they cannot be solved. */
EvalStatus view_point(View *view, const Segment *segment, double t, double *y);

/* Copies the view's modes and discrete values to the array of the model, if they are not shared. */
void view_set_original(View *view);

/* Is the column a state now? */
bool view_is_state(const System *system, uint32_t column);

/* Do the branches differ from those for which the system was made? Call this at an event that changed something. */
bool view_restructured(View *view);

/* The system that a method integrates: the one without superfluous differentiations if it exists and the method accepts it. */
const System *view_system(const View *view, const Integrator *integrator);
