/* stepper_defect: accepts a step by its defect (segment/defect.h), and only if it takes no state across its min or max. */
#include "core/constants.h"
#include "run/stepper_internal.h"

#include "base/copy.h"

#include <math.h>

/* ---- bounds ---- */

static double bound_of(Evaluator *evaluator, Expr bound, double otherwise) {
  double value;
  return bound != EXPR_NONE && evaluator_constant(evaluator, bound, &value) && !isnan(value) ? value : otherwise;
}

static void make_bounds(Stepper *stepper) {
  Evaluator *evaluator = stepper->view->evaluator;
  const Array *array = evaluator->array;
  const Model *model = evaluator->model;
  bool any = false;
  heap_numbers(stepper->heap, array->columns, &stepper->low, &stepper->high);
  for (uint32_t c = 0; c < array->columns; c++) stepper->low[c] = -INFINITY, stepper->high[c] = INFINITY;
  for (uint32_t j = 0; j < array->problem->unknowns; j++) {
    const Variable *variable = &model->variables.data[model->unknowns.data[array->problem->unknown[j]]];
    uint32_t c = array->column_start[j];
    if (array->d[j] == 0) continue;
    stepper->low[c] = bound_of(evaluator, variable->min, -INFINITY);
    stepper->high[c] = bound_of(evaluator, variable->max, INFINITY);
    any = any || stepper->low[c] > -INFINITY || stepper->high[c] < INFINITY;
  }
  if (any) return;
  heap_free_all(stepper->heap, stepper->low, stepper->high);
  stepper->low = stepper->high = NULL;
}

/* Does a step from `begin` to `end` go below the bound? Its error is measured against the distance to the bound. A small
 * positive concentration must not become negative just because the absolute tolerance allows it: equations may be unstable
 * there. */
static bool leads_below(double begin, double end, double bound, double tolerance, double size) {
  double allowed = fmax(tolerance * (begin - bound), LEAST_ABSOLUTE * fmax(1, fmax(size, fabs(bound))));
  return end < bound - allowed && end < begin;
}

/* A column of the last step: its values at both ends, its changes by the slopes there, and the sign that turns its bound into a
 * lower bound. */
typedef struct BoundedStep {
  uint32_t column;
  double sign, begin, end, begin_slope, end_slope;
} BoundedStep;

/* Is the polynomial above the bound everywhere? It is halved until its coefficients decide. */
static bool is_above(int count, const double *b, double bound, int halvings) {
  double least = b[0], before[BERNSTEIN_MOST], behind[BERNSTEIN_MOST];
  for (int k = 1; k < count; k++) least = fmin(least, b[k]);
  if (least >= bound || halvings == 0) return true;
  if (b[0] < bound || b[count - 1] < bound) return false;
  copy_numbers(before, b, (size_t)count), copy_numbers(behind, b, (size_t)count);
  bernstein_keep_before(count, before, 0.5), bernstein_keep_behind(count, behind, 0.5);
  return is_above(count, before, bound, halvings - 1) && is_above(count, behind, bound, halvings - 1);
}

/* Does the step go below the bound inside? For most steps the cubic through both ends excludes this: its distance from the
 * bound is larger than its change. If the polynomial of the method costs evaluations, the cubic also excludes it by not
 * reaching the bound. */
static bool dips_below(Stepper *stepper, const BoundedStep *step, double bound, double tolerance, double size) {
  double allowed = tolerance * fmax(fmax(step->begin, step->end) - bound, size);
  double least = fmin(step->begin + step->begin_slope / 3, step->end - step->end_slope / 3);
  double moves = fmax(fabs(step->end - step->begin), fmax(fabs(step->begin_slope), fabs(step->end_slope)));
  if (least - moves > bound || (stepper->steps.segment->methods->is_costly && !(least < bound - allowed))) return false;
  if (!segment_open(stepper->steps.segment)) return false;
  segment_need(stepper->steps.segment, &step->column, 1);
  int count = stepper->steps.segment->count;
  double b[BERNSTEIN_MOST];
  for (int k = 0; k < count; k++) b[k] = step->sign * segment_column(stepper->steps.segment, step->column)[k];
  b[0] = fmax(b[0], bound), b[count - 1] = fmax(b[count - 1], bound); /* the ends are checked by leads_below */
  return !is_above(count, b, bound - allowed, ROUNDS);
}

