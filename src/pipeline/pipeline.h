/* pipeline: from a flat model to a trajectory. A plan is everything that is derived once for a method: structure, conversions, the
 * derivative array over its own graph, programs, and the system that the method makes. A simulation is one run of it: values,
 * workspaces, integrator, trajectory.
 *
 * A run may need structures that differ from the structure of its plan: at events, if its start lies in other
 * branches, or if conversions depend on parameters that have other values. The plans for those are derived from the first one, and
 * from nothing else that a run knows. So two runs that need the same structure have the same plan, independent of their order.
 *
 * Invariant: the model is never written. A plan is not written after it is made, so simulations in several threads may share it;
 * its table of derived plans has a lock. A simulation has one owner. */
#pragma once

#include "array/branches.h"
#include "base/transfer.h"
#include "code/leaf_jacobian.h"
#include "pipeline/report.h"
#include "reduce/method.h"
#include "vary/sensitivity.h"

/* The event at which a plan continues a run, in a mode where the equations have another structure. */
typedef struct Handover {
  double time;
  Evaluator *evaluator; /* evaluator of the array from which the model's columns and discrete values are copied */
  const double *y;
  const ArrayRun
      *again; /* in place of the two above: the values with which another run made the same plan; NULL: none */
} Handover;

/* The point at which a run continues what another program began. */
typedef struct Resumption {
  Transfer *state;
  const Trajectory *rows; /* rows of the other program's run up to that point */
  size_t count;
} Resumption;

/* The request for a run; names are checked by the caller. */
typedef struct Request {
  const Method *method;
  MethodOptions method_options;
  bool compile;
  bool initialize_only;
  bool tells_propagation; /* the report has the propagation of errors: see propagation.h */
  bool is_stepped;        /* the run only begins; the caller continues it, and no rows are recorded */
  /* make modes of all kinks, because structural analysis is wrong about differentiations: kink_modes.h */
  bool opens_kinks;
  bool keeps_modes;  /* keep the values with which the run began in each of its structures (ModeStart) */
  bool is_redundant; /* find and replace equations that follow from others on the solutions: redundancy.h */
  bool keeps_method; /* keep the method even if structure misleads it; otherwise numerical ranks take over */
  const double *parameter_overrides; /* by leaf index, NAN: none; NULL: none at all */
  StartValues starts;
  double perturbation;    /* added to every state at the start, relative to its size or 1; needs a state-space form */
  const uint32_t *varied; /* parameter leaves with respect to which the rows are differentiated */
  uint32_t varied_count;
  const SensitivityTarget *targets; /* targets with respect to which the solution is differentiated */
  uint32_t target_count;
  StartSlopes start_slopes; /* how `starts` varies with the targets */
  const char *functional; /* the functional as written, whose gradient is computed; NULL: sensitivities are computed */
  const char *integrand;  /* the signal in the functional */
  bool is_integral;
  size_t gradient_memory;       /* memory for the stages of steps, in bytes */
  RecorderChoice choice;        /* of signals */
  const Handover *handover;     /* NULL: the run begins here */
  const Resumption *resumption; /* NULL: it begins at its start */
  RunOptions run;
} Request;

/* Plans derived from another one, shared by its runs (derived.c). */
typedef struct ModeTable ModeTable;

/* Everything that a plan holds lives in `heap`. */
typedef struct Plan {
  Heap *heap;
  Arena arena;
  Diags *diags;
  const Model *model;
  const struct Plan *base; /* the plan that it is derived from; NULL: it has its own initial values */
  ModeTable *table;        /* plans derived from it, for all of its runs; NULL: each run keeps its own */
  Model *own;              /* the model with the plan's own graph */
  Request request;         /* the request that it was made for */
  double *parameters;      /* by leaf index: the values it was made for */
  struct Plan *common;     /* for a method by ranks: the start of the other methods; NULL if they have none */
  StartValues starts;
  Problem problem;
  Problem whole; /* the problem with all branches, if `problem` has only some */
  Modes modes;
  Branches branches;
  bool *holds; /* the branches it was made for; NULL: all */
  Structure structure;
  bool is_misled; /* structural analysis was wrong about the equations as written, or cannot treat them: ranks may */
  ConversionVec conversions;
  Expr *left_out; /* residuals of equations that follow from others and were replaced */
  uint32_t left_out_count;
  IndexVec read; /* leaf indices of the parameters whose values decided the conversions */
  Array array;
  ArrayCode *code; /* NULL: structural analysis failed, and the method uses ranks */
  const DummyBlocks *choice;
  const StatePlan *states;
  const Program *conditions; /* conditions of the branches; NULL: there are none */
  /* The values at which it was made. The first simulation of a plan that is not shared becomes the owner of these values. */
  ArrayRun first;
  Initializer initializer;
  InitialCodes *starting; /* code for other initial values; NULL: none was made */
  Initial initial;
  double *discretes; /* the modes there */
  Reduction reduction;
  const uint32_t *orders;             /* see recorder_new */
  const LeafJacobian *varied;         /* derivatives of the rows with respect to the requested leaves; NULL: none */
  const SensitivityPlan *sensitivity; /* NULL: nothing is differentiated */
  RunPlan run;
  RunFacts facts; /* facts, as far as they are known */
} Plan;

/* A run within one structure of its equations. Everything that it holds for this structure, from its evaluator to its integrator,
 * is in `heap`. */
typedef struct Stay {
  Heap *heap;
  void *ticket;  /* ticket of that heap; NULL: the run's own heap, which stays */
  bool is_saved; /* a saved state refers to it */
} Stay;

