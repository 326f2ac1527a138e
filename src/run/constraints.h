/* constraints: the rows of the model's own array that no integrator discretizes. They are evaluated along the solution of any
 * method: every equation below its last differentiation, and the algebraic equations as written. The level of a row is the number
 * of times its equation was differentiated. */
#pragma once

#include "view/view.h"

/* Which rows are constraints. */
typedef struct ConstraintPlan {
  uint32_t count;
  uint32_t *row;   /* row of the model's array */
  uint32_t *level; /* level of each row */
  uint32_t levels; /* 1 + the largest level; 0 without constraints */
  /* The last rows are equations as written that conversions replaced (array/convert.h), then those that inverses replaced
   * (array/inverse.h); the others are among the code's. */
  uint32_t written; /* both kinds */
  uint32_t inverted;
  const Program *program;   /* program of these last rows; NULL: there are none */
  const Jacobian *jacobian; /* Jacobian of these last rows */
} ConstraintPlan;

typedef struct Constraints {
  View *view;
  const ConstraintPlan *plan;
  Workspace *program;
  double *y;      /* the columns of the model's array */
  double *corner; /* columns of the view at a corner of the edges along which the solution slides */
  double *rows;   /* all rows of the model's array */
  double *values, *scale;
  double worst,
      worst_time; /* largest residual and its time, without the inverted rows: an inverse is as exact as its author made it */
  uint32_t worst_row;         /* row of the array; MAP_NONE before any check, or if there is none */
  double inexact;             /* the largest residual of the inverted rows */
  uint32_t inexact_row;       /* of the array */
  double *level_worst;        /* per level: the largest residual */
  VEC(double) times, history; /* for every check: its time, and the largest residual of each level */
} Constraints;

/* Lists the constraints of the model's array that a view can check. The view has column source[q] for column q of the array, or
 * none (MAP_NONE). Lives as long as the code. O(size of the rows). */
ConstraintPlan *constraint_plan(ArrayCode *code, const uint32_t *source);

/* Takes scales at (t, y) of the view: the largest product of a Jacobian entry of the row and the size of its column. Scales are
 * raised if a constraint seems violated. Leaves out rows with columns that the view does not have. Lives in the heap. */
Constraints *constraints_new(Heap *heap, View *view, const ConstraintPlan *plan, double t, const double *y);

/* Computes the columns of the model's array from the columns of the view. Valid until the next call. */
const double *constraints_columns(Constraints *constraints, const double *y);

/* Evaluates all constraints; keeps the worst and the history. If the solution slides along edges, its columns are the mean of
 * those at the corners, and the constraints are checked at the corners. The view's evaluator counts the rows. */
void constraints_check(Constraints *constraints, double t, const double *y);
