/* branch: see branch.h. */
#include "view/branch.h"

#include "base/copy.h"

#include <float.h>
#include <math.h>

/* Part of a step: a branch that cannot be followed over this part is lost. Shorter steps then get closer at less cost. */
static const double shortest = 1e-5;

/* Relative to the size of a column: closer solutions count as the same. */
static const double same = 1e-6;

/* If Newton's method was certain over a distance, it also converges from any point whose distance to the end is less than this
 * part of it, because h is then below 1/2 (statespace.c). */
static const double sure = 0.125;

/* Part of a distance over which a branch is nearly straight. Rates are differences over this part; over a shorter one they
 * would be round-off: a pressure difference of 0.01 Pa between pressures of 1e5 Pa is known to 7 digits. */
static const double little = 1e-2;

/* Relative to the time: smaller time differences are round-off. */
static const double TIME_ROUND_OFF = 1024 * DBL_EPSILON;

/* A point of the branch. */
typedef struct BranchPoint {
  double t, *y, *rate; /* rate: of the branching columns, by their position */
  bool has_rate;
} BranchPoint;

struct Branch {
  View *view;
  int32_t count, *columns; /* branching columns */
  BranchPoint begin, end;  /* ends of the last step */
  bool is_at_once;         /* the last step was followed without halving */
  BranchPoint at, next;    /* at: the last point of the branch that was reached; next: the point to reach from it */
  double *beside;          /* all columns next to a point */
};

Branch *branch_new(Heap *heap, View *view) {
  if (!view->branching) return NULL;
  Branch *branch = heap_alloc(heap, sizeof *branch);
  size_t columns = (size_t)view->system.columns;
  *branch = (Branch){.view = view, .begin.t = NAN, .end.t = NAN, .at.t = NAN};
  branch->columns = heap_array(heap, columns, sizeof *branch->columns);
  for (int32_t c = 0; c < view->system.columns; c++)
    if (view->branching[c]) branch->columns[branch->count++] = c;
  heap_numbers(heap, columns, &branch->begin.y, &branch->end.y, &branch->at.y, &branch->next.y, &branch->beside);
  heap_numbers(heap, columns, &branch->begin.rate, &branch->end.rate, &branch->at.rate, &branch->next.rate);
  return branch;
}

static void copy_point(const Branch *branch, BranchPoint *to, const BranchPoint *from) {
  copy_numbers(to->y, from->y, (size_t)branch->view->system.columns);
  copy_numbers(to->rate, from->rate, (size_t)branch->count);
  to->t = from->t;
  to->has_rate = from->has_rate;
}

static double size_of(const Branch *branch, int32_t c) {
  return fabs(branch->at.y[c]) + branch->view->system.nominal[c];
}

/* Solves for the branch at a time of the step from its values at another time; the other columns come from the step. */
static bool solve(const Branch *branch, const Segment *segment, double t, BranchGuess guess, const double *from,
                  double *y) {
  View *view = branch->view;
  segment_values(segment, t, y);
  for (int32_t k = 0; k < branch->count; k++) y[branch->columns[k]] = from[branch->columns[k]];
  return view->methods->follow(view, t, y, guess) == EVAL_OK;
}

/* The rate at a point of the branch, from another point, at a distance much shorter than `way`. */
static bool find_rate(Branch *branch, const Segment *segment, double way, BranchPoint *point) {
  double beside = point->t + little * way;
  if (!solve(branch, segment, beside, GUESS_NEXT, point->y, branch->beside)) return false;
  for (int32_t k = 0; k < branch->count; k++) {
    int32_t c = branch->columns[k];
    point->rate[k] = (branch->beside[c] - point->y[c]) / (beside - point->t);
  }
  return point->has_rate = true;
}

/* Does the branch move as its rates at both ends predict, up to half of the predicted distance? Otherwise the branch took
 * another course between the ends. Where a column turns, another branch may cross this one or come near it. So the distance
 * must be so short that the column hardly moves. */
static bool keeps_course(const Branch *branch) {
  double half = (branch->next.t - branch->at.t) / 2, ahead = 0, missed = 0, turned = 0;
  for (int32_t k = 0; k < branch->count; k++) {
    int32_t c = branch->columns[k];
    double first = half * branch->at.rate[k], second = half * branch->next.rate[k], size = size_of(branch, c);
    ahead = fmax(ahead, fmax(fabs(first), fabs(second)) / size);
    missed = fmax(missed, fabs(branch->next.y[c] - branch->at.y[c] - first - second) / size);
    if ((first > 0) != (second > 0)) turned = fmax(turned, fmin(fabs(first), fabs(second)) / size);
  }
  return missed <= ahead + same && turned <= same;
}

