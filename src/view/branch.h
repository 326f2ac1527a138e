/* branch: the columns that nonlinear equations give and that nothing which is integrated depends on, and the branch of their solutions that a run
 * has to stay on.
 *
 * Such equations may have several solutions, and a method that takes a long step may end at any of them: no error test sees that.
 * From where a step began the branch is followed along the step, as the other columns have it, by Newton's method where that is certain to find
 * the next solution (Deuflhard 2004, section 5.1): where it is not, the way is halved. A step that ends at another solution has left its branch.
 * The sizes of steps that have not stay as they are.
 */
#pragma once

#include "view/view.h"

typedef struct Branch Branch;

/* Lives in the heap. NULL: the view has no branching columns. */
Branch *branch_new(Heap *heap, View *view);

typedef enum BranchStatus {
  BRANCH_KEPT,
  BRANCH_LEFT, /* the branch goes on to the end of the step, which is elsewhere */
  BRANCH_LOST, /* it cannot be followed so far */
} BranchStatus;

/* Follows the branch along the last step. */
BranchStatus branch_follow(Branch *branch, const Segment *segment);

/* Another branch begins, or the columns are others: the next step begins with what it is given. */
void branch_forget(Branch *branch);

/* The point of the branch where the last step began. */
const double *branch_begin(const Branch *branch);

/* Are these columns, at a time of the last step, near to where a branch that was followed without halving its way must be? */
bool branch_expects(const Branch *branch, const Segment *segment, double t, const double *y);

/* Takes the columns of the branch at a time of the last step that it was followed along. */
void branch_take(Branch *branch, const Segment *segment, double t, double *y);
