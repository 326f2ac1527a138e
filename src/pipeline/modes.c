/* modes: runs whose equations change their structure at events. Each mode has a plan of its own, made when it is first met. */
#include "pipeline/parts.h"

#include "code/past.h"
#include "code/switches.h"
#include "view/share.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const Plan *find_mode(const Simulation *simulation, const bool *holds) {
  size_t count = simulation->plan->branches.count;
  for (uint32_t k = 0; k < simulation->modes.count; k++)
    if (memcmp(simulation->modes.data[k]->holds, holds, count * sizeof *holds) == 0) return simulation->modes.data[k];
  return NULL;
}

static const Plan *make_mode(Simulation *simulation, const Handover *handover, const bool *branches, Diags *diags) {
  Request request = simulation->request;
  bool *holds = heap_copy(simulation->heap, branches, simulation->plan->branches.count, sizeof *holds);
  request.handover = handover;
  request.opens_kinks = simulation->plan->request.opens_kinks;
  if (handover) request.run.start = handover->time;
  Plan *plan = heap_alloc(simulation->heap, sizeof *plan);
  if (!(handover ? plan_make_for : plan_make_at_start)(plan, simulation->heap, simulation->plan->model, &request, holds,
                                                       diags))
    return NULL;
  vec_push(simulation->heap, &simulation->modes, plan);
  return plan;
}

/* The plan of the mode that the handover leads into, made when first met. NULL: an error is in diags. */
static const Plan *mode_plan(Simulation *simulation, const Handover *handover, Heap *heap) {
  if (simulation->view && simulation->view->sensitivity) {
    diag_error(simulation->diags, DIAG_INTEGRATION, (Span){0},
               "at time %.10g an event changes the structure of the equations, which sensitivities do not follow",
               handover->time);
    return NULL;
  }
  bool *holds = start_branches(simulation->plan, handover->evaluator, heap);
  const Plan *known = find_mode(simulation, holds);
  return known ? known : make_mode(simulation, handover, holds, simulation->diags);
}

const Plan *mode_plan_again(Simulation *simulation, const Plan *other) {
  Handover handover = {.time = other->start.time, .evaluator = other->first.evaluator, .again = &other->start};
  return make_mode(simulation, other->start.y ? &handover : NULL, other->holds, simulation->diags);
}

double *mode_columns(const Simulation *simulation, const double *y, Heap *heap) {
  const View *view = simulation->view;
  uint32_t columns = view->original->array->columns;
  double *own = heap_array(heap, columns, sizeof *own);
  for (uint32_t q = 0; q < columns; q++)
    own[q] = view->source[q] == MAP_NONE ? NAN : view->sign[q] * y[view->source[q]];
  return own;
}

const Plan *simulation_mode(Simulation *simulation, const bool *holds) {
  const Plan *known = find_mode(simulation, holds);
  if (known) return known;
  Heap *heap = simulation->heap;
  Diags *attempt = heap_alloc(heap, sizeof *attempt);
  Handover *handover = heap_alloc(heap, sizeof *handover);
  *attempt = diags_make(heap);
  *handover = (Handover){.time = run_time(simulation->run),
                         .evaluator = simulation->view->original,
                         .y = mode_columns(simulation, run_values(simulation->run), heap)};
  return make_mode(simulation, handover, holds, attempt);
}

/* Goes over to the plan of the mode that the event leads into. */
static bool restructure(Simulation *simulation, double t, const double *y) {
  Stay stay = {0};
  Heap *heap = stay.heap = heap_within(simulation->heap, &stay.ticket);
  heap_share_guests(heap, simulation->heap);
  View *before = simulation->view;
  Handover handover = {.time = t,
                       .evaluator = before->original,
                       .y = before->share ? share_columns(before->share, y) : mode_columns(simulation, y, heap)};
  memmove(handover.evaluator->discretes, before->evaluator->discretes, /* which may be the same */
          simulation->plan->model->discretes.count * sizeof(double));
  const Plan *plan = mode_plan(simulation, &handover, heap);
  if (!plan) return false;
  /* Also if it is new: a run that is restored meets it again, and must not find other values. */
  ArrayRun original = start_array(plan, heap, before->original->parameters);
  if (!start_at_event(plan, &original, &handover, heap, simulation->diags)) return false;
  simulation->plan = plan;
  simulation->stay = stay;
  simulation->original = original;
  simulation->original.evaluator->inputs = before->evaluator->inputs;
  simulation->since = t;
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

/* Frees what the run held for a structure that it has left. Of the one whose constraint was violated most the report needs the text. */
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
  bool *holds = start_branches(simulation->plan, simulation->view->evaluator, simulation->heap);
  const Plan *plan = make_mode(simulation, NULL, holds, simulation->diags);
  if (!plan) return false;
  simulation->plan = simulation->first = plan;
  simulation->is_shared = false;
  simulation_begin_alone(simulation);
  return simulation_make_view(simulation);
}

RunStatus mode_loop(Simulation *simulation, bool resumes) {
  return run_begin(simulation->run, simulation->view, &simulation->plan->run, simulation->since, simulation->system.y,
                   resumes);
}

/* Instead of what was said, if that is not of a jump: a system of a high index may have been led into a mode by forces that it does not
 * know well enough. */
static void blame_index(Simulation *simulation, double t, int32_t index, uint32_t said) {
  if (index < 3 || diags_code(simulation->diags) == DIAG_JUMP) return;
  diags_keep(simulation->diags, said);
  diag_error(simulation->diags, DIAG_JUMP, (Span){0},
             "at the event at time %.10g, which changes the structure, no consistent values were found; the system "
             "integrated has index %d: use a method that reduces it, such as dummy",
             t, (int)index);
}

/* Times that differ by no more than round-off of the run's are one time. */
static bool is_same_time(const Simulation *simulation, double t) {
  const RunOptions *options = &simulation->options;
  return t - simulation->changed <= DBL_EPSILON * fmax(fabs(options->start), fabs(options->stop));
}

/* Another change of the structure. false: there have been too many at this time. */
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
