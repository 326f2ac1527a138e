/* stepper_defect: a step is accepted by its defect (segment/defect.h). */
#include "run/stepper_internal.h"

#include "base/copy.h"

#include <math.h>

/* In tolerances: what a step may miss the rows by, whatever makes it. It is an error of that size in one step at most, and the tolerance of a step
 * is no bound of the error of a run either. */
static const double HARMLESS = 10;

/* Rows that are smooth by construction are looked at inside of one step in so many. */
enum { SMOOTH_STEPS = 8 };

/* Other rows are looked at at least so often in a run: what they do for such a part of it is seen. */
enum { ROUGH_PARTS = 100 };

/* A step that is taken again becomes shorter by this factor, as one that left the domain. */
static const double SHORTER = 0.25;

void stepper_make_defect(Stepper *stepper) {
  View *view = stepper->view;
  if (!view->system.complete) return;
  stepper->defect = defect_new(stepper->heap, &view->system, stepper->options.tolerance);
  stepper->segment = segment_new(stepper->heap, view->system.columns);
  stepper->is_rough = !program_is_smooth(view->evaluator->code->rows);
}

/* The defect at a part of the last step, in tolerances; infinite where the rows cannot be solved. */
static double look_at(Stepper *stepper, double part, double largest) {
  const Segment *segment = stepper->segment;
  double t = segment->t0 + part * (segment->t1 - segment->t0);
  stepper->integrator->interpolate(stepper->self, t, stepper->ahead);
  return defect_at(stepper->defect, segment, part, stepper->ahead, largest);
}

/* Points of a step of a rough system: one drawn in each part of the run that it leads over. */
static int count_drawn(const Stepper *stepper, double step) {
  if (!stepper->is_rough) return 1;
  double parts = ceil(ROUGH_PARTS * step / stepper_span(stepper));
  return parts > 1 && parts <= ROUGH_PARTS ? (int)parts : 1;
}

/* The largest defect at the fixed point of the method, in rough systems, and at drawn ones; the first that is too large ends it. */
static double look_inside(Stepper *stepper, double fixed, double largest, uint64_t number) {
  int drawn = count_drawn(stepper, stepper->segment->t1 - stepper->segment->t0);
  double worst = 0;
  for (int k = stepper->is_rough ? -1 : 0; k < drawn && worst <= largest; k++) {
    double part = k < 0 ? fixed : (k + defect_drawn_part(number * ROUGH_PARTS + (uint64_t)k)) / drawn;
    worst = fmax(worst, look_at(stepper, part, largest));
  }
  return worst;
}

/* From a point where the rows are solved: implicit methods solve for algebraic columns as far as their states ask for it. */
static void take_again(Stepper *stepper, double step) {
  const System *system = &stepper->view->system;
  copy_numbers(stepper->ahead, stepper->begin, (size_t)system->columns);
  if (system->complete(system->context, stepper->before, stepper->ahead) == EVAL_OK)
    copy_numbers(stepper->begin, stepper->ahead, (size_t)system->columns);
  stepper->t_doubt = stepper->before + step;
  stepper_start_with(stepper, stepper->before, stepper->begin, step);
}

bool stepper_misses_rows(Stepper *stepper, double t) {
  const Integrator *integrator = stepper->integrator;
  const System *system = &stepper->view->system;
  double step = t - stepper->before;
  if (!stepper->defect || !(step > 0)) return false;
  IntegratorStatistics now;
  integrator->statistics(stepper->self, &now);
  if (!stepper->is_rough && now.steps % SMOOTH_STEPS != 0) return false;
  if (!integrator_segment(integrator, stepper->self, stepper->before, stepper->segment)) return false;
  segment_need(stepper->segment, (const uint32_t *)system->link_from, (uint32_t)system->links);
  StepShape shape = integrator->shape(stepper->self);
  double largest = fmax(HARMLESS, shape.defect);
  double found = look_inside(stepper, shape.part, largest, now.steps);
  if (found > largest && SHORTER * step >= SHORTEST_FOLLOWED * stepper_span(stepper)) {
    take_again(stepper, SHORTER * step);
    return true;
  }
  stepper->statistics.largest_defect = fmax(stepper->statistics.largest_defect, found);
  return false;
}
