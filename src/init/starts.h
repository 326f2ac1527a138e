/* starts: from start values to columns of the array, through aliases. */
#pragma once

#include "init/system.h"

#include <math.h>

/* How the initial value of a column was found. */
typedef enum Origin {
  ORIGIN_COMPUTED, /* no start value was given */
  ORIGIN_FIXED,    /* fixed = true */
  ORIGIN_KEPT,     /* the start value given is consistent */
  ORIGIN_MOVED,    /* the start value given was only a guess */
} Origin;

typedef struct InitialColumn {
  uint8_t origin; /* an Origin */
  bool given;     /* a start value was given by the model or the user */
  bool fixed;
  bool low;       /* below the highest derivative, or preferred as a state: the start value can be kept */
  bool redundant; /* fixed, but the equations and the other fixed values determine it */
  int8_t sign;    /* the column is this times the variable that gave it */
  double start;   /* the start value, or the default */
  double min, max;
  uint32_t named; /* variable of the model that gave it (possibly an alias); MAP_NONE if none did */
  uint32_t row;   /* row of the initial system that determines it; MAP_NONE if none does */
} InitialColumn;

/* A column about which nothing is known. */
static inline InitialColumn initial_column(void) {
  return (InitialColumn){.min = -HUGE_VAL, .max = HUGE_VAL, .named = MAP_NONE, .sign = 1, .row = MAP_NONE};
}

/* The amount by which a value is below min or above max; 0 within round-off. */
double column_excess(const InitialColumn *column, double value);

/* Start values that replace the model's own. NULL and NAN: none. After an event `hold` marks the states, which keep their left
 * limits. It replaces the fixed values of the model; initial equations and free parameters are left out. */
typedef struct StartValues {
  const double *start;  /* per variable of the model */
  const double *column; /* per column of the evaluator's array: guesses, or left limits at an event */
  const bool *hold;     /* with `column`: the columns that are fixed; NULL: those that the model fixes */
} StartValues;

/* Fills given, fixed, low, start, min, max and named of the columns of the evaluator's array. Several fixed values of
 * one alias class that differ by more than the tolerance are an error. */
bool starts_collect(Evaluator *evaluator, const StartValues *starts, double tolerance, InitialColumn *columns,
                    Diags *diags);

/* Are there start values over parameters that initialization determines? They depend on guesses of these parameters, so a second
 * solution is computed from the values found. */
bool starts_may_move(const Model *model);

/* The start values of all unknowns with the current parameters; NAN if there is none. */
void starts_list(Evaluator *evaluator, double *start);

/* Have they changed? */
bool starts_have_moved(Evaluator *evaluator, const double *start);
