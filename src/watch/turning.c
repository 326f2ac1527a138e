/* turning: see turning.h. */
#include "watch/turning.h"

#include "core/constants.h"
#include "segment/kinks.h"
#include "watch/determinants.h"

#include <math.h>
#include <string.h>

enum { NODES = 8 }; /* number of values in an extrapolation */

/* A determinant over an interval of time. */
typedef struct DeterminantInterval {
  double left, right;       /* times */
  double at_left, at_right; /* determinants */
  double bend; /* how far the determinant may deviate from the chord between the ends, with a wide margin */
} DeterminantInterval;

/* The recent history of a determinant. */
typedef struct Trail {
  double times[3], values[3]; /* at the last three evaluations */
  double largest;             /* largest absolute value */
  double harmless;            /* the smallest value that was followed without finding a zero */
  double node[NODES],
      node_time[NODES]; /* falling values, the last one first; each is clearly below the value before it in time */
  int nodes;
  double at_rest;  /* up to this value the solution still rests, as it did at the beginning; -1: it did not rest */
  double middle;   /* value between the first two evaluations; NAN: unknown */
  bool is_suspect; /* the determinant may be zero between the last two evaluations: */
  DeterminantInterval near; /* an interval around that zero, as narrow as the columns of the run show */
} Trail;

typedef struct TimedColumns {
  double t;
  double *y;
} TimedColumns;

struct TurningPlan {
  DeterminantPlan moving, switched;
  int every; /* steps between two evaluations */
};

struct Turning {
  Heap *heap;
  View *view;
  const TurningPlan *plan;
  Determinants moving, switched; /* `switched` change at events only, and are evaluated there */
  Trail *trails;               /* the values of the moving determinants since the start of the run or its last event */
  double *inside;              /* columns at a point within a step */
  double *beside;              /* columns next to a kink */
  double *values, *sides[4];   /* all determinants: at a point, and next to a kink there */
  TimedColumns origin;         /* where the smooth part of the run began */
  TimedColumns behind, recent; /* two points of it; the first is far enough back for a follower to begin */
  TimedColumns looks[2];       /* points of the last two evaluations */
  TimedColumns followed;       /* where a follower was before its last attempt at a step */
  int unseen;                  /* steps since the last evaluation */
};

TurningPlan *turning_plan(ArrayCode *code, const Structure *structure) {
  TurningPlan *plan = heap_alloc(code->heap, sizeof *plan);
  plan->every = 1;
  determinant_plans(code, structure, &plan->moving, &plan->switched);
  for (uint32_t b = 0; b < plan->moving.blocks.count; b++) {
    const Watched *watched = &plan->moving.blocks.data[b];
    if (watched->size > PARTS || watched->first > SMALL_WORK) plan->every = SELDOM;
  }
  return plan->moving.program || plan->switched.program ? plan : NULL;
}

const DeterminantPlan *turning_moving(const TurningPlan *plan) { return &plan->moving; }

Turning *turning_new(Heap *heap, View *view, const TurningPlan *plan) {
  size_t columns = (size_t)view->system.columns;
  Turning *turning = heap_alloc(heap, sizeof *turning);
  turning->heap = heap;
  turning->view = view;
  turning->plan = plan;
  turning->moving = determinants_new(heap, view->evaluator, &plan->moving);
  turning->switched = determinants_new(heap, view->evaluator, &plan->switched);
  turning->trails = heap_array(heap, turning->moving.blocks.count, sizeof(Trail));
  heap_numbers(heap, turning->moving.blocks.count, &turning->values, &turning->sides[0], &turning->sides[1],
               &turning->sides[2], &turning->sides[3]);
  heap_numbers(heap, columns, &turning->inside, &turning->beside, &turning->origin.y, &turning->behind.y,
               &turning->recent.y, &turning->looks[0].y, &turning->looks[1].y, &turning->followed.y);
  return turning;
}

/* ---- determinants ---- */

/* All determinants at a point; false: they are undefined, NAN. */
static bool evaluate(Turning *turning, double t, const double *y, double *values) {
  bool is_known = determinants_evaluate(&turning->moving, t, y);
  for (uint32_t b = 0; b < turning->moving.blocks.count; b++)
    values[b] = is_known ? determinants_value(&turning->moving, b) : NAN;
  return is_known;
}

/* All determinants at a point that is moved by `steps` units of round-off. */
static void evaluate_beside(Turning *turning, double t, const double *y, int steps, double *values) {
  kinks_step_aside(&turning->view->system, y, steps, turning->beside);
  evaluate(turning, t, turning->beside, values);
}

/* All determinants at a point, in turning->values; false: they are undefined. A solution may stay at a kink of the equations,
 * as m = 0 does for a flow m at rest. If a determinant jumps at the kink, this solution is the only one if both sides have the
 * same sign. The determinant is then taken from the side on which it is nearer to zero. */
