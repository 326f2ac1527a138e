/* constraints: the rows that no integrator discretizes, evaluated along the solution: every equation below its last
 * differentiation, and the algebraic equations as written. */
#ifndef DAEDAL_SOLVE_CONSTRAINTS_H
#define DAEDAL_SOLVE_CONSTRAINTS_H

#include "code/evaluator.h"

typedef struct Constraints {
  Evaluator *evaluator;
  uint32_t count;
  uint32_t *row; /* of the array */
  Program *program;
  double *values, *scale;
  double worst, worst_time;
  uint32_t worst_row; /* of the array; MAP_NONE before any check, or if there is none */
} Constraints;

/* Scales are taken at (t, y): largest Jacobian entry of a row times the size of its column. Lives in the heap. */
Constraints *constraints_new(Heap *heap, Evaluator *evaluator, double t, const double *y);

/* Evaluates all; keeps the worst. The rows are counted in the evaluator. */
void constraints_check(Constraints *constraints, double t, const double *y);

#endif
