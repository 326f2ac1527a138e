/* report: what a result tells: of the run, of its initial values, of the system that the method made. */
#include "api/handles.h"

#include "reduce/text.h"
#include "result/initial_report.h"

/* ---- the run ---- */

typedef void (*RunReport)(const RunFacts *facts, Heap *heap, TextVec *text);

/* A report, made when it is asked for first. */
typedef struct RunReportRequest {
  RunReport print;
  TextVec *text;
} RunReportRequest;

static bool work_report(daedal_result *result, const void *argument) {
  const RunReportRequest *request = argument;
  if (!request->text->count) request->print(&result->simulation.facts, result->heap, request->text);
  return request->text->count > 0;
}

static const char *report(daedal_result *result, RunReport print, TextVec *text) {
  RunReportRequest request = {print, text};
  return result_protect(result, work_report, &request) ? text->data : "";
}

const char *daedal_result_text(daedal_result *result) {
  return result ? report(result, run_report_text, &result->text) : NULL;
}

/* What was said about the model is in it, and more may be said by other threads. */
const char *daedal_result_json(daedal_result *result) {
  if (!result) return run_report_nothing;
  model_lock(result->model);
  const char *json = report(result, run_report_json, &result->json);
  model_unlock(result->model);
  return json;
}

/* ---- initial values ---- */

static const Explanation *explain(daedal_result *result) {
  Simulation *simulation = &result->simulation;
  if (!simulation->initial.solved) return NULL;
  if (!result->explanation) {
    result->explanation = heap_alloc(result->heap, sizeof *result->explanation);
    *result->explanation = initial_explain(&simulation->initializer, &simulation->initial);
  }
  return result->explanation;
}

static bool work_initial_text(daedal_result *result, const void *argument) {
  const Explanation *explanation = explain(result);
  (void)argument;
  if (explanation && !result->initial_text.count)
    initial_report_text(&result->simulation.initial, explanation, result->simulation.facts.evaluator, result->heap,
                        &result->initial_text);
  return explanation != NULL;
}

static bool work_initial_json(daedal_result *result, const void *argument) {
  const Explanation *explanation = explain(result);
  (void)argument;
  if (!result->initial_json.count)
    initial_report_json(result->simulation.facts.status, &result->simulation.initial, explanation,
                        result->simulation.facts.evaluator, result->heap, &result->initial_json);
  return true;
}

static bool work_start_values(daedal_result *result, const void *argument) {
  (void)argument;
  if (!explain(result)) return false;
  if (!result->start_values.count)
    initial_report_modifiers(&result->simulation.initial, result->simulation.facts.evaluator, result->heap,
                             &result->start_values);
  return true;
}

const char *daedal_result_initial_text(daedal_result *result) {
  return result_protect(result, work_initial_text, NULL) ? result->initial_text.data : "";
}

const char *daedal_result_initial_json(daedal_result *result) {
  if (!result) return initial_report_nothing;
  return result_protect(result, work_initial_json, NULL) ? result->initial_json.data : "";
}

const char *daedal_result_start_values(daedal_result *result) {
  return result_protect(result, work_start_values, NULL) ? result->start_values.data : NULL;
}

/* ---- the system that the method made ---- */

static bool work_model(daedal_result *result, const void *argument) {
  (void)argument;
  Simulation *simulation = &result->simulation;
  if (result->reduced.count || !simulation->facts.reduction) return true;
  double begin = pipeline_clock();
  result->reduction = reduction_layer(simulation->facts.reduction, &simulation->original, simulation->request.run.start,
                                      result->heap, &result->diags.arena);
  simulation->facts.reduction = &result->reduction;
  reduction_print(&result->reduction, simulation->request.method, &result->reduced);
  simulation->facts.seconds.code += pipeline_clock() - begin;
  return true;
}

static bool work_choice(daedal_result *result, const void *argument) {
  (void)argument;
  const Simulation *simulation = &result->simulation;
  if (!result->choice.count && simulation->facts.reduction)
    reduction_print_choice(&simulation->plan->reduction, &simulation->original, &result->diags.arena, &result->choice);
  return result->choice.count > 0;
}

const char *daedal_result_choice(daedal_result *result) {
  return result_protect(result, work_choice, NULL) ? result->choice.data : "";
}

const char *daedal_result_model(daedal_result *result) {
  return result_protect(result, work_model, NULL) ? result->reduced.data : NULL;
}

static bool work_model_json(daedal_result *result, const void *argument) {
  const RunFacts *facts = &result->simulation.facts;
  if (result->reduced_json.count || !work_model(result, argument)) return true;
  reduction_report_json(facts, result->heap, &result->reduced_json);
  return true;
}

const char *daedal_result_model_json(daedal_result *result) {
  if (!result) return reduction_report_nothing;
  return result_protect(result, work_model_json, NULL) ? result->reduced_json.data : NULL;
}
