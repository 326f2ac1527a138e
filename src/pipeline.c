/* pipeline: see pipeline.h. Each pass leaves its result in the simulation and its time in the facts. */
#include "pipeline.h"

#include "array/verdict.h"

#include <math.h>
#include <time.h>

/* Longest step of an explicit solver, times the rate at which the method itself lets deviations die out. */
static const double EXPLICIT_STEP = 3;

double pipeline_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The name of what has no numeric value in this node; NULL: it has one. */
static const char *node_unsupported(const Model *model, Expr e) {
  switch (dag_op(model->dag, e)) {
  case OP_INITIAL:
  case OP_TERMINAL:
  case OP_SAMPLE:
  case OP_EDGE:
  case OP_CHANGE:
  case OP_DELAY: return op_name(dag_op(model->dag, e));
  case OP_CALL: {
    const Function *function = model->functions.data[dag_call_info(model->dag, e).function];
    return function->routine->kind == ROUTINE_EXTERNAL ? names_text(model->names, function->name) : NULL;
  }
  default: return NULL;
  }
}

/* The same of the first such node at or below the roots. */
static const char *first_unsupported(const Model *model, const Expr *roots, uint32_t count) {
  const char *found = NULL;
  IndexVec below = {0};
  dag_below(model->dag, roots, count, &below);
  for (uint32_t k = 0; k < below.count && !found; k++) found = node_unsupported(model, below.data[k]);
  vec_free(dag_heap(model->dag), &below);
  return found;
}

/* Equations call only what can be run; the first that does not is named. */
static bool operators_supported(Simulation *simulation) {
  const Model *model = simulation->model;
  uint32_t count = model->equations.count, all = count + model->initial_equations.count;
  const Equation **equation = heap_array(simulation->heap, all, sizeof *equation);
  Expr *roots = heap_array(simulation->heap, all, sizeof *roots);
  for (uint32_t i = 0; i < all; i++) {
    equation[i] = i < count ? &model->equations.data[i] : &model->initial_equations.data[i - count];
    roots[i] = equation[i]->residual;
  }
  bool fine = !first_unsupported(model, roots, all);
  const char *name = NULL;
  for (uint32_t i = 0; i < all && !fine && !name; i++) {
    name = first_unsupported(model, &roots[i], 1);
    if (name)
      diag_error(simulation->diags, DIAG_INPUT, equation[i]->span, "not supported by simulate yet: %s(...)", name);
  }
  heap_free(simulation->heap, roots);
  heap_free(simulation->heap, equation);
  return fine;
}

/* What the numeric part cannot run yet is refused by name, not run wrongly. */
static bool pass_supported(Simulation *simulation, const Request *request) {
  const Model *model = simulation->model;
  Span none = {0};
  if (model->whens.count)
    diag_error(simulation->diags, DIAG_INPUT, model->whens.data[0].span,
               "not supported by simulate yet: when-equations");
  else if (model->discrete_equations.count)
    diag_error(simulation->diags, DIAG_INPUT, model->discrete_equations.data[0].span,
               "not supported by simulate yet: equations for discrete variables");
  else if (model->discretes.count)
    diag_error(simulation->diags, DIAG_INPUT, none, "not supported by simulate yet: discrete variables such as %s",
               model_name(model, model->discretes.data[0]));
  else if (operators_supported(simulation)) {
    if (model->asserts.count && !request->initialize_only)
      diag_warning(simulation->diags, model->asserts.data[0].span, "assertions are not checked by simulate yet");
    return true;
  }
  return false;
}

/* The characteristic values of method strangeness are those of the equations as written. */
static bool pass_structure(Simulation *simulation, const Request *request) {
  simulation->problem = problem_make(simulation->model, request->method != &method_strangeness, &simulation->arena);
  simulation->modes = modes_extract(&simulation->problem, &simulation->arena);
  simulation->structure = structure_run(&simulation->arena, &simulation->problem.incidence);
  simulation->facts.equations = simulation->model->equations.count;
  if (simulation->structure.status == STRUCTURE_OK) return true;
  /* The message speaks of the model as written. If that is sound, equations became empty by alias elimination. */
  Problem written = problem_make(simulation->model, false, &simulation->arena);
  Structure structure = structure_run(&simulation->arena, &written.incidence);
  if (structure.status == STRUCTURE_OK) return true;
  simulation->facts.status = structure.status == STRUCTURE_UNBALANCED ? "unbalanced" : "singular";
  verdict_report(&written, &structure, simulation->diags);
  return false;
}

