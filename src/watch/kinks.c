/* kinks: see kinks.h. */
#include "watch/kinks.h"

#include "array/meeting.h"

#include <math.h>
#include <string.h>

enum { LOCATE_LIMIT = 40, DIG_LIMIT = 16, IDLE_LIMIT = 8 };

/* Parts of a step: a kink nearer to one of its ends is at that end; a kink is known when it is found this closely. */
static const double WELL_INSIDE = 1e-6, FOUND = 1e-8;

/* Part of a step tried: kinks that follow each other more closely hold it up. */
static const double CLOSE = 0.02;

struct Kinks {
  View *view;
  uint32_t count;
  Workspace *workspace;
  double kept;          /* the time of `before` */
  double *before, *end; /* arguments, then their rates, where the last step began and ended */
  double *inside;       /* the same at the last look inside it */
  double *speed;        /* how fast each argument has moved of late */
  double *least;        /* arguments below this are zero as far as the tolerance tells */
  uint32_t idle;        /* kinks found one after the other that held steps up */
  double *y;            /* columns of that look */
};

/* Argument `argument` in the last step; `side` is the sign that it has at the beginning. */
typedef struct Search {
  Kinks *kinks;
  const Integrator *integrator;
  void *self;
  double begin, end;
  uint32_t argument;
  double side;
} Search;

static bool evaluate(const Kinks *kinks, double t, const double *y, double *out) {
  Point point = evaluator_point(kinks->view->evaluator, t, y);
  return workspace_run(kinks->workspace, &point, out) == EVAL_OK;
}

/* Sizes at the nominal values tell what is small. */
static void set_least(Kinks *kinks, Heap *heap, double start, double tolerance) {
  Evaluator *evaluator = kinks->view->evaluator;
  Point point = evaluator_point(evaluator, start, kinks->view->system.nominal);
  workspace_run(workspace_new(heap, evaluator->code->kink_sizes), &point, kinks->least);
  for (uint32_t k = 0; k < kinks->count; k++)
    kinks->least[k] = isfinite(kinks->least[k]) ? tolerance * kinks->least[k] : 0;
}

/* Does an argument change its sign, by more than the tolerance tells? */
bool kinks_pass(Kinks *kinks, ConstMoment begin, ConstMoment end) {
  if (kinks->kept != begin.t && !evaluate(kinks, begin.t, begin.y, kinks->before)) return false;
  kinks->kept = begin.t;
  if (!evaluate(kinks, end.t, end.y, kinks->end)) return false;
  for (uint32_t k = 0; k < kinks->count; k++) {
    double before = kinks->before[k], after = kinks->end[k];
    if ((before < 0) != (after < 0) && fmax(fabs(before), fabs(after)) > kinks->least[k]) return true;
  }
  return false;
}

static bool bends(void *context, double t, const double *y, double t_end, const double *end) {
  View *view = context;
  if (view->switches && switches_bend(view->switches, t_end, end)) return true;
  return view->kinks && view->kinks->count > FEW_BENDS &&
         kinks_pass(view->kinks, (ConstMoment){t, y}, (ConstMoment){t_end, end});
}

bool kinks_end_steps(const Kinks *kinks, const Integrator *integrator) {
  return kinks->count <= FEW_BENDS || integrator != &integrator_radau;
}

Kinks *kinks_new(Heap *heap, View *view, double start, double tolerance) {
  const ArrayCode *code = view->evaluator->code;
  size_t count = code->modes->kinks;
  view->kinks = NULL;
  view->system.bends = bends;
  if (!count) return NULL;
  Kinks *kinks = heap_alloc(heap, sizeof *kinks);
  *kinks = (Kinks){.view = view, .count = (uint32_t)count, .workspace = workspace_new(heap, code->kinks)};
  kinks->before = heap_array(heap, 2 * count, sizeof(double));
  kinks->end = heap_array(heap, 2 * count, sizeof(double));
  kinks->inside = heap_array(heap, 2 * count, sizeof(double));
  kinks->speed = heap_array(heap, count, sizeof(double));
  kinks->least = heap_array(heap, count, sizeof(double));
  kinks->y = heap_array(heap, (size_t)view->system.columns, sizeof(double));
  set_least(kinks, heap, start, tolerance);
  kinks_forget(kinks);
  view->kinks = kinks;
  return kinks;
}

void kinks_forget(Kinks *kinks) { kinks->kept = NAN; }

/* The argument times `side`, and its rate, at a time. */
typedef struct Look {
  double t, margin, rate;
} Look;

static Look look_of(const Search *search, double t, const double *values) {
  return (Look){t, search->side * values[search->argument],
                search->side * values[search->kinks->count + search->argument]};
}

/* Inside of the step; the margin is NAN where it is not known. */
static Look look_at(const Search *search, double t) {
  const Kinks *kinks = search->kinks;
  bool known = view_point(kinks->view, search->integrator, search->self, t, kinks->y) == EVAL_OK &&
               evaluate(kinks, t, kinks->y, kinks->inside);
  return known ? look_of(search, t, kinks->inside) : (Look){t, NAN, NAN};
}

/* Where the argument, which is beyond zero at `high`, passes it: by the Illinois method. */
static double locate(const Search *search, Look low, Look high) {
  double found = FOUND * (search->end - search->begin);
  int side = 0;
  for (int i = 0; i < LOCATE_LIMIT && high.t - low.t > 2 * found; i++) {
    double guess = low.t + (high.t - low.t) * (low.margin / (low.margin - high.margin));
    Look look = look_at(search, fmin(fmax(guess, low.t + found), high.t - found));
    if (isnan(look.margin)) return INFINITY;
    int now = look.margin > 0 ? -1 : 1;
    *(now < 0 ? &low : &high) = look;
    if (now == side) *(now < 0 ? &high.margin : &low.margin) /= 2;
    side = now;
  }
  return high.t;
}

