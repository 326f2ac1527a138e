/* run: simulation and initialization, and the figures of a result. */
#include "api/handles.h"

typedef struct Bridge {
  const daedal_options *options;
  double start, stop;
} Bridge;

static bool bridge_step(void *context, double time, uint64_t steps) {
  const Bridge *bridge = context;
  daedal_progress progress = {time, bridge->start, bridge->stop, steps};
  return bridge->options->on_step(bridge->options->context, &progress);
}

static void publish_run(daedal_result *result) {
  const RunStatistics *statistics = &result->simulation.statistics;
  Arena *arena = &result->diags.arena;
  result->pivots = arena_array(arena, statistics->stepper.pivots.count, sizeof *result->pivots);
  for (uint32_t k = 0; k < statistics->stepper.pivots.count; k++) {
    const PivotRecord *pivot = &statistics->stepper.pivots.data[k];
    const Array *array = result->simulation.facts.run_evaluator->array;
    result->pivots[k] = (daedal_pivot){pivot->time, array_column_name(array, pivot->out, arena),
                                       array_column_name(array, pivot->in, arena)};
  }
  if (result->simulation.facts.statistics && statistics->constraint_row != MAP_NONE)
    result->constraint = evaluator_row_text(result->simulation.facts.evaluator, statistics->constraint_row, arena);
  publish_result(result);
}

/* What the pipeline does not know of. */
static void complete_facts(daedal_result *result) {
  RunFacts *facts = &result->simulation.facts;
  facts->invariants = result->comparing.invariants;
  facts->invariant_count = result->comparing.invariant_count;
  facts->diags[0] = &result->model->diags;
  facts->diags[1] = &result->diags;
  facts->source = &result->model->source;
  facts->seconds.parse = result->model->seconds_parse;
}

typedef struct RunRequest {
  const daedal_options *options;
  bool initialize_only;
} RunRequest;

static bool run(daedal_result *result, const void *argument) {
  const RunRequest *asked = argument;
  const daedal_options *options = asked->options;
  Request request = {.initialize_only = asked->initialize_only, .compile = options->compile};
  Simulation *simulation = &result->simulation;
  simulation->facts.method = options->method;
  bool ok = read_options(result, options, &request) && read_starts(result, options, &request) &&
            read_invariants(result, options);
  if (ok && options->variables)
    ok = (request.filter = signal_filter_new(result->heap, &result->diags, options->variables)) != NULL;
  Bridge bridge = {options, request.run.start, request.run.stop};
  if (options->on_step) {
    request.run.on_step = bridge_step;
    request.run.context = &bridge;
  }
  if (ok) ok = pipeline_simulate(simulation, result->heap, result->model->model, &request, &result->diags);
  complete_facts(result);
  result->status = ok ? DAEDAL_OK : (daedal_status)diags_code(&result->diags);
  publish_run(result);
  return ok;
}

static bool begin_result(daedal_result *result, const void *argument) {
  (void)argument;
  result->diags = diags_make(result->heap);
  result->simulation.facts.status = "input";
  complete_facts(result);
  result->status = daedal_model_status(result->model);
  return result->status == DAEDAL_OK;
}

typedef struct ResultMaking {
  Heap *heap;
  daedal_result *result;
} ResultMaking;

static void make_result(void *context) {
  ResultMaking *making = context;
  making->result = heap_alloc(making->heap, sizeof *making->result);
}

daedal_result *result_make(daedal_model *model, const daedal_options *options, ResultWork work, const void *argument) {
  ResultMaking making = {.heap = heap_new(heap_hook(model->heap))};
  if (!making.heap) return NULL;
  if (!heap_protect(making.heap, make_result, &making)) {
    heap_destroy(making.heap);
    return NULL;
  }
  making.result->heap = making.heap;
  making.result->model = model;
  if (result_protect(making.result, begin_result, NULL) && overrides_take(making.result, options->overrides))
    result_protect(making.result, work, argument);
  if (making.result->broken) making.result->model->broken = true; /* its graph may be half extended */
  return making.result;
}

daedal_result *daedal_simulate(daedal_model *model, const daedal_options *options) {
  return result_make(model, options, run, &(RunRequest){.options = options});
}

daedal_result *daedal_initialize(daedal_model *model, const daedal_options *options) {
  return result_make(model, options, run, &(RunRequest){.options = options, .initialize_only = true});
}

void daedal_result_free(daedal_result *result) {
  if (!result) return;
  daedal_model_free(result->loaded);
  heap_destroy(result->heap);
}

daedal_status daedal_result_status(const daedal_result *result) { return result->status; }

daedal_statistics daedal_result_statistics(const daedal_result *result) {
  const RunFacts *facts = &result->simulation.facts;
  daedal_statistics out = {.method = facts->method,
                           .equations = facts->equations,
                           .states = facts->states,
                           .rows = facts->run_evaluator ? facts->run_evaluator->array->rows : 0,
                           .constraint_equation = result->constraint,
                           .seconds_parse = facts->seconds.parse,
                           .seconds_structure = facts->seconds.structure,
                           .seconds_code = facts->seconds.code,
                           .seconds_init = facts->seconds.init,
                           .seconds_integrate = facts->seconds.integrate};
  const RunStatistics *run_statistics = facts->statistics;
  if (!run_statistics) return out;
  out.solver = run_statistics->stepper.solver;
  out.solver_reason = run_statistics->stepper.solver_reason;
  out.steps = run_statistics->stepper.steps;
  out.rejected = run_statistics->stepper.rejected;
  out.factorizations = run_statistics->stepper.factorizations;
  out.events = run_statistics->stepper.events + run_statistics->stepper.time_events;
  out.residual_evals = run_statistics->residual_evaluations;
  out.output_evals = run_statistics->output_evaluations;
  out.jacobian_evals = run_statistics->jacobian_evaluations;
  out.pivots = run_statistics->stepper.pivots.count;
  out.constraint_residual = run_statistics->constraint_residual;
  out.constraint_time = run_statistics->constraint_time;
  out.end_time = run_statistics->stepper.time;
  return out;
}

daedal_pivot daedal_result_pivot(const daedal_result *result, uint32_t index) { return result->pivots[index]; }