/* The start values given, for the variables that a conversion added too: none. */
static void take_starts(Simulation *simulation, const Request *request) {
  uint32_t given = simulation->model->variables.count, count = simulation->problem.model->variables.count;
  simulation->starts = request->starts;
  if (!request->starts.start || count == given) return;
  double *start = heap_array(simulation->heap, count, sizeof *start);
  for (uint32_t v = 0; v < count; v++) start[v] = v < given ? request->starts.start[v] : NAN;
  simulation->starts.start = start;
}

/* Structure sees zeros only: where the Jacobian is singular all the same, the equations are rewritten until it is not. */
static bool pass_regular(Simulation *simulation, const Request *request) {
  Model *model = simulation->model;
  simulation->parameters = heap_array(simulation->heap, model->parameters.count, sizeof(double));
  if (!model_parameter_values(model, request->parameter_overrides, simulation->parameters, simulation->diags))
    return false;
  simulation->facts.status = "singular";
  simulation->facts.conversions = &simulation->conversions;
  ConvertStatus status = convert_run(&simulation->problem, &simulation->structure, simulation->parameters,
                                     &simulation->arena, &simulation->conversions, NULL, simulation->diags);
  take_starts(simulation, request);
  return status != CONVERT_FAILED;
}

/* The array has every derivative that the model speaks of, also those that only aliases write. */
static bool pass_array(Simulation *simulation, const Request *request) {
  (void)request;
  int32_t *least = arena_array(&simulation->arena, simulation->problem.unknowns, sizeof *least);
  if (problem_least_orders(&simulation->problem, simulation->structure.d, least))
    simulation->structure =
        structure_raise(&simulation->arena, &simulation->problem.incidence, &simulation->structure, least);
  if (simulation->structure.n_superfluous) {
    bool *named = arena_array(&simulation->arena, simulation->problem.unknowns, sizeof *named);
    problem_named_derivatives(&simulation->problem, simulation->structure.d, named);
    structure_need(&simulation->arena, &simulation->problem.incidence, &simulation->structure, named);
  }
  simulation->array =
      array_make(&simulation->problem, simulation->structure.c, simulation->structure.d, &simulation->arena);
  return true;
}

static bool pass_code(Simulation *simulation, const Request *request) {
  (void)request;
  Heap *heap = simulation->heap;
  const double *parameters = simulation->parameters;
  simulation->evaluator = evaluator_new(heap, &simulation->array, parameters, simulation->modes.count);
  if (simulation->modes.count) simulation->switches = switches_new(heap, simulation->evaluator, &simulation->modes);
  simulation->dummy = dummy_new(heap, simulation->evaluator, &simulation->structure);
  simulation->space = statespace_new(heap, simulation->evaluator, &simulation->structure);
  simulation->facts.evaluator = simulation->evaluator;
  return true;
}

/* Initial values for the modes of the guess, until the values found have those modes. */
static bool pass_initial(Simulation *simulation, const Request *request) {
  enum { ROUNDS = 20 };
  double start = request->run.start;
  Initial *initial = &simulation->initial;
  Switches *switches = simulation->switches;
  Initializer *initializer = &simulation->initializer;
  *initializer = (Initializer){.heap = simulation->heap,
                               .evaluator = simulation->evaluator,
                               .structure = &simulation->structure,
                               .dummy = simulation->dummy,
                               .space = simulation->space};
  simulation->facts.status = "init";
  if (switches) {
    double *guess = heap_array(simulation->heap, simulation->array.columns, sizeof *guess);
    if (!initial_guess(initializer, &simulation->starts, guess, simulation->diags)) return false;
    if (switches_evaluate(switches, start, guess)) switches_set(switches);
  }
  for (int round = 0; round < ROUNDS; round++) {
    if (!initial_solve(initializer, &simulation->starts, start, request->run.tolerance, initial, simulation->diags))
      return false;
    if (!switches || !switches_evaluate(switches, start, initial->y) || !switches_set(switches)) return true;
  }
  diag_error(simulation->diags, DIAG_INIT, (Span){0},
             "no consistent initial values: the conditions of if-expressions do not settle; change the start values");
  return false;
}

/* What the method makes of the array at the initial point. */
static bool pass_reduce(Simulation *simulation, const Request *request) {
  int32_t block;
  simulation->facts.status = "singular";
  dummy_select(simulation->dummy, request->run.start, simulation->initial.y, &block);
  simulation->reduction = (Reduction){.heap = simulation->heap,
                                      .arena = &simulation->arena,
                                      .diags = simulation->diags,
                                      .array = &simulation->array,
                                      .structure = &simulation->structure,
                                      .evaluator = simulation->evaluator,
                                      .modes = &simulation->modes,
                                      .dummy = simulation->dummy,
                                      .space = simulation->space,
                                      .time = request->run.start,
                                      .duration = request->run.stop - request->run.start,
                                      .tolerance = request->run.tolerance,
                                      .y = simulation->initial.y,
                                      .options = request->method_options};
  return request->method->apply(&simulation->reduction);
}

