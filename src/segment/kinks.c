/* kinks: see kinks.h. */
#include "segment/kinks.h"

#include "base/copy.h"
#include "core/constants.h"
#include "core/search.h"

#include <math.h>
#include <string.h>

struct Kinks {
  KinksPlan plan;
  uint32_t count;
  double kept;          /* the time of `before` */
  double *before, *end; /* arguments, then their rates, at the beginning and the end of the last step */
  double *inside;       /* arguments and rates at the last evaluation inside the step */
  double *side;         /* the sign of each argument at the beginning of the step; 0: it is not searched for */
  double *margin;       /* arguments times that sign, and their rates, at both ends: see KnownEnds */
  Search search;
  double *speed; /* recent speed of each argument */
  double *least; /* arguments below this are zero within the tolerance */
  double tolerance;
  double *size;  /* size of the terms of each argument, at the end of the last step */
  uint32_t idle; /* number of consecutive kinks that delayed steps */
  double *y;     /* columns at the last evaluation */
};

/* The last step. */
typedef struct KinkStep {
  Kinks *kinks;
  const Segment *segment;
} KinkStep;

static bool evaluate(const Kinks *kinks, double t, const double *y, double *out) {
  return kinks->plan.evaluate(kinks->plan.host, false, t, y, out);
}

/* Sets what counts as small, from sizes at the nominal values. */
static void set_least(Kinks *kinks, const System *system, double start) {
  kinks->plan.evaluate(kinks->plan.host, true, start, system->nominal, kinks->least);
  for (uint32_t k = 0; k < kinks->count; k++)
    kinks->least[k] = isfinite(kinks->least[k]) ? kinks->tolerance * kinks->least[k] : 0;
}

/* Evaluates both ends of a step. */
static bool evaluate_ends(Kinks *kinks, double t, const double *y, double t_end, const double *end) {
  if (kinks->kept != t && !evaluate(kinks, t, y, kinks->before)) return false;
  kinks->kept = t;
  return evaluate(kinks, t_end, end, kinks->end);
}

bool kinks_are_near(Kinks *kinks, const Segment *segment) {
  if (!evaluate_ends(kinks, segment->t0, segment->begin, segment->t1, segment->end)) return false;
  for (uint32_t k = 0; k < kinks->count; k++) {
    double before = kinks->before[k], after = kinks->end[k], way = fabs(after - before);
    bool is_quiet = fmin(fabs(before), fabs(after)) > way || fmax(fabs(before), fabs(after)) <= kinks->least[k];
    if (!is_quiet) return true;
  }
  return false;
}

/* Does an argument change its sign by more than the tolerance? */
bool kinks_pass(Kinks *kinks, double t, const double *y, double t_end, const double *end) {
  if (!evaluate_ends(kinks, t, y, t_end, end)) return false;
  for (uint32_t k = 0; k < kinks->count; k++) {
    double before = kinks->before[k], after = kinks->end[k];
    if ((before < 0) != (after < 0) && fmax(fabs(before), fabs(after)) > kinks->least[k]) return true;
  }
  return false;
}

bool kinks_hold(Kinks *kinks, double t, const double *y) {
  if (!evaluate(kinks, t, y, kinks->inside)) return false;
  for (uint32_t k = 0; k < kinks->count; k++)
    if (fabs(kinks->inside[k]) <= SOLVED / kinks->tolerance * kinks->least[k]) return true;
  return false;
}

void kinks_step_aside(const System *system, const double *y, int steps, double *beside) {
  for (int32_t c = 0; c < system->columns; c++)
    beside[c] = y[c] + steps * SOLVED * (1 + (double)c / system->columns) * system->nominal[c];
}

bool kinks_end_steps(const Kinks *kinks, const Segment *segment) {
  return kinks->plan.are_few || !segment->methods->is_collocation;
}

Kinks *kinks_new(Heap *heap, const KinksPlan *plan, const System *system, double start, double tolerance) {
  size_t count = plan->count;
  Kinks *kinks = heap_alloc(heap, sizeof *kinks);
  *kinks = (Kinks){.plan = *plan, .count = plan->count, .tolerance = tolerance};
  heap_numbers(heap, 2 * count, &kinks->before, &kinks->end, &kinks->inside);
  heap_numbers(heap, count, &kinks->side, &kinks->speed, &kinks->least, &kinks->size);
  kinks->margin = heap_array(heap, 4 * count, sizeof(double));
  kinks->search = search_make(plan->count, heap_array(heap, count, SEARCH_NUMBERS * sizeof(double)));
  kinks->y = heap_array(heap, (size_t)system->columns, sizeof(double));
  set_least(kinks, system, start);
  kinks_forget(kinks);
  return kinks;
}

void kinks_forget(Kinks *kinks) { kinks->kept = NAN; }

/* The margin of argument k: positive while it keeps its sign. */
static double margin_of(const Kinks *kinks, uint32_t k, const double *values) {
  return kinks->side[k] == 0 ? INFINITY : kinks->side[k] * values[k];
}

static bool look_at(void *context, double t, double *margin) {
  const KinkStep *step = context;
  const Kinks *kinks = step->kinks;
  if (!kinks->plan.point(kinks->plan.host, step->segment, t, kinks->y)) return false;
  if (!evaluate(kinks, t, kinks->y, kinks->inside)) return false;
  for (uint32_t k = 0; k < kinks->count; k++) margin[k] = margin_of(kinks, k, kinks->inside);
  return true;
}

/* Is it certain that argument k did not pass zero in a step of this size, assuming that it moves as fast as recently? Also true if
 * it was always zero. */
