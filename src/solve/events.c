/* events: see events.h. */
#include "solve/events.h"

#include <math.h>
#include <string.h>

enum { LOCATE_LIMIT = 80, SETTLE_LIMIT = 30 };

typedef struct Bracket {
  View *view;
  const Integrator *integrator;
  void *self;
  double *y;
  double *low_value; /* differences at the lower end, where nothing contradicts */
} Bracket;

/* The columns at a time inside the step. All rows hold there: a restart would bring back to the constraints
 * what is only interpolated, and that can undo the crossing. */
static bool point_at(const Bracket *bracket, double t) {
  bracket->integrator->interpolate(bracket->self, t, bracket->y);
  if (bracket->view->methods->solve(bracket->view, t, bracket->y) != EVAL_OK) return false;
  return switches_evaluate(bracket->view->switches, t, bracket->y);
}

static bool any_contradicts(const Switches *switches, uint32_t *mode) {
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    if (!switches_contradict(switches, m)) continue;
    *mode = m;
    return true;
  }
  return false;
}

/* The earliest secant root of the relations that contradict at the upper end; kept off the ends, where it
 * would not shrink the bracket. */
static double guess_root(const Bracket *bracket, double low, double high) {
  const Switches *switches = bracket->view->switches;
  double earliest = high;
  for (uint32_t m = 0; m < switches->modes->count; m++) {
    if (!switches_contradict(switches, m)) continue;
    double b = switches_beyond(switches, m), a = bracket->low_value[m] + (b - switches->difference[m]);
    double root = a != b ? low + (high - low) * (a / (a - b)) : low;
    if (root < earliest) earliest = root;
  }
  double margin = 0.01 * (high - low);
  return fmin(fmax(earliest, low + margin), high - margin);
}

void events_begin(View *view, double t, const double *y) {
  if (view->switches && switches_evaluate(view->switches, t, y)) switches_keep(view->switches);
}

/* A first point of the step at which a relation contradicts its mode: the end, or a point inside from which
 * it comes back before the end. Inside the columns are only interpolated until something is found. */
static bool find_contradiction(const Bracket *bracket, double before, double *t, uint32_t *mode) {
  enum { LOOKS = 5 };
  View *view = bracket->view;
  Switches *switches = view->switches;
  double end = *t;
  if (!switches_evaluate(switches, end, bracket->integrator->values(bracket->self))) return false;
  bool found = any_contradicts(switches, mode), hides = !found && switches_may_hide(switches);
  if (found) return true;
  for (int k = 1; k < LOOKS && hides; k++) {
    *t = before + (end - before) * k / LOOKS;
    bracket->integrator->interpolate(bracket->self, *t, bracket->y);
    if (!switches_evaluate(switches, *t, bracket->y) || !any_contradicts(switches, mode)) continue;
    if (point_at(bracket, *t) && any_contradicts(switches, mode)) return true;
  }
  *t = end;
  if (hides) switches_evaluate(switches, end, bracket->integrator->values(bracket->self));
  switches_keep(switches);
  return false;
}

bool events_locate(View *view, const Integrator *integrator, void *self, double before, double *t, double *y,
                   uint32_t *mode) {
  Switches *switches = view->switches;
  uint32_t count = switches->modes->count;
  Bracket bracket = {view, integrator, self, y, switches->before};
  double low = before, end = *t;
  if (!find_contradiction(&bracket, before, t, mode)) return false;
  Heap *heap = view->evaluator->heap;
  double *high_value = heap_array(heap, count, sizeof *high_value), high = *t;
  memcpy(high_value, switches->difference, count * sizeof *high_value);
  for (int k = 0; k < LOCATE_LIMIT && high - low > 4e-16 * fabs(high) + 1e-14 * (high - before); k++) {
    memcpy(switches->difference, high_value, count * sizeof *high_value);
    double middle = k % 3 == 2 ? low + (high - low) / 2 : guess_root(&bracket, low, high);
    if (!(middle > low && middle < high) || !point_at(&bracket, middle)) break;
    uint32_t found;
    if (any_contradicts(switches, &found)) {
      high = middle;
      *mode = found;
      memcpy(high_value, switches->difference, count * sizeof *high_value);
    } else {
      low = middle;
      memcpy(bracket.low_value, switches->difference, count * sizeof(double));
    }
  }
  if (high < end) {
    point_at(&bracket, high);
  } else {
    memcpy(y, integrator->values(self), (size_t)view->system.columns * sizeof *y);
    view->methods->solve(view, high, y);
  }
  *t = high;
  heap_free(heap, high_value);
  return true;
}

bool events_settle(View *view, double t, double *y) {
  switches_begin(view->switches);
  for (int round = 0; round < SETTLE_LIMIT; round++) {
    if (!switches_evaluate(view->switches, t, y)) return false;
    if (!switches_set(view->switches)) {
      switches_keep(view->switches);
      return true;
    }
    if (view->methods->solve_at_event(view, t, y) != EVAL_OK) return false;
  }
  return false;
}