static bool evaluate_all(Turning *turning, double t, const double *y) {
  double *values = turning->values;
  if (!evaluate(turning, t, y, values)) return false;
  if (!turning->view->kinks || !kinks_hold(turning->view->kinks, t, y)) return true;
  static const int steps[] = {-2, -1, 1, 2};
  for (int k = 0; k < 4; k++) evaluate_beside(turning, t, y, steps[k], turning->sides[k]);
  for (uint32_t b = 0; b < turning->moving.blocks.count; b++) {
    double low = turning->sides[1][b], high = turning->sides[2][b];
    double smooth = fabs(turning->sides[0][b] - low) + fabs(turning->sides[3][b] - high);
    if (fabs(high - low) > SEVERAL * smooth) values[b] = fabs(low) < fabs(high) ? low : high;
  }
  return true;
}

static double determinant_at(Turning *turning, uint32_t b, double t, const double *y) {
  return evaluate_all(turning, t, y) ? turning->values[b] : NAN;
}

/* ---- the way after ---- */

static void set_mark(const Turning *turning, TimedColumns *mark, double t, const double *y) {
  mark->t = t;
  memcpy(mark->y, y, (size_t)turning->view->system.columns * sizeof *y);
}

/* Is a determinant falling, and not far from zero? */
static bool is_falling(const Turning *turning) {
  for (uint32_t b = 0; b < turning->moving.blocks.count; b++) {
    const Trail *trail = &turning->trails[b];
    double now = fabs(trail->values[2]);
    if (now < fabs(trail->values[1]) && now < GOOD_PART * trail->largest) return true;
  }
  return false;
}

/* Keeps a new point if the last kept point is far enough back. A follower that begins at a kept point then still sees the
 * determinant fall. */
static void move_marks(Turning *turning, double t, const double *y) {
  if (t - turning->recent.t < MINOR * (t - turning->origin.t) || is_falling(turning)) return;
  TimedColumns behind = turning->behind;
  turning->behind = turning->recent;
  turning->recent = behind;
  set_mark(turning, &turning->recent, t, y);
}

static void begin_trail(Trail *trail, double t, double value) {
  *trail = (Trail){.times = {t, t, t}, .values = {value, value, value}, .at_rest = -1, .middle = NAN};
  trail->largest = trail->harmless = fabs(value);
}

static void add_node(Trail *trail, double t, double value) {
  int kept = trail->nodes < NODES ? trail->nodes++ : NODES - 1;
  memmove(trail->node + 1, trail->node, (size_t)kept * sizeof(double));
  memmove(trail->node_time + 1, trail->node_time, (size_t)kept * sizeof(double));
  trail->node[0] = value;
  trail->node_time[0] = t;
}

static void extend_trail(Trail *trail, double t, double value) {
  for (int k = 0; k < 2; k++) {
    trail->times[k] = trail->times[k + 1];
    trail->values[k] = trail->values[k + 1];
  }
  trail->times[2] = t;
  trail->values[2] = value;
  trail->largest = fmax(trail->largest, fabs(value));
}

void turning_begin(Turning *turning, double t, const double *y) {
  set_mark(turning, &turning->origin, t, y);
  set_mark(turning, &turning->behind, t, y);
  set_mark(turning, &turning->recent, t, y);
  set_mark(turning, &turning->looks[1], t, y);
  bool known = determinants_evaluate(&turning->moving, t, y);
  for (uint32_t b = 0; b < turning->moving.blocks.count; b++)
    begin_trail(&turning->trails[b], t, known ? determinants_value(&turning->moving, b) : 0);
}

void turning_rest(Turning *turning) {
  const TimedColumns *origin = &turning->origin;
  const System *system = &turning->view->system;
  for (int32_t q = 0; q < system->columns; q++)
    turning->beside[q] = origin->y[q] + SMALL_PART * (fabs(origin->y[q]) + system->nominal[q]);
  if (!determinants_evaluate(&turning->moving, origin->t, turning->beside)) return;
  for (uint32_t b = 0; b < turning->moving.blocks.count; b++) {
    Trail *trail = &turning->trails[b];
    double least = NEGLIGIBLE * fabs(determinants_value(&turning->moving, b));
    if (fabs(trail->values[2]) < least) trail->at_rest = least;
  }
}

double turning_origin(const Turning *turning) { return turning->origin.t; }

/* ---- between two evaluations ---- */

static bool changes_sign(const DeterminantInterval *stretch) {
  return stretch->at_left != 0 && (stretch->at_right == 0 || (stretch->at_left > 0) != (stretch->at_right > 0));
}

static double lowest(const DeterminantInterval *stretch) {
  return fmin(fabs(stretch->at_left), fabs(stretch->at_right));
}

static bool hides_zero(const DeterminantInterval *stretch) {
  return changes_sign(stretch) || lowest(stretch) <= stretch->bend;
}

