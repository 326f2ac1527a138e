/* source: what is exported: a plan with dummy derivatives at the consistent initial values of one run. Where the structure of the equations
 * changes at events, there are several: one for the start, and one for each mode that a run has met. */
#pragma once

#include "array/branches.h"
#include "code/decisions.h"
#include "init/initial.h"
#include "result/record.h"

typedef struct ExportSource {
  const char *name;          /* of the model */
  uint32_t number;           /* of the system, from 0 on */
  uint32_t systems;          /* how many there are */
  uint32_t states;           /* of the largest system */
  bool chooses;              /* a system chooses its states while running */
  const bool *holds;         /* branches that the system is for; NULL: all */
  const Program *conditions; /* of the branches */
  Evaluator *evaluator;
  const Structure *structure;
  const DummyPlan *choice;
  const StatePlan *plan;
  const Dummy *dummy;         /* chosen at y */
  const Decisions *decisions; /* NULL: nothing but modes changes at events */
  const Initial *initial;
  const Branches *branches; /* of its equations */
  bool is_fixed;            /* the plan holds for these values of parameters alone */
  const Recorder *recorder;
  const double *y;
  double start, stop, tolerance, interval, max_step;
} ExportSource;

/* Does the structure of the equations change with their conditions? */
bool export_changes_structure(const ExportSource *source);

/* Numbers the different conditions of branches; how many there are. */
uint32_t export_number_conditions(const Branches *branches, uint32_t *number);

/* Does the system choose its states? */
bool export_chooses_states(const ExportSource *source);

/* Have both systems the same unknowns, discrete values and conditions? So it is for modes of a model. */
bool export_same_leaves(const ExportSource *a, const ExportSource *b);

/* Can all of it be written? false: an error that names what cannot is in diags. */
bool export_possible(const ExportSource *source, Diags *diags);

/* How many equations are solved together at most. */
uint32_t export_largest_block(const ExportSource *source);

/* What is known of the initial value of a column of the array. */
const InitialColumn *export_initial_column(const ExportSource *source, uint32_t column);

/* Can initial values be found again for other parameters and start values? So it is where start values were kept, and the rows of the
 * state-space form or of the initial system determine the rest. */
bool export_restarts(const ExportSource *source);
