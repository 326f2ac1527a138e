/* fmi: see fmi.h. Values are computed when they are requested. */
#include "fmi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_states(Instance *instance);

/* Reports that the run cannot continue. */
static InstanceStatus fail(Instance *instance, const char *text) {
  instance->phase = PHASE_FAILED;
  instance->log(instance->context, 1, text);
  return INSTANCE_ERROR;
}

/* Refuses the call; the run is unchanged. */
static InstanceStatus refuse_call(const Instance *instance, const char *text) {
  instance->log(instance->context, 1, text);
  return INSTANCE_ERROR;
}

int instance_may(Instance *instance, int phases, const char *call) {
  char text[160];
  if (!instance) return 0;
  heap_set_catch(instance->solver->heap, 0);
  int is_kind = !(phases & (OF_EXCHANGE | OF_COSIMULATION)) ||
                phases & (instance->is_cosimulation ? OF_COSIMULATION : OF_EXCHANGE);
  if (is_kind && phases & 1 << instance->phase) return 1;
  snprintf(text, sizeof text, "%.60s is called %s", call,
           is_kind ? "in a mode that does not allow it" : "for an FMU of the other kind");
  instance->log(instance->context, 1, text);
  return 0;
}

/* The protected calls of the solver catch a refusal of memory themselves. Every other function that may allocate begins
 * with
 *
 *   if (setjmp(*begin_memory(instance))) return end_memory(instance);
 *
 * to which control returns if memory is refused. */
static jmp_buf *begin_memory(Instance *instance) {
  heap_set_catch(instance->solver->heap, &instance->refused);
  return &instance->refused;
}

static InstanceStatus end_memory(Instance *instance) {
  solver_refused(instance->solver);
  return fail(instance, "there is no memory");
}

static void report(void *context, const char *text) {
  Instance *instance = context;
  instance->log(instance->context, 0, text);
}

static int stepped(void *context) {
  Instance *instance = context;
  return instance->stepped && instance->stepped(instance->context);
}

Instance *instance_make(const char *guid, int is_cosimulation, InstanceLog *log, void *context) {
  const Model *model = &model_tables;
  if (!guid || strcmp(guid, model_token) != 0) {
    log(context, 1, "the token of the model description belongs to another model");
    return 0;
  }
  Instance *instance = calloc(1, sizeof *instance);
  Solver *solver = instance ? solver_make(model, &(HeapHook){.slab_size = SLAB_SIZE}) : 0;
  if (!solver) {
    free(instance);
    return 0;
  }
  *instance = (Instance){.solver = solver,
                         .phase = PHASE_INSTANTIATED,
                         .start = model->start,
                         .stop = nan(""),
                         .is_cosimulation = is_cosimulation,
                         .log = log,
                         .context = context};
  solver->report = report;
  solver->stepped = stepped;
  solver->context = instance;
  for (int v = 0; v < model->variables; v++)
    if (model->variable[v].flags & IS_INPUT) solver->gets_inputs = true;
  return instance;
}

void instance_free(Instance *instance) {
  if (!instance) return;
  free_states(instance);
  solver_free(instance->solver);
  free(instance);
}

InstanceStatus instance_reset(Instance *instance) {
  if (!instance_may(instance, IN_ANY, "Reset")) return INSTANCE_ERROR;
  solver_reset(instance->solver);
  instance->phase = PHASE_INSTANTIATED;
  instance->start = instance->solver->model->start;
  instance->stop = nan("");
  instance->tolerance = 0;
  instance->has_values = instance->is_stale = 0;
  return INSTANCE_OK;
}

InstanceStatus instance_set_experiment(Instance *instance, int has_tolerance, double tolerance, double start,
                                       int has_stop, double stop) {
  if (!instance_may(instance, IN_INSTANTIATED, "the set-up of the experiment")) return INSTANCE_ERROR;
  if (!isfinite(start) || (has_stop && !(stop >= start)) || (has_tolerance && !(tolerance > 0 && isfinite(tolerance))))
    return refuse_call(instance, "start time, stop time or tolerance of the experiment is not valid");
  instance->tolerance = has_tolerance ? tolerance : 0;
  instance->start = start;
  instance->stop = has_stop ? stop : nan("");
  instance->has_values = 0;
  return INSTANCE_OK;
}

/* The phases from which a mode may be entered. */
static int entered_from(const Instance *instance, InstancePhase phase) {
  switch (phase) {
  case PHASE_INITIALIZATION: return IN_INSTANTIATED;
  case PHASE_EVENT:
    return instance->is_cosimulation ? (instance->has_event_mode ? IN_STEP : 0) : IN_EVENT | IN_CONTINUOUS;
  case PHASE_CONTINUOUS: return IN_EVENT | OF_EXCHANGE;
  case PHASE_STEP: return IN_EVENT | OF_COSIMULATION;
  default: return 0;
  }
}

