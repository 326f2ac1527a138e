/* looks: the first event within the last step, found by looks at the continuous output: as close as the speeds of the conditions ask for, and
 * closer where one turns near its edge, as it may pass it and come back between two looks. */
#include "constants.h"
#include "solver.h"

#include <math.h>
#include <string.h>

enum { DIG_LIMIT = 24 };

/* Looks are at least this part of a step apart, and at most that. */
static const double NEAREST_LOOKS = 1.0 / 1024, FARTHEST_LOOKS = 1.0 / 4;

/* What turns before an event is looked for when that is known to this part of a step. */
static const double NEAR_ENOUGH = 1e-4;

/* A condition whose columns only the equations tell is followed if a cubic misses no more than this part of what it varies by in a step, or if it stays so many times
 * that from its edge. */
static const double FOLLOWED = 0.05, AWAY = 2;

/* Margins of the modes at the last look and the two before. */
typedef struct Looks {
  double t_previous, t_last, t;
  double *previous, *last, *now;
  double *pace; /* largest speed of the margins between two looks */
} Looks;

/* There is no event up to low, and one at high. */
typedef struct Bracket {
  double low, high;
} Bracket;

int looks_point(Solver *solver, double t, double *y) {
  radau_interpolate(solver, t, y);
  return slides_complete(solver, t, y, 1) != SOLVER_OK;
}

static int has_left_edge(const Solver *solver) {
  int mode;
  return edges_leaving(&solver->edges, &mode) > STUCK;
}

int looks_is_over(Solver *solver, double t) {
  if (looks_point(solver, t, solver->event_y) || !edges_evaluate(&solver->edges, t, solver->event_y)) return 0;
  return edges_first_contradiction(&solver->edges) >= 0 || has_left_edge(solver);
}

static double step_size(const Solver *solver) { return solver->now->step_end - solver->now->step_begin; }

static void fill_margins(const Solver *solver, double *margin) {
  for (int m = 0; m < solver->model->modes; m++) margin[m] = events_indicator(solver, m);
}

/* ---- where margins turn ---- */

/* A margin at a time. */
typedef struct Look {
  double t, margin;
} Look;

/* The margin of mode m has a least value between two looks, near the one in the middle: looks there until something is over, or the margin is so much larger than what it
 * still changes by that it cannot be. */
static int dig(Solver *solver, int m, Look left, Look middle, Look right, Bracket *found) {
  const double golden = 0.38196601125010515;
  Look inner[2] = {{left.t + golden * (right.t - left.t), 0}, {right.t - golden * (right.t - left.t), 0}};
  int fresh = 2; /* the inner looks to take: both, or the one of this index */
  for (int k = 0; k < DIG_LIMIT; k++) {
    for (int i = 0; i < 2; i++) {
      if (fresh != 2 && fresh != i) continue;
      *found = (Bracket){left.t, inner[i].t};
      if (looks_is_over(solver, inner[i].t)) return 1;
      inner[i].margin = events_indicator(solver, m);
    }
    fresh = inner[1].margin < inner[0].margin;
    double least = inner[fresh].margin;
    if (left.t < middle.t && middle.t < right.t) least = fmin(least, middle.margin);
    if (!(least < 0.5 * (fmax(left.margin, right.margin) - least))) return 0;
    *(fresh ? &left : &right) = inner[1 - fresh];
    inner[1 - fresh] = inner[fresh];
    inner[fresh].t = fresh ? right.t - golden * (right.t - left.t) : left.t + golden * (right.t - left.t);
  }
  return 0;
}

/* Does the rate at the beginning of the step lead the difference over its edge before t? */
static int sets_out_over(const Solver *solver, int m, double t) {
  double led = solver->edges.place[m].before + solver->edges.rate[m] * (t - solver->now->step_begin);
  return edges_margin(&solver->edges, m, led) < 0;
}

/* Does a margin that turns around the last but one look come near enough to its edge to have passed it? By the largest speed, and by the slopes
 * on both sides, each of which may go on into the stretch on the other side. */
static int turns_near(const Solver *solver, const Looks *looks, int m) {
  double now = looks->now[m], last = looks->last[m], previous = looks->previous[m];
  if (!isfinite(last) || last < 0 || last > now || last > previous) return 0;
  double left = looks->t_last - looks->t_previous, right = looks->t - looks->t_last;
  double speed = fmax(solver->edges.history[m].speed, looks->pace[m]);
  if (previous + last < speed * left || last + now < speed * right) return 1;
  if (left > 0 && right > 0)
    return last < 0.5 * fmax((now - last) * fmax(1, left / right), (previous - last) * fmax(1, right / left));
  return left == 0 && sets_out_over(solver, m, looks->t);
}

