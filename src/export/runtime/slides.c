/* slides: solutions that stay on edges of conditions, since the equations on either side lead back to them.
 *
 * The columns are the mean of those of both modes that keeps the difference where it is (Filippov 1988, chapter 2). On several edges at once the
 * modes add up: a corner is all of them below their edges, or one of them above, and the columns are the mean of those of the corners that
 * keeps all differences where they are. */
#include "solver.h"

#include <math.h>
#include <string.h>

/* A rate jumps on the edge itself: nearer to it than this part of the way of a step, and by so much that it would make that part of the way in
 * the step. Rates at a corner are the sum of what each mode does alone, but for the last part. */
static const double JUMP = 1e-3, ADDS_UP = 1e-6;

/* The most edges that a solution slides along. */
int slides_limit(const Model *model) { return model->modes < SLIDE_LIMIT ? model->modes : SLIDE_LIMIT; }

const Slide *slides_of(const Solver *solver, int m) {
  int k = solver->slides_with[m];
  return k ? &solver->now->slide[k - 1] : 0;
}

double slides_inside(const Slide *slide) { return fmin(slide->weight, 1 - slide->weight); }

/* ---- sides of an edge ---- */

/* Sets all modes of the k-th slide to their values above its edge, or below. */
static void set_side(Solver *solver, int k, int is_above) {
  const ModelMode *mode = solver->model->mode, *first = &mode[solver->now->slide[k].mode];
  for (int m = 0; m < solver->model->modes; m++) {
    if (solver->slides_with[m] != k + 1) continue;
    int is_up = is_above == (mode[m].is_mirrored == first->is_mirrored);
    *modes_at(solver, m) = condition_value(mode[m].kind, modes_nearest(solver, m) + (is_up ? 0.5 : -0.5));
  }
}

/* ---- corners ---- */

/* Sets the modes that slide to those of a corner: 0 is all below, k all below but the k-th, and `slides` + 1 all above. */
static void set_corner(Solver *solver, int corner) {
  int slides = solver->now->slides;
  for (int k = 0; k < slides; k++) set_side(solver, k, corner == k + 1 || corner > slides);
}

/* All rates are zero: a linear system of the weights. */
static void weigh(Solver *solver) {
  Scalars *now = solver->now;
  double matrix[SLIDE_LIMIT * SLIDE_LIMIT], weight[SLIDE_LIMIT];
  int n = now->slides, pivot[SLIDE_LIMIT];
  for (int i = 0; i < n; i++) {
    const double *rate = now->slide[i].rate;
    for (int j = 0; j < n; j++) matrix[i + j * n] = rate[0] - rate[j + 1];
    weight[i] = rate[0];
  }
  int is_singular = lu_factor(n, matrix, pivot);
  if (!is_singular) lu_solve(n, matrix, pivot, weight);
  for (int k = 0; k < n; k++) now->slide[k].weight = is_singular ? 0.5 : weight[k];
}

/* The columns at a corner, and the rates of the modes that slide there. */
static SolverStatus solve_corner(Solver *solver, int corner, double t, double *y) {
  Scalars *now = solver->now;
  set_corner(solver, corner);
  SolverStatus status = states_solve(solver, t, y, 0);
  if (status != SOLVER_OK) return status;
  modes_rates(solver, t, y);
  for (int k = 0; k < now->slides && corner <= now->slides; k++)
    now->slide[k].rate[corner] = solver->rate[now->slide[k].mode];
  return SOLVER_OK;
}

/* States are the same at all corners. */
static SolverStatus mean_of_corners(Solver *solver, double t, double *y) {
  Scalars *now = solver->now;
  int columns = solver->model->columns;
  double rest = 1;
  for (int corner = 0; corner <= now->slides; corner++) {
    double *own = solver->corners + corner * columns;
    memcpy(own, y, (size_t)columns * sizeof(double));
    SolverStatus status = solve_corner(solver, corner, t, own);
    if (status != SOLVER_OK) return status;
  }
  weigh(solver);
  for (int k = 0; k < now->slides; k++) rest -= now->slide[k].weight;
  for (int q = 0; q < columns; q++) {
    y[q] = rest * solver->corners[q];
    for (int k = 1; k <= now->slides; k++) y[q] += now->slide[k - 1].weight * solver->corners[k * columns + q];
  }
  return SOLVER_OK;
}

SolverStatus slides_complete(Solver *solver, double t, double *y, int is_following) {
  return solver->now->slides ? mean_of_corners(solver, t, y) : states_solve(solver, t, y, is_following);
}

/* ---- beginning ---- */

/* Did the mode go to and fro on its edge? */
static int is_torn(const Solver *solver, int m) {
  int changes = solver->changes[m];
  if (changes < CHANGE_LIMIT || changes == LED_AWAY || !solver->model->mode[m].has_rate) return 0;
  return solver->slid[m] || fabs(solver->difference[m] - modes_nearest(solver, m)) <= ON_EDGE * modes_way(solver, m);
}

