/* constraints: the rows of the model's own array that no integrator discretizes, evaluated along the
 * solution of any method: every equation below its last differentiation, and the algebraic equations as
 * written. The level of a row is how often its equation was differentiated. */
#ifndef DAEDAL_SOLVE_CONSTRAINTS_H
#define DAEDAL_SOLVE_CONSTRAINTS_H

#include "solve/view.h"

typedef struct Constraints {
  View *view;
  uint32_t count;
  uint32_t *row;    /* of the model's array */
  uint32_t *level;  /* of each row */
  ExprVec written;  /* the last rows are equations as written that conversions replaced (array/convert.h) */
  Program *program; /* of these last rows; the others are among the evaluator's. NULL: there are none */
  double *y;        /* the columns of the model's array */
  double *rows;     /* all rows of the model's array */
  double *values, *scale;
  double worst, worst_time;
  uint32_t worst_row;         /* of the array; MAP_NONE before any check, or if there is none */
  uint32_t levels;            /* 1 + the largest level; 0 without constraints */
  double *level_worst;        /* per level */
  VEC(double) times, history; /* of every check: the time, and the largest residual of each level */
} Constraints;

/* Scales are taken at (t, y) of the view: largest Jacobian entry of a row times the size of its column.
 * Rows with columns that the view does not have are left out. Lives in the heap. */
Constraints *constraints_new(Heap *heap, View *view, double t, const double *y);

/* Evaluates all; keeps the worst and the history. The rows are counted in the view's evaluator. */
void constraints_check(Constraints *constraints, double t, const double *y);

#endif