InstanceStatus instance_enter(Instance *instance, InstancePhase phase) {
  if (!instance || !instance_may(instance, entered_from(instance, phase), "the entry of a mode")) return INSTANCE_ERROR;
  instance->phase = phase;
  return INSTANCE_OK;
}

/* ---- values ---- */

static int is_initial(const Instance *instance) { return instance->phase <= PHASE_INITIALIZATION; }

/* Computes consistent initial values for everything that was set. */
static InstanceStatus start(Instance *instance) {
  if (instance->has_values) return INSTANCE_OK;
  if (instance->tolerance > 0) instance->solver->now->tolerance = instance->tolerance;
  if (solver_start(instance->solver, instance->start) != SOLVER_OK) {
    if (!instance->solver->model->can_start)
      return fail(instance,
                  "the initial values of this model cannot be found again for other parameters, inputs or start times");
    return fail(instance, "there are no consistent initial values");
  }
  if (isfinite(instance->stop)) instance->solver->now->end = instance->stop;
  instance->has_values = 1;
  instance->is_stale = 0;
  return INSTANCE_OK;
}

/* Computes the values that depend on values that were set. If that fails, a shorter step may help. */
static InstanceStatus update(Instance *instance) {
  if (is_initial(instance)) return start(instance);
  if (!instance->is_stale) return INSTANCE_OK;
  if (solver_complete(instance->solver) != SOLVER_OK) {
    instance->log(instance->context, 0, "the equations cannot be solved here");
    return INSTANCE_DISCARD;
  }
  instance->is_stale = 0;
  return INSTANCE_OK;
}

static const ModelVariable *find(const Instance *instance, unsigned variable) {
  const Model *model = instance->solver->model;
  return variable < (unsigned)model->variables ? &model->variable[variable] : 0;
}

/* A variable of one of these types; 0: there is none, and a message says so. */
static const ModelVariable *find_typed(const Instance *instance, unsigned variable, int types) {
  const ModelVariable *known = find(instance, variable);
  if (known && known->flags & types) return known;
  refuse_call(instance, known ? "the variable with this value reference is of another type"
                              : "there is no variable with this value reference");
  return 0;
}

InstanceStatus instance_get(Instance *instance, unsigned variable, int types, double *value) {
  if (!instance_may(instance, IN_ANY & ~IN_FAILED, "getting a value")) return INSTANCE_ERROR;
  const ModelVariable *known = find_typed(instance, variable, types);
  if (!known) return INSTANCE_ERROR;
  int is_given = known->flags & (IS_INPUT | IS_SETTABLE) &&
                 (!(known->flags & IS_CALCULATED) || solver_is_set(instance->solver, (int)variable));
  int is_set = is_initial(instance) && is_given;
  InstanceStatus result = is_set ? INSTANCE_OK : update(instance);
  if (result == INSTANCE_OK)
    *value = is_set ? solver_set_value(instance->solver, (int)variable) : solver_get(instance->solver, (int)variable);
  return result;
}

/* Reports that a variable does not accept a value. */
static InstanceStatus refuse(const Instance *instance, const ModelVariable *variable) {
  char text[256];
  int is_start = variable->flags & (IS_SETTABLE | IS_START);
  const char *reason = variable->flags & IS_TUNABLE ? "a parameter is set at events, not in between"
                       : is_start                   ? "its value is given before the initialization ends"
                                                    : "equations determine it";
  snprintf(text, sizeof text, "%.150s cannot be set: %s", variable->name, reason);
  return refuse_call(instance, text);
}

/* May the variable be set? Before the start, every variable that the description offers; later only inputs and, at events, parameters. */
static int may_set(const Instance *instance, const ModelVariable *variable) {
  if (is_initial(instance)) return variable->flags & (IS_INPUT | IS_SETTABLE | IS_START);
  if (instance->phase == PHASE_CONTINUOUS) return variable->flags & IS_INPUT && variable->flags & IS_REAL;
  return variable->flags & (IS_INPUT | IS_TUNABLE);
}

