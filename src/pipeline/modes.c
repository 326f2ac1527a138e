/* modes: runs whose equations change their structure at events. Each mode has its own plan (derived.c). */
#include "pipeline/parts.h"

#include "code/past.h"
#include "code/switches.h"
#include "view/model_jump.h"

#include <float.h>
#include <math.h>
#include <string.h>

double *mode_columns(const Simulation *simulation, const double *y, Heap *heap) {
  const View *view = simulation->view;
  uint32_t columns = view->original->array->columns;
  double *own = heap_array(heap, columns, sizeof *own);
  for (uint32_t q = 0; q < columns; q++)
    own[q] = view->source[q] == MAP_NONE ? NAN : view->sign[q] * y[view->source[q]];
  return own;
}

/* Keeps the values with which a run first begins in a mode. false: they cannot be found. */
static bool keep_start(Simulation *simulation, const Plan *plan, const Handover *handover, Diags *diags) {
  ModeStart *start = simulation->modes.data;
  while (start < simulation->modes.data + simulation->modes.count && start->plan != plan) start++;
  if (start == simulation->modes.data + simulation->modes.count || start->run.y) return true;
  ArrayRun run = start_array(plan, simulation->heap, handover->evaluator->parameters);
  double since;
  bool ok = start_at_event(plan, &run, handover, &since, simulation->heap, diags);
  if (ok) start->run = run;
  return ok;
}

void simulation_add_mode(Simulation *simulation, const bool *holds) {
  Heap *heap = simulation->heap;
  Diags attempt = diags_make(heap);
  Handover handover = {.time = run_time(simulation->run),
                       .evaluator = simulation->view->original,
                       .y = mode_columns(simulation, run_values(simulation->run), heap)};
  const Plan *plan = mode_plan_at(simulation, holds, &handover, &attempt);
  if (plan) keep_start(simulation, plan, &handover, &attempt);
}

/* The plan of the mode that follows the handover. NULL: an error is in diags. */
static const Plan *next_plan(Simulation *simulation, const Handover *handover, Heap *heap) {
  if (simulation->view && simulation->view->sensitivity) {
    diag_error(simulation->diags, DIAG_INTEGRATION, (Span){0},
               "at time %.10g an event changes the structure of the equations, which sensitivities do not follow",
               handover->time);
    return NULL;
  }
  const bool *holds = start_branches(simulation->plan, handover->evaluator, heap);
  return mode_plan_at(simulation, holds, handover, simulation->diags);
}

/* Changes to the plan of the mode that follows the event. */
static bool restructure(Simulation *simulation, double t, const double *y) {
  Stay stay = {0};
  Heap *heap = stay.heap = heap_within(simulation->heap, &stay.ticket);
  heap_share_guests(heap, simulation->heap);
  View *before = simulation->view;
  Handover handover = {.time = t,
                       .evaluator = before->original,
                       .y = before->model_jump ? model_jump_columns(before->model_jump, y)
                                               : mode_columns(simulation, y, heap)};
  memmove(handover.evaluator->discretes, before->evaluator->discretes, /* both may be the same memory */
          simulation->plan->model->discretes.count * sizeof(double));
  const Plan *plan = next_plan(simulation, &handover, heap);
  if (!plan) return false;
  ArrayRun original = start_array(plan, heap, before->original->parameters);
  if (!start_at_event(plan, &original, &handover, &simulation->since, heap, simulation->diags)) return false;
  if (simulation->request.keeps_modes) keep_start(simulation, plan, &handover, simulation->diags);
  simulation->plan = plan;
  simulation->stay = stay;
  simulation->original = original;
  simulation->original.evaluator->inputs = before->evaluator->inputs;
  if (!simulation_make_view(simulation)) return false;
  Past *past = simulation->system.evaluator->past;
  if (past) past_restore(past, before->evaluator->past);
  switches_adopt(simulation->view->switches, before->switches);
  if (before->holds) switches_go_on(simulation->view->switches, before->switches);
  if (before->switches->decisions)
    decisions_restore(simulation->view->switches->decisions, decisions_save(before->switches->decisions, heap));
  recorder_rebind(simulation->recorder, simulation->system.evaluator);
  simulation->statistics.replans++;
  return true;
}

/* Frees the data of the run for a structure that it has left. Keeps the structure whose constraint was violated most, because the
 * report needs its text. */
static void leave(Simulation *simulation, Stay left, const Evaluator *original) {
  if (simulation->statistics.constraint_array == original) {
    Stay before = simulation->worst;
    simulation->worst = left;
    left = before;
  }
  if (left.ticket && !left.is_saved) heap_release(simulation->heap, left.ticket);
}

/* Is the system made for all branches singular at the start? */
static bool misfits_start(const Simulation *simulation) {
  const View *view = simulation->view;
  TurningPoint point;
  if (!view->conditions || view->holds) return false;
  return !simulation->plan->run.structure || simulation_is_singular(simulation, &point);
}

bool mode_begin(Simulation *simulation) {
  if (!misfits_start(simulation)) return true;
  const Plan *plan = simulation->plan;
  Heap *heap = simulation->heap;
  double *parameters = heap_array(heap, plan->model->parameters.count, sizeof *parameters);
  bool *holds = start_branches(plan, simulation->view->evaluator, heap);
  return model_parameter_values(plan->model, heap, simulation->request.parameter_overrides, parameters,
                                simulation->diags) &&
         mode_start(simulation, holds, parameters) && simulation_make_view(simulation);
}

RunStatus mode_loop(Simulation *simulation, bool resumes) {
  return run_begin(simulation->run, simulation->view, &simulation->plan->run, simulation->since, simulation->system.y,
                   resumes);
}

/* Replaces the message, unless it is about a jump: a system of high index may have entered a mode because of forces that it does
 * not know accurately enough. */
static void blame_index(Simulation *simulation, double t, int32_t index, uint32_t said) {
  if (index < 3 || diags_code(simulation->diags) == DIAG_JUMP) return;
  diags_keep(simulation->diags, said);
  diag_error(simulation->diags, DIAG_JUMP, (Span){0},
             "at the event at time %.10g, which changes the structure, no consistent values were found; the system "
             "integrated has index %d: use a method that reduces it, such as dummy",
             t, (int)index);
}

/* Times that differ only by round-off of the run's span count as one. */
static bool is_same_time(const Simulation *simulation, double t) {
  const RunOptions *options = &simulation->options;
  return t - simulation->changed <= DBL_EPSILON * fmax(fabs(options->start), fabs(options->stop));
}

/* Counts another change of the structure. false: there were too many at this time. */
static bool count_change(Simulation *simulation, double t) {
  enum { LIMIT = 1000 };
  simulation->changes = is_same_time(simulation, t) ? simulation->changes + 1 : 0;
  simulation->changed = t;
  if (simulation->changes < LIMIT) return true;
  diag_error(simulation->diags, DIAG_CHATTERING, (Span){0},
             "at time %.10g the structure of the equations changes again and again", t);
  return false;
}

RunStatus mode_follow(Simulation *simulation) {
  const double *y;
  double t = run_event(simulation->run, &y);
  int32_t index = simulation->plan->reduction.reduced.left + 1;
  bool is_counted = count_change(simulation, t);
  uint32_t said = simulation->diags->list.count;
  Stay left = simulation->stay;
  const Evaluator *original = simulation->view->original;
  if (is_counted && restructure(simulation, t, y)) {
    RunStatus status = mode_loop(simulation, true);
    leave(simulation, left, original);
    return status;
  }
  if (is_counted) blame_index(simulation, t, index, said);
  run_collect(simulation->run);
  return RUN_FAILED;
}
