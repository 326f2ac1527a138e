/* pipeline: see pipeline.h. Each pass leaves its result in the simulation and its time in the facts. */
#include "pipeline.h"

#include "array/verdict.h"

#include <time.h>

double pipeline_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What the numeric part cannot run yet is refused by name, not run wrongly. */
static bool pass_supported(Simulation *simulation, const Request *request) {
  (void)request;
  const Model *model = simulation->model;
  Span none = {0};
  if (model->whens.count)
    diag_error(simulation->diags, DIAG_INPUT, model->whens.data[0].span, "not supported by simulate yet: when-equations");
  else if (model->discrete_equations.count)
    diag_error(simulation->diags, DIAG_INPUT, model->discrete_equations.data[0].span,
               "not supported by simulate yet: equations for discrete variables");
  else if (model->procedures.count)
    diag_error(simulation->diags, DIAG_INPUT, model->procedures.data[0].span,
               "not supported by simulate yet: algorithm sections with data-dependent control flow");
  else if (model->discretes.count)
    diag_error(simulation->diags, DIAG_INPUT, none, "not supported by simulate yet: discrete variables such as %s",
               model_name(model, model->discretes.data[0]));
  else
    return true;
  return false;
}

static bool pass_structure(Simulation *simulation, const Request *request) {
  (void)request;
  simulation->problem = problem_make(simulation->model, true, &simulation->arena);
  simulation->modes = modes_extract(&simulation->problem, &simulation->arena);
  simulation->structure = structure_run(&simulation->arena, &simulation->problem.incidence);
  simulation->facts.equations = simulation->model->equations.count;
  if (simulation->structure.status == STRUCTURE_OK) return true;
  /* The message speaks of the model as written. */
  Problem written = problem_make(simulation->model, false, &simulation->arena);
  Structure structure = structure_run(&simulation->arena, &written.incidence);
  simulation->facts.status = structure.status == STRUCTURE_UNBALANCED ? "unbalanced" : "singular";
  if (structure.status == STRUCTURE_OK) verdict_report(&simulation->problem, &simulation->structure, simulation->diags);
  else verdict_report(&written, &structure, simulation->diags);
  return false;
}

static bool pass_array(Simulation *simulation, const Request *request) {
  (void)request;
  simulation->array =
      array_make(&simulation->problem, simulation->structure.c, simulation->structure.d, &simulation->arena);
  return true;
}

static bool pass_code(Simulation *simulation, const Request *request) {
  Model *model = simulation->model;
  Heap *heap = simulation->heap;
  double *parameters = heap_array(heap, model->parameters.count, sizeof *parameters);
  if (!model_parameter_values(model, request->parameter_overrides, parameters, simulation->diags)) return false;
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
  simulation->facts.status = "init";
  for (int round = 0; round < ROUNDS; round++) {
    if (!initial_solve(simulation->heap, simulation->evaluator, &simulation->structure, simulation->dummy, simulation->space,
                       &request->starts, request->run.start, &simulation->initial, simulation->diags))
      return false;
    Switches *switches = simulation->switches;
    if (!switches || !switches_evaluate(switches, request->run.start, simulation->initial.y) || !switches_set(switches)) {
      simulation->facts.initial = &simulation->initial;
      return true;
    }
  }
  diag_error(simulation->diags, DIAG_INIT, (Span){0},
             "no consistent initial values: the conditions of if-expressions do not settle; change the start values");
  return false;
}

