/* plan: plans and their runs as handles. A plan has many owners: the caller, and every result of a run of it. */
#include "api/handles.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

/* ---- plans ---- */

typedef struct PlanWork {
  daedal_plan *plan;
  const daedal_options *options;
} PlanWork;

static bool make_plan(daedal_result *asked, const void *argument) {
  const PlanWork *work = argument;
  daedal_plan *plan = work->plan;
  bool ok = read_request(asked, work->options, &plan->request) &&
            plan_make(&plan->plan, asked->heap, asked->model->model, &plan->request, &asked->diags);
  if (ok) plan_share(plan->plan);
  else report_class_balance(asked->model, &asked->diags);
  asked->status = ok ? DAEDAL_OK : (daedal_status)diags_code(&asked->diags);
  publish_result(asked);
  return ok;
}

/* Texts of the options live as long as the plan. */
static bool keep_options(daedal_result *asked, const void *argument) {
  daedal_plan *plan = ((const PlanWork *)argument)->plan;
  const char **texts[] = {&plan->options.method,       &plan->options.solver,     &plan->options.overrides,
                          &plan->options.start_values, &plan->options.start_from, &plan->options.variables,
                          &plan->options.invariants,   &plan->options.inputs,     &plan->options.plot_variables,
                          &plan->options.sensitivity,  &plan->options.gradient,   &plan->options.gradient_by};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
    if (*texts[k]) *texts[k] = arena_copy(&asked->diags.arena, *texts[k], strlen(*texts[k]));
  plan->options.given_inputs = heap_copy(asked->heap, plan->options.given_inputs, plan->options.given_input_count,
                                         plan->options.given_input_size);
  plan->options.output_times =
      heap_copy(asked->heap, plan->options.output_times, plan->options.output_time_count, sizeof(double));
  daedal_value *tolerances = heap_copy(asked->heap, plan->options.absolute_tolerances,
                                       plan->options.absolute_tolerance_count, sizeof *tolerances);
  for (uint32_t k = 0; k < plan->options.absolute_tolerance_count; k++)
    if (tolerances[k].name)
      tolerances[k].name = arena_copy(&asked->diags.arena, tolerances[k].name, strlen(tolerances[k].name));
  plan->options.absolute_tolerances = tolerances;
  return true;
}

daedal_plan *daedal_plan_make(daedal_model *model, const daedal_options *options) {
  if (!model) return NULL;
  HeapHook hook = *heap_hook(model->heap);
  daedal_plan *plan = hook.resize(hook.context, NULL, sizeof *plan);
  if (!plan) return NULL;
  memset(plan, 0, sizeof *plan);
  plan->kind = HANDLE_PLAN;
  atomic_init(&plan->references, 1);
  plan->hook = hook;
  plan->options = options_given(options);
  PlanWork work = {plan, &plan->options};
  plan->asked = result_make(model, &plan->options, make_plan, &work);
  if (plan->asked) {
    result_protect(plan->asked, keep_options, &work);
    return plan;
  }
  daedal_free(plan);
  return NULL;
}

bool daedal_plan_depends_on_values(const daedal_plan *plan) {
  return daedal_status_of(plan) == DAEDAL_OK && plan_depends_on_values(plan->plan);
}

/* Ranks, and objects that change, depend on all parameters. */
const char *daedal_plan_value(const daedal_plan *plan, uint32_t index) {
  if (!daedal_plan_depends_on_values(plan)) return NULL;
  const Plan *made = plan->plan;
  const Model *model = made->model;
  uint32_t count = made->read.count ? made->read.count : model->parameters.count;
  if (index >= count) return NULL;
  uint32_t leaf = made->read.count ? made->read.data[index] : index;
  return model_name(model, model->parameters.data[leaf]);
}

uint32_t daedal_plan_structures(const daedal_plan *plan) {
  return daedal_status_of(plan) == DAEDAL_OK ? plan_structures(plan->plan) : 0;
}

/* ---- runs ---- */

/* A value to set; without a name, a run to begin. */
typedef struct RunSetting {
  daedal_run *run;
  const char *name;
  double value;
} RunSetting;

static void begin_run(void *context) {
  RunSetting *work = context;
  Heap *heap = work->run->heap;
  daedal_run *run = heap_alloc(heap, sizeof *run);
  *run = *work->run;
  run->arena = arena_make(heap);
  work->run = run;
}

const daedal_model *daedal_plan_model(const daedal_plan *plan) { return plan ? plan->asked->model : NULL; }

