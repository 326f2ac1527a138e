/* evaluator: the derivative array made numeric at one set of parameter values. It owns the programs of all rows and
 * of their Jacobian, the values of parameters and discrete variables, and the honest count of work: rows evaluated. */
#ifndef DAEDAL_CODE_EVALUATOR_H
#define DAEDAL_CODE_EVALUATOR_H

#include "array/array.h"
#include "code/program.h"

typedef struct Evaluator {
  Heap *heap;
  Model *model;
  Array *array;
  Layout layout;
  double *parameters, *discretes, *pre;
  double *nominal; /* per column, positive */
  Program *rows;
  Jacobian *jacobian;                          /* all rows against all columns */
  VEC(Program *) programs;                     /* all that run at this evaluator's points, to be compiled together */
  uint64_t row_evaluations, entry_evaluations; /* rows, entries of Jacobians */
} Evaluator;

/* Programs for all rows and their Jacobian. `parameters` (by leaf index) is copied; `modes` is how many discrete leaves
 * there are behind the model's own. O(size of the rows). */
Evaluator *evaluator_new(Heap *heap, Array *array, const double *parameters, uint32_t modes);

/* A program over the columns of the array, in the evaluator's heap and list. */
Program *evaluator_program(Evaluator *evaluator, const Expr *roots, uint32_t count);

/* Replaces the tapes of all programs made so far by machine code. false: an error is in diags. */
bool evaluator_compile(Evaluator *evaluator, Diags *diags);

/* The point (t, y) with the evaluator's other values. */
Point evaluator_point(const Evaluator *evaluator, double t, const double *y);

/* All rows, or the Jacobian of all rows, counted. */
EvalStatus evaluator_rows(Evaluator *evaluator, double t, const double *y, double *rows);
EvalStatus evaluator_jacobian(Evaluator *evaluator, double t, const double *y, double *values);

/* A number of rows, or of Jacobian entries, in units of all of them. */
double evaluator_in_rows(const Evaluator *evaluator, uint64_t rows);
double evaluator_in_jacobians(const Evaluator *evaluator, uint64_t entries);

#endif
