/* reduction: the input and the result of a reduction method, as data.
 *
 * Every method chooses rows of the derivative array, or sums of rows of one equation with constant weights. It also chooses the
 * columns that a derivative ties to the next column, y[q]' = y[q + 1]. Rows and ties together are the form of a method. It can be
 * printed as a model (derived.h). The system that is integrated has the same form, or one that may still change its choice of
 * states during the run.
 *
 * Invariant of a form: rows + ties (with or without multipliers) = columns that occur + multipliers. */
#pragma once

#include "array/modes.h"
#include "reduce/dummies.h"
#include "reduce/state_plan.h"

/* The sum over l of weight[l] times row (equation, l), 0 <= l <= c[equation]; or the result of substituting other equations in
 * it. */
typedef struct FormRow {
  uint32_t equation;
  const double *weight;
  Expr residual; /* EXPR_NONE: the sum */
} FormRow;

/* A multiplier of the row (equation, level). For each column q that this row contains at its own stage, the equation between
 * y[q] and its derivative becomes y[q]' = y[q + 1] + d row / d y[q] * multiplier (Gear, Gupta, Leimkuhler 1985). */
typedef struct Multiplier {
  uint32_t equation, level;
} Multiplier;

/* How column q is tied to column q + 1. */
typedef enum Tie {
  TIE_NONE,       /* not tied: column q + 1 is a separate variable */
  TIE_DERIVATIVE, /* y[q]' = y[q + 1] */
  TIE_MULTIPLIED, /* with multipliers added */
} Tie;

typedef struct Form {
  VEC(FormRow) rows;
  VEC(Multiplier) multipliers;
  uint8_t *tie; /* per column of the array: a Tie */
  bool *fixed;  /* per column: one of the start values that determine the solution */
  const bool *
      integrated; /* per unknown: it is the derivative of a new variable, as the multipliers then are; NULL: no unknown is one */
} Form;

/* Options of single methods; NAN: not given. */
typedef struct MethodOptions {
  double alpha, beta;    /* of Baumgarte's stabilization */
  bool keep_superfluous; /* dummy derivatives: superfluous differentiations stay in the system */
  double rank_tolerance; /* for methods by ranks: see strangeness.h; NAN or 0 for the default */
} MethodOptions;

/* A start value of the system: its column `column` is sign times column `source` of the original array. */
typedef struct StartLink {
  uint32_t column, source;
  int8_t sign;
} StartLink;

/* The part of the system to integrate that does not depend on values. */
typedef struct Reduced {
  Array *array;
  ArrayCode *code;
  const Structure
      *structure; /* structure of the array; NULL: the array is integrated as it is, with a link for every tie */
  const DummyBlocks *choice; /* NULL if `structure` is NULL */
  const StatePlan *states;
  const Modes *modes;
  const uint8_t *tie;          /* if there is no structure: per column of this array; NULL: all columns are tied */
  const int32_t *column_index; /* if there is no structure: differentiation index of each column (see System) */

  /* How many differentiations are missing, which leaves a high index. Velocities then converge with about half the order of
   * positions, and errors of many small steps add up (reduced_accuracy). */
  int32_t left;

  /* Rate (1/time) at which the method damps errors; an explicit solver must resolve it. 0: it does not damp. */
  double rate;

  uint32_t *source; /* per column of the original array: its column here, MAP_NONE if it has none */
  int8_t *sign;     /* of that column */
  uint32_t *mode; /* per mode of the original: the same mode here, MAP_NONE if there is none; NULL if they share them */
  VEC(StartLink) starts; /* start values of columns that correspond to no column of the original array */

  /* The rows that remain without superfluous differentiations, and their Jacobian; NULL if nothing is superfluous. */
  const Program *kept_rows;
  const Jacobian *kept_jacobian;
} Reduced;

/* An array together with the values of a run. */
typedef struct ArrayRun {
  Evaluator *evaluator;
  Dummy *dummy; /* NULL if the states are not chosen */
  StateSpace *space;
  double *y; /* initial values */
} ArrayRun;

/* The equations of a model as written: equations that determine a derivative, equations that are solved together, and
 * equations that give a variable explicitly. */
typedef struct EquationKinds {
  uint32_t differential, algebraic, solved;
} EquationKinds;

/* Sizes as the papers count them. */
typedef struct ReductionCounts {
  uint32_t first_order;        /* equations as a first-order system */
  uint32_t dummy_first_order;  /* equations as a first-order system with dummy derivatives */
  uint32_t new_variables;      /* beyond those of the model as a first-order system */
  EquationKinds before, after; /* equations of the model and of the system that is printed */
  uint32_t removed;            /* superfluous differentiations that were removed */
} ReductionCounts;