/* Where the tangents of an argument that turns meet, it cannot be less: does that leave room for it to pass zero twice? */
static bool may_pass_twice(Look left, Look right) {
  double fall = -left.rate, rise = right.rate;
  if (!(fall > 0) || !(rise > 0)) return false;
  double meet = (left.margin - right.margin + rise * (right.t - left.t)) / (fall + rise);
  return left.margin < fall * meet;
}

/* Looks for the least value of the argument between two looks, by the golden section, until it is beyond zero or clearly is not. */
static bool dig(const Search *search, Look left, Look right, Look *beyond) {
  const double golden = 0.38196601125010515;
  double inner = left.t + golden * (right.t - left.t);
  Look middle = look_at(search, inner);
  for (int i = 0; i < DIG_LIMIT && middle.margin > 0; i++) {
    if (middle.margin > fmax(left.margin, right.margin) - middle.margin) return false;
    bool is_right = right.t - middle.t > middle.t - left.t;
    double t = is_right ? middle.t + golden * (right.t - middle.t) : middle.t - golden * (middle.t - left.t);
    Look other = look_at(search, t);
    bool is_less = !(other.margin > middle.margin);
    if (is_less) *(is_right ? &left : &right) = middle;
    else *(is_right ? &right : &left) = other;
    if (is_less) middle = other;
  }
  *beyond = middle;
  return middle.margin < 0;
}

/* The rates of the parabola through three looks at equal distances, where columns give none. */
static void guess_rates(Look *left, Look *middle, Look *right) {
  if (left->rate != 0 || middle->rate != 0 || right->rate != 0) return;
  double step = right->t - left->t, first = left->margin, second = middle->margin, third = right->margin;
  left->rate = (4 * second - 3 * first - third) / step;
  middle->rate = (third - first) / step;
  right->rate = (first - 4 * second + 3 * third) / step;
}

/* Does the argument, which is not beyond zero at the end, get there in between? */
static bool passes_twice(const Search *search, Look left, Look right, Look *beyond) {
  Look middle = look_at(search, left.t + (right.t - left.t) / 2);
  *beyond = middle;
  if (!(middle.margin > 0)) return middle.margin < 0;
  guess_rates(&left, &middle, &right);
  return (may_pass_twice(left, middle) && dig(search, left, middle, beyond)) ||
         (may_pass_twice(middle, right) && dig(search, middle, right, beyond));
}

/* The first look. A step that begins at a kink, as it does behind one that was found, is looked at behind it. */
static Look first_look(Search *search) {
  const double *before = search->kinks->before;
  double argument = before[search->argument], inside = WELL_INSIDE * (search->end - search->begin);
  search->side = argument < 0 ? -1 : 1;
  Look look = look_of(search, search->begin, before);
  if (look.margin > 2 * inside * search->kinks->speed[search->argument]) return look;
  look = look_at(search, search->begin + inside);
  if (!(look.margin < 0)) return look;
  search->side = -search->side;
  return (Look){look.t, -look.margin, -look.rate};
}

/* Where the argument passes zero in the step; INFINITY: it does not. */
static double find_one(Search *search) {
  Look left = first_look(search), right = look_of(search, search->end, search->kinks->end), beyond = right;
  if (!(left.margin > 0)) return INFINITY;
  if (right.margin >= 0 && !passes_twice(search, left, right, &beyond)) return INFINITY;
  return locate(search, left, beyond);
}

/* Is it sure, if it moves as fast as of late, that argument k did not pass zero in a step of this size? Or has it been zero all along? */
static bool is_quiet(Kinks *kinks, uint32_t k, double step) {
  double before = kinks->before[k], end = kinks->end[k], way = fabs(end - before), slower = step * kinks->speed[k] / 2;
  if (way < slower) way = slower;
  kinks->speed[k] = way / step;
  double nearest = fabs(before) < fabs(end) ? fabs(before) : fabs(end);
  return (nearest > way && before * end > 0) || (fabs(before) <= kinks->least[k] && fabs(end) <= kinks->least[k]);
}

/* Steps that end again and again soon behind their begin, where an argument that stays near zero passes it, end at the errors of this argument:
 * as far as these go it is zero. */
static void note_found(Kinks *kinks, uint32_t k, double part) {
  kinks->idle = part < CLOSE ? kinks->idle + 1 : 0;
  if (kinks->idle < IDLE_LIMIT) return;
  kinks->idle = 0;
  kinks->least[k] = 2 * fmax(kinks->least[k], fmax(fabs(kinks->before[k]), fabs(kinks->end[k])));
}

double kinks_find(Kinks *kinks, const Integrator *integrator, void *self, ConstMoment begin) {
  Search search = {kinks, integrator, self, begin.t, integrator->time(self), 0, 1};
  double step = search.end - begin.t, inside = WELL_INSIDE * step, first = search.end;
  uint32_t bent = 0;
  if (kinks->kept != begin.t && !evaluate(kinks, begin.t, begin.y, kinks->before)) return INFINITY;
  kinks->kept = begin.t;
  if (!evaluate(kinks, search.end, integrator->values(self), kinks->end)) return INFINITY;
  for (uint32_t k = 0; k < kinks->count; k++) {
    if (is_quiet(kinks, k, step)) continue;
    search.argument = k;
    double kink = find_one(&search);
    if (kink < first) first = kink, bent = k;
  }
  if (search.end - first > inside) {
    note_found(kinks, bent, (first - begin.t) / step);
    return fmax(first, begin.t + inside);
  }
  double *swap = kinks->before;
  kinks->before = kinks->end;
  kinks->end = swap;
  kinks->kept = search.end;
  return INFINITY;
}
