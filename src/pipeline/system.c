/* system: the system that a run integrates: the start values, the view of the reduced system, the recorder. */
#include "pipeline/parts.h"

#include "external/external.h"

#include <math.h>
#include <string.h>

/* Moves the states at the start by the requested perturbation, and solves for the other columns. Derivatives are moved less than
 * their variables, since equal changes of both may cancel, for example in an energy. The ratio is irrational so that no model
 * contains it. */
static void perturb_start(View *view, double t, double perturbation, double *y) {
  static const double ratio = 0.6180339887498949;
  const System *system = &view->system;
  if (!system->complete || perturbation == 0) return;
  for (int32_t k = 0; k < system->links; k++) {
    double *value = &y[system->link_from[k]];
    uint32_t order = array_order(view->evaluator->array, (uint32_t)system->link_from[k]);
    *value += perturbation * fmax(1, fabs(*value)) * pow(ratio, order);
  }
  view->methods->solve(view, t, y);
}

bool simulation_make_view(Simulation *simulation) {
  const Plan *plan = simulation->plan;
  Heap *heap = simulation->stay.heap;
  const Strangeness *strangeness = plan->reduction.strangeness;
  if (strangeness) {
    simulation->strangeness = strangeness_run(strangeness, heap, &simulation->arena, simulation->diags);
    simulation->system = (ArrayRun){.evaluator = simulation->strangeness.evaluator, .y = simulation->strangeness.y};
    simulation->view = view_strangeness(heap, &simulation->strangeness, simulation->system.y);
    if (simulation->initial.solved && strangeness->reduced) return true;
    simulation->initializer = (Initializer){.heap = heap, .ranks = &simulation->strangeness};
    StartValues starts = simulation->request.starts;
    starts.start = strangeness->start; /* including those of added unknowns */
    simulation->initial = initial_of_ranks(&simulation->initializer, &starts, simulation->request.run.start);
    return true;
  }
  simulation->system = reduced_run(&plan->reduction, &simulation->original, heap);
  const Structure *structure = plan->reduction.reduced.structure;
  if (structure) {
    const ArrayRun *system = &simulation->system;
    int32_t block;
    if (!dummy_select(system->dummy, simulation->since, system->y, &block))
      return start_no_choice(system->evaluator, structure, block, simulation->diags);
    statespace_choose(system->space, dummy_depth(system->dummy));
  }
  View *view = simulation->view = view_reduced(heap, &plan->reduction, &simulation->original, &simulation->system);
  if (!plan->conditions || plan->reduction.reduced.modes != plan->reduction.modes) return true;
  view->conditions = workspace_new(heap, plan->conditions);
  view->holds = plan->holds;
  view->branches = plan->branches.count;
  view->values = heap_array(heap, view->branches, sizeof(double));
  return true;
}

void simulation_note_beginning(Simulation *simulation) {
  const Plan *plan = simulation->plan;
  RunFacts *facts = &simulation->facts;
  if (plan->reduction.strangeness) {
    facts->strangeness = &simulation->strangeness;
    facts->evaluator = simulation->system.evaluator;
    if (!simulation->strangeness.reduced) return; /* rows selected by ranks are not equations to print */
  } else {
    facts->evaluator = simulation->original.evaluator;
  }
  facts->reduction = &plan->reduction;
  simulation->begun = plan->reduction.strangeness ? plan->first : simulation->original;
  simulation->leaves =
      heap_copy(simulation->heap, facts->evaluator->discretes, modes_leaves(&plan->modes), sizeof(double));
}

void simulation_exchange_leaves(Simulation *simulation) {
  const Evaluator *evaluator = simulation->begun.evaluator;
  uint32_t count = evaluator ? modes_leaves(evaluator->code->modes) : 0;
  for (uint32_t k = 0; k < count; k++) {
    double now = evaluator->discretes[k];
    evaluator->discretes[k] = simulation->leaves[k];
    simulation->leaves[k] = now;
  }
}

bool simulation_is_singular(const Simulation *simulation, TurningPoint *point) {
  const TurningPlan *watched = simulation->plan->run.watched;
  if (!watched) return false;
  Turning *turning = turning_new(simulation->heap, simulation->view, watched);
  turning_begin(turning, simulation->request.run.start, simulation->system.y);
  return turning_at_start(turning, false, point);
}

bool simulation_starts_singular(const Simulation *simulation, TurningPoint *point) {
  const TurningPlan *watched = simulation->plan->run.outside;
  const ArrayRun *original = &simulation->original;
  if (!watched) return simulation_is_singular(simulation, point);
  return turning_is_singular(simulation->heap, original->evaluator, watched, simulation->request.run.start, original->y,
                             point);
}

void simulation_make_recorder(Simulation *simulation) {
  const System *system = &simulation->view->system;
  bool *is_state = heap_array(simulation->heap, (size_t)system->columns, sizeof *is_state);
  for (int32_t k = 0; k < system->links; k++) is_state[system->link_from[k]] = true;
  simulation->facts.states = (uint32_t)system->links;
  simulation->facts.run_evaluator = simulation->system.evaluator;
  RecorderChoice choice = simulation->request.choice;
  choice.by_mode = simulation->plan->holds;
  simulation->recorder =
      recorder_new(simulation->heap, simulation->system.evaluator, simulation->plan->orders, is_state, choice);
  simulation->facts.recorder = simulation->recorder;
}

