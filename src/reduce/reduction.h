/* reduction: what a reduction method starts from and what it makes, as data.
 *
 * Every method chooses rows of the derivative array (or sums of rows of one equation with constant
 * weights), and which columns are tied to the next one by a derivative, y[q]' = y[q + 1]. That is the form;
 * its text is a model of its own (derived.h). What is integrated is the same form, or one that may still
 * move its choice of states while running.
 *
 * Invariant of a form: rows + ties (with or without multipliers) = columns that occur + multipliers.
 */
#ifndef DAEDAL_REDUCE_REDUCTION_H
#define DAEDAL_REDUCE_REDUCTION_H

#include "array/modes.h"
#include "reduce/dummy.h"
#include "reduce/statespace.h"

/* Sum over l of weight[l] times row (equation, l), 0 <= l <= c[equation]. */
typedef struct FormRow {
  uint32_t equation;
  const double *weight;
} FormRow;

/* A multiplier of row (equation, level): it enters the ties of the columns q that this row holds at its own
 * stage, y[q]' = y[q + 1] + d row / d y[q] * multiplier (Gear, Gupta, Leimkuhler 1985). */
typedef struct Multiplier {
  uint32_t equation, level;
} Multiplier;

/* How column q is tied to column q + 1. */
typedef enum Tie {
  TIE_NONE,       /* not at all: column q + 1 is a variable of its own */
  TIE_DERIVATIVE, /* y[q]' = y[q + 1] */
  TIE_MULTIPLIED, /* with multipliers added */
} Tie;

typedef struct Form {
  VEC(FormRow) rows;
  VEC(Multiplier) multipliers;
  uint8_t *tie; /* per column of the array: a Tie */
  bool *fixed;  /* per column: one of the start values that determine the solution */
} Form;

/* What the user may set of single methods; NAN: not given. */
typedef struct MethodOptions {
  double alpha, beta; /* of Baumgarte's stabilization */
} MethodOptions;

/* The system to integrate. */
typedef struct Reduced {
  Array *array;
  Evaluator *evaluator;
  const Structure *structure; /* of the array; NULL: it is integrated as it is, every tie a link */
  Dummy *dummy;               /* NULL where structure is */
  StateSpace *space;
  const Modes *modes;
  const uint8_t *tie;          /* without structure: per column of this array, NULL for all tied */
  const int32_t *column_index; /* without structure: see System */

  /* What the tolerance is multiplied by, 0 standing for 1: velocities of a system left at index 3 converge
   * with about half the order of positions, and the errors of many small steps add up. */
  double accuracy;

  /* Rate (1/time) of what the method itself lets die out, which an explicit solver must resolve; 0:
   * nothing. */
  double rate;

  double *y;        /* initial values */
  uint32_t *source; /* per column of the original array: its column here, MAP_NONE if it has none */
  int8_t *sign;     /* of that column */
} Reduced;

/* Sizes as the papers count them. */
typedef struct ReductionCounts {
  uint32_t first_order;                     /* equations as a first-order system */
  uint32_t dummy_first_order;               /* the same with dummy derivatives */
  uint32_t new_variables;                   /* beyond those of the model as a first-order system */
  uint32_t differential, algebraic, solved; /* equations: differential, to be solved together, explicit */
  uint32_t left_out;                        /* superfluous differentiations that the system does without */
} ReductionCounts;

typedef struct Reduction {
  Heap *heap;
  Arena *arena;
  Diags *diags;
  /* given: the array with everything at the consistent initial point */
  Array *array;
  const Structure *structure;
  Evaluator *evaluator;
  const Modes *modes;
  Dummy *dummy;
  StateSpace *space;
  double time, duration, tolerance;
  const double *y;
  MethodOptions options;
  /* made */
  Form form;
  Reduced reduced;
  ReductionCounts counts;
  const char *remark; /* one line about the choice made; NULL for none */
} Reduction;

/* An empty form for the array. */
void form_begin(Reduction *reduction);

/* Adds row (equation, level). */
void form_add(Reduction *reduction, uint32_t equation, int32_t level);

/* All rows; columns tied as the dummies chosen at the initial point say. */
void form_take_dummies(Reduction *reduction);

/* Leaves out of that form the superfluous differentiations; the derivatives that they determine become
 * derivatives of the dummies before them. Counts them. */
void form_leave_out(Reduction *reduction);

/* Only the rows of the highest level; every column tied to the next. */
void form_take_top(Reduction *reduction);

/* The rows of all levels, but for equations that are differentiated the last `without`; a multiplier for
 * each level below the last one taken, so that the form is square. */
void form_take_levels(Reduction *reduction, int32_t without);

/* A row of a form as one expression over the array's columns. */
Expr form_residual(Reduction *reduction, const FormRow *row);

/* The system is the array itself. */
void reduction_keep(Reduction *reduction);

/* The system is that of other equations over the same unknowns (one residual per equation of the problem),
 * with dummy derivatives where it still needs them. false: those equations are structurally singular. */
bool reduction_replace(Reduction *reduction, const Expr *residual);

/* The system is the array for smaller offsets c, integrated as it is. tie: per column of the original
 * array, so that what is left has index 1; NULL: all columns are tied, and the index is what it is. */
void reduction_shrink(Reduction *reduction, const int32_t *c, const uint8_t *tie);

/* Number of equations when written with first derivatives only. */
uint32_t form_first_order(const Reduction *reduction, const Form *form);

/* The largest number of differentiations. */
int32_t reduction_depth(const Reduction *reduction);

#endif
