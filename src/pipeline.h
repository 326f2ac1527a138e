/* pipeline: from a flat model to a trajectory. A plan is what is derived once for a method: structure, conversions, the
 * derivative array over a graph of its own, programs, the system that the method makes. A simulation is one run of it: values,
 * workspaces, integrator, trajectory.
 *
 * Invariant: the model is never written; a plan is not written once it is made, so that simulations in several threads may
 * share it. A simulation has one owner. */
#pragma once

#include "array/branches.h"
#include "reduce/method.h"
#include "solve/report.h"

/* The event at which a plan takes a run over, in a mode where the equations have another structure. */
typedef struct Handover {
  double time;
  Evaluator *evaluator; /* of the array that the model's columns are taken from, and its discrete values */
  const double *y;
} Handover;

/* What a run is asked to do; names are checked by the caller. */
typedef struct Request {
  const Method *method;
  MethodOptions method_options;
  bool compile;
  bool initialize_only;
  bool keeps_method;                 /* also where structure misleads it and numerical ranks would take over */
  const double *parameter_overrides; /* by leaf index, NAN for none; NULL for none at all */
  StartValues starts;
  double perturbation; /* added to every state at the start, relative to its size or 1; with a state-space form only */
  const SignalFilter *filter; /* NULL: all signals */
  const Handover *handover;   /* NULL: the run begins */
  RunOptions run;
} Request;

/* All that a plan holds lives in `heap`. */
typedef struct Plan {
  Heap *heap;
  Arena arena;
  Diags *diags;
  const Model *model;
  Model *own;          /* the model with a graph of the plan's own */
  Request request;     /* what it was made for */
  double *parameters;  /* by leaf index: the values it was made for */
  struct Plan *common; /* of a method by ranks: what the other methods start with; NULL if they cannot */
  StartValues starts;
  Problem problem;
  Modes modes;
  Branches branches;
  bool *holds; /* which of them the plan was made for; NULL: for all */
  Structure structure;
  bool is_misled; /* structure was wrong about the equations as written, or cannot treat them: ranks may */
  ConversionVec conversions;
  Array array;
  ArrayCode *code; /* NULL: structure failed, and the method goes by ranks */
  const DummyPlan *choice;
  const StatePlan *states;
  const Program *conditions; /* of the branches; NULL without them */
  /* The values that it was made at. The first simulation of a plan that nobody else has takes them over. */
  ArrayRun first;
  Initializer initializer;
  Initial initial;
  double *discretes; /* the modes there */
  Reduction reduction;
  const uint32_t *orders; /* see recorder_new */
  RunPlan run;
  RunFacts facts; /* as far as it got */
} Plan;

/* One run and all that it made; everything lives in `heap`. */
typedef struct Simulation {
  Heap *heap;
  Arena arena;
  Diags *diags;
  const Plan *plan;
  Request request;
  ArrayRun original; /* the model's array */
  Initializer initializer;
  Initial initial;
  ArrayRun system;         /* what is integrated */
  Strangeness strangeness; /* of that method */
  View *view;
  Recorder *recorder;
  RunStatistics statistics;
  VEC(const Plan *) modes; /* plans made for modes that the run was in */
  RunFacts facts;          /* as far as it got */
} Simulation;

/* Makes a plan for the values of the request. Where structure misleads the default method and it fails, here or in a run, the
 * method by ranks takes its place if the equations are regular for it, and a warning says so: plan->request has the method. Where it
 * may not, a note to the error names it, if it would do. false: an error is in diags, and plan->facts says how far
 * it got. */
bool plan_make(Plan *plan, Heap *heap, const Model *model, const Request *request, Diags *diags);

/* Are the conversions or ranks of the plan those of its parameter values? Then a run with others makes a plan of its own. */
bool plan_depends_on_values(const Plan *plan);

/* Runs a plan that others may run too. false: an error is in diags; simulation->facts says how far it got. */
bool simulation_run(Simulation *simulation, Heap *heap, const Plan *plan, const Request *request, Diags *diags);

/* Plans and runs at once. */
bool pipeline_simulate(Simulation *simulation, Heap *heap, const Model *model, const Request *request, Diags *diags);

/* Seconds of a steady clock. */
double pipeline_clock(void);
