/* fmi: see fmi.h. Values are solved for when they are asked for. */
#include "fmi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(Instance *instance, const char *text) {
  instance->phase = PHASE_FAILED;
  instance->log(instance->context, 1, text);
  return 1;
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
    log(context, 1, "the token of the model description is that of another model");
    return 0;
  }
  Instance *instance = calloc(1, sizeof *instance);
  void *memory = calloc(1, solver_size(model));
  if (!instance || !memory) {
    free(instance);
    free(memory);
    return 0;
  }
  *instance = (Instance){solver_make(model, memory),
                         memory,
                         PHASE_INSTANTIATED,
                         model->start,
                         number_nan(),
                         0,
                         is_cosimulation,
                         0,
                         0,
                         0,
                         log,
                         0,
                         context};
  instance->solver->report = report;
  instance->solver->stepped = stepped;
  instance->solver->context = instance;
  return instance;
}

void instance_free(Instance *instance) {
  if (!instance) return;
  free(instance->memory);
  free(instance);
}

void instance_reset(Instance *instance) {
  solver_reset(instance->solver);
  instance->phase = PHASE_INSTANTIATED;
  instance->start = instance->solver->model->start;
  instance->stop = number_nan();
  instance->tolerance = 0;
  instance->has_values = instance->is_stale = 0;
}

void instance_set_experiment(Instance *instance, int has_tolerance, double tolerance, double start, int has_stop,
                             double stop) {
  instance->tolerance = has_tolerance ? tolerance : 0;
  instance->start = start;
  instance->stop = has_stop ? stop : number_nan();
  instance->has_values = 0;
}

/* ---- values ---- */

static int is_initial(const Instance *instance) { return instance->phase <= PHASE_INITIALIZATION; }

/* Consistent initial values for all that was set. */
static int start(Instance *instance) {
  if (instance->has_values) return 0;
  if (instance->tolerance > 0) instance->solver->now->tolerance = instance->tolerance;
  if (solver_start(instance->solver, instance->start) != SOLVER_OK) {
    if (!instance->solver->model->can_start)
      return fail(instance,
                  "the initial values of this model cannot be found again for other parameters, inputs or start times");
    return fail(instance, "there are no consistent initial values");
  }
  instance->has_values = 1;
  instance->is_stale = 0;
  return 0;
}

/* Solves for what follows from what was set. */
static int update(Instance *instance) {
  if (instance->phase == PHASE_FAILED) return 1;
  if (is_initial(instance)) return start(instance);
  if (!instance->is_stale) return 0;
  if (solver_complete(instance->solver) != SOLVER_OK) {
    instance->log(instance->context, 0, "the equations cannot be solved here");
    return 1;
  }
  instance->is_stale = 0;
  return 0;
}

static const ModelVariable *find(const Instance *instance, unsigned variable) {
  const Model *model = instance->solver->model;
  return variable < (unsigned)model->variables ? &model->variable[variable] : 0;
}

int instance_get(Instance *instance, unsigned variable, double *value) {
  const ModelVariable *known = find(instance, variable);
  if (!known) return fail(instance, "there is no variable with this value reference");
  int is_given = known->flags & (IS_INPUT | IS_SETTABLE) &&
                 (!(known->flags & IS_CALCULATED) || solver_is_set(instance->solver, (int)variable));
  int is_set = is_initial(instance) && is_given;
  if (!is_set && update(instance)) return 1;
  *value = is_set ? solver_set_value(instance->solver, (int)variable) : solver_get(instance->solver, (int)variable);
  return 0;
}

/* The value of a variable is not taken. */
static int refuse(Instance *instance, const ModelVariable *variable) {
  char text[256];
  int is_start = variable->flags & (IS_SETTABLE | IS_START);
  snprintf(text, sizeof text, "%.150s cannot be set: %s", variable->name,
           is_start ? "its value is given before the initialization ends" : "equations determine it");
  instance->log(instance->context, 1, text);
  return 1;
}

int instance_set(Instance *instance, unsigned variable, double value) {
  const ModelVariable *known = find(instance, variable);
  if (!known) return fail(instance, "there is no variable with this value reference");
  int may = known->flags & (IS_INPUT | IS_TUNABLE) || (is_initial(instance) && known->flags & (IS_SETTABLE | IS_START));
  if (!may) return refuse(instance, known);
  if (is_initial(instance)) {
    solver_override(instance->solver, (int)variable, value);
    instance->has_values = 0;
  } else if (instance->solver->parameters[known->index] != value) {
    if (known->flags & IS_TUNABLE) solver_tune(instance->solver, (int)variable, value);
    else instance->solver->parameters[known->index] = value;
    instance->is_stale = 1;
  }
  return 0;
}