/* Does the determinant change its sign through zero, as far as this narrow interval shows? */
static bool crosses_zero(const Trail *trail, const DeterminantInterval *stretch) {
  return changes_sign(stretch) && fmax(fabs(stretch->at_left), fabs(stretch->at_right)) <= NEGLIGIBLE * trail->largest;
}

/* The zero of the line through both ends. Near the zero the rows may not be solvable, and then the interval is not narrow. */
static double zero_of(const DeterminantInterval *stretch) {
  double part = stretch->at_left / (stretch->at_left - stretch->at_right);
  return stretch->left + part * (stretch->right - stretch->left);
}

/* The interval between the last two evaluations. After a start, the middle shows how far the determinant deviates from its
 * chord. */
static DeterminantInterval last_stretch(const Trail *trail) {
  const double *t = trail->times, *values = trail->values;
  double first = t[1] - t[0], second = t[2] - t[1], bend = 4 * fabs(values[1] - 2 * trail->middle + values[2]);
  if (first > 0 && second > 0)
    bend = 8 * fabs((values[2] - values[1]) / second - (values[1] - values[0]) / first) / (first + second) * second *
           second;
  return (DeterminantInterval){t[1], t[2], values[1], values[2], isnan(bend) ? 0 : bend};
}

/* The determinant at a part of the straight line from one point to another, or beyond it; NAN: it is undefined. */
static double determinant_on_line(Turning *turning, uint32_t b, const TimedColumns *from, const TimedColumns *to,
                                  double part) {
  double *y = turning->inside, t = from->t + part * (to->t - from->t);
  for (int32_t c = 0; c < turning->view->system.columns; c++) y[c] = from->y[c] + part * (to->y[c] - from->y[c]);
  return determinant_at(turning, b, t, y);
}

/* A part of the straight line through two points. */
typedef struct LinePart {
  const TimedColumns *from, *to;
  double left, right;       /* 0: the first point, 1: the second one */
  double at_left, at_right; /* determinants */
} LinePart;

/* Is the determinant zero somewhere on the line, up to `least`? Halves the part while the determinant may deviate from the chord
 * by as much as its own size, but not below 1 / 2^halvings. */
static bool line_has_zero(Turning *turning, uint32_t b, LinePart part, double least, int halvings) {
  double middle = (part.left + part.right) / 2;
  double value = determinant_on_line(turning, b, part.from, part.to, middle);
  if (!(fabs(value) > least) || (value > 0) != (part.at_left > 0)) return true;
  double bend = 4 * fabs(part.at_left - 2 * value + part.at_right);
  if (halvings == 0 || fmin(fabs(value), fmin(fabs(part.at_left), fabs(part.at_right))) > bend) return false;
  LinePart lower = {part.from, part.to, part.left, middle, part.at_left, value};
  LinePart upper = {part.from, part.to, middle, part.right, value, part.at_right};
  return line_has_zero(turning, b, lower, least, halvings - 1) || line_has_zero(turning, b, upper, least, halvings - 1);
}

/* Does the determinant reach zero on that line about where its slope predicts, and soon: within a few such steps, or within
 * a negligible part of the whole distance? It does at a fold, a branching or a multiple root. A determinant that is only small does
 * not reach zero: an exponential falls by any number of decades and has no zero. */
static bool leads_to_zero(Turning *turning, uint32_t b, const TimedColumns *from, const TimedColumns *to, double way) {
  double high = determinant_on_line(turning, b, from, to, 0), low = determinant_on_line(turning, b, from, to, 1);
  double part = fabs(low) / fabs(high - low), step = fabs(to->t - from->t), least = NEGLIGIBLE * fabs(low);
  if (part * step > fmax(SEVERAL * step, NEGLIGIBLE * way)) return false;
  double far = 1 + SEVERAL * part, end = isnan(part) ? NAN : determinant_on_line(turning, b, from, to, far);
  if (!(fabs(end) > least) || (end > 0) != (low > 0)) return true;
  return line_has_zero(turning, b, (LinePart){from, to, 1, far, low, end}, least, ilogb(PARTS));
}

/* A follower: an integrator with a tight tolerance. */
typedef struct FollowerSolver {
  const Integrator *integrator;
  void *self, *ticket;
  Segment *segment; /* segment of the last step */
} FollowerSolver;

/* The determinant within the last step; NAN: unknown. Newton's method fails near a zero. There the columns of a
 * follower are accurate enough without a correction. The columns of the run itself are then not a solution, and show nothing. */
static double determinant_inside(Turning *turning, uint32_t b, const Segment *segment, bool is_tight, double t) {
  segment_values(segment, t, turning->inside);
  if (turning->view->methods->solve(turning->view, t, turning->inside) != EVAL_OK) {
    if (!is_tight) return NAN;
    segment_values(segment, t, turning->inside);
  }
  return determinant_at(turning, b, t, turning->inside);
}

