/* begin: the plan and the values with which a run begins: of a shared plan, or of the run's own. */
#include "pipeline/parts.h"

#include "external/external.h"

#include <math.h>
#include <string.h>

/* Do two values of a parameter give the same run? Objects that never change count as equal, because other parameters
 * determine them. */
static bool same_parameter(const Model *model, uint32_t p, double a, double b) {
  if (model->variables.data[model->parameters.data[p]].type != TYPE_EXTERNAL_OBJECT)
    return a == b || (isnan(a) && isnan(b));
  const ExternalInstance *mine = external_instance(a);
  return mine && mine->is_shared;
}

static bool same_parameters(const Model *model, const double *a, const double *b) {
  for (uint32_t p = 0; p < model->parameters.count; p++)
    if (!same_parameter(model, p, a[p], b[p])) return false;
  return true;
}

static bool same_numbers(const double *a, const double *b, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (!(a[k] == b[k] || (isnan(a[k]) && isnan(b[k])))) return false;
  return true;
}

/* Does the run begin with exactly the values of its plan? */
static bool has_plan_values(const Simulation *simulation, const double *parameters) {
  const Plan *plan = simulation->plan;
  const double *mine = simulation->request.starts.start, *given = plan->request.starts.start;
  if (simulation->request.run.start != plan->request.run.start) return false;
  if (!same_parameters(plan->model, parameters, plan->parameters)) return false;
  if (!mine || !given) return mine == given;
  return same_numbers(mine, given, plan->model->variables.count);
}

/* Copies the plan's initial values. Their explanation is made again on request, because it belongs to the plan's own run. */
static void copy_initial(Simulation *simulation) {
  const Plan *plan = simulation->plan;
  Heap *heap = simulation->heap;
  Initial *initial = &simulation->initial;
  *initial = plan->initial;
  initial->system = NULL;
  initial->column = heap_array(heap, initial->columns, sizeof *initial->column);
  initial->value = heap_array(heap, initial->columns, sizeof *initial->value);
  initial->y = heap_array(heap, plan->array.columns, sizeof *initial->y);
  memcpy(initial->column, plan->initial.column, initial->columns * sizeof *initial->column);
  memcpy(initial->value, plan->initial.value, initial->columns * sizeof *initial->value);
  memcpy(initial->y, plan->initial.y, plan->array.columns * sizeof *initial->y);
}

bool simulation_replan(Simulation *simulation) {
  Plan *own;
  bool made = plan_make(&own, simulation->heap, simulation->plan->model, &simulation->request, simulation->diags);
  simulation->plan = simulation->base = own;
  simulation->is_shared = false;
  simulation->own.count = simulation->modes.count = 0; /* these lists were derived from another plan */
  simulation->facts = own->facts;
  return made;
}

/* Was the plan made for the branches that hold at the start values? */
static bool fits_mode(const Simulation *simulation) {
  const Plan *plan = simulation->plan;
  if (!plan->holds) return true;
  const bool *now = start_branches(plan, simulation->original.evaluator, simulation->heap);
  return memcmp(now, plan->holds, plan->branches.count * sizeof *now) == 0;
}

void plan_rehearse(Plan *plan, const Request *request, Diags *diags) {
  Heap *heap = plan->heap;
  double *parameters = heap_array(heap, plan->model->parameters.count, sizeof *parameters);
  Initial initial = {0};
  if (!plan->code || !plan->initial.y || plan_depends_on_values(plan)) return;
  if (!model_parameter_values(plan->model, heap, request->parameter_overrides, parameters, diags)) return;
  ArrayRun run = start_array(plan, heap, parameters);
  start_inputs(run.evaluator, &request->starts);
  Initializer initializer = start_initializer(plan, heap, &run);
  initializer.collected = plan->starting;
  start_values(&initializer, &request->starts, &request->run, &initial, diags);
}

/* The array of the present plan with parameters, before any value is computed. */
static void open_array(Simulation *simulation, const double *parameters) {
  simulation->original = start_array(simulation->plan, simulation->heap, parameters);
  start_inputs(simulation->original.evaluator, &simulation->request.starts);
  simulation->initializer = start_initializer(simulation->plan, simulation->heap, &simulation->original);
  simulation->facts.evaluator = simulation->original.evaluator;
}

/* Uses the plan's own values. */
static void take_plan_values(Simulation *simulation) {
  const Plan *plan = simulation->plan;
  open_array(simulation, plan->first.evaluator->parameters);
  copy_initial(simulation);
  memcpy(simulation->original.evaluator->discretes, plan->discretes, modes_leaves(&plan->modes) * sizeof(double));
  simulation->original.y = simulation->initial.y;
}

/* Copies the facts about the plan with which a run begins. */
static void take_facts(Simulation *simulation) {
  Seconds seconds = simulation->facts.seconds;
  simulation->facts = simulation->plan->facts;
  simulation->facts.evaluator = NULL; /* the run must not write to the plan's evaluator */
  simulation->facts.seconds = seconds;
}

