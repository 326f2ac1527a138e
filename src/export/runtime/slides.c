/* slides: all columns from the states, also on edges along which the solution slides: there they are the mean of those of the corners. */
#include "solver.h"

#include <string.h>

/* The most edges that a solution slides along. */
int slides_limit(const Model *model) { return model->modes < SLIDE_LIMIT ? model->modes : SLIDE_LIMIT; }

static SolverStatus solve_corner(Solver *solver, int corner, double t, double *y) {
  edges_set_corner(&solver->edges, corner);
  return states_solve(solver, t, y, 0);
}

/* States are the same at all corners. */
static SolverStatus mean_of_corners(Solver *solver, double t, double *y) {
  Edges *edges = &solver->edges;
  int columns = solver->model->columns;
  for (int corner = 0; corner <= edges->now->slides; corner++) {
    double *own = solver->corners + corner * columns;
    memcpy(own, y, (size_t)columns * sizeof(double));
    SolverStatus status = solve_corner(solver, corner, t, own);
    if (status != SOLVER_OK) return status;
    edges_keep_corner(edges, corner, t, own);
  }
  edges_mean(edges, solver->corners, columns, y);
  return SOLVER_OK;
}

SolverStatus slides_complete(Solver *solver, double t, double *y, int is_following) {
  return solver->edges.now->slides ? mean_of_corners(solver, t, y) : states_solve(solver, t, y, is_following);
}

/* Where the rates of several modes do not add up, no mean of the corners is known to be what the solution does: only the first slides. */
static SolverStatus slide_if_sum(Solver *solver, double t, double *y) {
  Edges *edges = &solver->edges;
  int all = edges->now->slides + 1;
  if (all <= 2) return SOLVER_OK;
  if (solve_corner(solver, all, t, y) != SOLVER_OK || !edges_add_up(edges, t, y)) edges_slide_first(edges, 1);
  return mean_of_corners(solver, t, y);
}

int slides_begin(Solver *solver, double t, double *y, int *more) {
  Edges *edges = &solver->edges;
  *more = edges_slide(edges);
  if (!*more) return 0;
  int is_solved = mean_of_corners(solver, t, y) == SOLVER_OK && slide_if_sum(solver, t, y) == SOLVER_OK;
  if (!is_solved) edges_slide_first(edges, 0);
  while (!is_solved || !edges_leads_back(edges)) {
    if (slides_complete(solver, t, y, 0) != SOLVER_OK) return 1;
    is_solved = 1;
  }
  *more = edges->now->slides > 0;
  return 0;
}
