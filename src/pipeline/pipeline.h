/* pipeline: from a flat model to a trajectory. A plan is what is derived once for a method: structure, conversions, the
 * derivative array over a graph of its own, programs, the system that the method makes. A simulation is one run of it: values,
 * workspaces, integrator, trajectory.
 *
 * Runs come to other structures than that of their plan: at events, or where their start lies in other branches, or where conversions
 * depend on parameters that have other values. The plans for those are derived from the first one, and from nothing else that a run
 * knows: two runs that come to the same structure have the same plan, whichever of them came first.
 *
 * Invariant: the model is never written; a plan is not written once it is made, so that simulations in several threads may
 * share it, except for its table of derived plans, which has a lock. A simulation has one owner. */
#pragma once

#include "array/branches.h"
#include "base/transfer.h"
#include "code/leaf_jacobian.h"
#include "pipeline/report.h"
#include "reduce/method.h"
#include "vary/sensitivity.h"

/* The event at which a plan takes a run over, in a mode where the equations have another structure. */
typedef struct Handover {
  double time;
  Evaluator *evaluator; /* of the array that the model's columns are taken from, and its discrete values */
  const double *y;
  const ArrayRun *again; /* instead: the values that another run made the same plan with; NULL: none */
} Handover;

/* Where a run goes on that another program began. */
typedef struct Resumption {
  Transfer *state;
  const Trajectory *rows; /* of it, up to that point, so many */
  size_t count;
} Resumption;

/* What a run is asked to do; names are checked by the caller. */
typedef struct Request {
  const Method *method;
  MethodOptions method_options;
  bool compile;
  bool initialize_only;
  bool tells_propagation; /* in its report: propagation.h */
  bool is_stepped;        /* the run only begins; the caller goes on, and no rows are recorded */
  bool opens_kinks;       /* all of them, since structure is wrong about what is differentiated: kink_modes.h */
  bool keeps_modes;       /* the values with which the run began in each of its structures are kept (ModeStart) */
  bool
      is_redundant; /* equations that follow from the others on the solutions are looked for, and replaced: redundancy.h */
  bool keeps_method;                 /* also where structure misleads it and numerical ranks would take over */
  const double *parameter_overrides; /* by leaf index, NAN for none; NULL for none at all */
  StartValues starts;
  double perturbation; /* added to every state at the start, relative to its size or 1; with a state-space form only */
  const uint32_t *varied; /* parameter leaves by which the rows are to be differentiated */
  uint32_t varied_count;
  const SensitivityTarget *targets; /* by which the solution is to be differentiated */
  uint32_t target_count;
  const char *functional; /* as written: the gradient of it is asked for, by the targets; NULL: sensitivities are */
  const char *integrand;  /* the signal in it */
  bool is_integral;
  size_t gradient_memory;       /* bytes, for the stages of steps */
  RecorderChoice choice;        /* of signals */
  const Handover *handover;     /* NULL: the run begins */
  const Resumption *resumption; /* NULL: at its start */
  RunOptions run;
} Request;

/* Plans derived from another one, which its runs share (derived.c). */
typedef struct ModeTable ModeTable;

/* All that a plan holds lives in `heap`. */
typedef struct Plan {
  Heap *heap;
  Arena arena;
  Diags *diags;
  const Model *model;
  const struct Plan *base; /* that it is derived from; NULL: it has initial values of its own */
  ModeTable *table;        /* of plans derived from it, for all of its runs; NULL: each run has those that it makes */
  Model *own;              /* the model with a graph of the plan's own */
  Request request;         /* what it was made for */
  double *parameters;      /* by leaf index: the values it was made for */
  struct Plan *common;     /* of a method by ranks: what the other methods start with; NULL if they cannot */
  StartValues starts;
  Problem problem;
  Problem whole; /* with all branches, where the problem is that of some */
  Modes modes;
  Branches branches;
  bool *holds; /* which of them the plan was made for; NULL: for all */
  Structure structure;
  bool is_misled; /* structure was wrong about the equations as written, or cannot treat them: ranks may */
  ConversionVec conversions;
  Expr *left_out; /* residuals of equations that follow from others and were replaced */
  uint32_t left_out_count;
  IndexVec read; /* leaf indices of the parameters whose values decided the conversions */
  Array array;
  ArrayCode *code; /* NULL: structure failed, and the method goes by ranks */
  const DummyBlocks *choice;
  const StatePlan *states;
  bool by_homotopy;          /* initial values; see initial_has_homotopy */
  const Program *conditions; /* of the branches; NULL without them */
  /* The values that it was made at. The first simulation of a plan that nobody else has takes them over. */
  ArrayRun first;
  Initializer initializer;
  InitialCodes *starting; /* code for other initial values than those; NULL: none was made */
  Initial initial;
  double *discretes; /* the modes there */
  Reduction reduction;
  const uint32_t *orders;             /* see recorder_new */
  const LeafJacobian *varied;         /* rows by the leaves asked for; NULL: none were */
  const SensitivityPlan *sensitivity; /* NULL: nothing is to be differentiated */
  RunPlan run;
  RunFacts facts; /* as far as it got */
} Plan;

/* A run within one structure of its equations: what it holds for that, from its evaluator to its integrator, is in `heap`. */
typedef struct Stay {
  Heap *heap;
  void *ticket;  /* of it; NULL: the run's own heap, which stays */
  bool is_saved; /* a saved state refers to it */
} Stay;