/* Follows the branch to t, if that is possible in one step. */
static bool advance(Branch *branch, const Segment *segment, double t) {
  BranchPoint *next = &branch->next;
  double way = t - branch->at.t;
  next->t = t;
  next->has_rate = false;
  bool is_steep = !(little * way > TIME_ROUND_OFF * fabs(t)); /* over such a short distance no rate can be computed */
  if (!solve(branch, segment, t, is_steep ? GUESS_STEEP : GUESS_APART, branch->at.y, next->y)) return false;
  if (!is_steep) {
    if (!branch->at.has_rate && !find_rate(branch, segment, way, &branch->at)) return false;
    if (!find_rate(branch, segment, -way, next) || !keeps_course(branch)) return false;
  }
  BranchPoint swap = branch->at;
  branch->at = *next;
  *next = swap;
  return true;
}

/* Follows the branch to t within the step, in halves if one step fails. The last part is never as short as round-off. */
static bool follow(Branch *branch, const Segment *segment, double t) {
  double whole = t - branch->at.t, way = whole;
  while (branch->at.t != t) {
    bool is_last = 1.0001 * way >= t - branch->at.t;
    double next = is_last ? t : branch->at.t + way;
    if (next == branch->at.t || way < shortest * whole) return false;
    if (!advance(branch, segment, next)) way /= 2;
  }
  return true;
}

/* Does y differ from the branch by at most a part of the last distance? */
static bool is_near(const Branch *branch, const double *y, double part) {
  for (int32_t k = 0; k < branch->count; k++) {
    int32_t c = branch->columns[k];
    double way = fabs(branch->at.y[c] - branch->next.y[c]);
    if (!(fabs(y[c] - branch->at.y[c]) <= fmax(same * size_of(branch, c), part * way))) return false;
  }
  return true;
}

/* Is the solution nearest to the end of the step on the branch? */
static bool ends_there(Branch *branch, const Segment *segment) {
  const double *y = segment->end;
  if (is_near(branch, y, sure)) return true;
  return solve(branch, segment, branch->at.t, GUESS_STEEP, y, branch->beside) && is_near(branch, branch->beside, 0);
}

/* Sets the point where a step begins, if the last one did not end there. */
static bool begin_at(Branch *branch, ConstMoment begin) {
  copy_numbers(branch->begin.y, begin.y, (size_t)branch->view->system.columns);
  branch->begin.t = begin.t;
  branch->begin.has_rate = false;
  return branch->view->methods->follow(branch->view, begin.t, branch->begin.y, GUESS_STEEP) == EVAL_OK;
}

BranchStatus branch_follow(Branch *branch, const Segment *segment) {
  bool is_known = branch->end.t == segment->t0;
  if (is_known) copy_point(branch, &branch->begin, &branch->end);
  branch->end.t = NAN;
  if (!is_known && !begin_at(branch, (ConstMoment){segment->t0, segment->begin})) return BRANCH_LOST;
  copy_point(branch, &branch->at, &branch->begin);
  if (!follow(branch, segment, segment->t1)) return BRANCH_LOST;
  copy_point(branch, &branch->end, &branch->at);
  branch->is_at_once = branch->next.t == branch->begin.t;
  if (branch->is_at_once) copy_point(branch, &branch->begin, &branch->next); /* with its rate */
  return ends_there(branch, segment) ? BRANCH_KEPT : BRANCH_LEFT;
}

void branch_forget(Branch *branch) { branch->end.t = NAN; }

const double *branch_begin(const Branch *branch) { return branch->begin.y; }

/* Is t in the last step, and was that step followed? */
static bool was_followed(const Branch *branch, const Segment *segment, double t) {
  return branch->end.t == segment->t1 && branch->begin.t <= t && t <= branch->end.t;
}

/* The expected value of column k of a branch at a part of the step, from its values and rates at both ends. The branch was
 * followed without halving. */
static double expected(const Branch *branch, int32_t k, double part) {
  const BranchPoint *begin = &branch->begin, *end = &branch->end;
  int32_t c = branch->columns[k];
  double rise = end->y[c] - begin->y[c], straight = begin->y[c] + part * rise, way = end->t - begin->t;
  if (!begin->has_rate || !end->has_rate) return straight;
  double first = way * begin->rate[k] - rise, second = way * end->rate[k] - rise, rest = 1 - part;
  return straight + part * rest * (rest * first - part * second);
}

bool branch_expects(const Branch *branch, const Segment *segment, double t, const double *y) {
  if (!was_followed(branch, segment, t) || !branch->is_at_once) return false;
  double part = (t - branch->begin.t) / (branch->end.t - branch->begin.t);
  for (int32_t k = 0; k < branch->count; k++) {
    int32_t c = branch->columns[k];
    double way = fabs(branch->end.y[c] - branch->begin.y[c]);
    if (!(fabs(y[c] - expected(branch, k, part)) <= fmax(same * size_of(branch, c), sure * way))) return false;
  }
  return true;
}

void branch_take(Branch *branch, const Segment *segment, double t, double *y) {
  if (!was_followed(branch, segment, t)) return;
  if (t == branch->end.t) copy_point(branch, &branch->at, &branch->end);
  else if (t < branch->at.t) copy_point(branch, &branch->at, &branch->begin);
  if (!follow(branch, segment, t)) return;
  for (int32_t k = 0; k < branch->count; k++) y[branch->columns[k]] = branch->at.y[branch->columns[k]];
}
