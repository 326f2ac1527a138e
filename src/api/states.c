/* states: the state-space form of a run in steps, at points that the caller chooses. The run itself does not move. */
#include "api/handles.h"

#include <string.h>

/* NULL: the run was not started or has failed, or its method has no state-space form. */
static const View *state_view(const daedal_run *run) {
  const daedal_result *result = run ? run->result : NULL;
  bool goes_on = result && result->status == DAEDAL_OK && result->simulation.request.is_stepped;
  return goes_on && result->simulation.view->system.complete ? result->simulation.view : NULL;
}

uint32_t daedal_run_state_count(const daedal_run *run) {
  const View *view = state_view(run);
  return view ? (uint32_t)view->system.links : 0;
}

daedal_status daedal_run_states(const daedal_run *run, double *states) {
  const View *view = state_view(run);
  if (!view || !states) return DAEDAL_USAGE;
  const double *y = run_values(run->result->simulation.run);
  for (int32_t k = 0; k < view->system.links; k++) states[k] = y[view->system.link_from[k]];
  return DAEDAL_OK;
}

/* A point, and the outputs requested there. */
typedef struct StatePoint {
  double time;
  const double *states;
  double *rates, *jacobian, *indicators; /* NULL: not requested */
} StatePoint;

static void copy_rates(const System *system, const double *y, double *rates) {
  for (int32_t k = 0; k < system->links; k++) rates[k] = y[system->link_to[k]];
}

/* Copies the indicators: how far each condition is from changing. */
static void copy_indicators(const View *view, double t, const double *y, double *indicators) {
  Switches *switches = view->switches;
  size_t size = 2 * (size_t)switches->modes->count * sizeof(double);
  double *kept = heap_copy(view->evaluator->heap, switches->edges.difference, 1, size),
         time = switches->edges.now->time;
  edges_evaluate(&switches->edges, t, y);
  for (uint32_t m = 0; m < switches->modes->count; m++)
    indicators[m] = edges_margin(&switches->edges, (int)m, switches->edges.difference[m]);
  memcpy(switches->edges.difference, kept, size);
  switches->edges.now->time = time;
  heap_free(view->evaluator->heap, kept);
}

static bool work_point(daedal_result *result, const void *argument) {
  const StatePoint *point = argument;
  const View *view = result->simulation.view;
  const System *system = &view->system;
  double *y = heap_copy(result->heap, run_values(result->simulation.run), (size_t)system->columns, sizeof *y);
  for (int32_t k = 0; k < system->links; k++) y[system->link_from[k]] = point->states[k];
  bool ok = system->complete(system->context, point->time, y) == EVAL_OK;
  if (ok && point->rates) copy_rates(system, y, point->rates);
  if (ok && point->jacobian) ok = system->rates_jacobian(system->context, point->time, y, point->jacobian) == EVAL_OK;
  if (ok && point->indicators && view->switches && view->switches->modes->count)
    copy_indicators(view, point->time, y, point->indicators);
  heap_free(result->heap, y);
  return ok;
}

static daedal_status evaluate(daedal_run *run, const StatePoint *point) {
  bool is_whole = point->states && (point->rates || point->jacobian || point->indicators);
  if (!state_view(run) || !is_whole) return DAEDAL_USAGE;
  if (result_protect(run->result, work_point, point)) return DAEDAL_OK;
  return run->result->broken ? DAEDAL_INTERNAL : DAEDAL_INTEGRATION;
}

daedal_status daedal_run_rates(daedal_run *run, double time, const double *states, double *rates) {
  return evaluate(run, &(StatePoint){.time = time, .states = states, .rates = rates});
}

daedal_status daedal_run_jacobian(daedal_run *run, double time, const double *states, double *jacobian) {
  return evaluate(run, &(StatePoint){.time = time, .states = states, .jacobian = jacobian});
}

uint32_t daedal_run_indicator_count(const daedal_run *run) {
  const View *view = state_view(run);
  return view && view->switches ? view->switches->modes->count : 0;
}

daedal_status daedal_run_indicators(daedal_run *run, double time, const double *states, double *indicators) {
  return evaluate(run, &(StatePoint){.time = time, .states = states, .indicators = indicators});
}
