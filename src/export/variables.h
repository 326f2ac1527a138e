/* variables: the variables of an exported model, in the order in which its runs know them: the signals of a result, and
 * behind them the states of model exchange. */
#pragma once

#include "export/source.h"

/* Where the value is. The runtime has the same list (VariableKind of solver.h). */
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
  EXPORT_PARAMETER_SET, /* a parameter that may be set before the start */
  EXPORT_PARAMETER_CALCULATED,
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
  bool has_start;                  /* its start value can be set */
  bool is_fixed;                   /* and is kept; else it is a guess */
  double start, min, max, nominal; /* NAN where not given */
  uint32_t derivative;             /* variable of which it is the derivative; MAP_NONE */
} ExportVariable;

typedef struct ExportVariables {
  VEC(ExportVariable) list;
  ExprVec constants;    /* of EXPORT_CONSTANT */
  uint32_t first_state; /* the states; their derivatives follow */
  uint32_t state_count;
  uint32_t indicator_count;
  IndexVec settable; /* parameter leaves */
  IndexVec
      dependents; /* parameter leaves bound to those, or to what initialization finds; what they need before them */
} ExportVariables;

/* Is the time at which a condition changes known in advance? So it is where its difference is linear in time; others are looked for. */
bool export_is_timed(const ExportSource *source, uint32_t mode);

/* The unknowns in the order in which their states are listed: those of blocks without a choice of states, then block by block. */
const uint32_t *export_state_order(Arena *arena, const ExportSource *source);

/* The variables; in the heap. */
ExportVariables export_variables(Heap *heap, Arena *arena, const ExportSource *source);