int instance_begin(Instance *instance) {
  if (start(instance)) return 1;
  instance->phase = instance->is_cosimulation ? PHASE_STEP : PHASE_EVENT;
  return 0;
}

/* ---- model exchange ---- */

int instance_set_time(Instance *instance, double time) {
  instance->solver->now->time = time;
  instance->is_stale = 1;
  return 0;
}

int instance_set_states(Instance *instance, const double *states, size_t count) {
  if (count != (size_t)instance->solver->width) return fail(instance, "the number of states is wrong");
  if (count) memcpy(instance->solver->states, states, count * sizeof *states);
  instance->is_stale = 1;
  return 0;
}

int instance_states(Instance *instance, double *states, size_t count) {
  if (count != (size_t)instance->solver->width) return fail(instance, "the number of states is wrong");
  if (is_initial(instance) && start(instance)) return 1;
  if (count) memcpy(states, instance->solver->states, count * sizeof *states);
  return 0;
}

int instance_derivatives(Instance *instance, double *derivatives, size_t count) {
  const Solver *solver = instance->solver;
  if (count != (size_t)solver->width) return fail(instance, "the number of states is wrong");
  if (update(instance)) return 1;
  for (size_t k = 0; k < count; k++) derivatives[k] = (int)k < solver->model->states ? solver->y[solver->to[k]] : 0;
  return 0;
}

int instance_nominals(Instance *instance, double *nominals, size_t count) {
  const Solver *solver = instance->solver;
  if (count != (size_t)solver->width) return fail(instance, "the number of states is wrong");
  for (size_t k = 0; k < count; k++)
    nominals[k] = (int)k < solver->model->states ? solver->model->nominal[solver->from[k]] : 1;
  return 0;
}

size_t instance_indicator_count(const Instance *instance) {
  const Model *model = instance->solver->model;
  size_t count = model->has_choice != 0;
  for (int m = 0; m < model->modes; m++) count += !model->mode[m].is_timed;
  return count;
}

/* How far each condition and the choice of states are from changing; negative where they have to. */
int instance_indicators(Instance *instance, double *indicators, size_t count) {
  Solver *solver = instance->solver;
  size_t next = 0;
  if (count != instance_indicator_count(instance)) return fail(instance, "the number of event indicators is wrong");
  if (update(instance) || events_evaluate(solver, solver->now->time, solver->y)) return 1;
  events_rest(solver, solver->now->time, solver->y);
  for (int m = 0; m < solver->model->modes; m++) {
    if (!solver->model->mode[m].is_timed) indicators[next++] = events_indicator(solver, m);
  }
  if (next < count) indicators[next] = states_indicator(solver, solver->now->time, solver->y);
  return 0;
}

/* The condition whose event this is, -1 if none contradicts. */
static int crossed_mode(Solver *solver) {
  const Model *model = solver->model;
  if (!model->modes || events_evaluate(solver, solver->now->time, solver->y)) return -1;
  events_rest(solver, solver->now->time, solver->y);
  for (int m = 0; m < model->modes; m++)
    if (events_margin(solver, m, solver->difference[m]) < 0) return m;
  return -1;
}

static double state_value(const Solver *solver, int k) {
  return k < solver->model->states ? solver->y[solver->from[k]] : 0;
}

static void gather(Solver *solver) {
  for (int k = 0; k < solver->width; k++) solver->states[k] = state_value(solver, k);
}

/* Our own integrator goes on from other values. */
static void restart(Solver *solver) {
  double next = solver->now->next;
  radau_start(solver);
  solver->now->next = fmin(next, 10 * solver->now->next);
}

/* In model exchange only the ends of steps are told. */
static int follow(Instance *instance) {
  if (!instance->solver->model->delays || instance->is_cosimulation) return 0;
  return solver_follow(instance->solver) != SOLVER_OK && fail(instance, "a step cannot be followed for delays");
}

/* A step of model exchange must not need values of its own: an event ends it. */
static double next_event(Solver *solver) {
  double t = solver->now->time, next = events_next_time(solver, t);
  return solver->model->delays ? fmin(next, t + past_longest_step(solver, t, solver->y)) : next;
}

