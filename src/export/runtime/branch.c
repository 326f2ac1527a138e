/* branch: the watch over the branch of the solution, for models with kinks. */
#include "constants.h"
#include "solver.h"

#include <math.h>
#include <stdio.h>

/* The column that the last step moves most, relative to its size. */
static int farthest(const Solver *solver, const double *y) {
  double most = 0;
  int column = 0;
  for (int q = 0; q < solver->model->columns; q++) {
    double way = fabs(y[q] - solver->begin[q]) / (fabs(solver->begin[q]) + solver->model->nominal[q]);
    if (way > most) most = way, column = q;
  }
  return column;
}

static void report_sign(Solver *solver, ConstMoment at) {
  char text[MESSAGE_ROOM];
  if (!solver->report || solver->now->has_branched) return;
  solver->now->has_branched = 1;
  snprintf(text, sizeof text,
           "warning: at time %.10g the equations were singular for an instant: %s and other variables may have left "
           "the branch of the solution",
           at.t, folds_name(solver->model, farthest(solver, at.y)));
  solver->report(solver->context, text);
}

/* The sign of the determinant; 0: it is singular. A solution may stay at a kink. If the determinant has another sign on each side of
 * it, this is not the only solution. */
static double sign_at(Solver *solver, ConstMoment at) {
  const Steps *steps = &solver->steps;
  double sign = steps->folds->sign(solver->heap, steps->system, at);
  bool is_at_kink = kinks_hold(steps->kinks, at.t, at.y);
  for (int side = -1; side <= 1 && is_at_kink; side += 2) {
    kinks_step_aside(steps->system, at.y, side, solver->stage_y);
    if (steps->folds->sign(solver->heap, steps->system, (ConstMoment){at.t, solver->stage_y}) != sign) return 0;
  }
  return sign;
}

/* Does the step end on the branch of the solution on which it began? If the sign of a determinant changes, the step has passed a
 * singular point, where solutions may branch. Steps may pass a fold by their errors before the next one finds it, so the sign counts
 * only if it stays, or at the end of the run. */
void branch_watch(Solver *solver, const StepEnd *end) {
  Scalars *now = solver->now;
  const Steps *steps = &solver->steps;
  ConstMoment at = {end->t, end->is_event ? steps->y : steps->segment->end};
  double sign = sign_at(solver, at);
  if (now->sign == 0) now->sign = sign;
  bool is_other = sign != now->sign;
  if (!is_other || !now->is_other) now->other_since = at.t;
  now->is_other = is_other;
  bool counts = at.t >= steps->stop || at.t - now->other_since > NEGLIGIBLE * steps_span(steps);
  if (is_other && counts) report_sign(solver, at);
}
