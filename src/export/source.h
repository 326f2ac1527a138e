/* source: the source of an export: a plan with dummy derivatives at the consistent initial values of one run. If the structure
 * of the equations changes at events, there are several: one for the start, and one for each mode that a run has visited. */
#pragma once

#include "array/branches.h"
#include "code/decisions.h"
#include "init/initial.h"
#include "result/record.h"
#include "spice/spice.h"

/* The operating point from which a circuit starts, as a separate model with values. Its variables are the first variables of the
 * model. */
typedef struct ExportPoint {
  Evaluator *evaluator; /* NULL: it was not found */
  const double *y;
  const Difference *differences; /* variables that it does not have */
  uint32_t count;
} ExportPoint;

typedef struct ExportSource {
  const char *name;          /* of the model */
  uint32_t number;           /* number of the system, from 0 on */
  uint32_t systems;          /* number of systems */
  uint32_t states;           /* states of the largest system */
  bool chooses;              /* a system chooses its states during the run */
  const bool *holds;         /* branches for which the system is made; NULL: all */
  const Program *conditions; /* of the branches */
  Evaluator *evaluator;
  const Structure *structure;
  const DummyBlocks *choice;
  const StatePlan *plan;
  const Dummy *dummy;         /* chosen at y */
  const Decisions *decisions; /* NULL: only modes change at events */
  const Initial *initial;
  const ExportPoint *point; /* NULL: it starts from its own start values */
  const Branches *branches; /* of its equations */
  const IndexVec *read;     /* leaf indices of parameters whose values decided the form of the equations */
  const char *obstacle;     /* why initial values cannot be found for other parameters; NULL: they can */
  const StepsTrace
      *trace; /* units of the initial system, if start values are adjusted; NULL: each row determines one column */
  const Recorder *recorder;
  const double *y;
  double start, stop, tolerance, interval, max_step;
  const char *integrator; /* by name */
} ExportSource;

/* Does the structure of the equations change with their conditions? */
bool export_changes_structure(const ExportSource *source);

/* Numbers the different conditions of branches; returns how many there are. */
uint32_t export_number_conditions(const Branches *branches, uint32_t *number);

/* May the solution slide along edges? */
bool export_may_slide(const ExportSource *source);

/* May one of the systems, of which this is the first, have large sparse matrices? */
bool export_has_large(const ExportSource *systems);

/* Does the system have corners at which a solution may fold, and can that be passed? Is one of them a kink, so that the branch of the
 * solution is watched? */
bool export_may_fold(const ExportSource *source);
bool export_watches_branch(const ExportSource *source);

/* Does the system choose its states? */
bool export_chooses_states(const ExportSource *source);

/* Do both systems have the same unknowns, discrete values and conditions? The systems of one model's modes have the same. */
bool export_same_leaves(const ExportSource *a, const ExportSource *b);

/* Can all of it be written? false: an error in diags names the part that cannot. */
bool export_possible(const ExportSource *source, Diags *diags);

/* The value of a variable of the model at the operating point, over the leaves of the point; EXPR_NONE: it has none. */
Expr export_point_value(const ExportPoint *point, uint32_t variable);

/* The facts about the initial value of a column of the array. */
const InitialColumn *export_initial_column(const ExportSource *source, uint32_t column);

/* Chooses how an exported program finds its initial values for other parameters and start values. If all start values were kept, it
 * uses the rows of the state-space form or of the initial system. Otherwise it moves by continuation to the nearest consistent
 * values. Sets trace and obstacle; in the heap. */
void export_find_restart(Heap *heap, ExportSource *source);

/* Can initial values be found again? */
bool export_restarts(const ExportSource *source);