/* What happens at an event, and which states serve from then on. */
int instance_discrete(Instance *instance, InstanceEvent *event) {
  Solver *solver = instance->solver;
  Scalars *now = solver->now;
  int was_stale = instance->is_stale, system = now->system;
  if (update(instance) || follow(instance)) return 1;
  now->changed = 0;
  now->has_left = 1;
  if (events_any(solver->model)) {
    int mode = crossed_mode(solver);
    now->came = now->time - now->kept;
    slides_leave(solver);
    if (mode >= 0 && events_hover(solver, mode, now->time)) return fail(instance, "events have no end");
    if (events_settle(solver, solver->y, mode)) return fail(instance, "the conditions do not settle at this event");
  }
  if (now->asserted) return fail(instance, "an assertion does not hold");
  int exchanged = states_exchange(solver, now->time, solver->y);
  if (exchanged < 0) return fail(instance, "the equations are singular for every choice of states");
  /* An integrator of several steps begins anew; and one that has looked beyond an event at a past that was not known yet. */
  int moved = exchanged > 0 || now->changed || solver->model->delays;
  for (int k = 0; k < solver->width; k++) moved |= solver->states[k] != state_value(solver, k);
  gather(solver);
  if (instance->is_cosimulation && (was_stale || moved)) restart(solver);
  double next = next_event(solver);
  *event = (InstanceEvent){moved, exchanged > 0 || now->system != system, now->terminated, is_finite(next), next};
  return 0;
}

int instance_completed(Instance *instance, int *needs_event, int *terminates) {
  Solver *solver = instance->solver;
  Scalars *now = solver->now;
  if (update(instance) || follow(instance)) return 1;
  if (crossed_mode(solver) < 0) events_keep(solver, now->time, solver->y, 0);
  if (solver->model->actions) events_watch(solver, now->time, solver->y);
  if (now->asserted) return fail(instance, "an assertion does not hold");
  *needs_event = states_wants_exchange(solver, now->time, solver->y);
  *terminates = now->terminated;
  return 0;
}

/* The run is over. */
int instance_end(Instance *instance) {
  if (instance->phase == PHASE_FAILED) return 1;
  if (!is_initial(instance) && (update(instance) || events_end(instance->solver)))
    return fail(instance, "the conditions do not settle at the end");
  if (instance->solver->now->asserted) return fail(instance, "an assertion does not hold");
  instance->phase = PHASE_TERMINATED;
  return 0;
}

/* ---- co-simulation ---- */

/* Inputs that were set count from now on. */
static int take_inputs(Instance *instance) {
  Solver *solver = instance->solver;
  if (!instance->is_stale) return 0;
  if (update(instance)) return 1;
  slides_leave(solver);
  if (events_any(solver->model) && events_settle(solver, solver->y, -1))
    return fail(instance, "the conditions do not settle at these inputs");
  gather(solver);
  restart(solver);
  return 0;
}

int instance_step(Instance *instance, double until, int *is_event, int *terminates) {
  Solver *solver = instance->solver;
  int events = solver->now->events;
  if (take_inputs(instance)) return 1;
  if (solver_advance(solver, until, instance->returns_at_events) != SOLVER_OK)
    return fail(instance, solver->now->asserted ? "an assertion does not hold" : "the integration failed");
  *is_event = solver->now->events != events;
  *terminates = solver->now->terminated;
  return 0;
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

/* A column, of the variable itself or of the state that it is now, among the states. */
static int is_state(const Instance *instance, unsigned variable) {
  const Solver *solver = instance->solver;
  const ModelVariable *known = find(instance, variable);
  if (known->kind == VARIABLE_STATE) return 1;
  for (int k = 0; k < solver->model->states; k++)
    if (known->kind == VARIABLE_COLUMN && solver->from[k] == known->index) return 1;
  return 0;
}

/* Derivatives of all variables by states, inputs and parameters exist; by others there are none. */
static int check_variables(Instance *instance, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns,
                           size_t known_count) {
  for (size_t k = 0; k < unknown_count; k++)
    if (!find(instance, unknowns[k])) return fail(instance, "there is no variable with this value reference");
  for (size_t k = 0; k < known_count; k++) {
    const ModelVariable *known = find(instance, knowns[k]);
    if (known && (known->flags & (IS_INPUT | IS_SETTABLE) || is_state(instance, knowns[k]))) continue;
    instance->log(instance->context, 1, "derivatives are those by states, inputs and parameters that can be set");
    return 1;
  }
  return update(instance);
}

/* An input or a parameter, and those that are bound to it. */
static void move_leaf(Solver *solver, int leaf, double by) {
  double kept = solver->overrides[leaf];
  solver->overrides[leaf] = solver->parameters[leaf] += by;
  initial_dependents(solver);
  solver->overrides[leaf] = kept;
}

/* The derivative of all rows by an input or a parameter, by central differences, in `input_rows`. */
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

/* Where the solution slides along an edge, and where rows are singular: all columns a little further in the direction. */
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
  int failed = slides_complete(solver, solver->now->time, solver->event_y, 1) != SOLVER_OK;
  memcpy(solver->parameters, solver->kept_parameters, parameters);
  for (int q = 0; q < solver->model->columns; q++) solver->direction[q] = (solver->event_y[q] - solver->y[q]) / delta;
  return failed;
}

