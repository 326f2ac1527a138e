/* elimination: eliminates the states from a linear system by their links.
 *
 * An implicit method couples y[from] = known + factor * y[to] with the rows of G. Each chain of links ends at a column that is not
 * a state (an unknown). So the matrix of the rows for only the unknowns follows: its column u is the sum over k of factor^k times
 * the column of G that is k links before u. A pivot changes only these lists. */
#pragma once

#include "base/heap.h"
#include "base/linear.h"
#include "segment/system.h"

/* The pattern of a Jacobian: compressed columns over the system's columns. */
typedef struct JacobianPattern {
  int32_t rows;
  const int32_t *column_start, *row_index;
  const bool *
      left_out; /* [columns] true for a column that is eliminated already, and so is not an unknown; NULL: no column is */
} JacobianPattern;

typedef struct Elimination {
  Heap *heap;
  const System *system;
  JacobianPattern jacobian; /* pattern of the rows: the system's, or the remaining ones */
  int32_t *unknown;         /* [rows] columns that are not states, ascending */
  int32_t *from, *to;       /* [links] a state that is `to` comes earlier as `from` */
  int32_t *start, *row;     /* pattern of the matrix, compressed columns; start[rows + 1] */
  int32_t *slot, *power;    /* [nonzeros of the Jacobian] entry of the matrix, and number of links to the unknown */
  int32_t *scratch;         /* [columns] */
  int32_t *chosen, links;   /* the links of the choice, all `from` before all `to`; their number, -1: none yet */
  int32_t room;             /* entries for which row, slot, power are allocated */
} Elimination;

/* Makes room for any choice of states of the system; lives in the heap. elimination_choose must follow. */
Elimination *elimination_new(Heap *heap, const System *system);

/* Accepts the present links of the system, for Jacobians of this pattern. NULL: the system's own; otherwise it has a row for
 * each column that is not left out and not a state. O(columns + nonzeros). */
void elimination_choose(Elimination *elimination, const JacobianPattern *jacobian);

/* Are the links of the system still those of the choice? O(links). */
bool elimination_is_chosen(const Elimination *elimination);

/* The matrix for a real factor, from the Jacobian, in the order of the pattern. */
void elimination_real(const Elimination *elimination, const double *jacobian, double factor, double *values);

/* The matrix for a complex factor; values are pairs (re, im). */
void elimination_complex(const Elimination *elimination, const double *jacobian, double re, double im, double *values);

/* right -= the Jacobian's columns of the states times their entries in `vector` (all columns). */
void elimination_subtract(const Elimination *elimination, const double *jacobian, const double *vector, double *right);

/* Replaces `error` of the states by (1 - step J)^-1 error, with J that of the rates; `linear` has the factors of elimination_real
 * with this step. right: [rows] and work: [columns] are scratch. */
void elimination_filter(const Elimination *elimination, Linear *linear, const double *jacobian, double step,
                        double *error, double *right, double *work);
