/* defect: see defect.h. */
#include "segment/defect.h"

#include "base/copy.h"
#include "base/linear.h"
#include "base/spread.h"
#include "core/constants.h"
#include "segment/elimination.h"

#include <math.h>
#include <string.h>

struct Defect {
  Heap *heap;
  const System *system;
  double tolerance;
  double *found; /* all columns, with the rows solved */

  /* The filter: made when it is first needed. */
  Elimination *elimination;
  Linear *linear;
  double *jacobian, *values, *right, *work, *first;
};

Defect *defect_new(Heap *heap, const System *system, double tolerance) {
  Defect *defect = heap_alloc(heap, sizeof *defect);
  *defect = (Defect){.heap = heap, .system = system, .tolerance = tolerance};
  defect->found = heap_array(heap, (size_t)system->columns, sizeof(double));
  return defect;
}

/* ---- the filter ---- */

static void make_filter(Defect *defect) {
  const System *system = defect->system;
  int32_t nonzeros = system->column_start[system->columns];
  defect->elimination = elimination_new(defect->heap, system);
  defect->linear = linear_new(defect->heap, system->rows, nonzeros, false);
  heap_numbers(defect->heap, (size_t)nonzeros, &defect->jacobian, &defect->values);
  heap_numbers(defect->heap, (size_t)system->columns, &defect->right, &defect->work, &defect->first);
}

/* Factors 1 - h J, with J at (t, y). */
static bool factor_filter(Defect *defect, double t, const double *y, double h) {
  const System *system = defect->system;
  if (!defect->linear) make_filter(defect);
  if (!elimination_is_chosen(defect->elimination)) {
    elimination_choose(defect->elimination, NULL);
    linear_set_pattern(defect->linear, defect->elimination->start, defect->elimination->row);
  }
  if (system->jacobian(system->context, t, y, defect->jacobian) != EVAL_OK) return false;
  elimination_real(defect->elimination, defect->jacobian, h, defect->values);
  return linear_factor(defect->linear, defect->values);
}

/* Replaces `error`, of the states, by (1 - h J)^-1 error. */
static void apply_filter(Defect *defect, double h, double *error) {
  elimination_filter(defect->elimination, defect->linear, defect->jacobian, h, error, defect->right, defect->work);
}

/* ---- the point ---- */

static double norm(const Defect *defect, const double *y, const double *error) {
  const System *system = defect->system;
  double sum = 0;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t c = system->link_from[l];
    double scaled = error[c] / (defect->tolerance * (system->nominal[c] + fabs(y[c])));
    sum += scaled * scaled;
  }
  return sqrt(sum / fmax(system->links, 1));
}

/* h times the slopes minus the rates of `found`. */
static void set_defect(const Defect *defect, const Segment *segment, double part, double *error) {
  const System *system = defect->system;
  double h = segment->t1 - segment->t0;
  for (int32_t l = 0; l < system->links; l++) {
    int32_t from = system->link_from[l];
    error[from] = h * (segment_slope(segment, (uint32_t)from, part) - defect->found[system->link_to[l]]);
  }
}

/* The part of the defect `error` that remains after stiff decay, with the decay at the end of the step. */
static double norm_at_end(Defect *defect, const Segment *segment, const double *error) {
  double h = segment->t1 - segment->t0;
  if (!factor_filter(defect, segment->t1, segment->end, h)) return NAN;
  copy_numbers(defect->first, error, (size_t)defect->system->columns);
  apply_filter(defect, h, defect->first);
  return norm(defect, segment->end, defect->first);
}

/* The part of the defect `error` that remains after stiff decay: one step of Newton's method for the error e of e = h (f(p + e) -
 * p'). It is accurate if a second step with the same matrix is small compared with it: convergence of the simplified Newton method
 * requires a quarter (Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 2.1). For exponentials, whose slope at one
 * point says nothing about other points, it is 1/e. Less than a tolerance may be round-off, which does not contract. A diode
 * that stops conducting within the step no longer damps errors afterwards, so the error at the end of the step counts, too.
 * Overwrites `found`.
 * NAN: unknown. */