daedal_run *daedal_run_make(daedal_plan *plan) {
  if (daedal_status_of(plan) != DAEDAL_OK) return NULL;
  daedal_run begin = {.kind = HANDLE_RUN, .heap = heap_new(&plan->hook), .plan = plan};
  RunSetting work = {.run = &begin};
  if (!begin.heap) return NULL;
  if (!heap_protect(begin.heap, begin_run, &work)) {
    heap_destroy(begin.heap);
    return NULL;
  }
  plan_retain(plan);
  return work.run;
}

/* A list of overrides: the plan's, the values set before but for this name, and this one. */
static void write_overrides(void *context) {
  RunSetting *setting = context;
  daedal_run *run = setting->run;
  const char *given = run->plan->options.overrides;
  TextVec *text = &run->proposed;
  char number[NUMBER_SIZE];
  text->count = 0;
  if (given && *given) text_printf(run->heap, text, "%s,", given);
  for (uint32_t k = 0; k < run->values.count; k++) {
    const RunValue *value = &run->values.data[k];
    if (strcmp(value->name, setting->name) == 0) continue;
    number_shortest(value->value, number);
    text_quote(run->heap, text, value->name, '\'');
    text_printf(run->heap, text, "=%s,", number);
  }
  number_shortest(setting->value, number);
  text_quote(run->heap, text, setting->name, '\'');
  text_printf(run->heap, text, "=%s", number);
}

/* The list proposed holds from now on. */
static void accept_overrides(void *context) {
  RunSetting *setting = context;
  daedal_run *run = setting->run;
  uint32_t k = 0;
  while (k < run->values.count && strcmp(run->values.data[k].name, setting->name) != 0) k++;
  if (k == run->values.count)
    vec_push(run->heap, &run->values, ((RunValue){arena_copy(&run->arena, setting->name, strlen(setting->name)), 0}));
  run->values.data[k].value = setting->value;
  TextVec before = run->overrides;
  run->overrides = run->proposed;
  run->proposed = before;
}

/* What was set holds for another run too. */
typedef struct RunCopy {
  daedal_run *to;
  const daedal_run *from;
} RunCopy;

static void copy_values(void *context) {
  const RunCopy *copy = context;
  daedal_run *to = copy->to;
  for (uint32_t k = 0; k < copy->from->values.count; k++) {
    RunValue value = copy->from->values.data[k];
    value.name = arena_copy(&to->arena, value.name, strlen(value.name));
    vec_push(to->heap, &to->values, value);
  }
  text_append(to->heap, &to->overrides, copy->from->overrides.data, copy->from->overrides.count);
}

bool run_copy_values(daedal_run *to, const daedal_run *from) {
  return !from->values.count || heap_protect(to->heap, copy_values, &(RunCopy){to, from});
}

/* The overrides are read as an execution would. */
static bool try_values(daedal_result *result, const void *argument) {
  Request request = {0};
  bool ok = read_starts(result, argument, &request);
  result->status = ok ? DAEDAL_OK : (daedal_status)diags_code(&result->diags);
  return ok;
}

daedal_status daedal_run_set(daedal_run *run, const char *name, double value) {
  RunSetting setting = {run, name, value};
  if (!run || !name || !isfinite(value)) return DAEDAL_USAGE;
  if (!heap_protect(run->heap, write_overrides, &setting)) return DAEDAL_INTERNAL;
  const daedal_plan *plan = run->plan;
  daedal_options options = plan->options;
  options.overrides = run->proposed.data;
  daedal_result *tried = result_make(plan->asked->model, &options, try_values, &options);
  daedal_status status = daedal_status_of(tried);
  daedal_free(tried);
  if (status != DAEDAL_OK) return status;
  return heap_protect(run->heap, accept_overrides, &setting) ? DAEDAL_OK : DAEDAL_INTERNAL;
}

static daedal_status begin(daedal_run *run, RunPurpose purpose) {
  if (!run) return DAEDAL_INTERNAL;
  daedal_options options = run->plan->options;
  if (run->overrides.count) options.overrides = run->overrides.data;
  daedal_free(run->result);
  run->result = plan_run(run->plan, &options, purpose);
  return daedal_status_of(run->result);
}

daedal_status daedal_run_execute(daedal_run *run) { return begin(run, RUN_WHOLE); }
daedal_status daedal_run_start(daedal_run *run) { return begin(run, RUN_STEPPED); }

double daedal_run_get(const daedal_run *run, const char *name) {
  const daedal_result *result = run ? run->result : NULL;
  uint32_t rows = daedal_result_rows(result);
  return daedal_result_value(result, daedal_result_find(result, name), rows - 1);
}
