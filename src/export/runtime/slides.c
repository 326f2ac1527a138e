/* slides: computes all columns from the states, also on edges along which the solution slides: there they are the mean of those at
 * the corners. */
#include "solver.h"

#include <string.h>

/* The most edges along which a solution slides. */
int slides_limit(const Model *model) { return model->modes < SLIDE_LIMIT ? model->modes : SLIDE_LIMIT; }

SolverStatus slides_solve_corner(Solver *solver, int corner, double t, double *y) {
  edges_set_corner(&solver->edges, corner);
  return states_solve(solver, t, y, STATES_ANY);
}

/* States are the same at all corners. */
static SolverStatus mean_of_corners(Solver *solver, double t, double *y) {
  Edges *edges = &solver->edges;
  int columns = solver->model->columns;
  for (int corner = 0; corner <= edges->now->slides; corner++) {
    double *own = solver->corners + corner * columns;
    memcpy(own, y, (size_t)columns * sizeof(double));
    SolverStatus status = slides_solve_corner(solver, corner, t, own);
    if (status != SOLVER_OK) return status;
    edges_keep_corner(edges, corner, t, own);
  }
  return edges_mean(edges, solver->corners, columns, y) ? SOLVER_OK : SOLVER_DOMAIN;
}

SolverStatus slides_complete(Solver *solver, double t, double *y, StatesGoal goal) {
  return solver->edges.now->slides ? mean_of_corners(solver, t, y) : states_solve(solver, t, y, goal);
}
