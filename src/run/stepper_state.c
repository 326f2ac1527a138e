/* stepper_state: saves, restores, writes and reads the whole state of a stepper. */
#include "run/stepper_internal.h"

#include "base/copy.h"
#include "code/past.h"
#include "model/input.h"
#include "view/model_jump.h"

/* The values of an evaluator. */
typedef struct SavedValues {
  double *parameters, *discretes, *pre;
} SavedValues;

struct StepperState {
  double t, *y, *seen;
  const Integrator *integrator, *waiting;
  double changed; /* the same member as in the stepper */
  bool has_changed, terminated;
  double credit; /* credit of proofs */
  SavedValues run, original;
  uint64_t *samples;       /* number of samples passed */
  Past *past;              /* NULL without delays */
  void *inputs;            /* NULL: there are none */
  SwitchesState *switches; /* NULL: there are no events */
  void *choice;            /* NULL: the states are never chosen */
  double *guesses;         /* guesses for columns that only events need; NULL: there are none */
};

static size_t count_discretes(const Evaluator *evaluator) { return modes_leaves(evaluator->code->modes); }

static SavedValues save_values(const Evaluator *evaluator, Heap *heap) {
  size_t parameters = evaluator->model->parameters.count, discretes = count_discretes(evaluator);
  return (SavedValues){heap_copy(heap, evaluator->parameters, parameters, sizeof(double)),
                       heap_copy(heap, evaluator->discretes, discretes, sizeof(double)),
                       heap_copy(heap, evaluator->pre, discretes, sizeof(double))};
}

static void restore_values(Evaluator *evaluator, const SavedValues *saved) {
  size_t discretes = count_discretes(evaluator);
  copy_numbers(evaluator->parameters, saved->parameters, evaluator->model->parameters.count);
  copy_numbers(evaluator->discretes, saved->discretes, discretes);
  copy_numbers(evaluator->pre, saved->pre, discretes);
}

/* If a run that was just restored is saved, the state must be the same, bit for bit. So the columns with which the run began
 * are saved: columns that a start has corrected would be corrected again at the next start. */
static StepperState *take_state(const Stepper *stepper, Heap *heap) {
  const View *view = stepper->view;
  size_t columns = (size_t)view->system.columns;
  StepperState *state = heap_alloc(heap, sizeof *state);
  state->t = stepper_time(stepper);
  state->y =
      heap_copy(heap, stepper->is_started ? stepper->steps.begin : stepper_values(stepper), columns, sizeof(double));
  state->seen = heap_copy(heap, view->seen, columns, sizeof(double));
  state->integrator = stepper->steps.integrator;
  state->waiting = stepper->waiting;
  state->changed = stepper->changed;
  state->has_changed = stepper->has_changed;
  state->terminated = stepper->terminated;
  state->credit = certificate_credit(stepper->certificate);
  state->run = save_values(view->evaluator, heap);
  state->original = save_values(view->original, heap);
  if (view->switches && view->switches->decisions) state->samples = decisions_save(view->switches->decisions, heap);
  if (view->evaluator->past) state->past = past_save(view->evaluator->past, heap);
  if (view->evaluator->inputs) state->inputs = inputs_save(view->evaluator->inputs, heap);
  if (view->switches) state->switches = switches_save(view->switches, heap);
  if (view->model_jump) state->guesses = model_jump_save(view->model_jump, heap);
  if (view->methods->save_choice) state->choice = view->methods->save_choice(view, heap);
  return state;
}

StepperState *stepper_save(Stepper *stepper, Heap *heap) {
  if (stepper->at_event && !stepper_settle(stepper)) return NULL;
  StepperState *state = take_state(stepper, heap);
  return stepper_restore(stepper, state) ? state : NULL;
}

/* Forgets everything in progress: an event, a fold, a repeated step. */
static void forget_course(Stepper *stepper) {
  View *view = stepper->view;
  view->settle.restructured = view->settle.disturbed = false;
  view->settle.undetermined = MAP_NONE;
  stretches_forget(&stepper->steps.stretches, view->switches ? view->switches->edges.count : 0);
  stepper->repairs = stepper->retakes = 0;
  stepper->tiny = 0;
  stepper->is_folded = false;
}

