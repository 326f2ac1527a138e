/* fold: passes folds of the solution at corners of the equations.
 *
 * Positive feedback around a limit, as in a trigger, makes a branch of the algebraic columns end where the limit begins to hold:
 * the branch turns back in time there. The curve of solutions continues. It is followed past the fold, with the states frozen and
 * the inputs changing at their present rate (the drive s), until s has risen again to the same value. The columns jump to that
 * point. Only a fold at a corner, where noEvent or smooth join two expressions, is passed. At a smooth fold the solution ends.
 *
 * Exported solvers contain this file unchanged. */
#pragma once

#include "base/heap.h"
#include "segment/system.h"

typedef struct FoldSearch {
  Heap *heap; /* of the caller: everything is released */
  const System *system;
  ConstMoment origin;                            /* a regular point of the solution's branch, with the same states */
  bool (*find)(void *host, double t, double *y); /* solves the rows from any guess */
  void *host;
} FoldSearch;

typedef struct Fold {
  double time;
  double *before, *after; /* [columns] on both sides of the jump; the caller owns them */
  uint32_t column;        /* the column with the largest jump */
  double jump;            /* the jump relative to the size of the column */
} Fold;

typedef struct FoldMethods {
  /* Is there a fold at a corner ahead of `at`, within `longest`, and a branch after it? Costs about a hundred factorizations of the
   * Jacobian. */
  bool (*pass)(const FoldSearch *search, ConstMoment at, double longest, Fold *fold);

  /* The sign of the determinant of the columns that are not states, which identifies the branch of a solution; 0: it is singular.
   * The heap is that of the caller. */
  double (*sign)(Heap *heap, const System *system, ConstMoment at);
} FoldMethods;

extern const FoldMethods folds;
