/* looks: the conditions inside the last step, and its first event (search.h). */
#include "constants.h"
#include "solver.h"

#include <math.h>

int looks_point(Solver *solver, double t, double *y) {
  steps_interpolate(solver, t, y);
  return states_solve(solver, t, y, STATES_NEXT) != SOLVER_OK;
}

static double step_size(const Solver *solver) { return solver->now->step_end - solver->now->step_begin; }

static void fill_margins(Solver *solver, double t, const double *y, double *margin) {
  edges_evaluate(&solver->edges, t, y);
  for (int m = 0; m < solver->model->modes; m++) margin[m] = events_indicator(solver, m);
}

static bool look_at(void *context, double t, double *margin) {
  Solver *solver = context;
  if (looks_point(solver, t, solver->event_y)) return false;
  fill_margins(solver, t, solver->event_y, margin);
  return true;
}

static bool peek_at(void *context, double t, double *margin) {
  Solver *solver = context;
  steps_interpolate(solver, t, solver->event_y);
  fill_margins(solver, t, solver->event_y, margin);
  return true;
}

/* May a step pass over a whole oscillation of a condition's difference? The speed of one without a rate, and of weights of edges,
 * is unknown. */
static int may_hide(const Solver *solver) {
  const Model *model = solver->model;
  for (int m = 0; m < model->modes; m++)
    if (!model->mode[m].has_rate && !model->mode[m].is_timed) return 1;
  return solver->edges.now->slides || !edges_are_far(&solver->edges, step_size(solver));
}

static Watched watch_modes(Solver *solver) {
  return (Watched){.context = solver,
                   .count = (uint32_t)solver->edges.count,
                   .step = step_size(solver),
                   .look = look_at,
                   .peek = solver->edges.now->slides ? 0 : peek_at,
                   .looks_beside = true};
}

int looks_find(Solver *solver, Bracket *bracket) {
  const Scalars *now = solver->now;
  Edges *edges = &solver->edges;
  Watched watched = watch_modes(solver);
  Search search = search_make(watched.count, solver->margins);
  *bracket = (Bracket){now->step_begin, now->step_end};
  edges_evaluate(edges, now->step_end, solver->y);
  edges_rest(edges, now->step_end, solver->y);
  if (!may_hide(solver)) return 0;
  edges_keep_end(edges, step_size(solver));
  return search_find(&search, &watched, *bracket, 0, bracket);
}

double looks_locate(Solver *solver, Bracket bracket) {
  Watched watched = watch_modes(solver);
  Search search = search_make(watched.count, solver->margins);
  double begin = solver->now->step_begin, middle = begin + (bracket.low - begin) / 2;
  if (middle > begin && (watched.peek ? watched.peek : watched.look)(solver, middle, search.solved))
    edges_note_peaks(&solver->edges, search.solved);
  search_locate(&search, &watched, &bracket);
  return bracket.high;
}