bool stepper_restore(Stepper *stepper, const StepperState *state) {
  View *view = stepper->view;
  if (stepper->steps.integrator) stepper_add_work(stepper, &stepper->statistics);
  restore_values(view->evaluator, &state->run);
  restore_values(view->original, &state->original);
  copy_numbers(view->seen, state->seen, (size_t)view->system.columns);
  if (view->switches) {
    edges_forget(&view->switches->edges);
    switches_restore(view->switches, state->switches);
  }
  if (state->inputs) inputs_restore(view->evaluator->inputs, state->inputs);
  if (state->samples) decisions_restore(view->switches->decisions, state->samples);
  if (state->past) past_restore(view->evaluator->past, state->past);
  if (view->model_jump) model_jump_restore(view->model_jump, state->guesses);
  if (view->methods->restore_choice) view->methods->restore_choice(view, state->choice, state->y);
  forget_course(stepper);
  stepper->steps.integrator = state->integrator;
  stepper->waiting = state->waiting;
  stepper->changed = state->changed;
  stepper->has_changed = state->has_changed;
  stepper->terminated = state->terminated;
  certificate_set_credit(stepper->certificate, state->credit);
  bool ok = stepper_start_at(stepper, state->t, state->y);
  if (view->switches) switches_restore(view->switches, state->switches); /* the start has lowered the speeds */
  return ok;
}

/* ---- states as bytes ---- */

/* Must the value of the parameter be saved? External objects live in memory, and inputs are functions of time. */
static bool is_kept(const Model *model, uint32_t parameter) {
  bool is_object = model->variables.data[model->parameters.data[parameter]].type == TYPE_EXTERNAL_OBJECT;
  return !is_object && !model_input_at(model, parameter);
}

static void pass_parameters(const Model *model, const double *values, Transfer *transfer) {
  for (uint32_t p = 0; p < model->parameters.count; p++)
    if (is_kept(model, p)) transfer_same(transfer, values[p]);
}

static void pass_values(const Evaluator *evaluator, SavedValues *values, Transfer *transfer) {
  size_t discretes = count_discretes(evaluator);
  pass_parameters(evaluator->model, values->parameters, transfer);
  transfer_array(transfer, values->discretes, discretes, sizeof(double));
  transfer_array(transfer, values->pre, discretes, sizeof(double));
}

/* 0: there is none; otherwise its place in the list plus one. */
static void pass_integrator(const View *view, const Integrator **integrator, Transfer *transfer) {
  uint32_t index = 0;
  while (*integrator && integrator_at(index++) != *integrator) continue;
  transfer_value(transfer, &index);
  *integrator = index ? integrator_at(index - 1) : NULL;
  transfer_require(transfer, !*integrator || !(*integrator)->explicit_form || view->system.complete);
}

/* For runs whose integrator may differ from the one requested: it is chosen automatically, or another one replaces it for a
 * while. */
static void pass_integrators(const Stepper *stepper, StepperState *state, Transfer *transfer) {
  const Integrator *own = state->integrator;
  pass_integrator(stepper->view, &state->integrator, transfer);
  pass_integrator(stepper->view, &state->waiting, transfer);
  if (!state->integrator || (stepper->options.integrator && !state->waiting)) state->integrator = own;
}

static void pass_state(const Stepper *stepper, StepperState *state, Transfer *transfer) {
  const View *view = stepper->view;
  const Switches *switches = view->switches;
  transfer_same(transfer, view->system.columns);
  transfer_value(transfer, &state->t);
  transfer_require(transfer, state->t >= stepper->options.start && state->t <= stepper->options.stop);
  transfer_array(transfer, state->y, (size_t)view->system.columns, sizeof(double));
  transfer_array(transfer, state->seen, (size_t)view->system.columns, sizeof(double));
  pass_integrators(stepper, state, transfer);
  pass_values(view->evaluator, &state->run, transfer);
  pass_values(view->original, &state->original, transfer);
  if (state->samples) decisions_transfer(switches->decisions, state->samples, transfer);
  if (state->past) past_transfer(state->past, transfer);
  if (state->inputs) inputs_transfer(view->evaluator->inputs, state->inputs, transfer);
  if (switches) switches_transfer(switches, state->switches, transfer);
  if (view->methods->transfer_choice) view->methods->transfer_choice(view, state->choice, transfer);
}

void stepper_write(Stepper *stepper, Transfer *transfer) {
  void *ticket;
  Heap *heap = heap_within(stepper->heap, &ticket);
  pass_state(stepper, take_state(stepper, heap), transfer);
  heap_release(stepper->heap, ticket);
}

bool stepper_read(Stepper *stepper, Transfer *transfer) {
  View *view = stepper->view;
  StepperState *state = take_state(stepper, stepper->heap);
  pass_state(stepper, state, transfer);
  if (transfer->is_broken || !stepper_restore(stepper, state)) return false;
  return !view->methods->reselect || !view->methods->reselect(view, state->t, state->y) ||
         stepper_go_back(stepper, state->t, state->y);
}
