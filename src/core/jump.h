/* jump: the values of columns after an event that changes constraints.
 *
 * With offsets c, d of the array, the columns of order below d are continuous unless the new modes contradict them. If a row of
 * level c - 1 no longer holds, the columns of order d - 1 jump, and the columns of order d are impulses. The rows with c = 0,
 * integrated over the instant, say how the jump is distributed. Their leading coefficients belong to the columns of order d. These
 * coefficients times the jumps of order d - 1 give 0; for d = 0 the jumps are the integrals of the impulses. So an ideal clutch
 * conserves momentum, and capacitors that are joined conserve charge (Mehrmann and Wunderlich 2009; Benveniste, Caillaud and others
 * 2020).
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "base/heap.h"

#include <stdbool.h>
#include <stdint.h>

/* A larger change of a column, relative to its nominal value or value, is a jump; a larger residual is a violation. */
#define JUMPED 1e-6

/* The array. It has as many equations as unknowns. The columns of the unknowns, and the rows of the equations, are stored one after
 * another. The Jacobian is given in compressed columns. */
typedef struct JumpPlan {
  int unknowns, columns, rows, nonzeros;
  const int *column_start, *d, *row_start, *c; /* per unknown; per equation */
  const int *row_equation;                     /* per row */
  const int *jacobian_start, *jacobian_row;
  const double *nominal; /* per column */
} JumpPlan;

/* All rows, and all entries of their Jacobian, at (t, y). false: one is undefined. */
typedef struct JumpHost {
  bool (*rows)(void *host, double t, const double *y, double *rows);
  bool (*entries)(void *host, double t, const double *y, double *entries);
} JumpHost;

typedef struct Jump Jump;

/* Lives in the heap. O(entries of the Jacobian). */
Jump *jump_new(Heap *heap, const JumpPlan *plan, const JumpHost *methods, void *host);

/* Forgets all earlier jumps. */
void jump_forget(Jump *jump);

/* Computes the columns of order d - 1 after an event at t, in place. Returns false if the equations do not determine the jump of
 * *column: derivatives of lower orders would jump, or coefficients of derivatives change with the jump. Then y stays unchanged. */
bool jump_solve(Jump *jump, double t, double *y, uint32_t *column);