/* Halves an interval within the last step while it may hide a zero: continues with the half where the sign changes, or with the
 * lower one. If the determinant touches zero between the ends, it is round-off, below `lost`. false: there is no zero. */
static bool close_in(Turning *turning, uint32_t b, const Segment *segment, bool is_tight, double lost,
                     DeterminantInterval *stretch) {
  double touched = fmin(lost, NEGLIGIBLE * lowest(stretch));
  for (int k = 0; k < LOCATE_LIMIT && hides_zero(stretch); k++) {
    double middle = stretch->left + (stretch->right - stretch->left) / 2;
    if (middle <= stretch->left || middle >= stretch->right) return true;
    double value = determinant_inside(turning, b, segment, is_tight, middle);
    if (isnan(value)) return true;
    double bend = 4 * fabs(stretch->at_left - 2 * value + stretch->at_right);
    DeterminantInterval halves[] = {{stretch->left, middle, stretch->at_left, value, bend},
                                    {middle, stretch->right, value, stretch->at_right, bend}};
    bool upper = changes_sign(stretch) || changes_sign(&halves[0]) ? !changes_sign(&halves[0])
                                                                   : fabs(stretch->at_right) < fabs(stretch->at_left);
    *stretch = halves[upper];
  }
  return hides_zero(stretch) || lowest(stretch) <= touched;
}

/* ---- following a suspect ---- */

/* A follower has its own heap: a run may have many followers. */
static FollowerSolver start_follower(const Turning *turning, const TimedColumns *mark, double until, double tolerance,
                                     double max_step) {
  IntegratorOptions options = {.relative_tolerance = tolerance, .absolute_tolerance = tolerance, .max_step = max_step};
  FollowerSolver follower = {.integrator = integrator_find(turning->view->system.complete ? "erk" : "radau")};
  Heap *heap = heap_within(turning->heap, &follower.ticket);
  follower.self = follower.integrator->create(heap, &turning->view->system, &options);
  follower.integrator->start(follower.self, mark->t, mark->y, until);
  follower.segment = segment_new(heap, turning->view->system.columns);
  return follower;
}

/* Integrates the smooth part again up to `until`, with the tight tolerance all the way, because marks have the errors of the run.
 * false: it takes too long. */
static bool repeat(const Turning *turning, double until, double *y) {
  FollowerSolver follower = start_follower(turning, &turning->origin, until, DIFFERENCE_ROUND_OFF, 0);
  const Integrator *integrator = follower.integrator;
  bool ok = true;
  for (int k = 0; k < 10 * SEVERAL * PARTS && integrator->time(follower.self) < until && ok; k++)
    ok = integrator->step(follower.self, until) == STEP_OK;
  ok = ok && integrator->time(follower.self) >= until;
  if (ok) memcpy(y, integrator->values(follower.self), (size_t)turning->view->system.columns * sizeof(double));
  heap_release(turning->heap, follower.ticket);
  return ok;
}

/* The time where the determinant is zero, by Neville's scheme over the first `count` nodes: a polynomial in its root. */
static double extrapolate(const Trail *trail, int count, int root) {
  double value[NODES], node[NODES];
  for (int k = 0; k < count; k++) {
    value[k] = trail->node_time[k];
    node[k] = pow(fabs(trail->node[k]), 1.0 / root);
  }
  for (int order = 1; order < count; order++)
    for (int k = 0; k + order < count; k++)
      value[k] = (node[k] * value[k + 1] - node[k + order] * value[k]) / (node[k] - node[k + order]);
  return value[0];
}

/* The states have their largest errors at a zero found at t. Time is a smooth function of the determinant at a fold and at a simple
 * crossing, and of its root at a double or triple zero. The most certain extrapolation is better than t if its own error is less
 * than its correction. */
static double improve(const Trail *trail, double t) {
  double best = t, least = t - trail->node_time[0];
  for (int root = 1; root <= 3 && trail->nodes > 2; root++) {
    double time = extrapolate(trail, trail->nodes, root);
    double error = fabs(time - extrapolate(trail, trail->nodes - 1, root));
    if (error >= least || time < trail->times[0]) continue; /* the determinant was not zero two evaluations before */
    least = error;
    best = time;
  }
  return fabs(best - t) > least ? best : t;
}

/* Is there a zero within the last step of the follower? Then *t is its time. */
static bool ends_at_zero(Turning *turning, uint32_t b, const FollowerSolver *follower, const Trail *trail, double *t) {
  DeterminantInterval stretch = last_stretch(trail);
  double lost = VANISHED * trail->largest;
  if (!close_in(turning, b, follower->segment, true, lost, &stretch)) return false;
  *t = stretch.right;
  return changes_sign(&stretch) ? crosses_zero(trail, &stretch) : lowest(&stretch) <= lost;
}

