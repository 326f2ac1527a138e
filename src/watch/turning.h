/* turning: watches the Jacobians of the blocks during a run. If one becomes singular, the solution turns back, branches or changes
 * its index. No method may pass such a point silently.
 *
 * A run stops only if the singularity is certain. A determinant is suspect if its sign changes between two accepted points, or if
 * values between them do not rule out that it touches zero. A follower, an integrator with a tight tolerance, then starts from an
 * earlier point. The point is singular in four cases. The follower's determinant changes its sign through zero. The determinant is
 * zero, except for round-off, at a converged point. The follower cannot continue with any step size while the determinant
 * vanishes. Or the determinant differs from zero only by the errors of the run. A determinant that is merely small gives a
 * warning. */
#pragma once

#include "view/view.h"
#include "watch/determinants.h"

typedef struct Turning Turning;

typedef struct TurningPoint {
  double time;               /* time at which the matrix is singular, extrapolated if that is more certain */
  double sound;              /* time of the last evaluation at or before it: later steps may have left the solution */
  int32_t block, size, rank; /* rank of the block's matrix there */
  double found;              /* time of the zero in the run, or where it was found */
} TurningPoint;

/* The blocks to watch: those whose matrices are not constant. */
typedef struct TurningPlan TurningPlan;

/* Makes the plan for an array with the blocks of `structure`; NULL if there are none to watch. Lives as long as the code. */
TurningPlan *turning_plan(ArrayCode *code, const Structure *structure);

/* The blocks that move; has no program if there are none. */
const DeterminantPlan *turning_moving(const TurningPlan *plan);

/* Makes the watch for one run, in the heap. */
Turning *turning_new(Heap *heap, View *view, const TurningPlan *plan);

/* Begins at a point, or continues after an event. */
void turning_begin(Turning *turning, double t, const double *y);

/* Call this if the solution rests at the point of the last turning_begin. Determinants that are small compared with those near
 * the point are then not examined until they grow. */
void turning_rest(Turning *turning);

/* The time of the last turning_begin. */
double turning_origin(const Turning *turning);

/* Is a matrix singular exactly where the run begins, or where it continues after an event? After an event, entries may be as small
 * as round-off for a moment, such as those of a part that begins to move. */
bool turning_at_start(Turning *turning, bool is_event, TurningPoint *point);

/* Is a matrix singular at this point? Needs no run. */
bool turning_is_singular(Heap *heap, Evaluator *evaluator, const TurningPlan *plan, double t, const double *y,
                         TurningPoint *point);

typedef enum TurningStatus {
  TURNING_NONE,
  TURNING_SUSPECT, /* a determinant may have been zero since the last evaluation: turning_follow decides. *point is where it is zero
                    * in the run, if that is known */
  TURNING_POINT,  /* *point is the first singular point in the last step or close to it */
  TURNING_JUMP,   /* the determinant of a block changed its sign, but not through zero: it jumped, or became infinite */
  TURNING_ASTRAY, /* the same, and a follower keeps its sign: the run moved to another solution before *point */
  TURNING_SMALL,  /* the determinant was nearly zero in the last step */
} TurningStatus;

/* Call this at the end of a step. Small blocks are evaluated every time, large ones at every tenth step and at the last one before
 * an event or the end. The segment has the values within the step. Returns TURNING_NONE; TURNING_SUSPECT, with point->found
 * (INFINITY if the run does not show it); or TURNING_POINT where the run begins. Costs one evaluation of the watched entries and
 * one factorization in most cases. */
TurningStatus turning_watch(Turning *turning, const Segment *segment, double t, const double *y, bool last,
                            TurningPoint *point);

/* Follows the suspects of the last evaluation, at t. This may take as long as the run so far. */
TurningStatus turning_follow(Turning *turning, double t, const double *y, double stop, TurningPoint *point);

/* Call this when the last step is repeated: forgets the evaluation at its end. */
void turning_go_back(Turning *turning);

/* After a step from t that failed for every step size: is that because of a singular point? */
bool turning_explain(Turning *turning, double t, double stop, TurningPoint *point);
