/* protect: work on a handle, ended by a refused allocation without harm to the caller. */
#include "api/handles.h"

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
  if (model->broken) return false;
  if (heap_protect(model->heap, call_model, &call)) return call.ok;
  model->broken = true;
  return false;
}

typedef struct ResultCall {
  daedal_result *result;
  ResultWork work;
  const void *argument;
  bool ok, done;
} ResultCall;

static void call_result(void *context) {
  ResultCall *call = context;
  call->ok = call->work(call->result, call->argument);
}

/* The graph of the model may grow while a result is worked on. */
static void call_with_model(void *context) {
  ResultCall *call = context;
  call->done = heap_protect(call->result->heap, call_result, call);
}

bool result_protect(daedal_result *result, ResultWork work, const void *argument) {
  ResultCall call = {.result = result, .work = work, .argument = argument};
  if (result->broken) return false;
  if (heap_protect(result->model->heap, call_with_model, &call) && call.done) return call.ok;
  result->broken = true;
  result->status = DAEDAL_INTERNAL;
  return false;
}