InstanceStatus instance_set(Instance *instance, unsigned variable, int types, double value) {
  if (!instance_may(instance, IN_INSTANTIATED | IN_INITIALIZATION | IN_RUN, "setting a value")) return INSTANCE_ERROR;
  const ModelVariable *known = find_typed(instance, variable, types);
  if (!known) return INSTANCE_ERROR;
  if (!may_set(instance, known)) return refuse(instance, known);
  if (!isfinite(value)) {
    refuse_call(instance, "a value is not a finite number");
    return INSTANCE_DISCARD;
  }
  if (known->flags & IS_BOOLEAN) value = value != 0;
  if (is_initial(instance)) {
    solver_override(instance->solver, (int)variable, value);
    instance->has_values = 0;
  } else if (instance->solver->parameters[known->index] != value) {
    if (known->flags & IS_TUNABLE) solver_tune(instance->solver, (int)variable, value);
    else program_set_parameter(instance->solver, known->index, value);
    instance->is_stale = 1;
  }
  return INSTANCE_OK;
}

InstanceStatus instance_begin(Instance *instance) {
  if (!instance_may(instance, IN_INITIALIZATION, "ExitInitializationMode")) return INSTANCE_ERROR;
  InstanceStatus result = start(instance);
  if (result == INSTANCE_OK)
    instance->phase = instance->is_cosimulation && !instance->has_event_mode ? PHASE_STEP : PHASE_EVENT;
  return result;
}

/* ---- model exchange ---- */

InstanceStatus instance_set_time(Instance *instance, double time) {
  if (!instance_may(instance, IN_EVENT | IN_CONTINUOUS | OF_EXCHANGE, "SetTime")) return INSTANCE_ERROR;
  double span = instance->stop - instance->start; /* an integrator may look somewhat beyond the stop time */
  if (!isfinite(time) || time < instance->start - span || time > instance->stop + span)
    return refuse_call(instance, "a time is not a finite number, or far beyond the experiment");
  instance->solver->now->time = time;
  instance->is_stale = 1;
  return INSTANCE_OK;
}

/* May a call have this number of states? */
static int has_states(Instance *instance, int phases, const char *call, const void *values, size_t count) {
  if (!instance_may(instance, phases | OF_EXCHANGE, call)) return 0;
  if (count == (size_t)instance->solver->width && (values || !count)) return 1;
  refuse_call(instance, "the number of states is wrong");
  return 0;
}

enum { WITH_STATES = IN_INITIALIZATION | IN_EVENT | IN_CONTINUOUS | IN_TERMINATED };

InstanceStatus instance_set_states(Instance *instance, const double *states, size_t count) {
  if (!has_states(instance, IN_CONTINUOUS, "SetContinuousStates", states, count)) return INSTANCE_ERROR;
  for (size_t k = 0; k < count; k++)
    if (!isfinite(states[k])) {
      refuse_call(instance, "a state is not a finite number");
      return INSTANCE_DISCARD;
    }
  if (count) memcpy(instance->solver->states, states, count * sizeof *states);
  instance->is_stale = 1;
  return INSTANCE_OK;
}

InstanceStatus instance_states(Instance *instance, double *states, size_t count) {
  if (!has_states(instance, WITH_STATES, "GetContinuousStates", states, count)) return INSTANCE_ERROR;
  if (is_initial(instance) && start(instance)) return INSTANCE_ERROR;
  if (count) memcpy(states, instance->solver->states, count * sizeof *states);
  return INSTANCE_OK;
}

InstanceStatus instance_derivatives(Instance *instance, double *derivatives, size_t count) {
  if (!has_states(instance, WITH_STATES, "the derivatives of states", derivatives, count)) return INSTANCE_ERROR;
  const Solver *solver = instance->solver;
  InstanceStatus result = update(instance);
  for (size_t k = 0; k < count && result == INSTANCE_OK; k++) derivatives[k] = solver_state(solver, solver->to, (int)k);
  return result;
}

InstanceStatus instance_nominals(Instance *instance, double *nominals, size_t count) {
  if (!has_states(instance, WITH_STATES | IN_INSTANTIATED, "GetNominalsOfContinuousStates", nominals, count))
    return INSTANCE_ERROR;
  if (setjmp(*begin_memory(instance))) return end_memory(instance);
  Solver *solver = instance->solver;
  if (is_initial(instance)) states_link(solver);
  for (size_t k = 0; k < count; k++)
    nominals[k] = (int)k < solver->model->states ? solver->model->nominal[solver->from[k]] : 1;
  return INSTANCE_OK;
}

size_t instance_indicator_count(const Instance *instance) {
  const Model *model = instance->solver->model;
  size_t count = model->has_choice != 0;
  for (int m = 0; m < model->modes; m++) count += !model->mode[m].is_timed;
  return count;
}

