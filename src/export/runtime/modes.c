/* modes: what conditions are frozen in between events, as functions of the differences between their sides. */
#include "solver.h"

#include <math.h>

/* A difference beyond this comes of a constant that stands for infinity: it tells a side, but no size. */
static const double INFINITE = 1e50;

double *modes_at(const Solver *solver, int m) { return &solver->discretes[solver->model->first_mode + m]; }

/* The size of a difference as far as it tells one. */
double modes_size(double difference) { return fabs(difference) < INFINITE ? fabs(difference) : 0; }

void modes_rates(Solver *solver, double t, const double *y) {
  const Model *model = solver->model;
  if (!model->modes || !program_run(solver, model->rates, t, y, solver->rate)) return;
  for (int m = 0; m < model->modes; m++)
    if (!is_finite(solver->rate[m])) solver->rate[m] = 0;
}

double modes_nearest(const Solver *solver, int m) {
  return condition_edge(solver->model->mode[m].kind, solver->difference[m]);
}

double modes_way(const Solver *solver, int m) {
  return fmax(modes_size(solver->before[m]), modes_size(solver->end[m]));
}

/* Do the modes change at one edge, near to which their last differences are? */
int modes_share_edge(const Solver *solver, int a, int b) {
  const ModelMode *mode = solver->model->mode;
  if (mode[a].edge != mode[b].edge || mode[b].is_timed) return 0;
  double sign = mode[a].is_mirrored == mode[b].is_mirrored ? 1 : -1;
  return modes_nearest(solver, a) == sign * modes_nearest(solver, b);
}
