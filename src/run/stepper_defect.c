/* stepper_defect: a step is accepted by its defect (segment/defect.h). */
#include "base/constants.h"
#include "run/stepper_internal.h"

#include "base/copy.h"

#include <math.h>

void stepper_make_defect(Stepper *stepper) {
  View *view = stepper->view;
  if (!view->system.complete) return;
  stepper->defect = defect_new(stepper->heap, &view->system, stepper->options.tolerance);
  stepper->is_rough = view->evaluator->code->is_rough;
}

/* The defect at a part of the last step, in tolerances; infinite where the rows cannot be solved. */
static double look_at(Stepper *stepper, double part, double largest) {
  const Segment *segment = stepper->segment;
  double t = segment->t0 + part * (segment->t1 - segment->t0);
  segment_values(segment, t, stepper->ahead);
  return defect_at(stepper->defect, segment, part, stepper->ahead, largest);
}

/* The next time at which a rough system is looked at: one is drawn in each part of the run, and no step avoids them. */
static double next_part(const Stepper *stepper, double t) {
  double start = stepper->options.start, length = stepper_span(stepper) / ROUGH_PARTS;
  if (!stepper->is_rough || !isfinite(length)) return INFINITY;
  double k = floor((t - start) / length), drawn = start + (k + defect_drawn(k)) * length;
  if (!(drawn > t)) drawn = start + (k + 1 + defect_drawn(k + 1)) * length;
  return fmax(drawn, nextafter(t, INFINITY)); /* ahead in spite of round-off */
}

/* The largest defect at these times, and, if the step is one that is looked at, at a drawn point and, of rough systems, at the fixed one of the
 * method. The first that is too large ends it. */
static double look_inside(Stepper *stepper, double chance, double largest) {
  double t0 = stepper->segment->t0, t1 = stepper->segment->t1, worst = 0;
  for (double t = next_part(stepper, t0); t <= t1 && worst <= largest; t = next_part(stepper, t))
    worst = fmax(worst, look_at(stepper, (t - t0) / (t1 - t0), largest));
  if (chance < 1 && worst <= largest && stepper->is_rough)
    worst = fmax(worst, look_at(stepper, stepper->segment->shape.part, largest));
  if (chance < 1 && worst <= largest) worst = fmax(worst, look_at(stepper, chance, largest));
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

/* Did the method reject steps on the way, in a rough system? Across a jump its estimate of the error is small by chance, in some step. */
static bool is_in_doubt(Stepper *stepper) {
  IntegratorStatistics now;
  stepper->integrator->statistics(stepper->self, &now);
  uint64_t before = stepper->rejections;
  stepper->rejections = now.rejected_error + now.rejected_convergence;
  return stepper->is_rough && stepper->rejections != before;
}

bool stepper_misses_rows(Stepper *stepper, double t) {
  const Integrator *integrator = stepper->integrator;
  const System *system = &stepper->view->system;
  double step = t - stepper->before;
  if (!stepper->defect || !(step > 0)) return false;
  double chance = (stepper->is_rough ? integrator->look_every_rough : integrator->look_every) *
                  defect_drawn(stepper->before); /* below 1 it is drawn: then it is where */
  if (is_in_doubt(stepper)) chance -= floor(chance);
  if (chance >= 1 && next_part(stepper, stepper->before) > t) return false;
  if (!segment_open(stepper->segment)) return false;
  segment_need(stepper->segment, (const uint32_t *)system->link_from, (uint32_t)system->links);
  double largest = fmax(DEFECT_HARMLESS, stepper->segment->shape.defect);
  uint64_t factorizations = stepper->view->methods->factorizations(stepper->view);
  double found = look_inside(stepper, chance, largest);
  stepper->look_factorizations += stepper->view->methods->factorizations(stepper->view) - factorizations;
  if (found > largest && SHORTER * step >= SHORTEST_FOLLOWED * stepper_span(stepper)) {
    take_again(stepper, SHORTER * step);
    return true;
  }
  stepper->statistics.looks++;
  stepper->statistics.largest_defect = fmax(stepper->statistics.largest_defect, found);
  return false;
}