/* Is the determinant below this part of its largest value, and nearly zero in the direction of the last step? */
static bool is_next_to_zero(Turning *turning, uint32_t b, const FollowerSolver *follower, const Trail *trail,
                            const TimedColumns *begin, double way, double part) {
  TimedColumns end = {trail->times[2], (double *)follower->integrator->values(follower->self)};
  bool is_falling = fabs(trail->values[2]) < fabs(trail->values[1]);
  if (!is_falling || fabs(trail->values[2]) > part * trail->largest) return false;
  bool leads = leads_to_zero(turning, b, begin, &end, way);
  return determinants_evaluate(&turning->moving, end.t, end.y) && leads; /* evaluate the current entries again */
}

/* Are the steps so short that they no longer advance? */
static bool is_stuck(const Trail *trail, double way) { return trail->times[2] - trail->times[1] < SLIVER * way; }

/* Adds the value at t, where the follower is. */
static bool look_at(Turning *turning, uint32_t b, const FollowerSolver *follower, double t, Trail *trail) {
  double value = determinant_at(turning, b, t, follower->integrator->values(follower->self));
  if (isnan(value)) return false;
  extend_trail(trail, t, value);
  if (fabs(value) > NEGLIGIBLE * trail->largest && (!trail->nodes || value / trail->node[0] < CLEARLY_LESS))
    add_node(trail, t, value);
  return true;
}

/* The result of following. */
typedef enum FollowerTrace {
  TRACE_NO_ZERO,
  TRACE_ZERO,
  TRACE_TURNS_AWAY, /* there is no zero, although long steps suggested one */
  TRACE_TOO_LONG,   /* the follower did not reach it: nothing is known */
  TRACE_STUCK,      /* the follower did not reach it, because its steps became too small or failed near a zero */
} FollowerTrace;

/* Observations of a follower. */
typedef struct FollowedPath {
  TimedColumns last;      /* the beginning of the step in which a zero was found */
  double behind;          /* the end of that step, if the sign differs there; otherwise NAN */
  double largest, lowest; /* absolute determinants */
  double at_lowest;       /* time at which it was lowest */
  double now;             /* the time that is examined */
  double value;           /* the determinant one step after `now`; NAN: unknown */
  bool begins, ends;      /* the follower made at least one step; the follower reached the end */
} FollowedPath;

/* Follows a determinant from a mark to its zero. At a zero, the sign changes, or the determinant touches zero, or the
 * follower cannot continue. */
static FollowerTrace follow_at(Turning *turning, uint32_t b, const TimedColumns *mark, double until, double tolerance,
                               TurningPoint *point, FollowedPath *way) {
  double longest = (until - mark->t) / PARTS;
  FollowerSolver follower = start_follower(turning, mark, until, tolerance, longest);
  Trail trail = {.times = {mark->t, mark->t, mark->t}, .largest = way->largest, .middle = NAN};
  bool found = false, ahead = true;
  double t = mark->t;
  way->behind = way->value = NAN;
  way->lowest = INFINITY;
  for (int k = 0; k < SEVERAL * PARTS && ahead && t < until; k++) {
    ahead = look_at(turning, b, &follower, t, &trail);
    if (fabs(trail.values[2]) < way->lowest) way->lowest = fabs(trail.values[2]), way->at_lowest = t;
    if (isnan(way->value) && t > way->now + longest) way->value = trail.values[2];
    found = ahead && k > 0 &&
            (is_next_to_zero(turning, b, &follower, &trail, &way->last, until - mark->t, VANISHED) ||
             ends_at_zero(turning, b, &follower, &trail, &t));
    way->largest = trail.largest;
    if (found && (trail.values[1] > 0) != (trail.values[2] > 0)) way->behind = trail.times[2];
    if (found) break;
    set_mark(turning, &turning->followed, t, follower.integrator->values(follower.self));
    ahead = ahead && follower.integrator->step(follower.self, until) == STEP_OK;
    if (ahead) set_mark(turning, &way->last, t, turning->followed.y);
    integrator_segment(follower.integrator, follower.self, t, NULL, follower.segment);
    t = follower.integrator->time(follower.self);
  }
  ahead = ahead && (found || look_at(turning, b, &follower, t, &trail));
  bool stuck = !ahead || is_stuck(&trail, until - mark->t);
  found = found || (stuck && t > mark->t &&
                    is_next_to_zero(turning, b, &follower, &trail, &way->last, until - mark->t, NEGLIGIBLE));
  if (found) {
    const Watched *watched = &turning->moving.blocks.data[b];
    int32_t rank = watched->size > 1 ? determinants_rank(&turning->moving, b, SLIVER) : 0;
    *point = (TurningPoint){
        improve(&trail, t), t, watched->block, watched->size, rank < watched->size ? rank : watched->size - 1, t};
  }
  heap_release(turning->heap, follower.ticket);
  way->begins = t > mark->t;
  way->ends = t >= until;
  bool is_beside_zero =
      !way->begins || way->lowest <= GOOD_PART * way->largest; /* elsewhere the equations are only stiff */
  return found ? TRACE_ZERO : way->ends ? TRACE_NO_ZERO : stuck && is_beside_zero ? TRACE_STUCK : TRACE_TOO_LONG;
}