/* Finds the initial values of a run with this plan. false: an error is in diags. */
static bool find_start(Simulation *simulation, const Plan *plan, const double *parameters) {
  const Request *request = &simulation->request;
  simulation->plan = plan;
  take_facts(simulation);
  open_array(simulation, parameters);
  simulation->facts.status = "init";
  StartValues starts = start_extended(plan, &request->starts, simulation->heap);
  if (!start_values(&simulation->initializer, &starts, &request->run, &simulation->initial, simulation->diags) ||
      !start_is_regular(plan, request, &simulation->initializer, &simulation->initial, &simulation->arena,
                        simulation->diags)) {
    simulation->facts.status = simulation->initial.solved ? "singular" : "init";
    return false;
  }
  simulation->original.y = simulation->initial.y;
  return true;
}

void simulation_begin_alone(Simulation *simulation) {
  const Plan *plan = simulation->plan;
  simulation->original = plan->first;
  simulation->initializer = plan->initializer;
  simulation->initial = plan->initial;
}

/* For a method that needs values: starts with a plan made at them. */
static bool start_own(Simulation *simulation, const bool *holds) {
  const Plan *plan = mode_plan_at_start(simulation, holds);
  if (!plan) return false;
  simulation->plan = plan;
  simulation_begin_alone(simulation);
  return true;
}

/* Values lead to a mode, and the mode to values. If a mode repeats, the search is in a cycle. Then a mode of the cycle is used
 * whose values are on the edge to the next one. */
bool mode_start(Simulation *simulation, const bool *holds, const double *parameters) {
  uint32_t before = simulation->diags->list.count, last = simulation->base->branches.count + 1;
  VEC(const Plan *) tried = {0};
  if (!plan_is_derivable(simulation->base)) return start_own(simulation, holds);
  for (uint32_t round = 0;; round++) {
    diags_keep(simulation->diags, before);
    const Plan *plan = mode_plan(simulation, holds, parameters, simulation->diags);
    if (!plan || !find_start(simulation, plan, parameters)) return false;
    if (fits_mode(simulation)) return true;
    uint32_t known = 0;
    while (known < tried.count && tried.data[known] != plan) known++;
    bool is_cycle = known < tried.count;
    if (!is_cycle) vec_push(simulation->heap, &tried, plan);
    else if (tried.count == round) last = round + (round - known) - 1;
    Evaluator *evaluator = simulation->original.evaluator;
    if ((is_cycle || round == last) && start_is_on_edge(plan, evaluator, &simulation->initial, simulation->heap))
      return true;
    if (round == last) break;
    holds = start_branches(plan, evaluator, simulation->heap);
  }
  plan_report_unsettled(simulation->diags);
  return false;
}

/* A plan that depends on the ranks at its values, or that has objects which change, cannot be used for other values. */
static bool is_unfit(const Plan *plan) {
  return plan->reduction.strangeness || !plan->code || plan_has_own_objects(plan);
}

/* Begins with a plan of the run's own. */
static bool begin_replanned(Simulation *simulation) {
  if (!simulation_replan(simulation)) return false;
  if (simulation->plan->code && simulation->plan->initial.y) take_plan_values(simulation);
  return true;
}

/* The plan for these values. NULL: none can be derived; a run that makes its own plan reports why. */
static const Plan *plan_for_values(Simulation *simulation, const double *parameters) {
  const Plan *plan = simulation->plan;
  Diags *attempt = heap_alloc(simulation->heap, sizeof *attempt);
  *attempt = diags_make(simulation->heap);
  if (!plan->read.count) return plan;
  plan = plan_is_derivable(plan) ? mode_plan(simulation, plan->holds, parameters, attempt) : NULL;
  if (plan) diags_append(simulation->diags, attempt);
  return plan;
}

bool simulation_begin_shared(Simulation *simulation) {
  const Plan *plan = simulation->plan;
  uint32_t before = simulation->diags->list.count;
  double *parameters = heap_array(simulation->heap, plan->model->parameters.count, sizeof *parameters);
  if (!model_parameter_values(plan->model, simulation->heap, simulation->request.parameter_overrides, parameters,
                              simulation->diags))
    return false;
  if (has_plan_values(simulation, parameters)) {
    if (plan->code && plan->initial.y) take_plan_values(simulation); /* otherwise the method uses only ranks */
    return true;
  }
  plan = is_unfit(plan) ? NULL : plan_for_values(simulation, parameters);
  if (!plan) return begin_replanned(simulation);
  bool is_found = find_start(simulation, plan, parameters);
  if (is_found && fits_mode(simulation)) return true;
  if (!is_found && !plan->is_misled) return false;
  if (is_found &&
      mode_start(simulation, start_branches(plan, simulation->original.evaluator, simulation->heap), parameters))
    return true;
  diags_keep(simulation->diags, before);
  return begin_replanned(simulation);
}