/* A derived plan that a run uses. If the request keeps them, also the values of its array with which the run first began there. */
typedef struct ModeStart {
  const Plan *plan;
  ArrayRun run;
} ModeStart;

/* One run and everything it made; all of it lives in `heap`. */
typedef struct Simulation {
  Heap *heap;
  Arena arena;
  Diags *diags;
  const Plan *plan; /* plan for the present equations */
  const Plan *base; /* the plan from which others are derived */
  bool is_shared;   /* others may use it, too */
  Request request;
  double since; /* when these equations became valid */
  Stay stay,
      worst; /* stay: the present structure; worst: an earlier structure if the statistics name one of its constraints */
  ArrayRun original; /* the model's array */
  ArrayRun begun;    /* the array that it began with, */
  double *leaves;    /* the discrete leaves of that array at that time */
  Initializer initializer;
  Initial initial;
  ArrayRun system;         /* what is integrated */
  Strangeness strangeness; /* for that method */
  View *view;
  Recorder *recorder;
  RunLoop *run;
  RunOptions options; /* of the loop */
  double changed;     /* when the structure last changed */
  int changes;        /* number of changes at that time */
  uint8_t *held;      /* per column: it gets a new value; NULL: none */
  double *reset;      /* the new values */
  bool is_free;       /* ranks leave something free at its start */
  bool is_disturbed;  /* something was set since the last event */
  RunStatistics statistics;
  Adjoint *adjoint; /* NULL: no gradient was requested */
  Gradient gradient;
  VEC(ModeStart) modes;             /* derived plans that the run used */
  VEC(const struct ModePlan *) own; /* derived plans that only this run owns */
  RunFacts facts;                   /* facts, as far as they are known */
} Simulation;

/* Makes a plan for the values of the request. If structural analysis is wrong and the default method fails, here or in a run, the
 * method by ranks replaces it, with a warning. plan->request then has that method. This happens only if the equations are regular
 * for the method by ranks. If the method by ranks would succeed but may not be used, a note to the error names it. Returns false if
 * an error is in diags; plan->facts then says which steps were completed. */
bool plan_make(Plan **plan, Heap *heap, const Model *model, const Request *request, Diags *diags);

/* Call this before several runs use the plan: they share the plans derived from it. */
void plan_share(Plan *plan);

/* Do the conversions or ranks of the plan depend on its parameter values? Then a run with other values has another plan.
 * plan->read lists the parameters that decide. A plan that was made by ranks, or has objects that change, depends on all
 * parameters. */
bool plan_depends_on_values(const Plan *plan);

/* The number of structures for which plans were made: its own, and those derived from it for all of its runs. */
uint32_t plan_structures(const Plan *plan);

/* Finds initial values for another request, and keeps the code made for that: runs with similar values need no further code. Call
 * it before others share the plan. Costs one start. */
void plan_rehearse(Plan *plan, const Request *request, Diags *diags);

/* Runs a plan that others may run, too. false: an error is in diags; simulation->facts says how far it got. */
bool simulation_run(Simulation *simulation, Heap *heap, const Plan *plan, const Request *request, Diags *diags);

/* For a stepped run: continues to a time; with `once`, by at most one step of the integrator. false: an error is in diags. */
bool simulation_advance(Simulation *simulation, double until, bool once);

/* Adds another mode of the equations, with these branches, to those of the run. It begins with the present values of the run. Does
 * nothing if that is impossible. */
void simulation_add_mode(Simulation *simulation, const bool *holds);

/* The value of a signal of its recorder when all columns are y. */
double simulation_value(const Simulation *simulation, const Signal *signal, const double *y);

/* Sets a column to another value at the time reached. It takes effect at the next simulation_settle, together with all others set
 * since. Other columns follow from the equations, and states stay if the equations allow it. false: the signal is not a
 * column. */
bool simulation_reset(Simulation *simulation, const Signal *signal, double value);

/* Like simulation_reset, for all states, with their values in y. */
void simulation_reset_states(Simulation *simulation, const double *y);

/* Like simulation_reset, for an input that the caller sets. false: the variable is not such an input. */
bool simulation_give(Simulation *simulation, uint32_t variable, double value);

/* Exchanges the discrete leaves of the array with which the run began for their values at that time; a second call restores
 * them. Used by reports about the beginning of the run. */
void simulation_exchange_leaves(Simulation *simulation);

/* Treats the values set since the last event as an event at the time reached. false: an error is in diags. */
bool simulation_settle(Simulation *simulation);

/* Saves the whole state of a stepped run in the heap, which must not outlive the run's, and restores it. Saving restarts the run at
 * this point, so it continues with the same numbers, bit for bit, as every run that is restored there. NULL, false: an error is in
 * diags. */
typedef struct SimulationState SimulationState;
SimulationState *simulation_save(Simulation *simulation, Heap *heap);
bool simulation_restore(Simulation *simulation, const SimulationState *state);

/* Makes another run at the state just saved of a stepped run; they share only the plan. false: an error is in diags. */
bool simulation_clone(Simulation *simulation, Heap *heap, const Simulation *from, const SimulationState *state,
                      Diags *diags);

/* Writes the state of a run in progress, called in on_step at this time. Another program makes the same request with a resumption.
 * false: another program could not continue from it. The reason is that other equations are active or have changed since the
 * start, or that something exists only in memory. */
bool simulation_write(Simulation *simulation, double time, Transfer *transfer);

/* Makes a plan and runs it. */
bool pipeline_simulate(Simulation *simulation, Heap *heap, const Model *model, const Request *request, Diags *diags);

/* Seconds of a monotonic clock. */
double pipeline_clock(void);
