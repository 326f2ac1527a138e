/* analysis: the structure of a model, as the user sees it: index, hidden constraints, degrees of freedom and possible initial
 * values. For a wrong model: the equations and variables at fault. All figures refer to the model as written. */
#pragma once

#include "array/convert.h"
#include "spice/spice.h"
#include "structure/initial.h"

/* A differentiated equation that every solution satisfies, with derivatives replaced if an equation gives them. */
typedef struct HiddenConstraint {
  uint32_t equation, level; /* equation of the model; how often it is differentiated */
  const char *text;
} HiddenConstraint;

typedef struct Analysis {
  Problem problem; /* as written */
  Structure structure;
  Array array;      /* when the structure is ok */
  uint32_t aliases; /* equations that alias elimination removes for a simulation */
  bool can_reset;   /* every reinit sets a variable that may be a state; if the structure is ok */
  VEC(HiddenConstraint) hidden;
  IndexVec fixed;              /* variables of the model with fixed start values */
  IndexVec redundant;          /* the fixed variables that the equations already determine */
  VEC(const char *) suggested; /* columns that complete the fixed ones to a legal set */
  uint32_t initial_equations;
  /* The numerical check: is the Jacobian as regular as its structure? Only if all parameters have values. */
  bool checked, regular;
  bool curable; /* regular, or regular after the conversions: a run may begin, even if the structure is not ok */
  /* regular after equations that follow from the others were replaced: the structure does not show which variables may
   * get initial values */
  bool released;
  SingularVec singular;      /* blocks of the structure that are not regular everywhere */
  ConversionVec conversions; /* rewritings that a simulation makes */
  int64_t true_dof;          /* degrees of freedom of the rewritten equations, or of the structure if it is regular */
  int32_t true_index;
  const Topology *topology;                /* for a circuit, otherwise NULL; set by the caller */
  double seconds_parse, seconds_structure; /* for the report; set by the caller */
} Analysis;

/* Replaces equations that follow from the others on the solutions, in a singular problem (reduce/redundancy.h). false: there are
 * none; then its messages mean nothing. */
typedef bool AnalysisRelease(Problem *problem, Structure *structure, const double *parameters,
                             ConversionVec *conversions, Arena *arena, Diags *diags);

/* Runs the analysis; errors and warnings go to diags, texts live in the arena. `structure.status` says how it ended.
 * About linear in the size of the model. */
Analysis *analysis_run(Model *model, AnalysisRelease *release, Arena *arena, Diags *diags);

/* Per block of a structure that is ok: is it linear in its highest derivatives? Owned by the arena. O(size of the model). */
bool *analysis_linear(const Analysis *analysis, Arena *arena);