/* The distance of each condition, and of the choice of states, from a change; negative if they must change. */
InstanceStatus instance_indicators(Instance *instance, double *indicators, size_t count) {
  if (!instance_may(instance, WITH_STATES | OF_EXCHANGE, "GetEventIndicators")) return INSTANCE_ERROR;
  if (setjmp(*begin_memory(instance))) return end_memory(instance);
  Solver *solver = instance->solver;
  size_t next = 0;
  if (count != instance_indicator_count(instance) || (count && !indicators))
    return refuse_call(instance, "the number of event indicators is wrong");
  InstanceStatus result = update(instance);
  if (result) return result;
  edges_evaluate(&solver->edges, solver->now->time, solver->y);
  edges_rest(&solver->edges, solver->now->time, solver->y);
  for (int m = 0; m < solver->model->modes; m++) {
    if (!solver->model->mode[m].is_timed) indicators[next++] = events_indicator(solver, m);
  }
  if (next < count) indicators[next] = states_indicator(solver, solver->now->time, solver->y);
  return INSTANCE_OK;
}

/* The condition that causes the event; -1: no condition contradicts its mode. */
static int crossed_mode(Solver *solver) {
  edges_evaluate(&solver->edges, solver->now->time, solver->y);
  edges_rest(&solver->edges, solver->now->time, solver->y);
  return edges_first_contradiction(&solver->edges);
}

/* In model exchange the importer reports only the ends of its steps. */
static int follow(Instance *instance) {
  if (!instance->solver->model->delays || instance->is_cosimulation) return 0;
  return solver_follow(instance->solver) != SOLVER_OK &&
         fail(instance, "the values that delays read cannot be computed for this step");
}

/* The search for the next event of a condition on time needs an end. If the importer has given none, the search continues at an
 * event that changes nothing. */
static double end_of_search(const Solver *solver) {
  const Model *model = solver->model;
  double t = solver->now->time, end = solver->now->end;
  if (!model->timed || end < HUGE_VAL) return end;
  return t < model->stop ? model->stop : t + (model->stop - model->start);
}

/* In model exchange a step must not read its own values: an event ends it. */
static double next_event(Solver *solver) {
  double t = solver->now->time, until = end_of_search(solver);
  double next = switching_next_time(&solver->switching, t, until, &solver->now->at.timed);
  if (next > until && until < solver->now->end) next = until;
  return solver->model->delays ? fmin(next, t + delays_longest_step(&solver->delays, t, solver->y)) : next;
}

static InstanceStatus pass(Instance *instance, int mode) {
  if (!solver_settle(instance->solver, mode)) return INSTANCE_OK;
  return fail(instance, "the conditions do not settle at this event");
}

/* Handles an event, and chooses the states from then on. */
InstanceStatus instance_discrete(Instance *instance, InstanceEvent *event) {
  if (!instance_may(instance, IN_EVENT, "the update of discrete states")) return INSTANCE_ERROR;
  if (setjmp(*begin_memory(instance))) return end_memory(instance);
  Solver *solver = instance->solver;
  Scalars *now = solver->now;
  int was_stale = instance->is_stale, system = now->system, waits = now->waits;
  if (update(instance) || follow(instance)) return INSTANCE_ERROR;
  now->changed = 0;
  solver->edges.now->is_at_start = false;
  now->is_at_first = 0;
  now->waits = 0;
  int mode = waits ? now->waiting : crossed_mode(solver);
  if (!waits) solver->edges.now->step = now->time - solver->edges.now->kept;
  if (pass(instance, mode)) return INSTANCE_ERROR;
  if (now->asserted) return fail(instance, "an assertion does not hold");
  int exchanged = states_exchange(solver, now->time, host_size(solver), solver->y);
  if (exchanged < 0) return fail(instance, "the equations are singular for every choice of states");
  /* A multistep integrator begins again. An integrator also begins again if it has read delayed values beyond an event,
   * before they were known. */
  int moved = exchanged > 0 || now->changed || solver->model->delays;
  for (int k = 0; k < solver->width; k++) moved |= solver->states[k] != solver_state(solver, solver->from, k);
  solver_gather(solver);
  if (instance->is_cosimulation && (was_stale || moved || waits || solver->open.is_open)) host_start(solver, 0);
  double next = next_event(solver);
  *event = (InstanceEvent){moved, exchanged > 0 || now->system != system, now->terminated, isfinite(next), next};
  return INSTANCE_OK;
}

