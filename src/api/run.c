/* run: simulation and initialization, and the numbers of a result. */
#include "api/handles.h"

#include "result/csv.h"

#include <math.h>

static const char *event_text(Evaluator *evaluator, Expr cause, bool is_pipe, Arena *arena) {
  const char *text = model_text(evaluator_model(evaluator), cause, arena);
  return is_pipe ? arena_printf(arena, "a jump or a kink leaves %s", text) : text;
}

/* Many events have the same condition, so its text is made once and kept in `texts` by mode. Each text begins as NULL. */
static daedal_event describe_event(daedal_result *result, const EventRecord *event, const char ***texts) {
  static const char *const causes[] = {[EVENT_TIME] = "a sample, a delay or an input",
                                       [EVENT_START] = "the start",
                                       [EVENT_STRUCTURE] = "the equations have changed",
                                       [EVENT_FOLD] = "the branch of the solution ends",
                                       [EVENT_CALLER] = "values were set",
                                       [EVENT_END] = "the end"};
  if (event->cause != EVENT_CONDITION) return (daedal_event){event->time, causes[event->cause], NAN, 0};
  Arena *arena = &result->diags.arena;
  Evaluator *evaluator = result->simulation.facts.run_evaluator;
  const Modes *modes = evaluator->code->modes;
  if (!*texts) *texts = arena_array(arena, modes->count, sizeof **texts);
  const char **text = &(*texts)[event->mode];
  const LogicDelay *pipe = modes_pipe(modes, evaluator->model->dag, event->mode);
  Expr cause = pipe ? pipe->written : modes->relation[event->mode];
  if (!*text) *text = event_text(evaluator, cause, pipe != NULL, arena);
  if (pipe) return (daedal_event){event->time, *text, NAN, 0};
  int32_t direction = (event->value > event->before) - (event->value < event->before);
  return (daedal_event){event->time, *text, event->value, direction};
}

static void publish_events(daedal_result *result) {
  const EventVec *passed = &result->simulation.statistics.stepper.passed;
  if (!passed->count) return;
  const char **texts = NULL;
  result->events = arena_array(&result->diags.arena, passed->count, sizeof *result->events);
  for (uint32_t k = 0; k < passed->count; k++) result->events[k] = describe_event(result, &passed->data[k], &texts);
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
  if (statistics->constraint_array && statistics->constraint_row != MAP_NONE)
    result->constraint = evaluator_row_text(statistics->constraint_array, statistics->constraint_row, arena);
}

/* Adds facts that the pipeline does not know. */
static void complete_facts(daedal_result *result) {
  RunFacts *facts = &result->simulation.facts;
  facts->invariants = result->comparing.invariants;
  facts->invariant_count = result->comparing.invariant_count;
  facts->seconds.parse = result->model->seconds_parse;
}

/* ---- the request ---- */

bool read_request(daedal_result *result, const daedal_options *options, Request *request) {
  request->compile = options->compile;
  request->tells_propagation = options->propagation;
  result->simulation.facts.method = options->method;
  if (!read_options(result, options, request) || !resume_begin(result, options, request) ||
      !read_targets(result, options, request) || !read_starts(result, options, request) ||
      !read_invariants(result, options))
    return false;
  request->choice.leaves_out = options->leave_out_hidden && !options->invariants && !options->gradient;
  if (options->short_numbers)
    request->choice.digits = (uint8_t)fmin(17, fmax(3, 2 + ceil(-log10(request->run.tolerance))));
  return filter_signals(result, options->variables, &request->choice.listed) &&
         filter_signals(result, options->plot_variables, &request->choice.hidden);
}

static bool bridge_step(void *context, double time, uint64_t steps) {
  Bridge *bridge = context;
  const Recorder *recorder = bridge->result->simulation.recorder;
  if (isnan(bridge->csv_bytes) && recorder) bridge->csv_bytes = csv_size(recorder->signals, bridge->rows);
  daedal_progress progress = {time, bridge->start, bridge->stop, steps, bridge->csv_bytes};
  bool stops = bridge->options->on_step && bridge->options->on_step(bridge->options->context, &progress);
  if (bridge->part) part_step(bridge, time, stops);
  return stops;
}

static bool bridge_event(void *context, const EventRecord *record) {
  Bridge *bridge = context;
  daedal_event event = describe_event(bridge->result, record, &bridge->texts);
  return bridge->options->on_event(bridge->options->context, &event);
}

void hand_on_steps(daedal_result *result, Request *request, Bridge *bridge, const daedal_options *options) {
  *bridge = (Bridge){.options = options, .start = request->run.start, .stop = request->run.stop, .result = result};
  bridge->rows = 1.0 + (request->run.times ? request->run.time_count : request->run.intervals);
  bridge->csv_bytes = NAN;
  part_begin(bridge);
  if (options->on_step || bridge->part) request->run.on_step = bridge_step;
  if (options->on_event) request->run.on_event = bridge_event;
  request->run.context = bridge;
}

/* Ends any run: sets its status and publishes events and messages. */
static bool end_rows(daedal_result *result, bool ok) {
  complete_facts(result);
  result->status = ok ? DAEDAL_OK : (daedal_status)diags_code(&result->diags);
  publish_events(result);
  publish_result(result);
  return ok;
}

