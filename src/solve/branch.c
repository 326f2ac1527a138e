/* branch: see branch.h. */
#include "solve/branch.h"

#include "base/copy.h"

#include <math.h>

/* Of a step: a branch that cannot be followed over this part of it is lost: shorter steps get closer at less cost. */
static const double shortest = 1e-5;

/* Of the size of a column: solutions that are nearer are the same. */
static const double same = 1e-6;

/* Of a way over which Newton's method was certain: from so near to its end it leads there too, since h of there is below 1/2 (statespace.c). */
static const double sure = 0.125;

/* Of a way: over this part of it a branch is straight. */
static const double little = 1e-4;

struct Branch {
  View *view;
  int32_t count, *columns; /* branching */
  Moment begin, end, at;   /* on the branch: at both ends of the last step, and where it was followed to last */
  double *shortly, *next;  /* all columns of it behind `at` */
  double *led;             /* where its tangent leads */
  double *ended;           /* all columns of the step */
};

/* Do conditions read branching columns? They look into steps themselves, at what the integrator has there. */
static bool is_watched(const View *view) {
  for (uint32_t k = 0; k < view->watched.count; k++)
    if (view->branching[view->watched.data[k]]) return true;
  return false;
}

Branch *branch_new(Heap *heap, View *view) {
  if (!view->branching || is_watched(view)) return NULL;
  Branch *branch = heap_alloc(heap, sizeof *branch);
  int32_t columns = view->system.columns;
  *branch = (Branch){.view = view, .begin.t = NAN, .end.t = NAN, .at.t = NAN};
  branch->columns = heap_array(heap, (size_t)columns, sizeof *branch->columns);
  for (int32_t c = 0; c < columns; c++)
    if (view->branching[c]) branch->columns[branch->count++] = c;
  heap_numbers(heap, (size_t)columns, &branch->begin.y, &branch->end.y, &branch->at.y, &branch->shortly, &branch->next,
               &branch->led, &branch->ended);
  return branch;
}

static void copy_moment(const Branch *branch, Moment *to, ConstMoment from) {
  copy_numbers(to->y, from.y, (size_t)branch->view->system.columns);
  to->t = from.t;
}

static ConstMoment of(Moment moment) { return (ConstMoment){moment.t, moment.y}; }

/* The columns of the step at t, but the branching ones are those of the branch as far as it was followed. */
static void guess(Branch *branch, const Integrator *integrator, void *self, double t) {
  size_t columns = (size_t)branch->view->system.columns;
  if (t == integrator->time(self)) copy_numbers(branch->ended, integrator->values(self), columns);
  else integrator->interpolate(self, t, branch->ended);
  copy_numbers(branch->next, branch->ended, columns);
  for (int32_t k = 0; k < branch->count; k++) branch->next[branch->columns[k]] = branch->at.y[branch->columns[k]];
}

/* Solves for the branch at t, from where it was followed to. */
static bool solve(Branch *branch, const Integrator *integrator, void *self, double t) {
  guess(branch, integrator, self, t);
  return branch->view->methods->follow(branch->view, t, branch->next) == EVAL_OK;
}

static double size_of(const Branch *branch, int32_t c) {
  return fabs(branch->at.y[c]) + branch->view->system.nominal[c];
}

/* Does the branch get to where it sets out for, but for as much as it gets ahead? */
static bool goes_on(const Branch *branch) {
  double ahead = 0, missed = 0;
  for (int32_t k = 0; k < branch->count; k++) {
    int32_t c = branch->columns[k];
    double way = branch->next[c] - branch->at.y[c], foreseen = (branch->shortly[c] - branch->at.y[c]) / little;
    ahead = fmax(ahead, fabs(way) / size_of(branch, c));
    missed = fmax(missed, fabs(way - foreseen) / size_of(branch, c));
  }
  return missed <= ahead + same;
}