InstanceStatus instance_completed(Instance *instance, int *needs_event, int *terminates) {
  if (!instance_may(instance, IN_CONTINUOUS | OF_EXCHANGE, "CompletedIntegratorStep")) return INSTANCE_ERROR;
  if (setjmp(*begin_memory(instance))) return end_memory(instance);
  if (!needs_event || !terminates) return refuse_call(instance, "there is no room for the results of a call");
  Solver *solver = instance->solver;
  Scalars *now = solver->now;
  if (update(instance) || follow(instance)) return INSTANCE_ERROR;
  if (crossed_mode(solver) < 0) edges_keep(&solver->edges, now->time, solver->y, 0);
  events_watch(solver, now->time, solver->y);
  if (now->asserted) return fail(instance, "an assertion does not hold");
  *needs_event = states_wants_exchange(solver, now->time, solver->y);
  *terminates = now->terminated;
  return INSTANCE_OK;
}

/* The run is over. */
InstanceStatus instance_end(Instance *instance) {
  if (!instance_may(instance, IN_RUN, "Terminate")) return INSTANCE_ERROR;
  if (setjmp(*begin_memory(instance))) return end_memory(instance);
  if (update(instance) || events_end(instance->solver))
    return fail(instance, "the conditions do not settle at the end");
  if (instance->solver->now->asserted) return fail(instance, "an assertion does not hold");
  instance->phase = PHASE_TERMINATED;
  return INSTANCE_OK;
}

/* ---- co-simulation ---- */

/* Inputs that were set take effect, and an event that was not requested happens. */
static InstanceStatus take_inputs(Instance *instance) {
  Solver *solver = instance->solver;
  int waits = solver->now->waits;
  if (!instance->is_stale && !waits) return INSTANCE_OK;
  if (update(instance)) return fail(instance, "the equations cannot be solved with these inputs");
  solver->now->waits = 0;
  if (pass(instance, waits ? solver->now->waiting : -1)) return INSTANCE_ERROR;
  solver_gather(solver);
  host_start(solver, 0);
  return INSTANCE_OK;
}

/* Is the time a later than the time b by more than round-off? */
static int is_later(double a, double b) { return a - b > 1e-9 * (fabs(a) + fabs(b) + 1e-300); }

/* A communication step must begin at the present time, and end before the run ends. */
static InstanceStatus check_step(const Instance *instance, double time, double step) {
  double now = instance->solver->now->time;
  if (!isfinite(time) || !isfinite(step) || step < 0)
    return refuse_call(instance, "a communication step must have a finite length");
  if (is_later(time, now) || is_later(now, time))
    return refuse_call(instance, "a communication step must begin where the last one ended");
  if (is_later(time + step, instance->stop))
    return refuse_call(instance, "a communication step must not go beyond the stop time");
  if (instance->solver->now->terminated) return refuse_call(instance, "the model has ended the run");
  return INSTANCE_OK;
}

InstanceStatus instance_step(Instance *instance, double time, double step, int *is_event, int *terminates) {
  if (!instance_may(instance, IN_STEP | OF_COSIMULATION, "DoStep")) return INSTANCE_ERROR;
  if (setjmp(*begin_memory(instance))) return end_memory(instance);
  Solver *solver = instance->solver;
  InstanceStatus result = check_step(instance, time, step);
  if (result) return result;
  int events = solver->now->events;
  if (take_inputs(instance)) return INSTANCE_ERROR;
  if (solver_advance(solver, time + step, instance->returns_at_events) != SOLVER_OK)
    return fail(instance, solver->now->asserted ? "an assertion does not hold" : "the integration failed");
  *is_event = solver->now->events != events;
  *terminates = solver->now->terminated;
  return INSTANCE_OK;
}

/* ---- derivatives ---- */

/* The column of a variable; -1: it has none. */
static int column_of(const Instance *instance, unsigned variable, double *factor) {
  const Solver *solver = instance->solver;
  const ModelVariable *known = find(instance, variable);
  *factor = known->kind == VARIABLE_COLUMN ? known->sign : 1;
  int is_state = known->kind == VARIABLE_STATE || known->kind == VARIABLE_RATE;
  if (is_state && known->index >= solver->model->states) return -1;
  if (is_state) return (known->kind == VARIABLE_STATE ? solver->from : solver->to)[known->index];
  return known->kind == VARIABLE_COLUMN ? known->index : -1;
}

/* Is the column of the variable, or of the state that it stands for now, a state? */
static int is_state(const Instance *instance, unsigned variable) {
  const Solver *solver = instance->solver;
  const ModelVariable *known = find(instance, variable);
  if (known->kind == VARIABLE_STATE) return 1;
  for (int k = 0; k < solver->model->states; k++)
    if (known->kind == VARIABLE_COLUMN && solver->from[k] == known->index) return 1;
  return 0;
}

