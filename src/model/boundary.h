/* boundary: final equations, which hold at the end of a run (docs/boundary.md).
 *
 * A boundary value problem is solved in two forms of its model. In the first, its conditions are variables and time is scaled. A
 * run from 0 to 1 is the whole interval, or all of its segments side by side, each a copy of the model (multiple shooting: Bock and
 * Plitt 1984). In the second, the model is as written, and the unknowns have the values found.
 *
 * Invariant: parameters with fixed = false, and times at which arcs begin, are unknowns, in addition to start values. In both forms
 * they are plain parameters. */
#pragma once

#include "model/model.h"

typedef enum BoundaryForm {
  BOUNDARY_WRITTEN, /* final equations are kept unchanged */
  BOUNDARY_CONDITIONS, /* each final equation and each condition that joins segments has a variable, boundary.N: left minus right
                        * side */
  BOUNDARY_KNOWN, /* the unknowns have known values */
} BoundaryForm;

/* A value found at the beginning of a segment: the variable has it from this time on. */
typedef struct BoundaryNode {
  const char *name;
  double time, value;
} BoundaryNode;

/* The equation that determines a control that occurs linearly, during an arc. */
typedef enum ArcKind { ARC_MIN, ARC_MAX, ARC_SINGULAR } ArcKind;

/* The run as a sequence of arcs, each a segment whose beginning is sought. On a singular arc the switching function is zero. The
 * equations there have a higher index; differentiating them determines the control. */
typedef struct BoundaryArcs {
  uint32_t count, controls; /* count 0: controls are switched by the signs of their functions */
  const double *begin;      /* per arc: the time, as a guess; the first is the start of the run */
  const ArcKind *kind;      /* per arc and switched control */
} BoundaryArcs;

/* Additional variables for judging a solution. EXAMINED_RATES is only for initialization, where all start values are guesses. */
typedef enum Examined { EXAMINED_NOTHING, EXAMINED_LEVELS, EXAMINED_RATES } Examined;

typedef struct BoundaryOptions {
  const char *text; /* "x = 1; y = 2": final equations in addition to those of the model; NULL: none */
  BoundaryForm form;
  uint32_t segments;        /* 1 or more */
  double start, stop;       /* times of the run; the stop time applies if no final equation gives one */
  const char *const *fixed; /* variables that hold their start values, by name */
  uint32_t fixed_count;
  const BoundaryNode *nodes; /* for BOUNDARY_KNOWN */
  uint32_t node_count;
  double smoothing; /* > 0: switched controls go smoothly between bounds; smaller is steeper */
  double held_end;  /* > 0: the run ends at this time; the final time is not optimized */
  BoundaryArcs arcs;
  Examined examined;
  uint32_t examined_derivative; /* of switching functions */
  const double *starts;         /* guesses per segment and written unknown; NAN: none; NULL: the model's own */
  uint32_t start_count;         /* unknowns in it */
} BoundaryOptions;

/* Prefix of the variables that stand for conditions. */
extern const char boundary_prefix[];

/* Prefix of the constants that are start values of a segment. */
extern const char boundary_start_prefix[];

/* Names of the additional variables of a control: its level, from -1 at one bound to 1 at the other, and a derivative of its
 * switching function. Lives in the arena. */
const char *boundary_level_name(const Model *model, uint32_t control, Arena *arena);
const char *boundary_rate_name(const Model *model, uint32_t control, Arena *arena);

/* Name of the parameter that is the time at which arc number `arc`, 1 or greater, begins. Lives in the arena. */
const char *boundary_switch_name(uint32_t arc, Arena *arena);

/* The final time e given by a final equation `time = e`, an expression over parameters; EXPR_NONE if no final equation gives it. */
Expr boundary_final_time(const Model *model);

/* Brings a model with complete equations into the requested form. Errors are in diags. Linear in the size of the model times the
 * number of segments. */
void boundary_open(Model *model, const BoundaryOptions *options, Diags *diags);
