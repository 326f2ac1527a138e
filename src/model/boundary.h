/* boundary: what becomes of final equations, which hold at the end of a run (docs/boundary.md).
 *
 * A boundary value problem is solved in two forms of its model. In the first, its conditions are variables and time is
 * scaled: a run from 0 to 1 is the whole stretch, or all of its segments side by side (multiple shooting: Bock and Plitt
 * 1984), each a copy of the model. In the second, the model is as written, with what was sought as known values.
 *
 * Invariant: parameters with fixed = false are what is sought, beside start values. In both forms they are plain ones. */
#pragma once

#include "model/model.h"

typedef enum BoundaryForm {
  BOUNDARY_WRITTEN, /* final equations are kept as they are */
  BOUNDARY_CONDITIONS, /* each final equation has a variable, boundary.N: left minus right side; so has what joins segments */
  BOUNDARY_KNOWN, /* what is sought is known */
} BoundaryForm;

/* What was found where a segment begins: the variable has the value from this time on. */
typedef struct BoundaryNode {
  const char *name;
  double time, value;
} BoundaryNode;

typedef struct BoundaryOptions {
  const char *text; /* "x = 1; y = 2": final equations beside those of the model; NULL: none */
  BoundaryForm form;
  uint32_t segments;        /* 1 or more */
  double start, stop;       /* of the run; the stop time holds where no final equation gives one */
  const char *const *fixed; /* variables that hold their start values, by name */
  uint32_t fixed_count;
  const BoundaryNode *nodes; /* of the form in which all is known: by time */
  uint32_t node_count;
} BoundaryOptions;

/* The names of the variables of conditions begin so. */
extern const char boundary_prefix[];

/* The end of the run by `time = e`, an expression over parameters; EXPR_NONE if no final equation gives it. */
Expr boundary_final_time(const Model *model);

/* Is the parameter at this position sought? */
bool boundary_is_sought(const Variable *variable);

/* Brings a model, whose equations are complete, into the form. Errors are in diags. Linear in the size of the model
 * times the number of segments. */
void boundary_open(Model *model, const BoundaryOptions *options, Diags *diags);
