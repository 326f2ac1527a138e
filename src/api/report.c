/* report: reports of a result: the run, its initial values, and the system that the method made. */
#include "api/handles.h"

#include "reduce/text.h"
#include "result/initial_report.h"

static const char *or_empty(const char *text) { return text ? text : ""; }

/* ---- the run ---- */

static RunFacts facts_of(const daedal_result *result) {
  RunFacts facts = result->simulation.facts;
  if (result->simulation.initial.solved) facts.initial = &result->simulation.initial;
  return facts;
}

static void print_text(daedal_result *result, TextVec *text) {
  RunFacts facts = facts_of(result);
  run_report_text(&facts, result->heap, text);
}

static void print_json(daedal_result *result, TextVec *text) {
  RunFacts facts = facts_of(result);
  run_report_json(&facts, result->heap, text);
}

const char *api_result_text(daedal_result *result) {
  return result ? or_empty(result_report(result, REPORT_TEXT, print_text)) : NULL;
}

const char *api_result_json(daedal_result *result) {
  return result ? or_empty(result_report(result, REPORT_JSON, print_json)) : run_report_nothing;
}

/* ---- initial values ---- */

const Explanation *result_explain(daedal_result *result) {
  Simulation *simulation = &result->simulation;
  if (!simulation->initial.solved) return NULL;
  if (!result->explanation) {
    result->explanation = heap_alloc(result->heap, sizeof *result->explanation);
    simulation_exchange_leaves(simulation);
    *result->explanation = initial_explain(&simulation->initializer, &simulation->initial, &result->diags.arena);
    if (simulation->request.tells_propagation)
      result->explanation->propagation =
          initial_propagation(&simulation->initializer, &simulation->initial, &result->diags.arena);
    simulation_exchange_leaves(simulation);
  }
  return result->explanation;
}

static void print_initial_text(daedal_result *result, TextVec *text) {
  const Simulation *simulation = &result->simulation;
  const Explanation *explanation = result_explain(result);
  if (explanation)
    initial_report_text(&simulation->initial, explanation, simulation->facts.evaluator, result->heap, text);
}

static void print_initial_json(daedal_result *result, TextVec *text) {
  const Simulation *simulation = &result->simulation;
  initial_report_json(simulation->facts.status, &simulation->initial, result_explain(result),
                      simulation->facts.evaluator, result->heap, text);
}

static void print_start_values(daedal_result *result, TextVec *text) {
  const Simulation *simulation = &result->simulation;
  if (result_explain(result))
    initial_report_modifiers(&simulation->initial, simulation->facts.evaluator, result->heap, text);
}

const char *api_result_initial_text(daedal_result *result) {
  return or_empty(result_report(result, REPORT_INITIAL_TEXT, print_initial_text));
}

const char *api_result_initial_json(daedal_result *result) {
  if (!result) return initial_report_nothing;
  return or_empty(result_report(result, REPORT_INITIAL_JSON, print_initial_json));
}

const char *api_result_start_values(daedal_result *result) {
  return result_report(result, REPORT_START_VALUES, print_start_values);
}

/* ---- the system that the method made ---- */

static void print_model(daedal_result *result, TextVec *text) {
  Simulation *simulation = &result->simulation;
  if (text->count || !simulation->facts.reduction) return;
  double begin = pipeline_clock();
  bool has_values = simulation->facts.reduction->at.y != NULL;
  result->reduction = reduction_layer(simulation->facts.reduction, &simulation->begun, simulation->request.run.start,
                                      result->heap, &result->diags.arena);
  result->reduction.diags = &result->diags;
  if (!has_values) result->reduction.discrete_starts = simulation->initial.discrete_starts;
  simulation->facts.reduction = &result->reduction;
  simulation_exchange_leaves(simulation);
  reduction_print(&result->reduction, simulation->request.method, has_values, text);
  simulation_exchange_leaves(simulation);
  simulation->facts.seconds.code += pipeline_clock() - begin;
}

/* The facts about the equations are known only after they are printed. */
static void print_model_json(daedal_result *result, TextVec *text) {
  print_model(result, &result->reports[REPORT_MODEL]);
  reduction_report_json(&result->simulation.facts, result->heap, text);
}

static void print_choice(daedal_result *result, TextVec *text) {
  Simulation *simulation = &result->simulation;
  if (!simulation->facts.reduction) return;
  simulation_exchange_leaves(simulation);
  reduction_print_choice(simulation->facts.reduction, &simulation->begun, &result->diags.arena, text);
  simulation_exchange_leaves(simulation);
}

const char *api_result_choice(daedal_result *result) {
  return or_empty(result_report(result, REPORT_CHOICE, print_choice));
}

const char *api_result_model(daedal_result *result) { return result_report(result, REPORT_MODEL, print_model); }

const char *api_result_model_json(daedal_result *result) {
  if (!result) return reduction_report_nothing;
  return result_report(result, REPORT_MODEL_JSON, print_model_json);
}