/* Calls follow_at with the tightest tolerance with which the follower does not get stuck: near a zero, a tight tolerance is below the
 * round-off of the columns. */
static FollowerTrace follow(Turning *turning, uint32_t b, const TimedColumns *mark, double until, TurningPoint *point,
                            FollowedPath *way) {
  FollowerTrace trace = TRACE_STUCK;
  for (double tolerance = DIFFERENCE_ROUND_OFF; tolerance <= 2 * STUCK && trace == TRACE_STUCK; tolerance *= FAR)
    trace = follow_at(turning, b, mark, until, tolerance, point, way);
  return trace;
}

/* A determinant was zero in a step of a follower. Is it still zero with shorter steps? Long steps may mistake a solution that comes
 * close and turns away for the followed one, so that the determinant seems to cross zero. */
static bool stays_zero(Turning *turning, uint32_t b, TimedColumns *from, const FollowedPath *way) {
  FollowedPath closer = {.last = way->last, .behind = way->behind, .largest = way->largest, .now = INFINITY};
  FollowerTrace trace = TRACE_ZERO;
  TurningPoint point;
  for (int k = 0; k < ATTEMPTS && trace == TRACE_ZERO && !isnan(closer.behind); k++) {
    set_mark(turning, from, closer.last.t, closer.last.y);
    trace = follow(turning, b, from, closer.behind + (closer.behind - from->t), &point, &closer);
  }
  return trace != TRACE_NO_ZERO || !closer.ends || closer.lowest <= PRESENT * turning->trails[b].largest;
}

/* Has the determinant kept its sign here, although it changed in the run? Then the run has moved to another solution. */
static bool keeps_sign(const Trail *trail, const FollowedPath *way) {
  return !isnan(way->value) && (way->value > 0) == (trail->values[1] > 0) &&
         (trail->values[2] > 0) != (trail->values[1] > 0);
}

/* Do the lowest values of the run, and of a follower from one of its marks, come from errors? Then a follower with hardly any
 * errors has a far lower one. Values of a steep determinant depend on the points of evaluation, so the lowest of all values
 * with the errors of the run is used. */
static bool is_made_of_errors(const Trail *trail, const FollowedPath *way, const FollowedPath *exact) {
  double left = fmin(way->lowest, fmin(fabs(trail->values[1]), fabs(trail->values[2])));
  return exact->lowest <= GOOD_PART * left && exact->lowest <= PRESENT * exact->largest;
}

/* The zero of a determinant near t. The run, and a follower from one of its marks, may miss a zero because of the errors of
 * the run. At a branching, these errors carry both from one branch to the other, and the determinant turns near zero. So a
 * follower without these errors is used, too. */
static FollowerTrace find_zero(Turning *turning, uint32_t b, double t, TurningPoint *point, TimedColumns *exact,
                               FollowedPath *way) {
  const TimedColumns *mark =
      t - turning->recent.t < MINOR * (t - turning->origin.t) ? &turning->behind : &turning->recent;
  double until = t + (t - mark->t);
  FollowerTrace trace = follow(turning, b, mark, until, point, way);
  if (trace != TRACE_ZERO && trace != TRACE_STUCK && way->lowest > NEGLIGIBLE * turning->trails[b].largest)
    return trace;
  TurningPoint better;
  FollowedPath again = {.last = way->last, .now = t};
  exact->t = mark->t;
  if (!repeat(turning, exact->t, exact->y)) return trace;
  bool is_zero = follow(turning, b, exact, until, &better, &again) == TRACE_ZERO;
  if (!is_zero && (trace == TRACE_ZERO || !is_made_of_errors(&turning->trails[b], way, &again))) return trace;
  const Watched *watched = &turning->moving.blocks.data[b];
  *point = is_zero ? better : (TurningPoint){again.at_lowest, t, watched->block, watched->size, watched->size - 1,
                                             again.at_lowest};
  *way = again;
  return TRACE_ZERO;
}

/* The last evaluation at or before a time. */
static double last_look(const Trail *trail, double t) {
  for (int k = 2; k >= 0; k--)
    if (trail->times[k] <= t) return trail->times[k];
  return t;
}

/* Which of the last two evaluations is lower? */
static int lower_look(const Trail *trail) { return fabs(trail->values[1]) < fabs(trail->values[2]) ? 1 : 2; }

static int32_t rank_at(Turning *turning, uint32_t b, double t, const double *y) {
  const Watched *watched = &turning->moving.blocks.data[b];
  if (watched->size == 1 || !determinants_evaluate(&turning->moving, t, y)) return watched->size - 1;
  return determinants_rank(&turning->moving, b, SLIVER);
}

