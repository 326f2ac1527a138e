/* stepping: runs that the caller advances. The result of the run is filled as after daedal_run_execute. */
#include "api/handles.h"

#include <math.h>
#include <string.h>

struct daedal_state {
  void *ticket; /* ticket of the heap that contains it */
  SimulationState *reached;
};

/* NULL: the run was not started, or has failed. */
static Simulation *stepped(const daedal_run *run) {
  daedal_result *result = run ? run->result : NULL;
  bool goes_on = result && result->status == DAEDAL_OK && result->simulation.request.is_stepped;
  return goes_on ? &result->simulation : NULL;
}

static daedal_status refused(const daedal_run *run) {
  if (run && !run->result) return DAEDAL_USAGE; /* it was not started */
  daedal_status status = daedal_status_of(run ? run->result : NULL);
  return status == DAEDAL_OK ? DAEDAL_USAGE : status;
}

/* ---- going on ---- */

typedef struct Advance {
  double until;
  bool once;
} Advance;

static bool work_advance(daedal_result *result, const void *argument) {
  const Advance *advance = argument;
  Simulation *simulation = &result->simulation;
  bool ok = simulation_settle(simulation) && simulation_advance(simulation, advance->until, advance->once);
  return ok ? true : end_run(result, false);
}

static bool work_settle(daedal_result *result, const void *argument) {
  (void)argument;
  return simulation_settle(&result->simulation) ? true : end_run(result, false);
}

static daedal_status advance_run(daedal_run *run, double until, bool once) {
  result_protect(run->result, work_advance, &(Advance){until, once});
  return run->result->status;
}

daedal_status daedal_run_advance(daedal_run *run, double time) {
  const Simulation *simulation = stepped(run);
  if (!simulation) return refused(run);
  if (!(time >= run_time(simulation->run)) || time > simulation->options.stop) return DAEDAL_USAGE;
  return advance_run(run, time, false);
}

daedal_status daedal_run_step(daedal_run *run) {
  const Simulation *simulation = stepped(run);
  return simulation ? advance_run(run, simulation->options.stop, true) : refused(run);
}

double daedal_run_time(const daedal_run *run) {
  const Simulation *simulation = stepped(run);
  return simulation ? run_time(simulation->run) : NAN;
}

bool daedal_run_ended(const daedal_run *run) {
  const Simulation *simulation = stepped(run);
  return !simulation || run_is_over(simulation->run);
}

static bool work_collect(daedal_result *result, const void *argument) {
  (void)argument;
  run_collect(result->simulation.run);
  return end_run(result, true);
}

daedal_result *daedal_run_result(daedal_run *run) {
  if (stepped(run)) result_protect(run->result, work_collect, NULL);
  return run ? run->result : NULL;
}

daedal_result *daedal_run_take_result(daedal_run *run) {
  daedal_result *result = daedal_run_result(run);
  if (run) run->result = NULL;
  return result;
}

/* ---- values ---- */

/* The model whose variables the caller's indices refer to. The run may have its own model, loaded again with other structural
 * parameters. */
static const daedal_model *counted(const daedal_result *result) { return result->plan->asked->model; }

/* Finds the signals of all variables and their derivatives by name, and makes room for their values. */
static bool work_bind(daedal_result *result, const void *argument) {
  (void)argument;
  const Model *model = counted(result)->model;
  const SignalTable *signals = recorder_of(result)->signals;
  Heap *heap = result->heap;
  uint32_t count = model->variables.count;
  Arena arena = arena_make(heap);
  const Signal **value_of = heap_array(heap, count, sizeof *value_of),
               **rate_of = heap_array(heap, count, sizeof *rate_of);
  for (uint32_t v = 0; v < count; v++) {
    uint32_t value = signals_find_variable(signals, model_name(model, v));
    if (value == MAP_NONE) continue;
    value_of[v] = &signals->list.data[value];
    uint32_t rate = signals_find(signals, arena_printf(&arena, "der(%s)", value_of[v]->name));
    if (rate != MAP_NONE) rate_of[v] = &signals->list.data[rate];
  }
  arena_free(&arena);
  heap_numbers(heap, count, &result->values, &result->derivatives);
  result->rate_of = rate_of;
  result->value_of = value_of;
  return true;
}

static bool bind_variables(daedal_result *result) {
  return result->value_of || result_protect(result, work_bind, NULL);
}

static void gather(const daedal_result *result, const Signal *const *signals, const double *y, double *values) {
  uint32_t count = daedal_variable_count(counted(result));
  for (uint32_t v = 0; v < count; v++)
    values[v] = signals[v] ? simulation_value(&result->simulation, signals[v], y) : NAN;
}

/* Is the run at consistent values, even after values were set? */
static bool is_settled(daedal_run *run) {
  return stepped(run) && bind_variables(run->result) && result_protect(run->result, work_settle, NULL);
}

const double *daedal_run_values(daedal_run *run) {
  if (!is_settled(run)) return NULL;
  daedal_result *result = run->result;
  gather(result, result->value_of, run_values(result->simulation.run), result->values);
  return result->values;
}

