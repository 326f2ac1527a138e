/* constraints: the rows of the model's own array that no integrator discretizes, evaluated along the
 * solution of any method: every equation below its last differentiation, and the algebraic equations as
 * written. The level of a row is how often its equation was differentiated. */
#pragma once

#include "view/view.h"

/* Which rows they are. */
typedef struct ConstraintPlan {
  uint32_t count;
  uint32_t *row;   /* of the model's array */
  uint32_t *level; /* of each row */
  uint32_t levels; /* 1 + the largest level; 0 without constraints */
  /* The last rows are equations as written that conversions replaced (array/convert.h); the others are among the code's. */
  uint32_t written;
  const Program *program;   /* of these last rows; NULL: there are none */
  const Jacobian *jacobian; /* of these last rows */
} ConstraintPlan;

typedef struct Constraints {
  View *view;
  const ConstraintPlan *plan;
  Workspace *program;
  double *y;      /* the columns of the model's array */
  double *corner; /* those of the view at a corner of the edges that the solution slides along */
  double *rows;   /* all rows of the model's array */
  double *values, *scale;
  double worst, worst_time;
  uint32_t worst_row;         /* of the array; MAP_NONE before any check, or if there is none */
  double *level_worst;        /* per level */
  VEC(double) times, history; /* of every check: the time, and the largest residual of each level */
} Constraints;

/* The constraints of the model's array that can be checked by a view which has column source[q] for column q of it, or
 * none (MAP_NONE). Lives as long as the code. O(size of the rows). */
ConstraintPlan *constraint_plan(ArrayCode *code, const uint32_t *source);

/* Scales are taken at (t, y) of the view: largest Jacobian entry of a row times the size of its column; they are raised where a
 * constraint seems violated. Rows with columns that the view does not have are left out. Lives in the heap. */
Constraints *constraints_new(Heap *heap, View *view, const ConstraintPlan *plan, double t, const double *y);

/* The columns of the model's array out of those of the view, until the next call. */
const double *constraints_columns(Constraints *constraints, const double *y);

/* Evaluates all; keeps the worst and the history. Where the solution slides along edges, its columns are the mean of those at the
 * corners, and it is these that the constraints are about. The rows are counted in the view's evaluator. */
void constraints_check(Constraints *constraints, double t, const double *y);
