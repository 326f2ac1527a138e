/* protect: work on a handle, ended by a refused allocation without harm to the caller. */
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

bool model_protect(daedal_model *model, ModelWork work, const void *argument) {
  ModelCall call = {model, work, argument, false};
  if (!model) return false;
  model_lock(model);
  if (!model->broken && !heap_protect(model->heap, call_model, &call)) model->broken = true;
  bool ok = call.ok && !model->broken;
  model_unlock(model);
  return ok;
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
  if (!result || result->broken) return false;
  if (heap_protect(result->heap, call_result, &call)) return call.ok;
  result->broken = true;
  result->status = DAEDAL_INTERNAL;
  return false;
}

typedef struct ReportRequest {
  ReportKind kind;
  ResultPrint print;
} ReportRequest;

static const bool is_json[REPORT_COUNT] = {[REPORT_JSON] = true,
                                           [REPORT_INITIAL_JSON] = true,
                                           [REPORT_MODEL_JSON] = true,
                                           [REPORT_LINEAR_JSON] = true,
                                           [REPORT_STEADY_JSON] = true};

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
  /* What was said about the model is in a JSON, and more may be said by other threads. */
  if (is_json[kind]) model_lock(result->model);
  bool ok = result_protect(result, work_report, &request);
  if (is_json[kind]) model_unlock(result->model);
  return ok ? result->reports[kind].data : NULL;
}