/* If a follower cannot even begin, the points of the run are used. At one of the last two points, is the determinant zero up to
 * errors, and the rank lower than before? (A determinant is also small if several entries are merely small.) */
static bool run_is_at_zero(Turning *turning, uint32_t b, TurningPoint *point) {
  const Trail *trail = &turning->trails[b];
  const Watched *watched = &turning->moving.blocks.data[b];
  int lower = lower_look(trail);
  const TimedColumns *look = &turning->looks[lower - 1], *before = &turning->behind;
  if (fabs(trail->values[lower]) > VANISHED * trail->largest) return false;
  int32_t rank = rank_at(turning, b, look->t, look->y);
  *point = (TurningPoint){look->t, look->t, watched->block, watched->size, rank, look->t};
  return watched->size == 1 || rank < rank_at(turning, b, before->t, before->y);
}

/* Locates the zero of determinant b, and checks again that it is one. */
static FollowerTrace locate(Turning *turning, uint32_t b, double t, double stop, TurningPoint *point) {
  size_t columns = (size_t)turning->view->system.columns;
  double *room = heap_array(turning->heap, 2 * columns, sizeof *room);
  TimedColumns mark = {.y = room + columns};
  FollowedPath way = {.last.y = room, .now = t};
  FollowerTrace trace = find_zero(turning, b, t, point, &mark, &way);
  if (trace == TRACE_STUCK && !way.begins && run_is_at_zero(turning, b, point)) trace = TRACE_ZERO;
  if (trace == TRACE_ZERO && point->time > stop) trace = TRACE_NO_ZERO;
  else if (trace == TRACE_ZERO && !stays_zero(turning, b, &mark, &way)) trace = TRACE_TURNS_AWAY;
  else if (trace == TRACE_NO_ZERO && keeps_sign(&turning->trails[b], &way)) trace = TRACE_TURNS_AWAY;
  if (trace == TRACE_ZERO) point->sound = point->time < t ? last_look(&turning->trails[b], point->time) : t;
  heap_free(turning->heap, room);
  return trace;
}

/* ---- the watch ---- */

static bool find_singular(Determinants *determinants, double t, const double *y, bool is_certain, TurningPoint *point) {
  if (!(is_certain ? determinants_evaluate_certain : determinants_evaluate)(determinants, t, y)) return false;
  for (uint32_t b = 0; b < determinants->blocks.count; b++) {
    const Watched *watched = &determinants->blocks.data[b];
    int32_t rank = determinants_rank(determinants, b, ROUND_OFF);
    if (rank == watched->size) continue;
    *point = (TurningPoint){t, t, watched->block, watched->size, rank, t};
    return true;
  }
  return false;
}

bool turning_at_start(Turning *turning, bool is_event, TurningPoint *point) {
  const TimedColumns *origin = &turning->origin;
  return find_singular(&turning->switched, origin->t, origin->y, !is_event, point) ||
         find_singular(&turning->moving, origin->t, origin->y, !is_event, point);
}

bool turning_is_singular(Heap *heap, Evaluator *evaluator, const TurningPlan *plan, double t, const double *y,
                         TurningPoint *point) {
  Determinants moving = determinants_new(heap, evaluator, &plan->moving);
  Determinants switched = determinants_new(heap, evaluator, &plan->switched);
  return find_singular(&switched, t, y, true, point) || find_singular(&moving, t, y, true, point);
}

/* Has the determinant turned at a value far below its largest one, and well below the value found harmless? */
static bool has_turned_low(const Trail *trail) {
  double value = fabs(trail->values[1]);
  return value < fabs(trail->values[2]) && value < NEGLIGIBLE * trail->largest && value < trail->harmless / 2;
}

/* Do the last two evaluations lead to a zero? If a follower found out nothing, one that is nearly zero is enough. */
static bool was_near_zero(Turning *turning, uint32_t b, FollowerTrace trace) {
  const TimedColumns *looks = turning->looks;
  const Trail *trail = &turning->trails[b];
  if (trace == TRACE_TOO_LONG && fabs(trail->values[lower_look(trail)]) <= PRESENT * trail->largest) return true;
  return leads_to_zero(turning, b, &looks[1], &looks[0], looks[1].t - turning->origin.t);
}

/* May the determinant become zero between the last two evaluations? Then trail->near is an interval around the zero, as narrow as
 * the columns of the run allow. */
static bool is_suspect(Turning *turning, uint32_t b, const Segment *segment) {
  Trail *trail = &turning->trails[b];
  bool inside = turning->plan->every == 1, changes;
  if (fabs(trail->values[1]) <= trail->at_rest) return false; /* the verdict on the rest includes its end */
  trail->near = last_stretch(trail);
  changes = changes_sign(&trail->near);
  bool is_near = inside && close_in(turning, b, segment, false, changes ? 0 : VANISHED * trail->largest, &trail->near);
  return changes || is_near || has_turned_low(trail);
}