static int dig_where_turning(Solver *solver, const Looks *looks, Bracket *found) {
  for (int m = 0; m < solver->model->modes; m++) {
    if (!turns_near(solver, looks, m)) continue;
    Look left = {looks->t_previous, looks->previous[m]}, right = {looks->t, looks->now[m]};
    if (dig(solver, m, left, (Look){looks->t_last, looks->last[m]}, right, found)) return 1;
  }
  return 0;
}

/* As if the step ended at the last look. */
static Looks ended(const Looks *looks) {
  Looks at_end = *looks;
  if (looks->t > looks->t_last) {
    at_end.previous = looks->last;
    at_end.t_previous = looks->t_last;
  }
  at_end.last = looks->now;
  at_end.t_last = looks->t;
  return at_end;
}

/* ---- along the step ---- */

static double next_look(const Solver *solver, double t) {
  double step = step_size(solver), end = solver->now->step_end, safe = HUGE_VAL;
  for (int m = 0; m < solver->model->modes; m++) safe = fmin(safe, events_safe_time(solver, m));
  double next = t + fmin(fmax(safe, NEAREST_LOOKS * step), FARTHEST_LOOKS * step);
  return next > t && next + 0.25 * NEAREST_LOOKS * step < end ? next : end;
}

static void shift(const Solver *solver, Looks *looks) {
  double *swap = looks->previous;
  for (int m = 0; m < solver->model->modes; m++)
    looks->pace[m] = fmax(looks->pace[m], fabs(looks->now[m] - looks->last[m]) / (looks->t - looks->t_last));
  looks->previous = looks->last;
  looks->last = looks->now;
  looks->now = swap;
  looks->t_previous = looks->t_last;
  looks->t_last = looks->t;
}

static Looks begin_looks(Solver *solver) {
  size_t modes = (size_t)solver->model->modes;
  double t = solver->now->step_begin, *margins = solver->margins;
  Looks looks = {t, t, t, margins, margins + modes, margins + 2 * modes, margins + 3 * modes};
  if (solver->edges.now->slides) looks_point(solver, t, solver->event_y); /* the weights there */
  for (size_t m = 0; m < modes; m++) solver->edges.difference[m] = solver->edges.place[m].before;
  memset(looks.pace, 0, modes * sizeof(double));
  fill_margins(solver, looks.last);
  memcpy(looks.previous, looks.last, modes * sizeof(double));
  return looks;
}

/* Any event of the step. */
static int look_along(Solver *solver, Looks *looks, Bracket *found) {
  while (looks->t_last < solver->now->step_end) {
    looks->t = next_look(solver, looks->t_last);
    *found = (Bracket){looks->t_last, looks->t};
    if (looks_is_over(solver, looks->t)) return 1;
    fill_margins(solver, looks->now);
    if (dig_where_turning(solver, looks, found)) return 1;
    if (looks->t == solver->now->step_end) break;
    shift(solver, looks);
  }
  Looks at_end = ended(looks);
  return dig_where_turning(solver, &at_end, found);
}

static void bisect(Solver *solver, double near, Bracket *found) {
  for (int k = 0; k < LOCATE_LIMIT && found->high - found->low > 2 * near; k++) {
    double middle = found->low + (found->high - found->low) / 2;
    if (!(middle > found->low && middle < found->high)) break;
    *(looks_is_over(solver, middle) ? &found->high : &found->low) = middle;
  }
}

/* Something else may have changed and changed back before what was found. */
static int dig_before(Solver *solver, const Looks *looks, Bracket *found) {
  Looks at = *looks;
  Bracket earlier;
  at.t = found->low;
  if (!(at.t > at.t_previous)) return 0;
  looks_is_over(solver, at.t);
  fill_margins(solver, at.now);
  Looks at_end = ended(&at);
  int is_found =
      (at.t > at.t_last && dig_where_turning(solver, &at, &earlier)) || dig_where_turning(solver, &at_end, &earlier);
  if (is_found) *found = earlier;
  return is_found;
}

static int may_hide(const Solver *solver) {
  for (int m = 0; m < solver->model->modes; m++)
    if (edges_may_hide(&solver->edges, m, step_size(solver))) return 1;
  return solver->edges.now->slides > 0;
}

/* ---- conditions that follow more than the states ---- */

/* Parts of a step at which columns are known, and others, far from these, at which they are solved for. */
enum { KNOWN = 4, CHECKS = 3 };
static const double NODE[KNOWN] = {0, 0.15505102572168219018, 0.64494897427831780982, 1};
static const double CHECK[CHECKS] = {0.07, 0.4, 0.87};

