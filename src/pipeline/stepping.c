/* stepping: a run in progress: its values, saving and restoring its state, copies of it. */
#include "pipeline/parts.h"

#include <math.h>
#include <string.h>

struct SimulationState {
  const Plan *plan;
  Stay stay;
  ArrayRun original, system;
  View *view;
  RunState *reached;
};

SimulationState *simulation_save(Simulation *simulation, Heap *heap) {
  SimulationState *state = heap_alloc(heap, sizeof *state);
  RunState *reached = run_save(simulation->run, heap);
  if (!reached) return NULL;
  simulation->stay.is_saved = simulation->worst.is_saved = true;
  *state = (SimulationState){simulation->plan,   simulation->stay, simulation->original,
                             simulation->system, simulation->view, reached};
  return state;
}

bool simulation_restore(Simulation *simulation, const SimulationState *state) {
  simulation->plan = state->plan;
  simulation->stay = state->stay;
  simulation->original = state->original;
  simulation->system = state->system;
  simulation->view = state->view;
  simulation->changes = 0;
  simulation->changed = -HUGE_VAL;
  recorder_rebind(simulation->recorder, simulation->system.evaluator);
  return run_restore(simulation->run, state->reached);
}

/* The plan of the other run: shared, or derived again for this one from the same base or an equal one. */
static bool share_plan(Simulation *simulation, const Simulation *from) {
  if (!from->is_shared && !simulation_replan(simulation)) return false;
  if (from->plan == from->base) return true;
  const Plan *plan = mode_plan_again(simulation, from->plan);
  if (plan) simulation->plan = plan;
  return plan != NULL;
}

/* Copies the numbers of the request to another heap. */
static Request copy_request(const Simulation *from, Heap *heap) {
  Request request = from->request;
  const Model *model = from->plan->model;
  if (request.parameter_overrides)
    request.parameter_overrides = heap_copy(heap, request.parameter_overrides, model->parameters.count, sizeof(double));
  if (request.starts.start)
    request.starts.start = heap_copy(heap, request.starts.start, model->variables.count, sizeof(double));
  RunOptions *run = &request.run;
  run->absolute = heap_copy(heap, run->absolute, run->absolute_count, sizeof *run->absolute);
  request.choice = (RecorderChoice){0};
  return request;
}

/* Copies the values of the other run, for the plan that both have. */
static void share_values(Simulation *simulation, const Handover *here) {
  const Plan *plan = simulation->plan;
  Heap *heap = simulation->heap;
  if (!plan->code) return; /* the method uses only ranks */
  simulation->original = start_array(plan, heap, here->evaluator->parameters);
  simulation->original.y = heap_copy(heap, here->y, plan->array.columns, sizeof(double));
  evaluator_copy_leaves(simulation->original.evaluator, here->evaluator);
}

bool simulation_clone(Simulation *simulation, Heap *heap, const Simulation *from, const SimulationState *state,
                      Diags *diags) {
  Request request = copy_request(from, heap);
  simulation_open(simulation, heap, from->base, &request, diags);
  simulation->is_shared = from->is_shared;
  Handover here = {.time = run_time(from->run),
                   .evaluator = from->view->original,
                   .y = mode_columns(from, run_values(from->run), heap)};
  if (!share_plan(simulation, from)) return false;
  simulation->since = here.time;
  share_values(simulation, &here);
  if (!simulation_make_view(simulation)) return false;
  simulation_make_recorder(simulation);
  simulation_make_loop(simulation);
  simulation->options = from->options; /* the options of the plan with which the run began */
  simulation->options.absolute = request.run.absolute;
  simulation->facts = from->facts;
  simulation_note_beginning(simulation);
  simulation->facts.recorder = simulation->recorder;
  simulation->facts.statistics = &simulation->statistics;
  simulation->facts.run_evaluator = simulation->system.evaluator;
  return run_adopt(simulation->run, simulation->view, &simulation->plan->run, state->reached);
}

double simulation_value(const Simulation *simulation, const Signal *signal, const double *y) {
  if (signal->column == SIGNAL_CONSTANT) return signal->value;
  double value = recorder_value(simulation->recorder, signal->column, y);
  return signal->negated ? -value : value;
}

static void hold(Simulation *simulation, uint32_t column, double value) {
  uint32_t columns = simulation->system.evaluator->array->columns;
  if (!simulation->held) {
    simulation->held = heap_array(simulation->heap, columns, sizeof *simulation->held);
    simulation->reset = heap_array(simulation->heap, columns, sizeof *simulation->reset);
  }
  simulation->held[column] = 1;
  simulation->reset[column] = value;
  simulation->is_disturbed = true;
}

bool simulation_reset(Simulation *simulation, const Signal *signal, double value) {
  uint32_t columns = simulation->system.evaluator->array->columns;
  uint32_t source = signal->column == SIGNAL_CONSTANT ? columns : simulation->recorder->source[signal->column];
  if (source >= columns) return false;
  hold(simulation, source, signal->negated ? -value : value);
  return true;
}

void simulation_reset_states(Simulation *simulation, const double *y) {
  const System *system = &simulation->view->system;
  for (int32_t k = 0; k < system->links; k++) hold(simulation, (uint32_t)system->link_from[k], y[system->link_from[k]]);
  simulation->is_disturbed = true;
}

bool simulation_give(Simulation *simulation, uint32_t variable, double value) {
  bool given = inputs_give(simulation->view->evaluator->inputs, variable, value);
  simulation->is_disturbed = simulation->is_disturbed || given;
  return given;
}

bool simulation_settle(Simulation *simulation) {
  if (!simulation->is_disturbed) return true;
  RunStatus status = run_disturb(simulation->run, simulation->held, simulation->reset);
  bool ok = simulation_go_on(simulation, status, run_time(simulation->run), true);
  heap_free_all(simulation->heap, simulation->held, simulation->reset);
  simulation->held = NULL;
  simulation->reset = NULL;
  simulation->is_disturbed = false;
  return ok;
}
