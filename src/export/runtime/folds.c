/* folds: messages about jumps over folds, and the watch over the branch of the solution. */
#include "constants.h"
#include "solver.h"

#include <math.h>
#include <stdio.h>

static const char *name_of(const Model *model, int column) {
  for (int v = 0; v < model->variables; v++)
    if (model->variable[v].kind == VARIABLE_COLUMN && model->variable[v].index == column)
      return model->variable[v].name;
  return "a variable";
}

static void report(Solver *solver, const Fold *fold) {
  char text[MESSAGE_ROOM];
  snprintf(text, sizeof text,
           "warning: at time %.10g the branch of the solution ends at a corner of the equations: %s jumps from %.6g to "
           "%.6g, the next point on the curve of solutions after the fold",
           fold->time, name_of(solver->model, (int)fold->column), fold->before[fold->column],
           fold->after[fold->column]);
  if (solver->report && !solver->now->has_folded) solver->report(solver->context, text);
  solver->now->has_folded = 1;
}

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
           at.t, name_of(solver->model, farthest(solver, at.y)));
  solver->report(solver->context, text);
}

/* Does the step end on the branch of the solution on which it began? If the sign of a determinant changes, the step has passed a
 * singular point, where solutions may branch. Steps may pass a fold by their errors before the next one finds it, so the sign counts
 * only if it stays. */
static void watch(Solver *solver, const StepEnd *end) {
  Scalars *now = solver->now;
  const Steps *steps = &solver->steps;
  if (!steps->kinks) return;
  ConstMoment at = {end->t, end->is_event ? steps->y : steps->segment->end};
  double sign = steps->folds->sign(solver->heap, steps->system, at);
  bool is_other = now->sign * sign < 0;
  if (!is_other || !now->is_other) now->other_since = at.t;
  now->is_other = is_other;
  if (at.t - now->other_since > NEGLIGIBLE * steps_span(steps)) report_sign(solver, at);
  if (now->sign == 0) now->sign = sign;
}

const SolverFolds solver_folds = {&folds, report, watch};