const double *daedal_run_derivatives(daedal_run *run) {
  if (!is_settled(run)) return NULL;
  daedal_result *result = run->result;
  gather(result, result->rate_of, run_values(result->simulation.run), result->derivatives);
  return result->derivatives;
}

typedef struct Interpolation {
  double time, *values;
} Interpolation;

static bool work_interpolate(daedal_result *result, const void *argument) {
  const Interpolation *asked = argument;
  const Simulation *simulation = &result->simulation;
  double *y = heap_array(result->heap, (size_t)simulation->view->system.columns, sizeof *y);
  bool ok = run_interpolate(simulation->run, asked->time, y);
  if (ok) gather(result, result->value_of, y, asked->values);
  heap_free(result->heap, y);
  return ok;
}

daedal_status daedal_run_interpolate(daedal_run *run, double time, double *values) {
  if (!values) return DAEDAL_USAGE;
  if (!is_settled(run)) return refused(run);
  if (result_protect(run->result, work_interpolate, &(Interpolation){time, values})) return DAEDAL_OK;
  return run->result->broken ? DAEDAL_INTERNAL : DAEDAL_USAGE;
}

/* ---- setting ---- */

typedef struct Setting {
  uint32_t variable;
  double value;
} Setting;

/* The number of the variable in the run's own model; UINT32_MAX: it has none of that name. */
static uint32_t own_variable(const daedal_result *result, uint32_t variable) {
  if (result->model == counted(result)) return variable;
  return daedal_variable_find(result->model, daedal_variable_get(counted(result), variable).name);
}

static bool work_set(daedal_result *result, const void *argument) {
  const Setting *setting = argument;
  const Signal *signal = result->value_of[setting->variable];
  if (simulation_give(&result->simulation, own_variable(result, setting->variable), setting->value)) return true;
  return signal && simulation_reset(&result->simulation, signal, setting->value);
}

daedal_status daedal_run_set_value(daedal_run *run, uint32_t variable, double value) {
  if (!run || !isfinite(value)) return DAEDAL_USAGE;
  if (!run->result) return daedal_run_set(run, daedal_variable_get(run->plan->asked->model, variable).name, value);
  if (!stepped(run)) return refused(run);
  if (variable >= daedal_variable_count(counted(run->result))) return DAEDAL_USAGE;
  if (bind_variables(run->result) && result_protect(run->result, work_set, &(Setting){variable, value}))
    return DAEDAL_OK;
  return run->result->broken ? DAEDAL_INTERNAL : DAEDAL_USAGE;
}

/* ---- states and clones ---- */

static bool work_save(daedal_result *result, const void *argument) {
  daedal_state **made = *(daedal_state * *const *)argument;
  void *ticket;
  Heap *heap = heap_within(result->heap, &ticket);
  daedal_state *state = heap_alloc(heap, sizeof *state);
  state->ticket = ticket;
  bool ok = simulation_settle(&result->simulation) && (state->reached = simulation_save(&result->simulation, heap));
  if (ok) *made = state;
  else end_run(result, false);
  return ok;
}

daedal_state *daedal_run_save(daedal_run *run) {
  daedal_state *state = NULL, **made = &state;
  if (stepped(run)) result_protect(run->result, work_save, &made);
  return state;
}

static bool work_restore(daedal_result *result, const void *argument) {
  const daedal_state *state = argument;
  bool ok = simulation_restore(&result->simulation, state->reached);
  result->status = DAEDAL_OK;
  diags_keep(&result->diags, 0); /* the messages belong to the discarded part of the run */
  result->published.list.count = 0;
  return ok ? true : end_run(result, false);
}

daedal_status daedal_run_restore(daedal_run *run, const daedal_state *state) {
  if (!run || !run->result || !state) return DAEDAL_USAGE;
  result_protect(run->result, work_restore, state);
  return run->result->status;
}

void daedal_state_free(daedal_run *run, daedal_state *state) {
  if (run && run->result && state) heap_release(run->result->heap, state->ticket);
}

typedef struct Cloning {
  const daedal_result *from;
  daedal_result *clone;
  const daedal_state *state;
} Cloning;

static bool work_clone(daedal_result *clone, const void *argument) {
  const Cloning *cloning = argument;
  return end_run(clone, simulation_clone(&clone->simulation, clone->heap, &cloning->from->simulation,
                                         cloning->state->reached, &clone->diags));
}

/* Cloning reads the other run, which may allocate in that run's heap, too. */
static bool work_cloned(daedal_result *from, const void *argument) {
  (void)from;
  const Cloning *cloning = argument;
  return result_protect(cloning->clone, work_clone, cloning);
}

daedal_run *daedal_run_clone(daedal_run *run) {
  daedal_state *state = daedal_run_save(run);
  daedal_run *clone = state ? daedal_run_make(run->plan) : NULL;
  if (clone) clone->result = result_like(run->result);
  bool ok = clone && clone->result && run_copy_values(clone, run) &&
            result_protect(run->result, work_cloned, &(Cloning){run->result, clone->result, state});
  daedal_state_free(run, state);
  if (ok) return clone;
  daedal_free(clone);
  return NULL;
}
