/* solver: one run of a model that daedal has written as C99.
 *
 * The model is data and functions (struct Model): the derivative array y with the order in which its columns are solved, the
 * conditions that cause events, and the actions there. A run is a struct Solver. Everything that changes in a run is one piece of
 * memory without pointers (solver->changing), so a copy of it is the whole state of the run.
 *
 * All memory is a heap of slabs that the caller's hook gives, and that solver_free returns. */
#ifndef SOLVER_H
#define SOLVER_H

#include "advance.h"
#include "contract.h"
#include "delays.h"
#include "edges.h"
#include "failure.h"
#include "jump.h"
#include "reset.h"
#include "schedule.h"
#include "settle.h"
#include "state_form.h"
#include "steps.h"
#include "variation.h"

#include <stddef.h>

/* Writes the values of expressions at a point to `out`. Returns 0, or 1 if one of them is not finite. */
typedef int ModelProgram(double time, const double *y, const double *parameters, const double *discretes,
                         const double *pre, double *work, double *out);

/* A program in the form that the library expects. */
typedef struct Program {
  ModelProgram *function;
} Program;

/* A piece of a message: a text or, with a value, its format. It is left out if the guard is 0. Guard and value are indices of
 * values of messages_program; -1: none. */
typedef struct ModelPiece {
  int guard, value;
  const char *text;
} ModelPiece;

typedef struct ModelAction {
  int is_warning, in_when;
  int first_piece, behind_piece; /* the pieces of its message */
} ModelAction;

typedef enum VariableKind {
  VARIABLE_COLUMN,
  VARIABLE_PARAMETER,
  VARIABLE_DISCRETE,
  VARIABLE_CONSTANT,
  VARIABLE_STATE,
  VARIABLE_RATE,
  VARIABLE_INDICATOR,
  VARIABLE_TIME
} VariableKind;

/* Flags of a variable. */
enum {
  IS_INPUT = 1,
  IS_SETTABLE = 2,
  IS_START = 4,
  IS_RECORDED = 8,
  IS_CALCULATED = 16,
  IS_TUNABLE = 32,
  IS_REAL = 64,
  IS_INTEGER = 128,
  IS_BOOLEAN = 256,
  IS_ENUMERATION = 512
};

typedef struct ModelVariable {
  const char *name;
  VariableKind kind;
  int index, sign, flags;
} ModelVariable;

/* Rows that are solved for at least as many unknowns. If there are more unknowns than rows, the unknowns start at
 * their targets and, with is_nearest, end as near to them as the rows allow. */
typedef struct ModelStage {
  int rows, unknowns, is_nearest;
} ModelStage;

/* The initial system, if the start values of states do not determine it. Its columns are those of the array, followed by
 * parameters; some of them are unknowns. Rows and unknowns are listed in the order of the stages. */
typedef struct ModelInitial {
  int stages, rows, checks; /* checks: rows after them that follow from the others */
  int unknowns, columns, parameters, nonzeros;
  const ModelStage *stage;
  const int *place, *unknown, *parameter; /* per column of the array; per unknown; per parameter: its leaf */
  const int *start, *row;                 /* derivatives of the rows with respect to the unknowns */
  const double *weight, *nominal;         /* per unknown: how easily it moves, and its unit */
  const double *value, *target; /* per column: the solution with the values of the model's text; start values */
  ModelProgram *residual, *jacobian;
} ModelInitial;

struct Solver;

/* For models with corners at which a solution may fold. */
typedef struct SolverFolds {
  const FoldMethods *methods;
  void (*report)(struct Solver *solver, const Fold *fold);  /* of a jump, once in a run */
  void (*watch)(struct Solver *solver, const StepEnd *end); /* the branch at the end of a step; 0: there are no kinks */
} SolverFolds;