/* Derivatives of all variables with respect to states, inputs and parameters exist; there are no others. */
static InstanceStatus check_variables(Instance *instance, const unsigned *unknowns, size_t unknown_count,
                                      const unsigned *knowns, size_t known_count, const double *seed,
                                      const double *sensitivity) {
  if (!instance_may(instance, IN_INITIALIZATION | IN_RUN | IN_TERMINATED, "a derivative")) return INSTANCE_ERROR;
  if (((!unknowns || !sensitivity) && unknown_count) || ((!knowns || !seed) && known_count))
    return refuse_call(instance, "arguments of a derivative are missing");
  for (size_t k = 0; k < unknown_count; k++)
    if (!find(instance, unknowns[k])) return refuse_call(instance, "there is no variable with this value reference");
  for (size_t k = 0; k < known_count; k++) {
    const ModelVariable *known = find(instance, knowns[k]);
    if (known && (known->flags & (IS_INPUT | IS_SETTABLE) || is_state(instance, knowns[k]))) continue;
    return refuse_call(instance, "derivatives are those with respect to states, inputs and parameters that can be set");
  }
  return update(instance);
}

/* Changes an input or a parameter, and the parameters bound to it. */
static void move_leaf(Solver *solver, int leaf, double by) {
  double kept = solver->overrides[leaf];
  solver->overrides[leaf] = solver->parameters[leaf] + by;
  program_set_parameter(solver, leaf, solver->overrides[leaf]);
  program_set_dependents(solver);
  solver->overrides[leaf] = kept;
}

/* The derivative of all rows with respect to an input or a parameter, by central differences, in `input_rows`. */
static int find_input_rows(Solver *solver, int leaf) {
  const Model *model = solver->model;
  size_t parameters = (size_t)model->parameters * sizeof(double);
  double delta = 1e-6 * (1 + fabs(solver->parameters[leaf]));
  int failed = 0;
  memcpy(solver->kept_parameters, solver->parameters, parameters);
  memset(solver->input_rows, 0, (size_t)model->rows * sizeof(double));
  for (int side = 1; side >= -1 && !failed; side -= 2) {
    move_leaf(solver, leaf, side * delta);
    failed = program_run(solver, model->residual, solver->now->time, solver->y, solver->right);
    for (int r = 0; r < model->rows; r++) solver->input_rows[r] += side * solver->right[r] / (2 * delta);
    memcpy(solver->parameters, solver->kept_parameters, parameters);
  }
  return failed;
}

/* Used where the solution slides along an edge, and where rows are singular: computes all columns a little further in the
 * direction. */
static int differences(Instance *instance, const unsigned *knowns, size_t count, const double *seed) {
  Solver *solver = instance->solver;
  size_t parameters = (size_t)solver->model->parameters * sizeof(double);
  double delta = 1e-7;
  memcpy(solver->kept_parameters, solver->parameters, parameters);
  memcpy(solver->event_y, solver->y, (size_t)solver->model->columns * sizeof(double));
  for (size_t k = 0; k < count; k++) {
    const ModelVariable *known = find(instance, knowns[k]);
    double factor;
    int column = column_of(instance, knowns[k], &factor);
    if (column >= 0) solver->event_y[column] += factor * delta * seed[k];
    else if (known->kind == VARIABLE_PARAMETER) move_leaf(solver, known->index, delta * seed[k]);
  }
  int failed = states_solve(solver, solver->now->time, solver->event_y, state_form_follow) != SOLVER_OK;
  memcpy(solver->parameters, solver->kept_parameters, parameters);
  for (int q = 0; q < solver->model->columns; q++) solver->direction[q] = (solver->event_y[q] - solver->y[q]) / delta;
  return failed;
}

/* How all columns change in a direction, in `direction`. */
static int find_direction(Instance *instance, const unsigned *knowns, size_t count, const double *seed) {
  Solver *solver = instance->solver;
  int failed = solver->edges.now->slides > 0;
  memset(solver->direction, 0, (size_t)solver->model->columns * sizeof(double));
  memset(solver->row_direction, 0, (size_t)solver->model->rows * sizeof(double));
  for (size_t k = 0; k < count && !failed; k++) {
    const ModelVariable *known = find(instance, knowns[k]);
    double factor;
    int is_leaf = known->kind == VARIABLE_PARAMETER, column = column_of(instance, knowns[k], &factor);
    if (column >= 0) solver->direction[column] += factor * seed[k];
    else if (is_leaf) failed = find_input_rows(solver, known->index);
    for (int r = 0; r < solver->model->rows && is_leaf; r++)
      solver->row_direction[r] += seed[k] * solver->input_rows[r];
  }
  if (!failed && !host_direction(solver, solver->direction, solver->row_direction)) return 0;
  return differences(instance, knowns, count, seed);
}

