/* simulate: a run of any model. A model with final equations is solved by shooting, with arcs where controls are at their
 * bounds. */
#include "api/boundary.h"

/* Returns the better of two results and frees the other. Reports why the search ended. */
static daedal_result *take_better(daedal_result *result, daedal_result *next, const Budget *budget) {
  bool is_better = next && (daedal_status_of(next) == DAEDAL_OK || budget->is_exceeded);
  daedal_free(is_better ? result : next);
  return is_better ? next : result;
}

/* If the number of segments is not given, tries one segment, then more as long as runs fail or nothing is found. If controls are at
 * their bounds, tries a sequence of arcs first. */
static daedal_result *boundary_simulate(daedal_model *model, const daedal_options *options) {
  Budget budget = budget_make(&heap_hook(model->heap)->limits);
  budget_task(&budget, "the search for the solution of the boundary value problem");
  Attempt attempt = {.segments = options->segments ? options->segments : boundary_segments[0], .budget = &budget};
  daedal_result *result = boundary_shoot(model, options, &attempt);
  if (options->segments) return result;
  if (model->model->switched.count && daedal_status_of(result) == DAEDAL_INTEGRATION) {
    daedal_result *arcs = arcs_simulate(model, options, &budget);
    daedal_free(arcs ? result : NULL);
    if (arcs) return arcs;
  }
  for (const uint32_t *segments = &boundary_segments[1]; *segments && daedal_status_of(result) == DAEDAL_INTEGRATION;
       segments++) {
    attempt.segments = *segments;
    result = take_better(result, boundary_shoot(model, options, &attempt), &budget);
  }
  return result;
}

daedal_result *simulate_once(daedal_model *model, const daedal_options *options) {
  return has_boundary(model) ? boundary_simulate(model, options) : initial_value_simulate(model, options);
}
