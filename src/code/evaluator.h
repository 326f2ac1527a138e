/* evaluator: the derivative array at one set of values. It owns the values of parameters and discrete variables, the workspaces of
 * the programs of all rows and of their Jacobian, and the count of evaluated rows. Each run has its own evaluator. */
#pragma once

#include "code/array_code.h"
#include "code/inputs.h"
#include "core/block.h"

#include <math.h>

typedef struct Past Past;

typedef struct Evaluator {
  Heap *heap;
  const ArrayCode *code;
  const Model *model; /* model, array and Jacobian belong to the code */
  const Array *array;
  const Jacobian *jacobian;
  Model *own; /* see evaluator_model */
  double *parameters, *discretes, *pre;
  Inputs *inputs;  /* NULL: no input has values over time. Evaluators of one run share them */
  double *nominal; /* per column, positive */
  double *
      size; /* per column: the absolute tolerance divided by the relative one if an absolute tolerance is given, otherwise the nominal value */
  bool *is_sized;  /* per column: no nominal value is given, so the size of a state comes from its values so far
                 * (stepper_note_sizes) */
  bool *is_signed; /* per column with is_sized: min or max allows only one sign */
  Past *past;      /* the history that delays read (past.h); NULL without them */
  Workspace *rows, *entries;
  DagScratch scratch;
  uint64_t row_evaluations, entry_evaluations; /* rows, entries of Jacobians */
  double failed_time, *failed_y;               /* the last point at which rows were undefined; NULL: none */
} Evaluator;

/* For the given values of parameters (by leaf index), which are copied. O(columns). */
Evaluator *evaluator_new(Heap *heap, const ArrayCode *code, const double *parameters);

/* Copies the discrete values and modes of another evaluator of the same logic, and their values before the event. */
void evaluator_copy_leaves(Evaluator *evaluator, const Evaluator *from);

/* The run's own layer over the model, made when first needed. Messages and initial systems extend its graph. */
Model *evaluator_model(Evaluator *evaluator);

/* Frees the memory of walks, which otherwise stays for the next ones. */
void evaluator_trim(Evaluator *evaluator);

/* Value of an expression over parameters; false outside of a domain. */
bool evaluator_constant(Evaluator *evaluator, Expr e, double *value);

/* Text of a row of the array as an equation, in the arena. */
const char *evaluator_row_text(Evaluator *evaluator, uint32_t row, Arena *arena);

/* Reads the inputs and delays for a point into the evaluator's values. */
void evaluator_look_up(const Evaluator *evaluator, double t, const double *y);

/* The point (t, y) with the evaluator's other values. Inputs and delays are read for this point; most models have none. */
static inline Point evaluator_point(const Evaluator *evaluator, double t, const double *y) {
  if (y && (evaluator->inputs || evaluator->past)) evaluator_look_up(evaluator, t, y);
  return (Point){t, y, evaluator->parameters, evaluator->discretes, evaluator->pre};
}

/* Keeps a point at which rows are undefined, for messages. Returns EVAL_DOMAIN. */
EvalStatus evaluator_fail(Evaluator *evaluator, double t, const double *y);

/* For code that exported solvers share: runs programs at the evaluator's values. */
RowsHost evaluator_host(Evaluator *evaluator);

/* Evaluates all rows, or the Jacobian of all rows, and counts the evaluation. */
EvalStatus evaluator_rows(Evaluator *evaluator, double t, const double *y, double *rows);
EvalStatus evaluator_jacobian(Evaluator *evaluator, double t, const double *y, double *values);

/* Evaluates all rows at several points, and counts the evaluations. EVAL_DOMAIN: not defined at one of them. */
EvalStatus evaluator_rows_at(Evaluator *evaluator, uint32_t count, const double *t, double *const *y,
                             double *const *rows);

/* An entry of a Jacobian may be infinite although the row is defined, as for sqrt(u) at u = 0. Such an entry counts as 0, because
 * usually other rows determine the column. */
void evaluator_drop_infinite(double *values, size_t count);

/* The value at y of a derivative of an unknown of the model, through aliases; NAN if the array does not have it. */
double evaluator_value(Evaluator *evaluator, const double *y, uint32_t unknown, uint32_t order);

/* Moves columns as round-off would, by some hundred units of round-off. An entry of a Jacobian is only round-off if it changes
 * by half of itself or more, like x + y - 1 at a zero. An entry that nearly vanishes after the move is an exception: a
 * condition gave it another value exactly at the point. */
void columns_shake(const double *nominal, const double *y, uint32_t count, double *shaken);

/* Like columns_shake, at a point at which the rows hold, but moves a column by no more than the errors that some row allows. A
 * capacitance of 1e-12 from an equation has a small relative error, however large its nominal value is; a difference of two
 * columns does not. `rows` and the entries `values` belong to y, and the entries `other` to the point to which columns_shake
 * moves. Rows determine the highest derivatives of unknowns. Lower derivatives may be states, and rows do not bound the errors
 * of states. Each sweep follows one more level of the definitions that a column depends on. */
void columns_shake_within(Heap *heap, const Array *array, const Jacobian *jacobian, const double *nominal,
                          const double *rows, const double *values, const double *other, const double *y,
                          double *shaken);

/* Calls columns_shake_within for all rows of the evaluator. Costs two Jacobians. */
void evaluator_shake(Evaluator *evaluator, double t, const double *y, double *shaken);
static inline bool entry_is_lost(double value, double shaken) {
  double half = 0.5 * fabs(value);
  return fabs(shaken - value) > half && fabs(shaken) > half;
}
void entries_drop_lost(double *values, const double *shaken, size_t count);

/* Does a row call a function of values that vary between events? */
bool evaluator_calls_functions(Evaluator *evaluator);

/* A number of rows, or of Jacobian entries, divided by the number of all of them. */
double evaluator_in_rows(const Evaluator *evaluator, uint64_t rows);
double evaluator_in_jacobians(const Evaluator *evaluator, uint64_t entries);