typedef struct Model {
  const char *name;
  /* If the structure of the equations changes at events, a model is one of several systems with the same parameters,
   * discrete values, unknowns and variables. The system holds in the mode in which its branches have these values; 0: it
   * holds for all branches of the first system. */
  int systems, branches;
  const struct Model *const *system;
  const unsigned char *holds;
  ModelProgram *branch_program;
  const char *const *branch_text;
  double start, stop, tolerance, interval, max_step;
  const Integrator *integrator,
      *sliding; /* the second one while the solution slides along an edge; 0: it cannot slide */
  const bool *constant, *given, *spare, *watched; /* see System */
  const int32_t *follower, *given_by;             /* see System */
  int followers;
  const uint32_t *watched_columns; /* the columns that conditions read */
  uint32_t watched_count;
  const uint32_t *preferred; /* see ResetPlan */
  uint32_t preferred_count;
  const bool *is_sized, *is_signed; /* see Sizes */
  int is_rough;                     /* see DefectLooks */
  int has_few_kinks;                /* see Kinks */
  int kinks;                /* number of arguments at whose zeros slopes of the equations change without an event */
  const SolverFolds *folds; /* see Steps */
  ModelProgram *kink_program, *kink_sizes; /* arguments, then their rates; the sizes of their terms */
  int unknowns, rows, columns, parameters, discretes, states, work;
  const int *column_start, *d; /* per unknown */
  const uint32_t *order;       /* unknowns, in the order in which their states are listed */
  const int *row_start, *c;    /* per equation; c: how often it is differentiated at most */
  const int *row_equation;
  const double *nominal;                              /* per column */
  const unsigned char *held;                          /* per column: 2 if the start value is fixed, 1 if it is given */
  const double *y0, *parameters0, *discretes0, *pre0; /* consistent values at the start */
  const double *discretes_start;                      /* start values */
  const int *depth0;
  int choices; /* blocks whose states are chosen */
  const ChoicePlan *choice;
  UnitsPlan units;
  ModelProgram *residual, *jacobian;
  int nonzeros;
  const int *jacobian_start, *jacobian_row;
  int modes, first_mode;
  const Condition *mode;
  const char *const *mode_text;
  ModelProgram *conditions, *written, *rates;
  const SwitchingTimed *timed; /* 0: no condition depends only on time */
  SchedulePlan schedule;
  int has_logic; /* other values than modes change at events */
  DecidePlan decide;
  ModelProgram *const *level_program;
  ModelProgram *initial_program, *lefts_program, *samples_program, *actions_program;
  const ModelAction *action;
  int message_values;
  ModelProgram *messages_program;
  const ModelPiece *piece;
  int dependents;
  ModelProgram *const *dependent_program; /* values of parameters bound to others, in the order of their dependencies */
  const int *dependent;
  /* Delays, and the most pieces of the past that are kept. */
  int delays, has_free_delays, pieces;
  const Delay *delay;
  ModelProgram *delayed;     /* the delayed values; the inflows of pipes */
  ModelProgram *delay_times; /* delay times, then the longest; for pipes: x, whether the flow is positive, der(x) */
  ModelProgram *pipe_points;
  int points; /* number of values that these have */
  int constants;
  ModelProgram *constants_program, *starts_program; /* start values of all columns */
  int can_start; /* initial values can be found again for other parameters and start values */
  ModelInitial start_system;
  ModelInitial point; /* the operating point of a circuit, all of whose columns are unknowns */
  int point_count;    /* start values that it gives, and their columns */
  const int *point_column;
  ModelProgram *point_starts, *point_conditions;
  int point_modes, point_first_mode, point_discretes; /* conditions, among the discrete values of the operating point */
  const int *point_kind;
  const double *point_discretes0;
  int variables;
  const ModelVariable *variable;
  int has_choice; /* a variable shows how far the choice of states is from changing */
} Model;

/* Bytes of a message. */
enum { MESSAGE_ROOM = 1024 };

/* Bytes of the slabs for the memory of a run. */
enum { SLAB_SIZE = 1 << 15 };

extern const Model model_tables;

typedef enum SolverStatus { SOLVER_OK, SOLVER_DOMAIN, SOLVER_FAILED } SolverStatus;

typedef struct Scalars {
  double time, tolerance, max_step;
  double end;        /* end of the run, where relations hold as written, as at its start */
  double step, next; /* the sizes of the last step and of the next */
  StepsNow at;
  double sign;        /* see FoldMethods; 0: unknown */
  int is_other;       /* at the end of the last step the determinant has another sign, */
  double other_since; /* since this time */
  int changed;        /* columns, or values that rows depend on, changed at the last event */
  int is_started, terminated, asserted;
  int is_at_first;  /* the run has not left its start */
  int is_judged;    /* the choice of states is made for the next step */
  int waits;        /* an event is reached that has not been handled yet, */
  int is_folded;    /* the event is a fold, after which the columns are `beyond` */
  int has_folded;   /* a fold was reported */
  int has_branched; /* a singular point was reported */
  int waiting;      /* mode that causes this event; -1: none */
  int timed;        /* a mode that changes at the next time event; -1: none */
  int system;       /* number of the current system */
  int steps, rejected, events, pivots;
} Scalars;

