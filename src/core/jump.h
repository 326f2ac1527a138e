/* jump: the values of columns after an event that changes constraints.
 *
 * With offsets c, d of the array, the columns of order below d are continuous unless the new modes contradict them. If a row of
 * level c - 1 no longer holds, the columns of order d - 1 jump, and the columns of order d are impulses. The rows with c = 0,
 * integrated over the instant, say how the jump is distributed. Their leading coefficients belong to the columns of order d. These
 * coefficients times the jumps of order d - 1 give 0; for d = 0 the jumps are the integrals of the impulses. So an ideal clutch
 * conserves momentum, and capacitors that are joined conserve charge (Mehrmann and Wunderlich 2009; Benveniste, Caillaud and others
 * 2020).
 *
 * The host owns all memory. Exported solvers contain this file unchanged. */
#pragma once

#include <stdbool.h>

/* The array. It has as many equations as unknowns. The columns of the unknowns, and the rows of the equations, are stored one after
 * another. */
typedef struct JumpPlan {
  int unknowns, columns;
  const int *column_start, *d, *row_start, *c; /* per unknown; per equation */
  const double *nominal;                       /* per column */
} JumpPlan;

typedef struct JumpHost {
  /* All rows, and all entries of their Jacobian, at (t, y). false: one is undefined. */
  bool (*rows)(void *host, double t, const double *y, double *rows);
  bool (*entries)(void *host, double t, const double *y, double *entries);

  /* Factors the leading coefficients, in the order of Jump.start; false: they are singular. The second function solves with them,
   * in place. */
  bool (*factor)(void *host, const double *values);
  void (*solve)(void *host, double *b);
} JumpHost;

typedef struct Jump {
  JumpPlan plan;
  const JumpHost *methods;
  void *host;
  /* leading coefficients by unknown: their equation, and their place among the entries of the Jacobian */
  int *start, *row, *entry;
  double *values, *first; /* the leading coefficients, now and before the jump */
  double *entries, *rows; /* entries of the Jacobian; values of all rows */
  double *b, *moved, *size;
  double *y;       /* per column */
  double t, total; /* t: time of the event; total: sum of the largest changes so far */
  int column;      /* column of the last change */
  bool is_first;   /* nothing has moved yet */
} Jump;

/* Lists the leading coefficients of a Jacobian in compressed columns. row_equation: the equation of each row. O(entries). */
void jump_list(Jump *jump, const int *jacobian_start, const int *jacobian_row, const int *row_equation);

/* Computes the columns of order d - 1 after an event at t, in place. Returns false if the equations do not determine the jump of
 * *column: derivatives of lower orders would jump, or coefficients of derivatives change with the jump. Then y stays unchanged. */
bool jump_solve(Jump *jump, double t, double *y, int *column);
