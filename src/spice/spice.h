/* spice: the entry point for netlists: text in, flat model out. */
#pragma once

#include "lang/lang.h"
#include "spice/card.h"

typedef struct SpiceOptions {
  bool charges;     /* charges and fluxes are separate variables (charge oriented modified nodal analysis) */
  FileReader files; /* that it includes */
  const ModificationVec *values; /* values that replace those of parameters; NULL: none */
} SpiceOptions;

/* Elements that form a loop of capacitors and voltage sources, or a cutset of inductors and current sources. */
typedef struct TopologyGroup {
  VEC(Name) elements;
  VEC(int8_t) signs; /* signs of the elements in it */
  VEC(Name) nodes;   /* for a cutset: the nodes on its inner side */
} TopologyGroup;
typedef VEC(TopologyGroup) TopologyGroupVec;

/* The conclusions about the index from the graph of the circuit (Estevez Schwarz, Tischendorf 2000; Theorem 6 of
 * Kunkel, Mehrmann 2003). */
typedef struct Topology {
  uint32_t index;                   /* 0, 1 or 2 */
  bool is_certain;                  /* there is no controlled source, whose effect the graph does not show */
  bool has_charges;                 /* charges and fluxes are separate variables */
  double gmin;                      /* conductance across every junction; 0 if there is none */
  VEC(Name) nodes, voltage_sources; /* rows of the projectors */
  TopologyGroupVec cutsets;         /* each is a column of Q_CRV */
  TopologyGroupVec loops;           /* each is a column of Q_V-C */
} Topology;

/* The analysis that a netlist requests. */
typedef enum AnalysisKind { ANALYSIS_NONE, ANALYSIS_TRANSIENT, ANALYSIS_OPERATING_POINT, ANALYSIS_SWEEP } AnalysisKind;

/* The source that .dc sweeps: time is how far it has advanced. */
typedef struct SweepScale {
  double start, step; /* step with its sign */
  double period;      /* the time after which it begins again; 0: never */
  bool moves_current;
} SweepScale;

/* A variable that is the difference of two others. */
typedef struct Difference {
  uint32_t variable, plus, minus;
} Difference;

/* A circuit as a model. */
typedef struct SpiceModel {
  Model *model;
  /* The operating point from which the run starts: its variables and parameters are the first ones of the model. NULL: the model
   * has its start values, or is an operating point itself. */
  Model *operating_point;
  /* the same with the nodes of .nodeset held: its solution is the guess for the operating point. NULL: there are none */
  Model *held_point;
  VEC(Difference) differences; /* variables of the model that the operating point does not have */
  Topology *topology;
  bool rings; /* it has inductors and capacitors */
  AnalysisKind analysis;
  SweepScale sweep;
  const char *missing;           /* a requested analysis that daedal does not have: .ac; NULL: none */
  Span missing_span;             /* of its card */
  double output_start, max_step; /* output start and longest step of .tran; 0: not given */
} SpiceModel;

/* Does the name of a file have an ending for netlists? */
bool spice_is_netlist(const char *path);

/* A copy in the arena in lower case, as all names of netlists are. */
char *spice_lower(Arena *arena, const char *text);

/* "50k", "-1.5meg", "10pF": is the whole text a number as netlists write it? */
bool spice_number(Arena *arena, const char *text, double *value);

/* The value of the source at this time. */
double spice_sweep_at(const SweepScale *sweep, double time);

/* Reads a netlist. false: an error is in diags. All lives in `heap`; `source` must outlive it. O(length of the text and
 * size of the result). */
bool spice_load(SpiceModel *made, Heap *heap, Names *names, Source *source, const SpiceOptions *options, Diags *diags);
