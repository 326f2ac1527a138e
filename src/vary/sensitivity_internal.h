/* sensitivity_internal: shared by the files of sensitivities. */
#pragma once

#include "core/constants.h"
#include "integrate/stages.h"
#include "integrate/variation.h"
#include "vary/call_jumps.h"
#include "vary/sensitivity.h"
#include "vary/whole_stages.h"

/* The variation with respect to one target. */
typedef struct Direction {
  double *parameter; /* variation of each parameter of the plan */
  double *now;       /* variations of columns, then of discrete leaves, at the end of the last accepted step */
  double *pre;       /* per discrete leaf: variation of its pre() */
  double *point[RADAU_STAGES_MAX + 1]; /* all columns: `now`, and at the stages of the step */
  double **stage;                      /* points to the stages */
  double contraction;                  /* contraction of a correction, in the last step */
  double *defect;                      /* per column, of states */
  double size;                         /* of the target */
  double peak;                         /* the largest scaled variation of states so far */
  double *at;    /* the result of sensitivity_at; in an event, the variations with the time of the event */
  double *reset; /* per reinit of the plan: the variation of its value */
  double time;   /* the variation of the time of the event */
} Direction;

/* Some entries of the Jacobian. */
typedef struct JacobianEntries {
  int32_t count, *entry, *row, *column;
} JacobianEntries;

struct Sensitivity {
  Heap *heap;
  const SensitivityPlan *plan;
  View *view;
  Diags *diags;
  StartSlopes start_slopes;
  double tolerance; /* of the run */
  double span;      /* its length */
  double goal;      /* tolerance of the iteration, relative */
  /* NULL: variations are followed; otherwise the first direction is a probe, made again at every event, and the others are
   * combinations of the targets that control the steps */
  Adjoint *adjoint;
  uint32_t followed; /* the first direction that is followed over steps */
  uint32_t count;    /* of directions */
  Direction *directions;
  const double **at; /* per direction */
  Variation *variation;
  Workspace *rows, *stage, *event_columns, *event_leaves; /* NULL: nothing to evaluate */
  double *row_values, *column_values, *leaf_values;
  double *g;     /* rows */
  double *roots; /* of events */
  /* the step */
  Stages *own;        /* NULL until it is needed */
  WholeStages *whole; /* likewise */
  StepStages step;
  bool has_step, is_shared;
  const Segment *segment;            /* of the step */
  double *value[RADAU_STAGES_MAX];   /* columns at the stages, if they are interpolated */
  double *entries[RADAU_STAGES_MAX]; /* entries of the Jacobians at the stages */
  double *owed[RADAU_STAGES_MAX];    /* values of the program of rows at the stages */
  JacobianEntries varying;           /* the entries that are not constant */
  double *stage_values;              /* values of the program of a stage */
  bool has_constants;                /* the others are in all of `entries` */
  double *guess[RADAU_STAGES_MAX];   /* [columns] per stage, for the present direction */
  double *residual[RADAU_STAGES_MAX],
      *direct[RADAU_STAGES_MAX]; /* [rows] per stage: residual, and direct dependence of the rows on the parameters */
  double *scale;                 /* [columns] reciprocal scales of the present direction in the step */
  double *error;                 /* [columns] error of the present direction in the step */
  CallJumps *jumps;              /* NULL: no call may jump */
  double longest;                /* the step size that the error of the last step allows */
  bool is_coarse;                /* the last step was longer */
  double *rate, *before;         /* [columns] in an event: time derivatives; values at its beginning, or after reinit */
  /* the step before, from which the next one continues; its h is 0 if there is none */
  double last_t, last_h;
  const RadauCoefficients *last_method;
  bool takes_turns; /* the event is one of several at one time: see turns.h */
  bool failed;
};

/* The direct dependence of the rows in a direction, from values of their program, in g. `now` has the discretes. */
void sensitivity_direct(const Sensitivity *sensitivity, const Direction *direction, const double *values,
                        const double *now, double *g);

/* Linearizes at the point (t, y), whose rows hold. false: an error is in diags. */
bool sensitivity_factor(Sensitivity *sensitivity, double t, const double *y);

/* The variations of all columns from those of the states in direction->at, at the last point. */
void sensitivity_complete(Sensitivity *sensitivity, Direction *direction);

/* Evaluates the derivatives of the roots of events. false: some are undefined. */
bool sensitivity_evaluate_roots(Sensitivity *sensitivity, double t, const double *y);

/* Call this after that at the start. Discrete values then vary with the columns in direction->at, as the equations that gave the
 * values require. true: a value varies differently than before. */
bool sensitivity_settle_start(Sensitivity *sensitivity, Direction *direction);