typedef struct Reduction {
  Heap *heap;
  Arena *arena;
  Diags *diags;
  Model *model;
  const double *parameters;      /* by leaf index */
  const double *starts;          /* see Strangeness; NULL for none */
  const double *discrete_starts; /* discrete values before the initial event; NULL: as at the initial point */
  /* given: the array, and its values at the consistent initial point. For a method by ranks the code, or the values, may be
   * missing. */
  bool is_converted; /* the array does not belong to the equations as written */
  bool opens_kinks;  /* turn all kinks into modes (kink_modes.h) */
  Array *array;
  ArrayCode *code;
  const Structure *structure;
  const DummyBlocks *choice;
  const StatePlan *states;
  const Modes *modes;
  ArrayRun at;    /* the array at its initial values */
  ArrayRun known; /* the point from which all methods start; y NULL: none was found */
  double time, duration, tolerance;
  MethodOptions options;
  const char *mass; /* a description of the mass matrix (mass.h); NULL: there is none */
  bool is_definite; /* it is positive definite on the tangent space */
  /* made */
  struct Strangeness *strangeness; /* result of method strangeness, which makes no form */
  Form form;
  Reduced reduced;
  ReductionCounts counts;
  const char *remark; /* one line about the choice made; NULL for none */
  const char *mode;   /* the conditions for which the equations were made; NULL: any */
} Reduction;

/* An empty form for the array. */
void form_begin(Reduction *reduction);

/* Adds row (equation, level). */
void form_add(Reduction *reduction, uint32_t equation, int32_t level);

/* All rows; a column is tied to the next one if it is a state at the initial point. */
void form_use_dummies(Reduction *reduction);

/* Removes the superfluous differentiations from that form, and counts them. The highest derivatives that those rows determine are
 * instead tied to the columns one order lower as their derivatives. */
void form_remove_superfluous(Reduction *reduction);

/* Only the rows of the highest level; every column tied to the next. */
void form_use_highest_rows(Reduction *reduction);

/* The rows of all levels, without the last `without` levels of differentiated equations. Each level below the last one kept gets a
 * multiplier, so that the form is square. */
void form_use_levels(Reduction *reduction, int32_t without);

/* A row of a form as one expression over the array's columns. */
Expr form_residual(Reduction *reduction, const FormRow *row);

/* The system is the array itself. */
void reduction_keep(Reduction *reduction);

/* Calls reduction_keep if there is nothing to reduce because the model gives an energy and no equation needs to be differentiated.
 * false: the model is not of this kind. */
bool reduction_keep_unconstrained(Reduction *reduction);

/* Makes a system from other equations for the same unknowns (one residual per equation of the problem), with dummy derivatives if
 * these equations need them. false: those equations are structurally singular. */
bool reduction_replace(Reduction *reduction, const Expr *residual);

/* Makes the rows of the form the system to integrate. They are the rows of an array with the smaller offsets c, in its order. d:
 * the highest derivatives of that array; NULL: those that follow from c. tie: the columns of the original array to tie, so that the
 * system has index 1; NULL: all columns are tied, and the index may stay high. */
void reduction_shrink(Reduction *reduction, const int32_t *c, const int32_t *d, const uint8_t *tie);

/* The value of an expression over the array at the values of the reduction; NAN: it has none. */
double reduction_value(const Reduction *reduction, Expr e);

/* Makes the second system of rows, without superfluous differentiations, if it differs. */
void reduction_remove_superfluous(Reduction *reduction);

/* A copy of the reduction for a report. Its graph is a layer in `heap`, and its values are those of `at`. */
Reduction reduction_layer(const Reduction *reduction, const ArrayRun *at, double time, Heap *heap, Arena *arena);

/* The system at the values of a run whose original array is `at`; `at` itself if the system is that array. Lives in the heap. */
ArrayRun reduced_run(const Reduction *reduction, const ArrayRun *at, Heap *heap);

/* The factor for the tolerance. */
double reduced_accuracy(const Reduced *reduced, double tolerance);

/* Number of equations when written with first derivatives only. */
uint32_t form_first_order(const Reduction *reduction, const Form *form);

/* marked[unknowns]: the algebraic unknowns of the blocks that contain one of the equations with constrains[i]. */
void reduction_mark_multipliers(const Reduction *reduction, const bool *constrains, bool *marked);

/* The largest number of differentiations. */
int32_t reduction_depth(const Reduction *reduction);
