/* branch: columns that nonlinear equations give and on which no integrated column depends. A run must stay on one branch of their
 * solutions.
 *
 * Such equations may have several solutions, and a long step may end at any of them: no error test sees that. The branch is
 * followed from the beginning of a step to its end, with the other columns taken from the step. Newton's method does this in parts
 * so short that it certainly finds the nearest solution (Deuflhard 2004, section 5.1). If it is not certain, the distance is
 * halved. A step that ends at another solution has left its branch. The sizes of other steps do not change. */
#pragma once

#include "view/view.h"

typedef struct Branch Branch;

/* Lives in the heap. NULL: the view has no branching columns. */
Branch *branch_new(Heap *heap, View *view);

typedef enum BranchStatus {
  BRANCH_KEPT,
  BRANCH_LEFT, /* the branch continues to the end of the step, but the step ends at another solution */
  BRANCH_LOST, /* the branch cannot be followed that far */
} BranchStatus;

/* Follows the branch along the last step. */
BranchStatus branch_follow(Branch *branch, const Segment *segment);

/* Call this if another branch begins or the columns have changed: the next step is then followed from the columns that it begins
 * with. */
void branch_forget(Branch *branch);

/* The point of the branch where the last step began. */
const double *branch_begin(const Branch *branch);

/* Are these columns, at a time of the last step, near the expected place of a branch that was followed without halving? */
bool branch_expects(const Branch *branch, const Segment *segment, double t, const double *y);

/* Copies the columns of the branch at a time of the last step, along which it was followed. */
void branch_take(Branch *branch, const Segment *segment, double t, double *y);