/* The equations without differentiation: offsets 0, and the derivatives that are written. Initial values carry over. */
static double *plain_view(Simulation *simulation) {
  Heap *heap = simulation->heap;
  Arena *arena = &simulation->arena;
  const Problem *problem = &simulation->problem;
  const Structure *structure = &simulation->structure;
  int32_t *c = arena_array(arena, problem->equations, sizeof *c);
  int32_t *d = arena_array(arena, problem->unknowns, sizeof *d);
  int32_t deepest = 0;
  for (uint32_t i = 0; i < problem->equations; i++) {
    if (structure->c[i] > deepest) deepest = structure->c[i];
    for (int32_t e = problem->incidence.row_start[i]; e < problem->incidence.row_start[i + 1]; e++)
      if (problem->incidence.order[e] > d[problem->incidence.column[e]])
        d[problem->incidence.column[e]] = problem->incidence.order[e];
  }
  Array *plain = arena_alloc(arena, sizeof *plain);
  *plain = array_make(problem, c, d, arena);
  double *y = heap_array(heap, plain->columns, sizeof *y);
  int32_t *index = heap_array(heap, plain->columns, sizeof *index);
  for (uint32_t q = 0; q < plain->columns; q++) {
    uint32_t j = plain->column_unknown[q], order = array_order(plain, q);
    y[q] = simulation->initial.y[simulation->array.column_start[j] + order];
    int32_t position = 1 + deepest - structure->d[j] + (int32_t)order;
    index[q] = position < 1 ? 1 : position;
  }
  const double *modes = simulation->evaluator->discretes + simulation->modes.first;
  simulation->evaluator = evaluator_new(heap, plain, simulation->evaluator->parameters, simulation->modes.count);
  for (uint32_t m = 0; m < simulation->modes.count; m++)
    simulation->evaluator->discretes[simulation->modes.first + m] = modes[m];
  if (simulation->modes.count) simulation->switches = switches_new(heap, simulation->evaluator, &simulation->modes);
  simulation->facts.evaluator = simulation->evaluator;
  simulation->view = view_plain(heap, simulation->evaluator, index);
  return y;
}

static bool pass_view(Simulation *simulation, const Request *request) {
  Heap *heap = simulation->heap;
  double *y = simulation->initial.y;
  if (request->plain) {
    y = plain_view(simulation);
  } else {
    int32_t block;
    dummy_select(simulation->dummy, request->run.start, y, &block);
    statespace_choose(simulation->space, dummy_depth(simulation->dummy));
    simulation->view = view_dummy(heap, simulation->evaluator, simulation->dummy, simulation->space);
  }
  simulation->initial.y = y;
  const System *system = &simulation->view->system;
  bool *is_state = heap_array(heap, (size_t)system->columns, sizeof *is_state);
  for (int32_t k = 0; k < system->links; k++) is_state[system->link_from[k]] = true;
  simulation->facts.states = (uint32_t)system->links;
  simulation->recorder = recorder_new(heap, simulation->evaluator, is_state, request->filter);
  simulation->facts.recorder = simulation->recorder;
  if (request->initialize_only) recorder_add(simulation->recorder, request->run.start, y);
  return true;
}

static bool pass_integrate(Simulation *simulation, const Request *request) {
  if (request->initialize_only) return true;
  simulation->facts.status = "integration";
  simulation->facts.statistics = &simulation->statistics;
  simulation->view->switches = simulation->switches;
  return run_integrate(simulation->heap, simulation->view, &simulation->structure, simulation->initial.y, &request->run,
                       simulation->recorder, &simulation->statistics, simulation->diags);
}

bool pipeline_simulate(Simulation *simulation, const Request *request) {
  Seconds *seconds = &simulation->facts.seconds;
  const struct Pass {
    bool (*run)(Simulation *, const Request *);
    double *seconds;
  } passes[] = {
      {pass_supported, &seconds->structure}, {pass_structure, &seconds->structure}, {pass_array, &seconds->structure},
      {pass_code, &seconds->code},           {pass_initial, &seconds->init},        {pass_view, &seconds->code},
      {pass_integrate, &seconds->integrate},
  };
  simulation->arena = arena_make(simulation->heap);
  simulation->facts.status = "input";
  simulation->facts.method = request->plain ? "none" : "dummy";
  for (size_t p = 0; p < sizeof passes / sizeof *passes; p++) {
    double begin = pipeline_clock();
    bool ok = passes[p].run(simulation, request);
    *passes[p].seconds += pipeline_clock() - begin;
    if (!ok) return false;
  }
  simulation->facts.status = "ok";
  return true;
}