/* Does the last step take the state of a link below its min or, if the sign is -1, above its max? */
static bool crosses(Stepper *stepper, int32_t l, double sign, double bound) {
  const System *system = &stepper->view->system;
  const double *begin = stepper->steps.begin, *end = stepper->steps.integrator->values(stepper->steps.self);
  double tolerance = stepper->options.tolerance, h = stepper->steps.segment->t1 - stepper->steps.segment->t0;
  int32_t c = system->link_from[l], to = system->link_to[l];
  BoundedStep step = {(uint32_t)c, sign, sign * begin[c], sign * end[c], sign * h * begin[to], sign * h * end[to]};
  if (isinf(bound)) return false;
  if (leads_below(step.begin, step.end, bound, tolerance, system->nominal[c])) return true;
  return dips_below(stepper, &step, bound, tolerance, system->size[c]);
}

/* A state that the last step takes across its bound; -1: none. */
static int32_t find_crossing(Stepper *stepper, bool *is_low) {
  const System *system = &stepper->view->system;
  for (int32_t l = 0; stepper->low && l < system->links; l++) {
    int32_t c = system->link_from[l];
    *is_low = crosses(stepper, l, 1, stepper->low[c]);
    if (*is_low || crosses(stepper, l, -1, -stepper->high[c])) return c;
  }
  return -1;
}

/* Has the last step, to t, taken a state across its bound? A state that crosses its bound with any step size has no bound there
 * from then on. */
static bool leaves_bounds(Stepper *stepper, double t) {
  bool is_low;
  int32_t c = find_crossing(stepper, &is_low);
  if (c < 0 || (t - stepper->now.before) / SEVERAL >= VANISHED * stepper_span(stepper)) return c >= 0;
  double *bound = is_low ? &stepper->low[c] : &stepper->high[c];
  diag_warning(stepper->diags, DIAG_OUT_OF_BOUNDS, (Span){0}, "%s goes %s %.10g at time %.10g",
               stepper_known_name(stepper, (uint32_t)c), is_low ? "below its min," : "above its max,", *bound, t);
  *bound = is_low ? -INFINITY : INFINITY;
  return false;
}

/* Repeats the last step with a smaller size. An explicit method that overshoots is at its stability bound, which its steps do not
 * show. */
static void take_short(Stepper *stepper, double step) {
  stepper->statistics.rejected++;
  stepper->now.t_doubt = stepper->now.before + step;
  if (stepper_leave_explicit(stepper)) return;
  steps_repeat(&stepper->steps, step);
}

/* ---- the defect ---- */

void stepper_make_defect(Stepper *stepper) {
  View *view = stepper->view;
  make_bounds(stepper);
  if (!view->system.complete) return;
  stepper->steps.defect = defect_new(stepper->heap, &view->system, stepper->options.tolerance);
  stepper->steps.looks = (DefectLooks){.start = stepper->options.start,
                                       .span = stepper_span(stepper),
                                       .is_rough = view->evaluator->code->is_rough,
                                       .rejected = -INFINITY};
}

bool stepper_misses_rows(Stepper *stepper, double t) {
  double step = t - stepper->now.before, found;
  if (!(step > 0)) return false;
  if (leaves_bounds(stepper, t)) {
    take_short(stepper, step / SEVERAL);
    return true;
  }
  uint64_t factorizations = stepper->view->methods->factorizations(stepper->view);
  bool misses = steps_miss_rows(&stepper->steps, &found);
  stepper->look_factorizations += stepper->view->methods->factorizations(stepper->view) - factorizations;
  if (misses || found < 0) return misses;
  stepper->statistics.looks++;
  stepper->statistics.largest_defect = fmax(stepper->statistics.largest_defect, found);
  return false;
}