static double stiff_norm(Defect *defect, const Segment *segment, double part, double *error) {
  const System *system = defect->system;
  double h = segment->t1 - segment->t0, t = segment->t0 + part * h, *found = defect->found;
  double end = norm_at_end(defect, segment, error);
  if (isnan(end) || !factor_filter(defect, t, found, h)) return NAN;
  apply_filter(defect, h, error);
  double first = norm(defect, found, error);
  for (int32_t l = 0; l < system->links; l++) found[system->link_from[l]] -= error[system->link_from[l]];
  if (system->complete(system->context, t, found) != EVAL_OK) return NAN;
  copy_numbers(defect->first, error, (size_t)system->columns);
  set_defect(defect, segment, part, error);
  for (int32_t l = 0; l < system->links; l++) error[system->link_from[l]] -= defect->first[system->link_from[l]];
  apply_filter(defect, h, error);
  double second = norm(defect, found, error);
  return second <= fmax(CONTRACTS * first, 1) ? fmax(end, first + second) : NAN;
}

double defect_at(Defect *defect, const Segment *segment, double part, double *y, double largest) {
  const System *system = defect->system;
  double t = segment->t0 + part * (segment->t1 - segment->t0), *found = defect->found;
  copy_numbers(found, y, (size_t)system->columns);
  if (system->complete(system->context, t, found) != EVAL_OK) return INFINITY;
  set_defect(defect, segment, part, y);
  double raw = norm(defect, found, y);
  return raw > largest ? fmin(raw, stiff_norm(defect, segment, part, y)) : raw;
}

/* ---- where to look ---- */

/* The defect at a part of the step, in tolerances; infinite if the rows cannot be solved. */
static double look_at(Defect *defect, const Segment *segment, double part, double largest, double *y) {
  segment_values(segment, segment->t0 + part * (segment->t1 - segment->t0), y);
  return defect_at(defect, segment, part, y, largest);
}

/* The next time at which a rough system is examined. One random time is drawn in each part of the run, so that no sequence
 * of step sizes can avoid all of them. */
static double next_part(const DefectLooks *looks, double t) {
  double length = looks->span / PARTS;
  if (!looks->is_rough || !isfinite(length)) return INFINITY;
  double k = floor((t - looks->start) / length), drawn = looks->start + (k + spread_random(k)) * length;
  if (!(drawn > t)) drawn = looks->start + (k + 1 + spread_random(k + 1)) * length;
  return fmax(drawn, nextafter(t, INFINITY)); /* later than t, even if round-off hides the difference */
}

/* The largest defect at these times. If the step is examined, also at a random point and, for rough systems, at the method's fixed
 * one. The search ends at the first defect that is too large. */
static double look_inside(Defect *defect, const DefectLooks *looks, const Segment *segment, double chance,
                          double largest, double *y) {
  double t0 = segment->t0, t1 = segment->t1, worst = 0;
  for (double t = next_part(looks, t0); t <= t1 && worst <= largest; t = next_part(looks, t))
    worst = fmax(worst, look_at(defect, segment, (t - t0) / (t1 - t0), largest, y));
  if (chance < 1 && worst <= largest && looks->is_rough)
    worst = fmax(worst, look_at(defect, segment, segment->shape.part, largest, y));
  if (chance < 1 && worst <= largest) worst = fmax(worst, look_at(defect, segment, chance, largest, y));
  return worst;
}

bool defect_is_in_doubt(DefectLooks *looks, const Segment *segment, uint64_t rejections, double next) {
  double tried = segment->t0 + looks->planned, t = segment->t1;
  looks->planned = fmax(next, t - segment->t0);
  if (rejections != looks->rejections) looks->rejected = fmax(looks->rejected, fmax(tried, t));
  looks->rejections = rejections;
  return looks->is_rough && segment->t0 < looks->rejected;
}

bool defect_is_too_large(Defect *defect, DefectLooks *looks, Segment *segment, int every, DefectDoubt doubt, double *y,
                         double *found) {
  const System *system = defect->system;
  double chance =
      every * spread_random(segment->t0); /* if below 1, also the part of the step at which the defect is examined */
  *found = -1;
  if (doubt != DEFECT_SELDOM) chance -= floor(chance);
  if ((chance >= 1 && next_part(looks, segment->t0) > segment->t1) || !segment_open(segment)) return false;
  segment_need(segment, (const uint32_t *)system->link_from, (uint32_t)system->links);
  double largest = fmax(DEFECT_HARMLESS, segment->shape.defect);
  *found = look_inside(defect, looks, segment, chance, largest, y);
  if (doubt == DEFECT_AT_END && *found <= largest) *found = fmax(*found, look_at(defect, segment, 1, largest, y));
  if (!(*found > largest && (segment->t1 - segment->t0) / SEVERAL >= VANISHED * looks->span)) return false;
  looks->rejected = fmax(looks->rejected, segment->t1);
  return true;
}