typedef struct Pass {
  bool (*run)(Simulation *, const Request *);
  double *seconds;
} Pass;

static bool run_passes(Simulation *simulation, const Request *request, const Pass *passes) {
  for (; passes->run; passes++) {
    double begin = pipeline_clock();
    bool ok = passes->run(simulation, request);
    *passes->seconds += pipeline_clock() - begin;
    if (!ok) return false;
  }
  return true;
}

/* What structure has to say to method strangeness: offsets, and initial values. Only a conflict of initial values is an error; where
 * structure fails or the equations had to be rewritten, the ranks of the equations as written decide alone. */
static bool pass_offsets(Simulation *simulation, const Request *request) {
  Seconds *seconds = &simulation->facts.seconds;
  const Pass passes[] = {{pass_structure, &seconds->structure},
                         {pass_regular, &seconds->structure},
                         {pass_array, &seconds->structure},
                         {pass_code, &seconds->code},
                         {NULL, NULL}};
  Diags *diags = simulation->diags, silent = diags_make(simulation->heap);
  simulation->diags = &silent;
  bool found = run_passes(simulation, request, passes);
  bool as_written = found && !simulation->conversions.count;
  simulation->facts.conversions = NULL;
  if (as_written) simulation->diags = diags;
  simulation->initial.solved = found && pass_initial(simulation, request);
  simulation->diags = diags;
  return simulation->initial.solved || !as_written;
}

/* Part of the tolerance that a multistep method gets when it is daedal's own choice: errors add up over its many steps. */
static double multistep_accuracy(double tolerance) { return fmin(1, fmax(0.02, 1e-13 / tolerance)); }

/* A choice by block and stage: states that determine positions and rates separately. */
static void take_staged_states(Simulation *simulation, double start) {
  int32_t block;
  const int32_t *from, *to;
  dummy_select(simulation->dummy, start, simulation->strangeness.y, &block);
  int32_t links = (int32_t)dummy_links(simulation->dummy, &from, &to);
  strangeness_take_states(&simulation->strangeness, from, links);
}

/* Method strangeness: the reduced array where structure was right, else the uniform one of the equations as written, of which there may
 * be any number. */
static bool pass_strangeness(Simulation *simulation, const Request *request) {
  Model *model = simulation->model;
  Strangeness *strangeness = &simulation->strangeness;
  const Initial *initial = &simulation->initial;
  double start = request->run.start;
  simulation->facts.equations = model->equations.count;
  simulation->facts.status = "singular";
  if (!simulation->parameters)
    simulation->parameters = heap_array(simulation->heap, model->parameters.count, sizeof(double));
  if (!model_parameter_values(model, request->parameter_overrides, simulation->parameters, simulation->diags))
    return false;
  *strangeness = (Strangeness){.heap = simulation->heap,
                               .arena = &simulation->arena,
                               .diags = simulation->diags,
                               .problem = simulation->problem,
                               .start = request->starts.start};
  bool as_written = initial->solved && !simulation->conversions.count;
  if (!as_written || !strangeness_reduce(strangeness, &simulation->array, simulation->evaluator, initial->y, start)) {
    strangeness->problem = problem_make(model, false, &simulation->arena);
    simulation->modes = modes_extract(&strangeness->problem, &simulation->arena);
    strangeness->modes = &simulation->modes;
    strangeness->parameters = initial->solved ? simulation->evaluator->parameters : simulation->parameters;
    if (initial->solved) strangeness->known = simulation->evaluator, strangeness->known_y = initial->y;
    if (!strangeness_build(strangeness, start)) {
      if (diags_code(simulation->diags) == DIAG_INIT) simulation->facts.status = "init";
      return false;
    }
  }
  if (strangeness->reduced) take_staged_states(simulation, start);
  simulation->evaluator = strangeness->evaluator;
  simulation->facts.evaluator = strangeness->evaluator;
  simulation->facts.strangeness = strangeness;
  simulation->reduction.reduced =
      (Reduced){.array = strangeness->array,
                .evaluator = strangeness->evaluator,
                .y = strangeness->y,
                .structure = strangeness->reduced ? &simulation->structure : NULL,
                .accuracy = request->run.integrator ? 0 : multistep_accuracy(request->run.tolerance)};
  return true;
}

