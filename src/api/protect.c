/* protect: runs work on a handle. A refused allocation ends the work without harm to the caller. */
#include "api/handles.h"

#include "result/diagnostics_report.h"

typedef struct ModelCall {
  daedal_model *model;
  ModelWork work;
  const void *argument;
  bool ok;
} ModelCall;

static void call_model(void *context) {
  ModelCall *call = context;
  call->ok = call->work(call->model, call->argument);
  publish_model(call->model);
}

/* Reports the exceeded limit of the heap's budget as an error, at the place where it was exceeded. */
static void say_exceeded(const Heap *heap, Diags *diags) {
  const Budget *budget = heap_budget(heap);
  char message[BUDGET_MESSAGE];
  budget_message(budget, message);
  diag_error(diags, DIAG_LIMIT, (Span){budget->begin, budget->end}, "%s", message);
}

static void publish_refused_model(void *context) {
  daedal_model *model = context;
  say_exceeded(model->heap, &model->diags);
  publish_model(model);
}

static void publish_refused_result(void *context) {
  daedal_result *result = context;
  say_exceeded(result->heap, &result->diags);
  publish_result(result);
}

/* After a refusal: says which limit was exceeded, and returns true; false if memory itself ran out. */
static bool say_refusal(Heap *heap, void (*publish)(void *), void *handle) {
  Budget *budget = heap_budget(heap);
  if (!budget->is_exceeded) return false;
  budget->is_lifted = true;
  return heap_protect(heap, publish, handle);
}

static bool is_exceeded(const Heap *heap) { return heap_budget(heap)->is_exceeded; }

bool model_refused(daedal_model *model) {
  if (!say_refusal(model->heap, publish_refused_model, model)) model->broken = true;
  return !model->broken;
}

bool model_protect(daedal_model *model, ModelWork work, const void *argument) {
  ModelCall call = {model, work, argument, false};
  if (!model) return false;
  model_lock(model);
  bool is_able = !model->broken && !is_exceeded(model->heap);
  bool is_done = is_able && heap_protect(model->heap, call_model, &call);
  if (is_able && !is_done) model_refused(model);
  model_unlock(model);
  return is_done && call.ok;
}

typedef struct ResultCall {
  daedal_result *result;
  ResultWork work;
  const void *argument;
  bool ok;
} ResultCall;

static void call_result(void *context) {
  ResultCall *call = context;
  call->ok = call->work(call->result, call->argument);
}

bool result_protect(daedal_result *result, ResultWork work, const void *argument) {
  ResultCall call = {.result = result, .work = work, .argument = argument};
  if (!result || result->broken || is_exceeded(result->heap)) return false;
  if (heap_protect(result->heap, call_result, &call)) return call.ok;
  result->broken = !say_refusal(result->heap, publish_refused_result, result);
  result->status = result->broken ? DAEDAL_INTERNAL : DAEDAL_INPUT;
  return false;
}

typedef struct ReportRequest {
  ReportKind kind;
  ResultPrint print;
} ReportRequest;

static const bool is_json[REPORT_COUNT] = {
    [REPORT_JSON] = true,       [REPORT_COMPARISON_JSON] = true, [REPORT_INITIAL_JSON] = true,
    [REPORT_MODEL_JSON] = true, [REPORT_LINEAR_JSON] = true,     [REPORT_STEADY_JSON] = true};

static bool work_report(daedal_result *result, const void *argument) {
  const ReportRequest *request = argument;
  TextVec *text = &result->reports[request->kind];
  if (text->count) return true;
  request->print(result, text);
  if (text->count && is_json[request->kind])
    diagnostics_report_json(&result->model->source, &result->model->diags, &result->diags, result->heap, text);
  return text->count > 0;
}

const char *result_report(daedal_result *result, ReportKind kind, ResultPrint print) {
  ReportRequest request = {kind, print};
  if (!result) return NULL;
  /* A JSON report contains the messages about the model, and other threads may add some. */
  if (is_json[kind]) model_lock(result->model);
  bool ok = result_protect(result, work_report, &request);
  if (is_json[kind]) model_unlock(result->model);
  return ok ? result->reports[kind].data : NULL;
}