static void add(Solver *solver, int first) {
  Scalars *now = solver->now;
  now->slide[now->slides++] = (Slide){.mode = first, .weight = 0.5};
  for (int m = 0; m < solver->model->modes; m++)
    if (!slides_of(solver, m) && modes_share_edge(solver, first, m)) solver->slides_with[m] = now->slides;
}

static int add_torn(Solver *solver) {
  int before = solver->now->slides;
  for (int m = 0; m < solver->model->modes && solver->now->slides < SLIDE_LIMIT; m++)
    if (!slides_of(solver, m) && is_torn(solver, m)) add(solver, m);
  return solver->now->slides > before;
}

/* The modes of the k-th no longer slide; those behind it are one nearer to the first. */
static void drop(Solver *solver, int k) {
  Scalars *now = solver->now;
  now->slides--;
  memmove(&now->slide[k], &now->slide[k + 1], (size_t)(now->slides - k) * sizeof(Slide));
  for (int m = 0; m < solver->model->modes; m++) {
    int own = solver->slides_with[m];
    if (own > k) solver->slides_with[m] = own == k + 1 ? 0 : own - 1;
  }
}

/* The modes of the k-th are as their last differences say. */
static void set_as_they_are(Solver *solver, int k) {
  for (int m = 0; m < solver->model->modes; m++)
    if (solver->slides_with[m] == k + 1)
      *modes_at(solver, m) = condition_value(solver->model->mode[m].kind, solver->difference[m]);
}

/* The modes of the k-th do not slide until the event of now is over. Those that change nothing went to and fro with others, and go where these
 * lead them. */
static void lead_away(Solver *solver, int k, int are_led) {
  for (int m = 0; m < solver->model->modes; m++)
    if (solver->slides_with[m] == k + 1) solver->changes[m] = are_led ? 0 : LED_AWAY;
}

/* Slides only along so many of the edges. */
static void slide_first(Solver *solver, int count) {
  while (solver->now->slides > count) {
    int last = solver->now->slides - 1;
    set_as_they_are(solver, last);
    lead_away(solver, last, 0);
    drop(solver, last);
  }
}

/* Do the rates at the corner all above follow from those at the others? */
static int adds_up(const Solver *solver) {
  const Scalars *now = solver->now;
  for (int i = 0; i < now->slides; i++) {
    const double *rate = now->slide[i].rate;
    double off = solver->rate[now->slide[i].mode] - rate[0], size = fabs(off);
    for (int k = 1; k <= now->slides; k++) {
      off -= rate[k] - rate[0];
      size += fabs(rate[k] - rate[0]);
    }
    if (fabs(off) > ADDS_UP * size) return 0;
  }
  return 1;
}

/* Where the rates of several modes do not add up, no mean of the corners is known to be what the solution does: only the first slides. */
static SolverStatus slide_if_sum(Solver *solver, double t, double *y) {
  int all = solver->now->slides + 1;
  if (all <= 2) return SOLVER_OK;
  if (solve_corner(solver, all, t, y) != SOLVER_OK || !adds_up(solver)) slide_first(solver, 1);
  return mean_of_corners(solver, t, y);
}

/* Do the rates jump, and lead back from both sides? If not, the modes of which that is not so no longer slide, and are as they lead. */
static int leads_back(Solver *solver) {
  Scalars *now = solver->now;
  int all = 1;
  for (int k = now->slides - 1; k >= 0; k--) {
    Slide slide = now->slide[k];
    double jump = slide.rate[k + 1] - slide.rate[0];
    int m = slide.mode;
    solver->jumps[m] = jump != 0 && (solver->slid[m] || fabs(jump) * now->came >= JUMP * modes_way(solver, m));
    if (solver->jumps[m] && slide.weight > 0 && slide.weight < 1) continue;
    int has_others = now->slides > 1;
    if (has_others && solver->jumps[m] && jump < 0) set_side(solver, k, slide.weight > 0.5);
    else set_as_they_are(solver, k);
    if (has_others) lead_away(solver, k, jump == 0);
    drop(solver, k);
    all = 0;
  }
  return all;
}

int slides_begin(Solver *solver, double t, double *y, int *more) {
  *more = add_torn(solver);
  if (!*more) return 0;
  int is_solved = mean_of_corners(solver, t, y) == SOLVER_OK && slide_if_sum(solver, t, y) == SOLVER_OK;
  if (!is_solved) slide_first(solver, 0);
  while (!is_solved || !leads_back(solver)) {
    if (slides_complete(solver, t, y, 0) != SOLVER_OK) return 1;
    is_solved = 1;
  }
  *more = solver->now->slides > 0;
  return 0;
}

/* ---- the end ---- */

void slides_leave(Solver *solver) {
  for (int k = 0; k < solver->now->slides; k++) set_side(solver, k, solver->now->slide[k].weight > 0.5);
  for (int m = 0; m < solver->model->modes && solver->now->slides; m++) {
    if (!slides_of(solver, m)) continue;
    solver->slid[m] = 1;
    solver->at[m] = solver->difference[m];
  }
  slides_forget(solver);
}

void slides_forget(Solver *solver) {
  while (solver->now->slides) drop(solver, solver->now->slides - 1);
}
