/* turning: watches the Jacobians of the blocks along a run. Where one gets singular the solution turns back,
 * branches or changes its index; no method may pass such a point in silence.
 *
 * A determinant that changes its sign, or that runs down to zero, makes a suspect. From a point before, the
 * suspect is followed with a tight tolerance, and the time is extrapolated as a function of the determinant:
 * that function is smooth at a fold (t* - t ~ det^2) as well as at a plain crossing (t* - t ~ det), though
 * the solution itself is not. Only a time on which extrapolations of two orders agree is a singular point; a
 * determinant that merely gets small is not.
 */
#ifndef DAEDAL_SOLVE_TURNING_H
#define DAEDAL_SOLVE_TURNING_H

#include "solve/view.h"

typedef struct Turning Turning;

typedef struct TurningPoint {
  double time;
  int32_t block, size, rank; /* rank of the block's matrix there */
  bool located;              /* false: somewhere in the step that ends at `time` */
} TurningPoint;

/* Watches the blocks of the view's structure whose matrices move; NULL if there are none. Lives in the
 * heap. */
Turning *turning_new(Heap *heap, View *view, const Structure *structure);

/* Begins at a point, or goes on behind an event. */
void turning_begin(Turning *turning, double t, const double *y);

/* Is a matrix singular just where the run begins? */
bool turning_at_start(Turning *turning, TurningPoint *point);

typedef enum TurningStatus {
  TURNING_NONE,
  TURNING_POINT, /* *point is singular: in the last step, or shortly behind it */
  TURNING_JUMP, /* a determinant changed its sign in the last step, but no zero of it was found: it jumped, or was infinite */
} TurningStatus;

/* Looks at the end of a step: with small blocks always, with large ones at every tenth, or if it is the last
 * before an event or the end. The integrator serves for values within the step. One evaluation of the watched
 * entries and one factorization in most cases. */
TurningStatus turning_watch(Turning *turning, const Integrator *integrator, void *self, double t, const double *y,
                            double stop, bool last, TurningPoint *point);

/* After a step that failed at t: is there a singular point ahead? */
bool turning_explain(Turning *turning, double t, double stop, TurningPoint *point);

#endif