typedef struct Solver {
  const Model *model; /* the current system */
  const Model *first; /* the system with which a run begins */
  int width;          /* states of the largest system: in smaller systems the missing ones are 0 */
  void *changing;
  size_t changing_size;
  Scalars *now;
  /* the point */
  double *y, *parameters, *discretes, *pre, *states;
  double *size, *seen; /* per column: for absolute tolerances, and its largest value so far */
  double *beyond;      /* columns after a fold */
  double *open_y;      /* columns at the end of the open step */
  double *overrides;   /* per parameter, NAN: none */
  double *start;       /* per column: start values that replace the model's own; NAN: none */
  int *from, *to, *depth;
  /* solving */
  double *work;
  double *right, *direction, *row_direction, *input_rows, *kept_parameters;
  /* events */
  Edges edges;
  Decide decide;
  Schedule schedule;
  Switching switching;
  Settle settle;
  Jump *jump; /* 0: not yet used */
  double *values, *differences, *message_values;
  double *begin, *left_y, *settle_y, *branch_values, *event_y;
  int *reported;
  Failure *failure; /* per action: an assertion that fails */
  bool *fired;      /* per action: it fired at the last check */
  /* delays */
  Delays delays;
  double *past_y; /* the columns at the end of the history of delays */
  double *stage_y, *initial_y, *initial_trial, *initial_entries, *initial_target, *point_discretes, *point_differences;
  /* objects of the library, in a heap within the heap, made for a model with these tolerances */
  Heap *heap, *workspace;
  void *ticket, *form_ticket;
  const Model *formed_for;
  StateForm form;
  bool has_new_parameters; /* parameters have changed since these were last used */
  uint64_t evaluations;    /* evaluations of rows and entries */
  const Model *made_for;
  Scalars made_with;
  Steps steps;
  IntegratorStatistics counted; /* work of the integrator that was counted */
  bool waits_for_step;          /* the integrator starts with the first step */
  OpenStep open;                /* while it is open, the time reached is inside it, and the integrator is at its end */
  StepEnd end;                  /* end of the last step */
  bool ends_at_fold;            /* whether that is a fold of the solution */
  double told;                  /* the last time that the caller knows: a fold is not reported before it */
  double until;                 /* the time to which the run advances */
  bool stops_at_events, ends_plainly; /* ends_plainly: the last step was closed, without an event */
  bool gets_inputs; /* the caller sets inputs between calls, so steps do not go beyond the requested time */
  Variation *variation, *transposed;
  System system;
  int *successor; /* per column */
  void (*report)(void *context, const char *text);
  int (*stepped)(void *context); /* called after each step; returns 1 if solver_advance should return. 0: no callback */
  void *context;
} Solver;

/* ---- a run ---- */

Solver *solver_make(const Model *model, const HeapHook *hook); /* 0: the hook gives no memory */
void solver_free(Solver *solver);

/* Call solver_saved after you have copied `changing`, and solver_restored after you have overwritten it. */
SolverStatus solver_saved(Solver *solver);
SolverStatus solver_restored(Solver *solver);

/* Restores the values of the model's text. */
void solver_reset(Solver *solver);

/* Finds consistent initial values at `time`: those of the model's text, or others for variables that were set since. Then handles
 * the first instant. */
SolverStatus solver_start(Solver *solver, double time);

/* Computes the states, their derivatives and everything else at (solver->now->time, states). */
SolverStatus solver_complete(Solver *solver);

/* Integrates up to a time through all events. With `stop_at_event` it ends at the left limit of the first event, which stays
 * pending. A step may end after the requested time; then the values are those inside the step, and the next call continues from its
 * end. If the caller sets inputs (solver->gets_inputs), steps end at the requested time. */
SolverStatus solver_advance(Solver *solver, double until, int stop_at_event);

/* Handles the pending event. */
SolverStatus solver_pass(Solver *solver);

/* The values of variables. */
double solver_get(Solver *solver, int variable);

/* Before the start: sets a parameter, an input or a start value. The second function returns the value that was set, or the model's
 * own. */
void solver_override(Solver *solver, int variable, double value);
double solver_set_value(const Solver *solver, int variable);
int solver_is_set(const Solver *solver, int variable);