/* A derived plan that a run uses, and the values of its array with which the run began there first, if the request keeps them. */
typedef struct ModeStart {
  const Plan *plan;
  ArrayRun run;
} ModeStart;

/* One run and all that it made; everything lives in `heap`. */
typedef struct Simulation {
  Heap *heap;
  Arena arena;
  Diags *diags;
  const Plan *plan; /* of the equations as they are now */
  const Plan *base; /* that others are derived from */
  bool is_shared;   /* others may run it, too */
  Request request;
  double since;      /* when the equations became those of the plan */
  Stay stay, worst;  /* the present one; one before, where the statistics name a constraint of it */
  ArrayRun original; /* the model's array */
  ArrayRun begun;    /* the one that it began with, */
  double *leaves;    /* and the discrete leaves of it then */
  Initializer initializer;
  Initial initial;
  ArrayRun system;         /* what is integrated */
  Strangeness strangeness; /* of that method */
  View *view;
  Recorder *recorder;
  RunLoop *run;
  RunOptions options; /* of the loop */
  double changed;     /* when the structure did last */
  int changes;        /* how often then */
  uint8_t *held;      /* per column: given another value; NULL: none is */
  double *reset;      /* which */
  bool is_free;       /* where it starts, ranks leave something free */
  bool is_disturbed;  /* something was given another value since the last event */
  RunStatistics statistics;
  Adjoint *adjoint; /* NULL: no gradient is asked for */
  Gradient gradient;
  VEC(ModeStart) modes;             /* derived plans that the run used */
  VEC(const struct ModePlan *) own; /* those that it made for itself alone */
  RunFacts facts;                   /* as far as it got */
} Simulation;

/* Makes a plan for the values of the request. Where structure misleads the default method and it fails, here or in a run, the
 * method by ranks takes its place if the equations are regular for it, and a warning says so: plan->request has the method. Where it
 * may not, a note to the error names it, if it would do. false: an error is in diags, and plan->facts says how far
 * it got. */
bool plan_make(Plan **plan, Heap *heap, const Model *model, const Request *request, Diags *diags);

/* Several may run the plan from now on: they share the plans derived from it. */
void plan_share(Plan *plan);

/* Are the conversions or ranks of the plan those of its parameter values? Then a run with others has another plan. The parameters whose
 * values decide are plan->read; ranks, and objects that change, depend on all. */
bool plan_depends_on_values(const Plan *plan);

/* The number of structures that plans have been made for: its own, and those derived from it for all of its runs. */
uint32_t plan_structures(const Plan *plan);

/* Finds initial values for another request, and keeps the code that was made for it: runs with values like these make none of their
 * own. Before others have the plan. O(a start). */
void plan_rehearse(Plan *plan, const Request *request, Diags *diags);

/* Runs a plan that others may run too. false: an error is in diags; simulation->facts says how far it got. */
bool simulation_run(Simulation *simulation, Heap *heap, const Plan *plan, const Request *request, Diags *diags);

/* A run that is stepped: goes on to a time, with `once` for one step of the integrator at most. false: an error is
 * in diags. */
bool simulation_advance(Simulation *simulation, double until, bool once);

/* Adds another mode of the equations, where branches hold so, to those that the run was in, begun with the values that the run has come
 * to. Not where that cannot be. */
void simulation_add_mode(Simulation *simulation, const bool *holds);

/* The value of a signal of its recorder, all columns being y. */
double simulation_value(const Simulation *simulation, const Signal *signal, const double *y);

/* Gives a column another value at the time reached. It holds from the next call of simulation_settle on, with all
 * others given since: what the equations determine follows, states stay as far as they allow. false: the signal is
 * no column. */
bool simulation_reset(Simulation *simulation, const Signal *signal, double value);

/* The same of all states, which get their values in y. */
void simulation_reset_states(Simulation *simulation, const double *y);

/* The same for an input that the caller sets. false: the variable is none. */
bool simulation_give(Simulation *simulation, uint32_t variable, double value);

/* Exchanges the discrete leaves of the array that the run began with for those that it had then; a second time puts them back. For
 * reports of the beginning. */
void simulation_exchange_leaves(Simulation *simulation);

/* Takes what was given since as an event at the time reached. false: an error is in diags. */
bool simulation_settle(Simulation *simulation);

/* The whole state of a run that is stepped, in the heap, which must not outlive the run's; and back to it. A save is
 * a place where the run begins again: it and every run restored there go on alike, bit for bit. NULL, false: an error
 * is in diags. */
typedef struct SimulationState SimulationState;
SimulationState *simulation_save(Simulation *simulation, Heap *heap);
bool simulation_restore(Simulation *simulation, const SimulationState *state);

/* Another run at the state just saved of one that is stepped; they share nothing but the plan. false: an error is in
 * diags. */
bool simulation_clone(Simulation *simulation, Heap *heap, const Simulation *from, const SimulationState *state,
                      Diags *diags);

/* The state of a run under way, written in on_step at this time, for a program that asks for the same with a resumption. false: there is nothing
 * that another program could go on from: not these equations are under way, they are no longer those of the start, or something lives in memory
 * alone. */
bool simulation_write(Simulation *simulation, double time, Transfer *transfer);

/* Plans and runs at once. */
bool pipeline_simulate(Simulation *simulation, Heap *heap, const Model *model, const Request *request, Diags *diags);

/* Seconds of a steady clock. */
double pipeline_clock(void);
