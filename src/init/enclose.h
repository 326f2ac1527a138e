/* enclose: all solutions of a few equations within a box, or the proof that it has none (interval branch and prune).
 *
 * A box is discarded if the bounds of an equation over it do not contain zero. Krawczyk's operator shrinks it, or shows that it contains no
 * solution or exactly one; otherwise the box is halved (Neumaier, Interval Methods for Systems of Equations, 1990, chapter 5).
 */
#pragma once

#include "expr/interval.h"
#include "init/patch.h"

enum { ENCLOSE_LIMIT = 6 }; /* unknowns */

/* A box that has no solution. */
typedef struct Proof {
  uint32_t count; /* unknowns; 0: there is no proof */
  uint32_t column[ENCLOSE_LIMIT];
  Interval box[ENCLOSE_LIMIT];
} Proof;

typedef enum EncloseEnd {
  ENCLOSE_UNKNOWN, /* bounds are not known, or the search took too long */
  ENCLOSE_NONE,    /* proven: the box has no solution */
  ENCLOSE_FOUND,   /* y is the solution nearest to its former value, in sizes of the box */
} EncloseEnd;

/* The columns at these positions of y, as many as the patch has rows, lie in the box; the others stay. */
EncloseEnd enclose_search(InitialSystem *system, Patch *patch, const uint32_t *positions, const Interval *box, double t,
                          double *y);