/* After the start: sets a parameter, and the parameters bound to it. */
void solver_tune(Solver *solver, int variable, double value);

/* ---- inside: if memory is refused, these return control to the protected call (heap.h), which then calls solver_refused ---- */

void solver_refused(Solver *solver);

/* program.c: changes to a system of the model; values of a program at a point, with the delays read first */
void program_enter(Solver *solver, const Model *model);
int program_run(Solver *solver, ModelProgram *program, double t, const double *y, double *out);

/* Sets the parameter with this leaf; the second function computes the parameters that are bound to others. */
void program_set_parameter(Solver *solver, int leaf, double value);
void program_set_dependents(Solver *solver);

/* solver.c. Can there be events? Follows an importer to its time. State k or its rate: the column in a list (from or to), 0 if the current system does
 * not have it. Copies all states to `states`. */
int solver_has_events(const Model *model);
SolverStatus solver_follow(Solver *solver);

/* Handles an event of a mode (-1: no mode), or a jump over a fold. Returns 1 if it does not settle. */
int solver_settle(Solver *solver, int mode);

double solver_state(const Solver *solver, const int *column, int k);
void solver_gather(Solver *solver);

/* states.c */
void states_link(Solver *solver);
SolverStatus states_hold(Solver *solver, double t, double *y, const unsigned char *held);
int states_exchange(Solver *solver, double t, double step, double *y);
int states_wants_exchange(Solver *solver, double t, const double *y);
double states_indicator(Solver *solver, double t, const double *y);
SolverStatus states_solve(Solver *solver, double t, double *y, StateFormSolve *how);

/* events.c, or eventless.c for a model without events. Called when another system begins. */
void events_enter(Solver *solver);

/* Handles an event of a mode (-1: no mode). Returns 1 if it does not settle. */
int events_pass(Solver *solver, int mode);

/* Checks the assertions between events. */
void events_watch(Solver *solver, double t, const double *y);

int events_initial(Solver *solver, double t, double *y);
int events_first(Solver *solver);
int events_leave_start(Solver *solver, int *any);
int events_end(Solver *solver);
int events_are_lost(const Solver *solver);
void events_report_undefined(const Solver *solver, int mode);
double events_indicator(const Solver *solver, int mode);

/* folds.c, branch.c: the functions of SolverFolds, and the name of a column in messages */
void folds_report(Solver *solver, const Fold *fold);
void branch_watch(Solver *solver, const StepEnd *end);
const char *folds_name(const Model *model, int column);

/* initial.c */
int initial_point(Solver *solver, double t, double *y);

/* Computes all columns from the start values in event_y. Returns false without a solution. Then: did a fixed start value move? */
bool initial_columns(Solver *solver, double t);
bool initial_moved(const Solver *solver, const double *y);

/* host.c. host_make makes the integrator again if the system, a tolerance or the solver has changed. */
void host_make(Solver *solver);
void host_start(Solver *solver, double step);
void host_pass_event(Solver *solver, int mode);
void host_switch(Solver *solver);
void host_forget_sizes(Solver *solver);
void host_note_sizes(Solver *solver);
void host_saved(Solver *solver);

/* The end of the run, as far as it is known. */
double host_end(const Solver *solver);

/* A step up to `until`, or to the first event in it; solver->end is its end. */
SolverStatus host_step(Solver *solver, double until);

/* The rows cannot be solved inside the last step. Can the solution pass a fold there? Then the step is undone, and solver->end is that
 * of a step to the fold. */
bool host_pass_fold(Solver *solver);

/* Steps without events, only for the values that delays read. */
SolverStatus host_follow(Solver *solver, double until);

/* The columns at a time of the last step, solved. false: they cannot be. */
bool host_point(Solver *solver, double t, double *y);

/* The columns that the integrator has reached, which solve the rows up to its tolerance. The second function solves the rows
 * for a caller that reads the columns; the third returns the size of the last step. */
const double *host_values(const Solver *solver);
void host_solve_end(Solver *solver);
double host_size(const Solver *solver);

/* On input `columns` holds a direction of the states, and `rows` other changes of the rows. Computes the direction of all other
 * columns. Returns 1 if the rows do not determine them. */
int host_direction(Solver *solver, double *columns, const double *rows);

/* On input `columns` holds weights of all columns. On output it holds the derivatives of the weighted sum with respect to the
 * states, and `rows` those with respect to the values of the rows. */
int host_adjoint(Solver *solver, double *columns, double *rows);

#endif