/* How all columns change in a direction, in `direction`. */
static int find_direction(Instance *instance, const unsigned *knowns, size_t count, const double *seed) {
  Solver *solver = instance->solver;
  int failed = solver->now->slides > 0;
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
  if (!failed && !states_direction(solver, solver->now->time, solver->y, solver->direction, solver->row_direction))
    return 0;
  return differences(instance, knowns, count, seed);
}

int instance_direction(Instance *instance, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns,
                       size_t known_count, const double *seed, double *sensitivity) {
  if (check_variables(instance, unknowns, unknown_count, knowns, known_count)) return 1;
  if (find_direction(instance, knowns, known_count, seed)) return 1;
  for (size_t k = 0; k < unknown_count; k++) {
    double factor;
    int column = column_of(instance, unknowns[k], &factor);
    sensitivity[k] = column >= 0 ? factor * instance->solver->direction[column] : 0;
  }
  return 0;
}

/* One known after the other. */
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

int instance_adjoint(Instance *instance, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns,
                     size_t known_count, const double *seed, double *sensitivity) {
  Solver *solver = instance->solver;
  double factor;
  if (check_variables(instance, unknowns, unknown_count, knowns, known_count)) return 1;
  memset(solver->direction, 0, (size_t)solver->model->columns * sizeof(double));
  for (size_t i = 0; i < unknown_count; i++) {
    int column = column_of(instance, unknowns[i], &factor);
    if (column >= 0) solver->direction[column] += factor * seed[i];
  }
  int failed = solver->now->slides > 0 ||
               states_adjoint(solver, solver->now->time, solver->y, solver->direction, solver->row_direction);
  for (size_t k = 0; k < known_count && !failed; k++) {
    const ModelVariable *known = find(instance, knowns[k]);
    int is_leaf = known->kind == VARIABLE_PARAMETER, column = column_of(instance, knowns[k], &factor);
    sensitivity[k] = column >= 0 ? factor * solver->direction[column] : 0;
    if (is_leaf) failed = find_input_rows(solver, known->index);
    for (int r = 0; r < solver->model->rows && is_leaf; r++)
      sensitivity[k] += solver->row_direction[r] * solver->input_rows[r];
  }
  return failed && adjoint_by_directions(instance, unknowns, unknown_count, knowns, known_count, seed, sensitivity);
}

/* ---- states ---- */

/* What an instance holds besides its run. */
typedef struct Header {
  double start, stop, tolerance;
  int phase, has_values, is_stale;
} Header;

size_t instance_state_size(const Instance *instance) { return sizeof(Header) + instance->solver->changing_size; }

int instance_get_state(const Instance *instance, void **state) {
  Header header;
  if (!*state) *state = malloc(instance_state_size(instance));
  if (!*state) return 1;
  memset(&header, 0, sizeof header);
  header.start = instance->start;
  header.stop = instance->stop;
  header.tolerance = instance->tolerance;
  header.phase = (int)instance->phase;
  header.has_values = instance->has_values;
  header.is_stale = instance->is_stale;
  memcpy(*state, &header, sizeof header);
  memcpy((char *)*state + sizeof header, instance->solver->changing, instance->solver->changing_size);
  return 0;
}

int instance_set_state(Instance *instance, const void *state) {
  Header header;
  if (!state) return 1;
  memcpy(&header, state, sizeof header);
  instance->start = header.start;
  instance->stop = header.stop;
  instance->tolerance = header.tolerance;
  instance->phase = (InstancePhase)header.phase;
  instance->has_values = header.has_values;
  instance->is_stale = header.is_stale;
  memcpy(instance->solver->changing, (const char *)state + sizeof header, instance->solver->changing_size);
  solver_restored(instance->solver);
  return 0;
}

void instance_free_state(void **state) {
  if (!state) return;
  free(*state);
  *state = 0;
}

int instance_serialize(const Instance *instance, const void *state, void *bytes, size_t size) {
  if (!state || size < instance_state_size(instance)) return 1;
  memcpy(bytes, state, instance_state_size(instance));
  return 0;
}

int instance_deserialize(const Instance *instance, const void *bytes, size_t size, void **state) {
  if (size != instance_state_size(instance)) return 1;
  if (!*state) *state = malloc(size);
  if (!*state) return 1;
  memcpy(*state, bytes, size);
  return 0;
}
