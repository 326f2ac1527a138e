/* sensitivity_plan: the part of sensitivities that does not depend on values: which parameters and discrete variables
 * vary with the requested ones, and programs for the direct dependence of rows and events on them. */
#pragma once

#include "code/evaluator.h"
#include "init/differentiate.h"

/* A parameter or start value with respect to which solutions are differentiated. */
typedef struct SensitivityTarget {
  const char *name;   /* as in the names of signals: "L", "x.start" */
  uint32_t parameter; /* leaf; MAP_NONE: a start value */
  uint32_t variable;  /* position of the variable whose start value it is */
} SensitivityTarget;

/* Derivatives of start values that replace the model's own. */
typedef struct StartSlopes {
  const double *const *by; /* per target and variable; NAN: the model's own start value; NULL: all are NAN */
  uint32_t variables;
} StartSlopes;

typedef struct SensitivityPlan {
  const ArrayCode *code;
  const SensitivityTarget *target;
  uint32_t targets;
  IndexVec parameters; /* leaves that may vary */
  IndexVec discretes;  /* discrete leaves that hold Reals */
  LeafJacobian
      *rows; /* derivatives of the rows with respect to the parameters, the discretes, pre() of them, and time */
  /* First the entries of the Jacobian that are not constant, in the order of the Jacobian, then the entries of `rows`. NULL:
   * there are no such entries. */
  Program *stage;
  const StartCode *start;
  /* Roots of events. The differences of all modes come first. These follow: steps of the logic that give Reals, pre() of
   * continuous variables, values that reinit sets, and values that initial equations give to pre() of Reals. */
  IndexVec steps, resets, initials; /* positions in the logic */
  uint32_t first_step, first_left, first_reset, first_initial, roots;
  Jacobian *columns;    /* derivatives of the roots with respect to columns; NULL without roots */
  LeafJacobian *leaves; /* derivatives of the roots with respect to the same leaves */
  /* Calls in the equations whose values may move, and may jump: see call_jumps.h. */
  ExprVec calls;
  Program *call_values; /* NULL: there are none */
} SensitivityPlan;

/* For the equations of the code; `evaluator` has the values of the plan, which show the overridden parameters. The targets must
 * outlive it. NULL: diags names the part that cannot be differentiated. Lives in the heap of the code. */
const SensitivityPlan *sensitivity_plan(ArrayCode *code, Evaluator *evaluator, const Structure *structure,
                                        const SensitivityTarget *targets, uint32_t count, Diags *diags);