/* Moves the start by the perturbation asked for; what is no state follows. Rates move less than what they are rates of, by a
 * ratio that no model has: equal changes can leave an energy as it is. */
static void perturb_start(View *view, double t, double perturbation, double *y) {
  static const double ratio = 0.6180339887498949;
  const System *system = &view->system;
  if (!system->close || perturbation == 0) return;
  for (int32_t k = 0; k < system->links; k++) {
    double *value = &y[system->link_from[k]];
    uint32_t order = array_order(view->evaluator->array, (uint32_t)system->link_from[k]);
    *value += perturbation * fmax(1, fabs(*value)) * pow(ratio, order);
  }
  view_solve(view, t, y);
}

static bool pass_view(Simulation *simulation, const Request *request) {
  Heap *heap = simulation->heap;
  const Reduced *reduced = &simulation->reduction.reduced;
  if (simulation->strangeness.array)
    simulation->view = view_strangeness(heap, &simulation->strangeness, &simulation->modes, reduced->y);
  else simulation->view = view_reduced(heap, &simulation->reduction);
  const System *system = &simulation->view->system;
  const Integrator *integrator = request->run.integrator;
  if (integrator && integrator->explicit_form && !system->close) {
    diag_error(simulation->diags, DIAG_USAGE, (Span){0},
               "solver %s needs the state-space form, which method %s does not make of this model; use radau or bdf",
               integrator->name, request->method->name);
    return false;
  }
  bool *is_state = heap_array(heap, (size_t)system->columns, sizeof *is_state);
  for (int32_t k = 0; k < system->links; k++) is_state[system->link_from[k]] = true;
  perturb_start(simulation->view, request->run.start, request->perturbation, reduced->y);
  simulation->facts.states = (uint32_t)system->links;
  simulation->facts.run_evaluator = reduced->evaluator;
  if (!simulation->strangeness.array) simulation->facts.reduction = &simulation->reduction;
  simulation->recorder = recorder_new(heap, reduced->evaluator, is_state, request->filter);
  simulation->facts.recorder = simulation->recorder;
  if (request->initialize_only) recorder_add(simulation->recorder, request->run.start, reduced->y);
  return true;
}

static bool pass_compile(Simulation *simulation, const Request *request) {
  if (!request->compile || request->initialize_only) return true;
  return evaluator_compile(simulation->reduction.reduced.evaluator, simulation->diags);
}

static bool pass_integrate(Simulation *simulation, const Request *request) {
  if (request->initialize_only) return true;
  simulation->facts.status = "integration";
  simulation->facts.statistics = &simulation->statistics;
  const Reduced *reduced = &simulation->reduction.reduced;
  RunOptions options = request->run;
  if (reduced->accuracy > 0) options.tolerance *= reduced->accuracy;
  if (reduced->rate > 0 && (!options.integrator || options.integrator->explicit_form)) {
    double longest = EXPLICIT_STEP / reduced->rate; /* stages, and above all the output between them, stay stable */
    if (options.max_step == 0 || options.max_step > longest) options.max_step = longest;
  }
  return run_integrate(simulation->heap, simulation->view, reduced->structure, reduced->y, &options,
                       simulation->recorder, &simulation->statistics, simulation->diags);
}

bool pipeline_simulate(Simulation *simulation, const Request *request) {
  Seconds *seconds = &simulation->facts.seconds;
  double none = 0; /* its own passes count */
  const Pass structural[] = {
      {pass_supported, &seconds->structure},
      {pass_structure, &seconds->structure},
      {pass_regular, &seconds->structure},
      {pass_array, &seconds->structure},
      {pass_code, &seconds->code},
      {pass_initial, &seconds->init},
      {pass_reduce, &seconds->code},
      {pass_view, &seconds->code},
      {pass_compile, &seconds->code},
      {pass_integrate, &seconds->integrate},
      {NULL, NULL},
  };
  const Pass numerical[] = {
      {pass_supported, &seconds->structure},
      {pass_offsets, &none},
      {pass_strangeness, &seconds->init},
      {pass_view, &seconds->code},
      {pass_compile, &seconds->code},
      {pass_integrate, &seconds->integrate},
      {NULL, NULL},
  };
  simulation->arena = arena_make(simulation->heap);
  simulation->facts.status = "input";
  simulation->facts.method = request->method->name;
  if (!run_passes(simulation, request, request->method == &method_strangeness ? numerical : structural)) return false;
  simulation->facts.status = "ok";
  return true;
}