/* The columns at a node of the last step behind its beginning. */
static const double *columns_at(const Solver *solver, int node) {
  return solver->step_y + (node - 1) * solver->model->columns;
}

/* Solves for the columns at a part of the last step, and looks at the conditions there. */
static int solve_part(Solver *solver, double part) {
  double t = solver->now->step_begin + part * step_size(solver);
  return looks_point(solver, t, solver->event_y) || !edges_evaluate(&solver->edges, t, solver->event_y);
}

/* The differences at the nodes, in the room for margins. */
static int sample_nodes(Solver *solver) {
  size_t modes = (size_t)solver->model->modes;
  for (size_t m = 0; m < modes; m++) solver->margins[m] = solver->edges.place[m].before;
  for (int i = 1; i < KNOWN; i++) {
    double t = solver->now->step_begin + NODE[i] * step_size(solver);
    if (solver->model->states ? !edges_evaluate(&solver->edges, t, columns_at(solver, i)) : solve_part(solver, NODE[i]))
      return 1;
    memcpy(solver->margins + (size_t)i * modes, solver->edges.difference, modes * sizeof(double));
  }
  return 0;
}

static int is_unrated(const Solver *solver, int m) {
  return !solver->model->mode[m].has_rate && !solver->model->mode[m].is_timed;
}

/* How fast differences without a rate are between the nodes: looks go by that. */
static void note_speeds(Solver *solver) {
  int modes = solver->model->modes;
  for (int m = 0; m < modes; m++)
    for (int i = 1; i < KNOWN && is_unrated(solver, m); i++) {
      double way = edges_size(solver->margins[i * modes + m] - solver->margins[(i - 1) * modes + m]);
      double *speed = &solver->edges.history[m].speed;
      *speed = fmax(*speed, way / ((NODE[i] - NODE[i - 1]) * step_size(solver)));
    }
}

/* What the cubic through the nodes misses of the last difference of mode m, at a part of the step, as a part of what the difference varies by.
 * One that stays far from its edge for what it varies by may do what it likes. */
static double missed_at(const Solver *solver, double part, int m) {
  double now = solver->edges.difference[m], sum = 0, least = now, most = now;
  for (int i = 0; i < KNOWN; i++) {
    double weight = 1, value = solver->margins[i * solver->model->modes + m];
    for (int j = 0; j < KNOWN; j++)
      if (j != i) weight *= (part - NODE[j]) / (NODE[i] - NODE[j]);
    sum += weight * value;
    least = fmin(least, value);
    most = fmax(most, value);
  }
  double range = most - least, missed = fabs(sum - now);
  double margin = fmin(edges_margin(&solver->edges, m, least), edges_margin(&solver->edges, m, most));
  int is_far = margin > AWAY * (range + missed);
  return is_far || missed <= solver->now->tolerance * solver->edges.difference[solver->model->modes + m]
             ? 0
             : missed / range;
}

/* The most that is missed of a condition without a rate: the error of the step does not tell how well its columns are followed. 1 where they
 * cannot be solved for. */
static double most_missed(Solver *solver) {
  double most = 0;
  if (sample_nodes(solver)) return 1;
  note_speeds(solver);
  for (int c = 0; c < CHECKS; c++) {
    if (solve_part(solver, CHECK[c])) return 1;
    for (int m = 0; m < solver->model->modes; m++)
      if (is_unrated(solver, m)) most = fmax(most, missed_at(solver, CHECK[c], m));
  }
  return most;
}

double looks_growth(Solver *solver) {
  int any = 0;
  for (int m = 0; m < solver->model->modes; m++) any |= is_unrated(solver, m);
  double missed = any ? most_missed(solver) : 0;
  return missed > 0 ? fmax(0.9 * pow(FOLLOWED / missed, 0.25), 0.25)
                    : HUGE_VAL; /* a cubic misses by the fourth power */
}

double looks_locate(Solver *solver, int *found) {
  const Scalars *now = solver->now;
  Bracket bracket;
  *found = 0;
  if (!edges_evaluate(&solver->edges, now->step_end, solver->y)) return now->step_end;
  edges_rest(&solver->edges, now->step_end, solver->y);
  if (!may_hide(solver)) return now->step_end;
  Looks looks = begin_looks(solver);
  *found = look_along(solver, &looks, &bracket);
  if (!*found) return now->step_end;
  for (int k = 0; k < DIG_LIMIT; k++) {
    bisect(solver, NEAR_ENOUGH * step_size(solver), &bracket);
    if (!dig_before(solver, &looks, &bracket)) break;
  }
  bisect(solver, 1e-15 * step_size(solver) + 2e-16 * fabs(now->step_begin), &bracket);
  return bracket.high;
}