InstanceStatus instance_direction(Instance *instance, const unsigned *unknowns, size_t unknown_count,
                                  const unsigned *knowns, size_t known_count, const double *seed, double *sensitivity) {
  InstanceStatus result = check_variables(instance, unknowns, unknown_count, knowns, known_count, seed, sensitivity);
  if (result) return result;
  if (setjmp(*begin_memory(instance))) return end_memory(instance);
  if (find_direction(instance, knowns, known_count, seed)) return INSTANCE_DISCARD;
  for (size_t k = 0; k < unknown_count; k++) {
    double factor;
    int column = column_of(instance, unknowns[k], &factor);
    sensitivity[k] = column >= 0 ? factor * instance->solver->direction[column] : 0;
  }
  return INSTANCE_OK;
}

/* Goes through the knowns one by one. */
static int adjoint_by_directions(Instance *instance, const unsigned *unknowns, size_t unknown_count,
                                 const unsigned *knowns, size_t known_count, const double *seed, double *sensitivity) {
  const double one = 1;
  for (size_t k = 0; k < known_count; k++) {
    if (find_direction(instance, &knowns[k], 1, &one)) return 1;
    sensitivity[k] = 0;
    for (size_t i = 0; i < unknown_count; i++) {
      double factor;
      int column = column_of(instance, unknowns[i], &factor);
      if (column >= 0) sensitivity[k] += seed[i] * factor * instance->solver->direction[column];
    }
  }
  return 0;
}

InstanceStatus instance_adjoint(Instance *instance, const unsigned *unknowns, size_t unknown_count,
                                const unsigned *knowns, size_t known_count, const double *seed, double *sensitivity) {
  InstanceStatus result = check_variables(instance, unknowns, unknown_count, knowns, known_count, seed, sensitivity);
  if (result) return result;
  if (setjmp(*begin_memory(instance))) return end_memory(instance);
  Solver *solver = instance->solver;
  double factor;
  memset(solver->direction, 0, (size_t)solver->model->columns * sizeof(double));
  for (size_t i = 0; i < unknown_count; i++) {
    int column = column_of(instance, unknowns[i], &factor);
    if (column >= 0) solver->direction[column] += factor * seed[i];
  }
  int failed = solver->edges.now->slides > 0 || host_adjoint(solver, solver->direction, solver->row_direction);
  for (size_t k = 0; k < known_count && !failed; k++) {
    const ModelVariable *known = find(instance, knowns[k]);
    int is_leaf = known->kind == VARIABLE_PARAMETER, column = column_of(instance, knowns[k], &factor);
    sensitivity[k] = column >= 0 ? factor * solver->direction[column] : 0;
    if (is_leaf) failed = find_input_rows(solver, known->index);
    for (int r = 0; r < solver->model->rows && is_leaf; r++)
      sensitivity[k] += solver->row_direction[r] * solver->input_rows[r];
  }
  if (failed && adjoint_by_directions(instance, unknowns, unknown_count, knowns, known_count, seed, sensitivity))
    return INSTANCE_DISCARD;
  return INSTANCE_OK;
}

/* ---- states of the whole ---- */

/* The data of an instance other than its run. */
typedef struct Header {
  char mark[8];
  unsigned long long model, check, size; /* hash of the model's token; hash of the bytes after it; size of all */
  double start, stop, tolerance;
  int phase, has_values, is_stale, unused;
} Header;

static const char MARK[8] = "daedal2";

/* A state that was given to the caller, followed by its bytes. */
typedef struct SavedState {
  struct SavedState *next;
} SavedState;

static size_t state_size(const Instance *instance) { return sizeof(Header) + instance->solver->changing_size; }

/* FNV-1a. */
static unsigned long long hash(const void *bytes, size_t count) {
  unsigned long long value = 14695981039346656037ULL;
  for (size_t k = 0; k < count; k++) value = (value ^ ((const unsigned char *)bytes)[k]) * 1099511628211ULL;
  return value;
}

/* The link to a state that was given out; 0: it was not. The state itself is not read. */
static SavedState **find_state(Instance *instance, const void *state) {
  for (SavedState **at = &instance->saved; state && *at; at = &(*at)->next)
    if (*at + 1 == state) return at;
  return 0;
}