/* Leads its tangent to the same solution at t? Else something stands between. */
static bool tangent_agrees(Branch *branch, double t) {
  double *y = branch->led;
  copy_numbers(y, branch->next, (size_t)branch->view->system.columns);
  for (int32_t k = 0; k < branch->count; k++) {
    int32_t c = branch->columns[k];
    y[c] = branch->at.y[c] + (branch->shortly[c] - branch->at.y[c]) / little;
  }
  if (branch->view->methods->follow(branch->view, t, y) != EVAL_OK) return false;
  for (int32_t k = 0; k < branch->count; k++) {
    int32_t c = branch->columns[k];
    if (!(fabs(y[c] - branch->next[c]) <= same * size_of(branch, c))) return false;
  }
  return true;
}

/* Follows the branch to t, if it can at once. */
static bool advance(Branch *branch, const Integrator *integrator, void *self, double t) {
  double shortly = branch->at.t + (t - branch->at.t) * little;
  if (!solve(branch, integrator, self, shortly)) return false;
  copy_numbers(branch->shortly, branch->next, (size_t)branch->view->system.columns);
  if (!solve(branch, integrator, self, t) || !(goes_on(branch) || tangent_agrees(branch, t))) return false;
  double *swap = branch->at.y;
  branch->at = (Moment){t, branch->next};
  branch->next = swap;
  return true;
}

/* Follows the branch to t within the step: in halves, where it does not go at once. What is left of the whole is never nothing but round-off. */
static bool follow(Branch *branch, const Integrator *integrator, void *self, double t) {
  double whole = t - branch->at.t, way = whole;
  while (branch->at.t != t) {
    bool is_last = 1.0001 * way >= t - branch->at.t;
    if (!advance(branch, integrator, self, is_last ? t : branch->at.t + way)) way /= 2;
    if (way < shortest * whole) return false;
  }
  return true;
}

/* Does y differ from the branch by a part of the last way at most? */
static bool is_near(const Branch *branch, const double *y, double part) {
  for (int32_t k = 0; k < branch->count; k++) {
    int32_t c = branch->columns[k];
    double way = fabs(branch->at.y[c] - branch->next[c]);
    if (!(fabs(y[c] - branch->at.y[c]) <= fmax(same * size_of(branch, c), part * way))) return false;
  }
  return true;
}

/* Is the solution next to the end of the step that of the branch? */
static bool ends_there(Branch *branch) {
  View *view = branch->view;
  if (is_near(branch, branch->ended, sure)) return true;
  return view->methods->follow(view, branch->at.t, branch->ended) == EVAL_OK && is_near(branch, branch->ended, 0);
}

BranchStatus branch_follow(Branch *branch, const Integrator *integrator, void *self, ConstMoment begin) {
  bool is_known = branch->end.t == begin.t;
  copy_moment(branch, &branch->begin, is_known ? of(branch->end) : begin);
  if (!is_known && branch->view->methods->follow(branch->view, begin.t, branch->begin.y) != EVAL_OK) return BRANCH_LOST;
  copy_moment(branch, &branch->at, of(branch->begin));
  branch->end.t = NAN;
  if (!follow(branch, integrator, self, integrator->time(self))) return BRANCH_LOST;
  copy_moment(branch, &branch->end, of(branch->at));
  return ends_there(branch) ? BRANCH_KEPT : BRANCH_LEFT;
}

void branch_forget(Branch *branch) { branch->end.t = NAN; }

const double *branch_begin(const Branch *branch) { return branch->begin.y; }

void branch_take(Branch *branch, const Integrator *integrator, void *self, double t, double *y) {
  if (branch->end.t != integrator->time(self) || t < branch->begin.t || t > branch->end.t) return;
  if (t == branch->end.t) copy_moment(branch, &branch->at, of(branch->end));
  else if (t < branch->at.t) copy_moment(branch, &branch->at, of(branch->begin));
  if (!follow(branch, integrator, self, t)) return;
  for (int32_t k = 0; k < branch->count; k++) y[branch->columns[k]] = branch->at.y[branch->columns[k]];
}
