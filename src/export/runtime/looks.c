/* looks: the conditions inside of the last step, and its first event (search.h). */
#include "constants.h"
#include "solver.h"

#include <math.h>

int looks_point(Solver *solver, double t, double *y) {
  steps_interpolate(solver, t, y);
  return slides_complete(solver, t, y, STATES_NEXT) != SOLVER_OK;
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

/* May a step go over a whole turn of a condition's difference? Nothing tells how fast one without a rate is, and weights of edges. */
static int may_hide(const Solver *solver) {
  const Model *model = solver->model;
  for (int m = 0; m < model->modes; m++)
    if (!model->mode[m].has_rate && !model->mode[m].is_timed) return 1;
  return solver->edges.now->slides || !edges_are_far(&solver->edges, step_size(solver));
}

/* Does the rate of a margin at an end of the step lead over its edge inside of it? Samples do not see a margin that leaves its range and comes back right beside an
 * end. `inwards` is 1 at the beginning, -1 at the end. *t: a time at which a margin is negative then. */
static int looks_beside(Solver *solver, double end, const double *y, double inwards, double *t) {
  const Model *model = solver->model;
  Edges *edges = &solver->edges;
  double step = step_size(solver), least = inwards * SLIVER * step;
  edges_evaluate(edges, end, y);
  program_run(solver, model->rates, end, y, solver->values);
  for (int m = 0; m < model->modes; m++) {
    if (!model->mode[m].has_rate || model->mode[m].is_timed) continue;
    double difference = edges->difference[m], margin = edges_margin(edges, m, difference);
    double fall = margin - edges_margin(edges, m, difference + least * solver->values[m]);
    double way = (1 + MINOR) * least * margin / fall;
    if (!(fall > 0) || !(fabs(way) < step)) continue;
    *t = end + way;
    if (!looks_point(solver, *t, solver->event_y)) edges_evaluate(edges, *t, solver->event_y);
    if (edges_margin(edges, m, edges->difference[m]) < 0) return 1;
    edges_evaluate(edges, end, y);
  }
  return 0;
}

static int looks_beside_ends(Solver *solver, double *t) {
  const Scalars *now = solver->now;
  if (!solver->model->rates || solver->edges.now->slides) return 0;
  return looks_beside(solver, now->step_begin, solver->begin, 1, t) ||
         looks_beside(solver, now->step_end, solver->y, -1, t);
}

double looks_locate(Solver *solver, int *found) {
  const Scalars *now = solver->now;
  Edges *edges = &solver->edges;
  Watched watched = {.context = solver, .count = (uint32_t)edges->count, .step = step_size(solver), .look = look_at};
  Search search = search_make(watched.count, solver->margins);
  Bracket bracket = {now->step_begin, now->step_end};
  if (!edges->now->slides) watched.peek = peek_at;
  *found = 0;
  edges_evaluate(edges, now->step_end, solver->y);
  edges_rest(edges, now->step_end, solver->y);
  if (!may_hide(solver)) return now->step_end;
  edges_keep_end(edges, step_size(solver));
  *found = search_find(&search, &watched, bracket, 0, &bracket);
  if (!*found && looks_beside_ends(solver, &bracket.high)) {
    bracket.low = now->step_begin;
    *found = 1;
  }
  if (!*found) return now->step_end;
  search_locate(&search, &watched, &bracket);
  return bracket.high;
}