static void free_states(Instance *instance) {
  while (instance->saved) {
    SavedState *next = instance->saved->next;
    free(instance->saved);
    instance->saved = next;
  }
}

/* A state to write to: that of the caller, or a new one. */
static void *take_state(Instance *instance, void **state) {
  if (!state) return 0;
  if (*state) return find_state(instance, *state) ? *state : 0;
  SavedState *made = malloc(sizeof *made + state_size(instance));
  if (!made) return 0;
  made->next = instance->saved;
  instance->saved = made;
  return *state = made + 1;
}

/* Do the bytes hold a state of this model? */
static int is_state_of(const Instance *instance, const void *bytes, size_t size) {
  Header header;
  if (!bytes || size != state_size(instance)) return 0;
  memcpy(&header, bytes, sizeof header);
  return memcmp(header.mark, MARK, sizeof MARK) == 0 && header.size == size &&
         header.model == hash(model_token, strlen(model_token)) && header.phase >= 0 && header.phase <= PHASE_FAILED &&
         header.check == hash((const char *)bytes + sizeof header, size - sizeof header);
}

InstanceStatus instance_get_state(Instance *instance, void **state) {
  Header header;
  if (!instance_may(instance, IN_ANY, "the saving of a state")) return INSTANCE_ERROR;
  char *bytes = take_state(instance, state);
  if (!bytes) return refuse_call(instance, "a state cannot be saved there");
  memset(&header, 0, sizeof header);
  memcpy(header.mark, MARK, sizeof MARK);
  header.model = hash(model_token, strlen(model_token));
  header.size = state_size(instance);
  header.start = instance->start;
  header.stop = instance->stop;
  header.tolerance = instance->tolerance;
  header.phase = (int)instance->phase;
  header.has_values = instance->has_values;
  header.is_stale = instance->is_stale;
  memcpy(bytes + sizeof header, instance->solver->changing, instance->solver->changing_size);
  header.check = hash(bytes + sizeof header, instance->solver->changing_size);
  memcpy(bytes, &header, sizeof header);
  solver_saved(instance->solver);
  return INSTANCE_OK;
}

InstanceStatus instance_set_state(Instance *instance, const void *state) {
  Header header;
  if (!instance_may(instance, IN_ANY, "the setting of a state")) return INSTANCE_ERROR;
  if (!find_state(instance, state)) return refuse_call(instance, "this is not a state of the instance");
  memcpy(&header, state, sizeof header);
  instance->start = header.start;
  instance->stop = header.stop;
  instance->tolerance = header.tolerance;
  instance->phase = (InstancePhase)header.phase;
  instance->has_values = header.has_values;
  instance->is_stale = header.is_stale;
  memcpy(instance->solver->changing, (const char *)state + sizeof header, instance->solver->changing_size);
  solver_restored(instance->solver);
  return INSTANCE_OK;
}

InstanceStatus instance_free_state(Instance *instance, void **state) {
  if (!instance_may(instance, IN_ANY, "the release of a state")) return INSTANCE_ERROR;
  if (!state || !*state) return INSTANCE_OK;
  SavedState **link = find_state(instance, *state), *found = link ? *link : 0;
  if (!found) return refuse_call(instance, "this is not a state of the instance");
  *link = found->next;
  free(found);
  *state = 0;
  return INSTANCE_OK;
}

InstanceStatus instance_serialized_size(Instance *instance, const void *state, size_t *size) {
  if (!instance_may(instance, IN_ANY, "the size of a state")) return INSTANCE_ERROR;
  if (!size || !find_state(instance, state)) return refuse_call(instance, "this is not a state of the instance");
  *size = state_size(instance);
  return INSTANCE_OK;
}

InstanceStatus instance_serialize(Instance *instance, const void *state, void *bytes, size_t size) {
  if (!instance_may(instance, IN_ANY, "the bytes of a state")) return INSTANCE_ERROR;
  if (!bytes || size < state_size(instance) || !find_state(instance, state))
    return refuse_call(instance, "this is not a state of the instance, or there is no room for it");
  memcpy(bytes, state, state_size(instance));
  return INSTANCE_OK;
}

InstanceStatus instance_deserialize(Instance *instance, const void *bytes, size_t size, void **state) {
  if (!instance_may(instance, IN_ANY, "the reading of a state")) return INSTANCE_ERROR;
  if (!is_state_of(instance, bytes, size)) return refuse_call(instance, "these bytes are not a state of this model");
  void *to = take_state(instance, state);
  if (!to) return refuse_call(instance, "a state cannot be saved there");
  memcpy(to, bytes, size);
  return INSTANCE_OK;
}