static bool is_quiet(Kinks *kinks, uint32_t k, double step) {
  double before = kinks->before[k], end = kinks->end[k], way = fabs(end - before), slower = step * kinks->speed[k] / 2;
  if (way < slower) way = slower;
  kinks->speed[k] = way / step;
  double nearest = fabs(before) < fabs(end) ? fabs(before) : fabs(end);
  return (nearest > way && before * end > 0) || (fabs(before) <= kinks->least[k] && fabs(end) <= kinks->least[k]);
}

/* Is argument k only round-off at both ends of the step? If nominal values give it no size, it counts as round-off if it is zero
 * within the tolerance. */
static bool is_round_off(const Kinks *kinks, uint32_t k) {
  double part = 10 * DIFFERENCE_ROUND_OFF; /* an argument is the result of more operations than a difference is */
  if (!(kinks->least[k] > 0)) part = fmax(part, kinks->tolerance);
  double round_off = isfinite(kinks->size[k]) ? part * kinks->size[k] : 0;
  return fabs(kinks->before[k]) <= round_off && fabs(kinks->end[k]) <= round_off;
}

/* Drops arguments that are only round-off, because they pass zero at any time. Is one left? */
static bool drop_round_off(Kinks *kinks, double end, const double *y) {
  bool any = false;
  kinks->plan.evaluate(kinks->plan.host, true, end, y, kinks->size);
  for (uint32_t k = 0; k < kinks->count; k++) {
    if (kinks->side[k] != 0 && is_round_off(kinks, k)) kinks->side[k] = 0;
    any = any || kinks->side[k] != 0;
  }
  return any;
}

/* Sets the signs of the arguments that may pass zero in a step of this size. Returns whether there are any. *at_kink: an argument
 * is zero at the beginning of the step, as after a kink that was found. */
static bool set_sides(Kinks *kinks, double step, bool *at_kink) {
  bool any = false;
  *at_kink = false;
  for (uint32_t k = 0; k < kinks->count; k++) {
    bool may_pass = !is_quiet(kinks, k, step);
    kinks->side[k] = !may_pass ? 0 : kinks->before[k] < 0 ? -1 : 1;
    any = any || may_pass;
    *at_kink = *at_kink || (may_pass && fabs(kinks->before[k]) <= 2 * PRESENT * step * kinks->speed[k]);
  }
  return any;
}

/* Sets the signs a little after the beginning of the step, where the search begins. false: they are unknown. */
static bool set_sides_at(const KinkStep *step, double t) {
  Kinks *kinks = step->kinks;
  if (!look_at((void *)step, t, kinks->margin)) return false;
  for (uint32_t k = 0; k < kinks->count; k++)
    if (kinks->side[k] != 0) kinks->side[k] = kinks->inside[k] == 0 ? 0 : kinks->inside[k] < 0 ? -1 : 1;
  memcpy(kinks->before, kinks->inside, 2 * kinks->count * sizeof(double));
  return true;
}

static KnownEnds known_ends(const Kinks *kinks) {
  uint32_t count = kinks->count;
  double *margin = kinks->margin;
  for (uint32_t k = 0; k < count; k++) {
    margin[k] = margin_of(kinks, k, kinks->before);
    margin[count + k] = kinks->side[k] * kinks->before[count + k];
    margin[2 * count + k] = margin_of(kinks, k, kinks->end);
    margin[3 * count + k] = kinks->side[k] * kinks->end[count + k];
  }
  return (KnownEnds){margin, margin + count, margin + 2 * (size_t)count, margin + 3 * (size_t)count};
}

/* Finds the first kink in the interval, and the argument that causes it. */
static bool find_first(KinkStep *step, Bracket stretch, double size, Kink *kink, uint32_t *bent) {
  Kinks *kinks = step->kinks;
  Watched watched = {.context = step, .count = kinks->count, .step = size, .look = look_at, .near = LOCATED * size};
  KnownEnds ends = known_ends(kinks);
  Bracket found;
  if (!search_find(&kinks->search, &watched, stretch, &ends, &found)) return false;
  search_locate(&kinks->search, &watched, &found);
  *kink = (Kink){found.low, found.high};
  for (uint32_t k = 0; k < kinks->count; k++)
    if (margin_of(kinks, k, kinks->inside) < 0) *bent = k;
  return true;
}

/* If steps repeatedly end soon after their beginning because an argument near zero passes zero, they end at errors of this
 * argument. Within these errors it counts as zero. */
static void note_found(Kinks *kinks, uint32_t k, double part) {
  kinks->idle = part < MINOR ? kinks->idle + 1 : 0;
  if (kinks->idle < FEW) return;
  kinks->idle = 0;
  kinks->least[k] = 2 * fmax(kinks->least[k], fmax(fabs(kinks->before[k]), fabs(kinks->end[k])));
}

bool kinks_find(Kinks *kinks, const Segment *segment, Kink *kink) {
  KinkStep step = {kinks, segment};
  double begin = segment->t0, end = segment->t1, size = end - begin, inside = PRESENT * size;
  uint32_t bent = 0;
  bool at_kink, found = false;
  if (!evaluate_ends(kinks, begin, segment->begin, end, segment->end)) return false;
  if (set_sides(kinks, size, &at_kink) && drop_round_off(kinks, end, segment->end)) {
    Bracket stretch = {at_kink ? begin + inside : begin, end};
    if (at_kink) kinks->kept = NAN; /* the values kept are from a later time */
    if (!at_kink || set_sides_at(&step, stretch.low)) found = find_first(&step, stretch, size, kink, &bent);
  }
  if (found && end - kink->high > inside) {
    note_found(kinks, bent, (kink->high - begin) / size);
    kink->high = fmax(kink->high, begin + inside);
    return true;
  }
  swap_numbers(&kinks->before, &kinks->end);
  kinks->kept = end;
  return false;
}
