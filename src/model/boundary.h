/* boundary: final equations, which hold at the end of a run (docs/boundary.md).
 *
 * A boundary value problem is solved in two forms of its model. In the first, its conditions are variables and time is scaled: a
 * run from 0 to 1 is the whole interval, or all of its segments side by side (multiple shooting: Bock and Plitt 1984), each a copy
 * of the model. In the second, the model is as written, with the unknowns as known values.
 *
 * Invariant: parameters with fixed = false, and times at which arcs begin, are the unknowns, besides start values. In both forms
 * they are plain parameters. */
#pragma once

#include "model/model.h"

typedef enum BoundaryForm {
  BOUNDARY_WRITTEN, /* final equations are kept unchanged */
  BOUNDARY_CONDITIONS, /* each final equation has a variable, boundary.N: left minus right side; so has what joins segments */
  BOUNDARY_KNOWN, /* what is sought is known */
} BoundaryForm;

/* What was found where a segment begins: the variable has the value from this time on. */
typedef struct BoundaryNode {
  const char *name;
  double time, value;
} BoundaryNode;

/* What determines a control that occurs linearly, on a stretch of the run. */
typedef enum ArcKind { ARC_MIN, ARC_MAX, ARC_SINGULAR } ArcKind;

/* The run as a sequence of arcs, each a segment whose beginning is sought. On a singular arc the switching function is zero: of
 * the equations there, which have a higher index, the control follows by differentiation. */
typedef struct BoundaryArcs {
  uint32_t count, controls; /* count 0: controls are switched by the signs of their functions */
  const double *begin;      /* per arc: the time, as a guess; the first is the start of the run */
  const ArcKind *kind;      /* per arc and switched control */
} BoundaryArcs;

/* Variables for those who judge a solution; the last is for initial values only, near all start values. */
typedef enum Examined { EXAMINED_NOTHING, EXAMINED_LEVELS, EXAMINED_RATES } Examined;

typedef struct BoundaryOptions {
  const char *text; /* "x = 1; y = 2": final equations in addition to those of the model; NULL: none */
  BoundaryForm form;
  uint32_t segments;        /* 1 or more */
  double start, stop;       /* of the run; the stop time holds where no final equation gives one */
  const char *const *fixed; /* variables that hold their start values, by name */
  uint32_t fixed_count;
  const BoundaryNode *nodes; /* of the form in which everything is known as a function of time */
  uint32_t node_count;
  double smoothing; /* > 0: switched controls go smoothly from one bound to the other, the less the sharper */
  double held_end;  /* > 0: the run ends at this time, and no better one is sought */
  BoundaryArcs arcs;
  Examined examined;
  uint32_t examined_derivative; /* of switching functions */
  const double
      *starts; /* guesses per segment and unknown of the model as written, NAN for none; NULL: those of the model */
  uint32_t start_count; /* unknowns in it */
} BoundaryOptions;

/* The names of the variables of conditions begin so. */
extern const char boundary_prefix[];

/* The names of constants that are the start values of a segment begin so. */
extern const char boundary_start_prefix[];

/* The name of what is examined of a control: its level, -1 to 1 from bound to bound, and a derivative of its switching
 * function. Lives in the arena. */
const char *boundary_level_name(const Model *model, uint32_t control, Arena *arena);
const char *boundary_rate_name(const Model *model, uint32_t control, Arena *arena);

/* The parameter that is the time at which this arc begins, 1 or greater. Lives in the arena. */
const char *boundary_switch_name(uint32_t arc, Arena *arena);

/* The end of the run by `time = e`, an expression over parameters; EXPR_NONE if no final equation gives it. */
Expr boundary_final_time(const Model *model);

/* Brings a model, whose equations are complete, into the form. Errors are in diags. Linear in the size of the model
 * times the number of segments. */
void boundary_open(Model *model, const BoundaryOptions *options, Diags *diags);