/* Evaluates the middle between a start and the first evaluation after it, for all blocks at once. */
static void look_at_middle(Turning *turning, const Segment *segment, double first) {
  double t = turning->origin.t + (first - turning->origin.t) / 2;
  segment_values(segment, t, turning->inside);
  bool is_known = turning->view->methods->solve(turning->view, t, turning->inside) == EVAL_OK &&
                  determinants_evaluate(&turning->moving, t, turning->inside);
  for (uint32_t b = 0; b < turning->moving.blocks.count; b++)
    turning->trails[b].middle = is_known ? determinants_value(&turning->moving, b) : NAN;
}

TurningStatus turning_watch(Turning *turning, const Segment *segment, double t, const double *y, bool last,
                            TurningPoint *point) {
  if (++turning->unseen < turning->plan->every && !last) return TURNING_NONE;
  turning->unseen = 0;
  if (turning->plan->every == 1 && turning->moving.blocks.count && turning->trails[0].times[2] == turning->origin.t)
    look_at_middle(turning, segment, t);
  if (!evaluate_all(turning, t, y)) return TURNING_NONE; /* the next step will report that */
  TurningStatus status = TURNING_NONE;
  point->found = INFINITY;
  for (uint32_t b = 0; b < turning->moving.blocks.count; b++) extend_trail(&turning->trails[b], t, turning->values[b]);
  set_mark(turning, &turning->looks[0], turning->looks[1].t, turning->looks[1].y);
  set_mark(turning, &turning->looks[1], t, y);
  for (uint32_t b = 0; b < turning->moving.blocks.count; b++) {
    Trail *trail = &turning->trails[b];
    trail->is_suspect = is_suspect(turning, b, segment);
    if (!trail->is_suspect) continue;
    status = TURNING_SUSPECT;
    if (turning->plan->every == 1 && crosses_zero(trail, &trail->near) && zero_of(&trail->near) < point->found) {
      const Watched *watched = &turning->moving.blocks.data[b];
      double found = zero_of(&trail->near);
      *point = (TurningPoint){found, trail->times[1], watched->block, watched->size, watched->size - 1, found};
    }
  }
  if (status == TURNING_NONE) move_marks(turning, t, y);
  return status;
}

TurningStatus turning_follow(Turning *turning, double t, const double *y, double stop, TurningPoint *point) {
  TurningStatus status = TURNING_NONE;
  for (uint32_t b = 0; b < turning->moving.blocks.count; b++) {
    Trail *trail = &turning->trails[b];
    if (!trail->is_suspect) continue;
    bool changes = changes_sign(&trail->near), crosses = turning->plan->every == 1 && crosses_zero(trail, &trail->near);
    TurningPoint found;
    FollowerTrace trace = locate(turning, b, t, stop, &found);
    if (trace == TRACE_ZERO && crosses) found.found = zero_of(&trail->near);
    if (trace == TRACE_ZERO) {
      if (status != TURNING_POINT || found.time < point->time) *point = found;
      status = TURNING_POINT;
    }
    if (status == TURNING_POINT) continue; /* the first singular point decides */
    const Watched *watched = &turning->moving.blocks.data[b];
    *point = (TurningPoint){t, trail->times[1], watched->block, watched->size, watched->size, t};
    if (trace == TRACE_TURNS_AWAY && changes) return TURNING_ASTRAY;
    trail->harmless = fmin(trail->harmless, fabs(trail->values[1]));
    if (changes) status = TURNING_JUMP;
    else if (status == TURNING_NONE && was_near_zero(turning, b, trace)) status = TURNING_SMALL;
  }
  if (status != TURNING_JUMP && status != TURNING_POINT) move_marks(turning, t, y);
  return status;
}

void turning_go_back(Turning *turning) {
  for (uint32_t b = 0; b < turning->moving.blocks.count; b++) {
    Trail *trail = &turning->trails[b];
    for (int k = 2; k > 0; k--) {
      trail->times[k] = trail->times[k - 1];
      trail->values[k] = trail->values[k - 1];
    }
  }
  set_mark(turning, &turning->looks[1], turning->looks[0].t, turning->looks[0].y);
}

bool turning_explain(Turning *turning, double t, double stop, TurningPoint *point) {
  uint32_t best = 0; /* the determinant that has fallen most */
  for (uint32_t b = 1; b < turning->moving.blocks.count; b++) {
    const Trail *trail = &turning->trails[b], *other = &turning->trails[best];
    if (fabs(trail->values[2]) * other->largest < fabs(other->values[2]) * trail->largest) best = b;
  }
  if (!turning->moving.blocks.count || t <= turning->origin.t) return false;
  return locate(turning, best, t, stop, point) == TRACE_ZERO;
}