bool end_run(daedal_result *result, bool ok) {
  if (!ok) report_class_balance(result->model, &result->diags);
  publish_run(result);
  return end_rows(result, ok);
}

/* ---- results ---- */

static bool begin_result(daedal_result *result, const void *argument) {
  (void)argument;
  result->diags = diags_make(result->heap);
  result->simulation.facts.status = "input";
  complete_facts(result);
  result->status = daedal_status_of(result->model);
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
  ResultMaking making = {.heap = model ? heap_new(heap_hook(model->heap)) : NULL};
  if (!making.heap) return NULL;
  /* Initial values of hard models take more work than reading. */
  if (!heap_hook(model->heap)->limits.most[BUDGET_WORK]) heap_budget(making.heap)->most[BUDGET_WORK] *= 2;
  if (!heap_protect(making.heap, make_result, &making)) {
    heap_destroy(making.heap);
    return NULL;
  }
  making.result->kind = HANDLE_RESULT;
  making.result->heap = making.heap;
  making.result->model = model_retain(model);
  const daedal_options none = {0}, *given = options ? options : &none;
  if (result_protect(making.result, begin_result, NULL) && overrides_take(making.result, given))
    result_protect(making.result, work, argument);
  return making.result;
}

/* ---- plan and run at once ---- */

typedef struct RunWork {
  const daedal_options *options;
  bool initialize_only;
} RunWork;

static bool run(daedal_result *result, const void *argument) {
  const RunWork *asked = argument;
  Request request = {.initialize_only = asked->initialize_only};
  Bridge bridge;
  bool ok = (asked->initialize_only || check_analysis(result, asked->options)) &&
            read_request(result, asked->options, &request);
  hand_on_steps(result, &request, &bridge, asked->options);
  ok = ok && pipeline_simulate(&result->simulation, result->heap, result->model->model, &request, &result->diags);
  return end_run(result, ok);
}

daedal_result *initial_value_simulate(daedal_model *model, const daedal_options *options) {
  return result_make(model, options, run, &(RunWork){.options = options});
}

daedal_result *daedal_initialize(daedal_model *model, const daedal_options *options) {
  daedal_options given = options_given(options);
  return result_make(model, &given, run, &(RunWork){.options = &given, .initialize_only = true});
}

/* ---- a run of a plan ---- */

typedef struct PlanRunWork {
  daedal_plan *plan;
  const daedal_options *options;
  RunPurpose purpose;
} PlanRunWork;

/* A model that was loaded again with structural parameters needs its own plan. */
static bool run_plan(daedal_result *result, const void *argument) {
  const PlanRunWork *work = argument;
  Request request = {.is_stepped = work->purpose == RUN_STEPPED};
  Bridge bridge;
  Simulation *simulation = &result->simulation;
  bool ok =
      (request.is_stepped || check_analysis(result, work->options)) && read_request(result, work->options, &request);
  if (request.is_stepped) request.choice = (RecorderChoice){0};
  else hand_on_steps(result, &request, &bridge, work->options);
  if (ok && result->model == work->plan->asked->model)
    ok = simulation_run(simulation, result->heap, work->plan->plan, &request, &result->diags);
  else if (ok) ok = pipeline_simulate(simulation, result->heap, result->model->model, &request, &result->diags);
  return work->purpose == RUN_ROWS ? end_rows(result, ok) : end_run(result, ok);
}

daedal_result *plan_run(daedal_plan *plan, const daedal_options *options, RunPurpose purpose) {
  PlanRunWork work = {plan, options, purpose};
  daedal_result *result = result_make(plan->asked->model, options, run_plan, &work);
  if (!result) return NULL;
  result->plan = plan_retain(plan);
  return result;
}

static bool has_model(daedal_result *result, const void *argument) {
  (void)argument;
  return result->model->model != NULL;
}

daedal_result *result_like(const daedal_result *result) {
  daedal_result *like = result_make(result->model, NULL, has_model, NULL);
  if (like && result->plan) like->plan = plan_retain(result->plan);
  return like;
}

/* ---- figures ---- */

static daedal_statistics statistics_of(const daedal_result *result) {
  if (!result) return (daedal_statistics){0};
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

void daedal_result_statistics_(const daedal_result *result, daedal_statistics *out, size_t size) {
  daedal_statistics value = statistics_of(result);
  hand_out(out, size, &value, sizeof value);
}

static daedal_event event_at(const daedal_result *result, uint32_t index) {
  if (!result || index >= result->simulation.statistics.stepper.passed.count || !result->events)
    return (daedal_event){NAN, "", NAN, 0};
  return result->events[index];
}

void daedal_result_event_(const daedal_result *result, uint32_t index, daedal_event *out, size_t size) {
  daedal_event value = event_at(result, index);
  hand_out(out, size, &value, sizeof value);
}

static daedal_pivot pivot_at(const daedal_result *result, uint32_t index) {
  if (!result || index >= result->simulation.statistics.stepper.pivots.count || !result->pivots)
    return (daedal_pivot){NAN, "", ""};
  return result->pivots[index];
}

void daedal_result_pivot_(const daedal_result *result, uint32_t index, daedal_pivot *out, size_t size) {
  daedal_pivot value = pivot_at(result, index);
  hand_out(out, size, &value, sizeof value);
}
