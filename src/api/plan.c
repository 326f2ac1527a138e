/* plan: plans and their runs as handles. A plan has many owners: the caller, and the result of every run of it. */
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

static const char *copy_text(Arena *arena, const char *text) {
  return text ? arena_copy(arena, text, strlen(text)) : NULL;
}

/* Copies the texts of the options, so that they live as long as the plan. */
static bool keep_options(daedal_result *asked, const void *argument) {
  daedal_plan *plan = ((const PlanWork *)argument)->plan;
  const char **texts[] = {&plan->options.method, &plan->options.solver, &plan->options.start_values,
                          &plan->options.start_from, &plan->options.gradient};
  const char *const **lists[] = {&plan->options.variables, &plan->options.plot_variables, &plan->options.invariants,
                                 &plan->options.sensitivity, &plan->options.gradient_by};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) *texts[k] = copy_text(&asked->diags.arena, *texts[k]);
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k] = names_copy(&asked->diags.arena, *lists[k]);
  overrides_keep(&asked->diags.arena, &plan->options);
  plan->options.inputs =
      heap_copy(asked->heap, plan->options.inputs, plan->options.input_count, plan->options.input_size);
  plan->options.output_times =
      heap_copy(asked->heap, plan->options.output_times, plan->options.output_time_count, sizeof(double));
  daedal_value *tolerances = heap_copy(asked->heap, plan->options.absolute_tolerances,
                                       plan->options.absolute_tolerance_count, sizeof *tolerances);
  for (uint32_t k = 0; k < plan->options.absolute_tolerance_count; k++)
    tolerances[k].name = copy_text(&asked->diags.arena, tolerances[k].name);
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

/* A plan without a list depends on all parameters; plans by ranks and plans with changing objects are of this kind. */
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

/* A value to set; if there is no name, the run begins instead. */
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

/* Lists the overrides: those of the plan, the values set earlier for other names, and this value. */
static void list_overrides(void *context) {
  RunSetting *setting = context;
  daedal_run *run = setting->run;
  const daedal_options *options = &run->plan->options;
  run->proposed.count = 0;
  for (uint32_t k = 0; k < options->override_count; k++) vec_push(run->heap, &run->proposed, options->overrides[k]);
  for (uint32_t k = 0; k < run->values.count; k++)
    if (strcmp(run->values.data[k].name, setting->name) != 0) vec_push(run->heap, &run->proposed, run->values.data[k]);
  vec_push(run->heap, &run->proposed, ((daedal_override){setting->name, setting->value, NULL}));
}

/* Accepts the proposed list of overrides. */
static void accept_overrides(void *context) {
  RunSetting *setting = context;
  daedal_run *run = setting->run;
  uint32_t k = 0;
  while (k < run->values.count && strcmp(run->values.data[k].name, setting->name) != 0) k++;
  if (k == run->values.count)
    vec_push(run->heap, &run->values, ((daedal_override){copy_text(&run->arena, setting->name), 0, NULL}));
  run->values.data[k].value = setting->value;
  run->proposed.data[run->proposed.count - 1] = run->values.data[k];
  GivenVec before = run->overrides;
  run->overrides = run->proposed;
  run->proposed = before;
}

/* Copies the values that were set to another run. */
typedef struct RunCopy {
  daedal_run *to;
  const daedal_run *from;
} RunCopy;

static void copy_values(void *context) {
  const RunCopy *copy = context;
  daedal_run *to = copy->to;
  const daedal_options *options = &to->plan->options;
  for (uint32_t k = 0; k < options->override_count; k++) vec_push(to->heap, &to->overrides, options->overrides[k]);
  for (uint32_t k = 0; k < copy->from->values.count; k++) {
    daedal_override value = copy->from->values.data[k];
    value.name = copy_text(&to->arena, value.name);
    vec_push(to->heap, &to->values, value);
    vec_push(to->heap, &to->overrides, value);
  }
}

bool run_copy_values(daedal_run *to, const daedal_run *from) {
  return !from->values.count || heap_protect(to->heap, copy_values, &(RunCopy){to, from});
}

/* Reads the overrides as an execution would. */
static bool try_values(daedal_result *result, const void *argument) {
  Request request = {0};
  bool ok = read_starts(result, argument, &request);
  result->status = ok ? DAEDAL_OK : (daedal_status)diags_code(&result->diags);
  return ok;
}

daedal_status daedal_run_set(daedal_run *run, const char *name, double value) {
  RunSetting setting = {run, name, value};
  if (!run || !name || !isfinite(value)) return DAEDAL_USAGE;
  if (!heap_protect(run->heap, list_overrides, &setting)) return DAEDAL_INTERNAL;
  const daedal_plan *plan = run->plan;
  daedal_options options = plan->options;
  options.overrides = run->proposed.data;
  options.override_count = run->proposed.count;
  daedal_result *tried = result_make(plan->asked->model, &options, try_values, &options);
  daedal_status status = daedal_status_of(tried);
  daedal_free(tried);
  if (status != DAEDAL_OK) return status;
  return heap_protect(run->heap, accept_overrides, &setting) ? DAEDAL_OK : DAEDAL_INTERNAL;
}

static daedal_status begin(daedal_run *run, RunPurpose purpose) {
  if (!run) return DAEDAL_INTERNAL;
  daedal_options options = run->plan->options;
  if (run->overrides.count) options.overrides = run->overrides.data, options.override_count = run->overrides.count;
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
