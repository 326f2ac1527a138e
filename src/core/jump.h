/* jump: what columns become at an event that changes constraints.
 *
 * With offsets c, d of the array, the columns of order below d are continuous unless the new modes contradict them. Where a row
 * of level c - 1 no longer holds, the columns of order d - 1 jump, and those of order d are impulses. The rows with c = 0,
 * integrated over the instant, say how the jump is shared: their leading coefficients, those of the columns of order d, times
 * the jumps of order d - 1 (for d = 0 the integrals of the impulses) give 0. So an ideal clutch conserves momentum, and
 * joined capacitors charge (Mehrmann and Wunderlich 2009; Benveniste, Caillaud and others 2020).
 *
 * All memory is the host's. Exported solvers carry this as it stands. */
#pragma once

#include <stdbool.h>

/* The array: as many equations as unknowns, which have columns and rows one after the other. */
typedef struct JumpPlan {
  int unknowns, columns;
  const int *column_start, *d, *row_start, *c; /* per unknown; per equation */
  const double *nominal;                       /* per column */
} JumpPlan;

typedef struct JumpHost {
  /* All rows and all entries of their Jacobian at (t, y). false: one is not defined. */
  bool (*rows)(void *host, double t, const double *y, double *rows);
  bool (*entries)(void *host, double t, const double *y, double *entries);

  /* Factors the leading coefficients, in the order of Jump.start; false: they are singular. Solves with them, in place. */
  bool (*factor)(void *host, const double *values);
  void (*solve)(void *host, double *b);
} JumpHost;

typedef struct Jump {
  JumpPlan plan;
  const JumpHost *methods;
  void *host;
  /* leading coefficients by unknown: equation, and place among the entries of the Jacobian */
  int *start, *row, *entry;
  double *values, *first; /* of them, now and before the jump */
  double *entries, *rows; /* of the Jacobian; all rows */
  double *b, *moved, *size;
  double *y;       /* per column */
  double t, total; /* of now; the largest changes so far, in all */
  int column;      /* of the last of them */
  bool is_first;   /* nothing has moved yet */
} Jump;

/* Lists the leading coefficients of a Jacobian of compressed columns; row_equation: of each row. O(entries). */
void jump_list(Jump *jump, const int *jacobian_start, const int *jacobian_row, const int *row_equation);

/* The columns of order d - 1 after an event at t, in place. false: the equations do not determine the jump of *column, since
 * derivatives of lower orders would jump, or coefficients of derivatives change with it; y stays as it is. */
bool jump_solve(Jump *jump, double t, double *y, int *column);
