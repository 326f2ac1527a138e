/* pipeline: the passes from a flat model to a trajectory, in order. */
#ifndef DAEDAL_PIPELINE_H
#define DAEDAL_PIPELINE_H

#include "code/switches.h"
#include "reduce/method.h"
#include "solve/report.h"

/* What a run is asked to do; names are checked by the caller. */
typedef struct Request {
  const Method *method;
  MethodOptions method_options;
  bool compile;
  bool initialize_only;
  const double *parameter_overrides; /* by leaf index, NAN for none; NULL for none at all */
  StartValues starts;
  double perturbation; /* added to every state at the start, relative to its size or 1; with a state-space form only */
  const SignalFilter *filter; /* NULL: all signals */
  RunOptions run;
} Request;

/* A run and all that it made; everything lives in `heap`. */
typedef struct Simulation {
  Heap *heap;
  Model *model;
  Diags *diags;
  Arena arena;
  Problem problem;
  Modes modes;
  Structure structure;
  double *parameters; /* by leaf index */
  ConversionVec conversions;
  StartValues starts;
  Array array;
  Evaluator *evaluator;
  Switches *switches; /* NULL without modes */
  Dummy *dummy;
  StateSpace *space;
  Initializer initializer;
  Initial initial;
  Reduction reduction;
  Strangeness strangeness; /* of that method, which goes its own way */
  View *view;
  Recorder *recorder;
  RunStatistics statistics;
  RunFacts facts; /* as far as it got */
} Simulation;

/* Runs the passes. false: an error is in diags; simulation->facts says how far it got. */
bool pipeline_simulate(Simulation *simulation, const Request *request);

/* Seconds of a steady clock. */
double pipeline_clock(void);

#endif
