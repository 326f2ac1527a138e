/* variables: the variables of an exported model, in the order in which its runs know them: the signals of a result, then the states
 * of model exchange. */
#pragma once

#include "export/source.h"

/* The place of a variable's value. The runtime has the same list (VariableKind of solver.h). */
typedef enum ExportKind {
  EXPORT_COLUMN,
  EXPORT_PARAMETER,
  EXPORT_DISCRETE,
  EXPORT_CONSTANT, /* an expression over parameters */
  EXPORT_STATE,
  EXPORT_RATE,
  EXPORT_INDICATOR, /* how far a condition, or the choice of states, is from changing */
  EXPORT_TIME,
} ExportKind;

typedef enum ExportCausality {
  EXPORT_PARAMETER_SET,        /* a parameter that is not bound to others, and that may be set */
  EXPORT_PARAMETER_CALCULATED, /* a parameter that is bound to others, or cannot be set */
  EXPORT_INPUT,
  EXPORT_OUTPUT,
  EXPORT_LOCAL,
  EXPORT_INDEPENDENT,
} ExportCausality;

typedef struct ExportVariable {
  const char *name, *unit, *display_unit, *description;
  ExportKind kind;
  uint32_t index;
  int8_t sign;
  ExportCausality causality;
  BaseType type;
  uint32_t enumeration; /* of the model */
  bool is_discrete;     /* changes at events only */
  bool is_constant;
  bool is_state, is_rate; /* in model exchange: the variable is a state; the variable is the derivative of a state */
  bool is_settable; /* may be set before the start; a calculated parameter that is set no longer follows its binding */
  bool is_tunable;  /* it may also be set after the start */
  bool is_varied;   /* it depends on parameters that may be set after the start */
  const char *reason;              /* why a parameter that can be overridden in a run cannot be set; or NULL */
  bool has_start;                  /* its start value can be set */
  bool is_fixed;                   /* a start value that is set is kept; otherwise it is a guess */
  double start, min, max, nominal; /* NAN if not given */
  uint32_t derivative;             /* the variable whose derivative this one is; MAP_NONE */
} ExportVariable;

typedef struct ExportVariables {
  VEC(ExportVariable) list;
  ExprVec constants; /* of EXPORT_CONSTANT */
  IndexVec states;   /* variables of the list, in the order of the states; */
  IndexVec rates;    /* their derivatives */
  uint32_t indicator_count;
  IndexVec settable; /* parameter leaves */
  /* the parameters that are bound to varying ones, or to values that initialization computes; each comes after the parameters
   * that it needs */
  IndexVec dependents;
} ExportVariables;

/* The unknowns in the order in which their states are listed: those of blocks without a choice of states, then block by block. */
const uint32_t *export_state_order(Arena *arena, const ExportSource *source);

/* Warns about parameters that can be overridden in a run but not set in the export, grouped by reason. */
void export_report_fixed(const ExportVariables *variables, const ExportSource *source, Diags *diags);

/* The variables; in the heap. */
ExportVariables export_variables(Heap *heap, Arena *arena, const ExportSource *source);