static const char *signal_at(void *context, uint32_t index) {
  const SignalTable *signals = context;
  if (index == 0) return "time";
  return index <= signals->list.count ? signals->list.data[index - 1].name : NULL;
}

/* Did the user choose only signals that the run has? */
static bool check_signals(const Simulation *simulation) {
  const RecorderChoice *choice = &simulation->request.choice;
  NameList names = {signal_at, simulation->recorder->signals};
  return (!choice->listed || signal_filter_check(choice->listed, simulation->diags, names)) &&
         (!choice->hidden || signal_filter_check(choice->hidden, simulation->diags, names));
}

static double slope_of(void *context, uint32_t direction, Expr constant) {
  return sensitivity_slope(context, direction, constant);
}

/* Finds the integrand of the gradient. false: it is not a signal that varies in the run. */
static bool find_functional(const Simulation *simulation, Functional *functional) {
  const Recorder *recorder = simulation->recorder;
  uint32_t columns = recorder->evaluator->array->columns;
  uint32_t signal = signals_find(recorder->signals, simulation->request.integrand);
  if (signal == MAP_NONE) signal = signals_find_variable(recorder->signals, simulation->request.integrand);
  const Signal *found = signal == MAP_NONE ? NULL : &recorder->signals->list.data[signal];
  uint32_t source = found && found->column != SIGNAL_CONSTANT ? recorder->source[found->column] : MAP_NONE;
  if (source == MAP_NONE) {
    Diag *diag = diag_error(simulation->diags, DIAG_USAGE, (Span){0},
                            "no gradient of %s: '%s' is not a signal that varies in the run",
                            simulation->request.functional, simulation->request.integrand);
    if (!found) signals_suggest(recorder->signals, simulation->diags, diag, simulation->request.integrand);
    return false;
  }
  *functional = (Functional){.column = source < columns ? source : MAP_NONE,
                             .leaf = source < columns ? MAP_NONE : source - columns,
                             .sign = found->negated ? -1 : 1,
                             .is_integral = simulation->request.is_integral};
  return true;
}

/* Prepares the records for a gradient. false: an error is in diags. */
static bool start_adjoint(Simulation *simulation) {
  const Request *request = &simulation->request;
  const SensitivityPlan *plan = simulation->plan->sensitivity;
  Functional functional;
  if (!find_functional(simulation, &functional)) return false;
  simulation->adjoint =
      adjoint_new(simulation->heap, plan, simulation->view, &functional, request->gradient_memory, simulation->diags);
  return true;
}

/* Computes the derivatives of the initial values, and adds their signals. */
static bool start_sensitivities(Simulation *simulation) {
  const SensitivityPlan *plan = simulation->plan->sensitivity;
  const Request *request = &simulation->request;
  if (!plan || request->is_stepped) return true;
  simulation->facts.status = "init";
  if (request->functional && !start_adjoint(simulation)) return false;
  Sensitivity *sensitivity =
      sensitivity_new(simulation->heap, plan, simulation->view, request->run.tolerance,
                      request->run.stop - request->run.start, simulation->adjoint, simulation->diags);
  if (!sensitivity_start(sensitivity, &simulation->initializer, &simulation->initial, request->start_slopes,
                         request->run.start, simulation->system.y))
    return false;
  simulation->view->sensitivity = sensitivity;
  if (simulation->adjoint) return true;
  const char **names = arena_array(&simulation->arena, plan->targets, sizeof *names);
  for (uint32_t k = 0; k < plan->targets; k++) names[k] = plan->target[k].name;
  recorder_add_directions(simulation->recorder, names, plan->targets, slope_of, sensitivity);
  simulation->recorder->variations = sensitivity_at(sensitivity, request->run.start, simulation->system.y);
  return true;
}

bool pass_view(Simulation *simulation) {
  simulation->facts.status = "singular";
  return simulation_make_view(simulation);
}

bool pass_signals(Simulation *simulation) {
  const Request *request = &simulation->request;
  simulation_note_beginning(simulation);
  const System *system = &simulation->view->system;
  const Integrator *integrator = request->run.integrator;
  if (integrator && integrator->explicit_form && !system->complete) {
    diag_error(simulation->diags, DIAG_USAGE, (Span){0},
               "solver %s needs the state-space form, which method %s does not make of this model; use radau or bdf",
               integrator->name, request->method->name);
    return false;
  }
  perturb_start(simulation->view, request->run.start, request->perturbation, simulation->system.y);
  simulation_make_recorder(simulation);
  if (!check_signals(simulation) || !start_sensitivities(simulation)) return false;
  if (request->initialize_only) recorder_add(simulation->recorder, request->run.start, simulation->system.y);
  return true;
}
