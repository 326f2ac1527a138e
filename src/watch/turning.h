/* turning: watches the Jacobians of the blocks along a run. Where one gets singular the solution turns back,
 * branches or changes its index; no method may pass such a point silently.
 *
 * Only what is certain stops a run. A determinant makes a suspect if its sign changes between two accepted points, or if
 * values between them do not rule out that it touches zero. From a point before, the suspect is followed with a tight
 * tolerance. It is singular where the determinant of the follower changes its sign through zero, where it is zero except for
 * round-off at a converged point, where the follower cannot go on with any step size while the determinant vanishes, or where all
 * that is left of the determinant comes of the errors of the run. What is merely small is no more than a warning.
 */
#pragma once

#include "view/view.h"
#include "watch/determinants.h"

typedef struct Turning Turning;

typedef struct TurningPoint {
  double time;               /* extrapolated where that is more certain */
  double sound;              /* time of the last look at or before it: steps after that may have left the solution */
  int32_t block, size, rank; /* rank of the block's matrix there */
  double found;              /* time at which it is zero on the way of the run, or was found to be */
} TurningPoint;

/* Which blocks there are to watch: those whose matrices move. */
typedef struct TurningPlan TurningPlan;

/* For an array with the blocks of `structure`; NULL if there are none to watch. Lives as long as the code. */
TurningPlan *turning_plan(ArrayCode *code, const Structure *structure);

/* The blocks that move; without a program if there are none. */
const DeterminantPlan *turning_moving(const TurningPlan *plan);

/* Watches them along a run. Lives in the heap. */
Turning *turning_new(Heap *heap, View *view, const TurningPlan *plan);

/* Begins at a point, or goes on after an event. */
void turning_begin(Turning *turning, double t, const double *y);

/* Where that was. */
double turning_origin(const Turning *turning);

/* Is a matrix singular just where the run begins, or goes on after an event? At the latter entries may be as small as round-off for a moment, as
 * those of what begins to move. */
bool turning_at_start(Turning *turning, bool is_event, TurningPoint *point);

/* The same of any point, without a run. */
bool turning_is_singular(Heap *heap, Evaluator *evaluator, const TurningPlan *plan, double t, const double *y,
                         TurningPoint *point);

typedef enum TurningStatus {
  TURNING_NONE,
  TURNING_SUSPECT, /* a determinant may be zero since the last look: turning_follow tells. *point is where it is on the way of the run, if that is known */
  TURNING_POINT,   /* *point is singular, in the last step or close to it, and the first one there */
  TURNING_JUMP,    /* the determinant of a block changed its sign, but not through zero: it jumped, or was infinite */
  TURNING_ASTRAY,  /* the same, and a follower keeps its sign: the run went over to another solution, before *point */
  TURNING_SMALL,   /* it is nearly zero in the last step */
} TurningStatus;

/* Looks at the end of a step: with small blocks always, with large ones at every tenth, or if it is the last
 * before an event or the end. The segment has the values within the step. TURNING_NONE, or TURNING_SUSPECT with point->found, which is INFINITY where
 * the way of the run does not tell, or TURNING_POINT where the run begins. One evaluation of the watched entries and one factorization in most cases. */
TurningStatus turning_watch(Turning *turning, const Segment *segment, double t, const double *y, bool last,
                            TurningPoint *point);

/* Follows the suspects of the last look, at t. Some may take as long as the run so far. */
TurningStatus turning_follow(Turning *turning, double t, const double *y, double stop, TurningPoint *point);

/* The last step is taken again: forgets the look at its end. */
void turning_go_back(Turning *turning);

/* After a step from t that failed for every step size: is that because of a singular point? */
bool turning_explain(Turning *turning, double t, double stop, TurningPoint *point);
