/* folds: messages about jumps over folds. */
#include "solver.h"

#include <stdio.h>

const char *folds_name(const Model *model, int column) {
  for (int v = 0; v < model->variables; v++)
    if (model->variable[v].kind == VARIABLE_COLUMN && model->variable[v].index == column)
      return model->variable[v].name;
  return "a variable";
}

void folds_report(Solver *solver, const Fold *fold) {
  char text[MESSAGE_ROOM];
  snprintf(text, sizeof text,
           "warning: at time %.10g the branch of the solution ends at a corner of the equations: %s jumps from %.6g to "
           "%.6g, the next point on the curve of solutions after the fold",
           fold->time, folds_name(solver->model, (int)fold->column), fold->before[fold->column],
           fold->after[fold->column]);
  if (solver->report && !solver->now->has_folded) solver->report(solver->context, text);
  solver->now->has_folded = 1;
}
